package api

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestInProcessRequestsLookLikeThoseOfANetwork(t *testing.T) {
	client := InProcess(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if r.URL.Host != "" || r.Host != "in-process" || r.URL.EscapedPath() != "/api/v1/schedules/a%2Fb/pause" || r.URL.Path != "/api/v1/schedules/a/b/pause" {
			t.Errorf("the request is for %q %q %q", r.Host, r.URL, r.URL.EscapedPath())
		}
		if string(body) != `{"why":"holiday"}` || r.ContentLength != int64(len(body)) {
			t.Errorf("the body is %s, its length %d", body, r.ContentLength)
		}
		fmt.Fprint(w, `{"id":"a/b"}`)
	}))
	got, err := client.Pause(context.Background(), "a/b", PauseRequest{Why: "holiday"})
	if err != nil || got.ID != "a/b" {
		t.Errorf("got %v, %v", got.ID, err)
	}
}

func TestInProcessAHandlerThatPanicsBreaksTheConnection(t *testing.T) {
	client := InProcess(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"schedules":`)
		panic(http.ErrAbortHandler)
	}))
	if _, err := client.Stats(context.Background()); duly.CodeOf(err) != duly.CodeUnavailable {
		t.Errorf("got %v", err)
	}
}

func TestInProcessStreamsArriveAsTheyAreSentAndEndWithTheirReader(t *testing.T) {
	heard := make(chan struct{})
	ended := make(chan struct{})
	client := InProcess(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(ended)
		fmt.Fprint(w, ": hello\n\ndata: {\"topic\":\"any\"}\n\n")
		<-heard // the first event is read before the second is sent
		fmt.Fprint(w, "data: {\"topic\":\"leases\"}\n\n")
		<-r.Context().Done()
	}))
	ctx, cancel := context.WithCancel(context.Background())
	var topics []string
	err := client.Events(ctx, nil, func(e store.Event) {
		topics = append(topics, string(e.Topic))
		if len(topics) == 1 {
			close(heard)
			return
		}
		cancel()
	})
	<-ended
	if got := strings.Join(topics, " "); got != "any leases" || err != context.Canceled {
		t.Errorf("got %s, %v", got, err)
	}
}
