package server

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/duly-dev/duly/api"
	"github.com/duly-dev/duly/control"
	"github.com/duly-dev/duly/store"
)

func TestEventsTellOfChangesAsTheyHappen(t *testing.T) {
	b := setup(t)
	b.put(t, daily("a"))
	for name, client := range map[string]*api.Client{"network": b.Client, "in process": api.InProcess(b.server.Handler())} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(b.ctx)
			defer cancel()
			events := make(chan store.Event, 100)
			failed := make(chan error, 1)
			go func() {
				failed <- client.Events(ctx, []store.Topic{store.TopicOccurrences}, func(e store.Event) { events <- e })
			}()
			next := func() store.Event {
				select {
				case e := <-events:
					return e
				case err := <-failed:
					t.Fatal(err)
				}
				return store.Event{}
			}
			if first := next(); first.Topic != store.TopicAny {
				t.Errorf("the first event is %+v", first)
			}
			if _, err := b.Pause(b.ctx, "a", api.PauseRequest{}); err != nil { // another topic
				t.Fatal(err)
			}
			began := time.Now()
			b.trigger(t, "a")
			for {
				e := next()
				if e.Topic == store.TopicSchedules {
					t.Errorf("an event of a topic that was not asked for: %+v", e)
				}
				if e.Topic == store.TopicOccurrences && (e.Schedule == "a" || e.Schedule == "") || e.Topic == store.TopicAny {
					break
				}
			}
			t.Logf("told %v after the request", time.Since(began))
			cancel()
			if err := <-failed; err != context.Canceled {
				t.Errorf("the stream ended with %v", err)
			}
		})
	}
}

func TestAStreamSaysHowItIsToBeHandled(t *testing.T) {
	b := setup(t)
	ctx, cancel := context.WithCancel(b.ctx)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", b.url+"/api/v1/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	for name, want := range map[string]string{"Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no"} {
		if got := resp.Header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	lines := bufio.NewScanner(resp.Body)
	for _, want := range []string{"retry: 2000", `data: {"topic":"any"}`, ""} {
		if !lines.Scan() || lines.Text() != want {
			t.Errorf("a line is %q, want %q", lines.Text(), want)
		}
	}
	b.server.Close() // ends the stream, so that a server can shut down
	if lines.Scan() {
		t.Errorf("after Close came %q", lines.Text())
	}
	b.problem(t, 422, "GET", "/api/v1/events?topic=weather", "")
}

func TestTooManyStreamsAreRefusedAndEndedOnesMakeRoom(t *testing.T) {
	b := setup(t)
	for range maxStreams {
		b.server.streams <- struct{}{}
	}
	resp, _ := b.raw(t, "GET", "/api/v1/events", "")
	if resp.Header.Get("Retry-After") == "" {
		t.Error("no word on when to try again")
	}
	b.problem(t, 503, "GET", "/api/v1/events", "")
	<-b.server.streams
	ctx, cancel := context.WithCancel(b.ctx)
	defer cancel()
	err := b.Events(ctx, nil, func(store.Event) { cancel() })
	if err != context.Canceled {
		t.Errorf("with room for one: %v", err)
	}
}

func TestAnIdleStreamIsKeptAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := openStore(t)
		s := New(st, control.New(st), Options{})
		t.Cleanup(s.Close)
		ctx, cancel := context.WithCancel(t.Context())
		w := &lockedWriter{header: http.Header{}}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			s.stream(ctx, w, nil)
		}()
		time.Sleep(keepAlive - time.Second)
		if text := w.String(); strings.Contains(text, "still here") || !strings.Contains(text, `"topic":"any"`) {
			t.Errorf("before: %q", text)
		}
		time.Sleep(2 * time.Second)
		if text := w.String(); !strings.HasSuffix(text, ": still here\n\n") {
			t.Errorf("after: %q", text)
		}
		cancel()
		<-ended
	})
}

// lockedWriter is an answer that may be looked at while it is written.
type lockedWriter struct {
	header http.Header
	mu     sync.Mutex
	text   strings.Builder
}

func (w *lockedWriter) Header() http.Header { return w.header }
func (w *lockedWriter) WriteHeader(int)     {}
func (w *lockedWriter) Flush()              {}

func (w *lockedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(p)
}

func (w *lockedWriter) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

func TestEventsThatSayNothingNewAreMerged(t *testing.T) {
	sub := &subscriber{wake: make(chan struct{}, 1)}
	for _, e := range []store.Event{
		{Topic: store.TopicOccurrences, Schedule: "a"},
		{Topic: store.TopicOccurrences, Schedule: "a"},
		{Topic: store.TopicLeases},
		{Topic: store.TopicLeases, Schedule: "b"},
		{Topic: store.TopicOccurrences, Schedule: "b"},
	} {
		sub.put(e)
	}
	if got := sub.take(); len(got) != 3 {
		t.Errorf("kept %+v", got)
	}
	for i := range maxPending + 1 {
		sub.put(store.Event{Topic: store.TopicOccurrences, Schedule: itoa(i)})
	}
	if got := sub.take(); len(got) != 1 || got[0].Topic != store.TopicAny {
		t.Errorf("a flood was kept as %d events", len(got))
	}
}
