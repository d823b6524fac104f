package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/api"
	"github.com/duly-dev/duly/store"
)

const (
	// maxStreams is how many event streams a server keeps open.
	maxStreams = 256
	// keepAlive is how often an idle stream is written to, so that nothing in
	// between takes it for dead.
	keepAlive = 15 * time.Second
	// writeTime is how long a client may take to take what it is sent.
	writeTime = 10 * time.Second
)

func (s *Server) routeEvents() {
	register(s, huma.Operation{
		OperationID: "streamEvents", Method: http.MethodGet, Path: v1 + "/events", Tags: []string{"status"},
		Summary: "Follow what changes",
		Description: "Server-sent events; the data of each is an Event. The first is always of topic any: look at everything, " +
			"then at what events name. They are wake-ups and no more: they may be merged, repeated or lost.",
		Responses: map[string]*huma.Response{"200": {
			Description: "A stream of events",
			Content: map[string]*huma.MediaType{"text/event-stream": {
				Schema: s.api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[store.Event](), true, "Event"),
			}},
		}},
	}, s.streamEvents)
}

type eventsInput struct {
	Topic []store.Topic `query:"topic,explode" doc:"Only events of these topics; may be given several times."`
}

func (s *Server) streamEvents(_ context.Context, in *eventsInput) (*huma.StreamResponse, error) {
	select {
	case s.streams <- struct{}{}:
	default:
		return nil, &problemError{api.Problem{
			Status: http.StatusServiceUnavailable, Code: duly.CodeUnavailable,
			Detail: fmt.Sprintf("this server has %d event streams open already; close some, or poll", maxStreams),
		}}
	}
	return &huma.StreamResponse{Body: func(ctx huma.Context) {
		defer func() { <-s.streams }()
		r, w := humago.Unwrap(ctx)
		s.stream(r.Context(), w, in.Topic)
	}}, nil
}

// stream sends events until the client, or the server, goes away.
func (s *Server) stream(ctx context.Context, w http.ResponseWriter, topics []store.Topic) {
	sub := s.hub.subscribe()
	defer s.hub.unsubscribe(sub)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	out := http.NewResponseController(w)
	defer func() { _ = out.SetWriteDeadline(time.Time{}) }() // the connection may serve other requests yet
	send := func(text string) bool {
		_ = out.SetWriteDeadline(time.Now().Add(writeTime)) // not every connection has one
		if _, err := w.Write([]byte(text)); err != nil {
			return false
		}
		return out.Flush() == nil
	}
	if !send("retry: 2000\n" + eventText(store.Event{Topic: store.TopicAny})) {
		return
	}
	idle := time.NewTicker(keepAlive)
	defer idle.Stop()
	for {
		text := ""
		select {
		case <-ctx.Done():
			return
		case <-s.hub.ending:
			return
		case <-idle.C:
			text = ": still here\n\n"
		case <-sub.wake:
			for _, e := range sub.take() {
				if len(topics) == 0 || e.Topic == store.TopicAny || slices.Contains(topics, e.Topic) {
					text += eventText(e)
				}
			}
		}
		if text != "" && !send(text) {
			return
		}
	}
}

func eventText(e store.Event) string {
	data, err := json.Marshal(e)
	if err != nil {
		panic(err) // two strings have a JSON form
	}
	return "data: " + string(data) + "\n\n"
}
