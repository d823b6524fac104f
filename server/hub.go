package server

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/duly-dev/duly/store"
)

// hub spreads the store's wake-ups to everybody in this server who waits for
// one. It watches the store from the first subscriber on until it is closed.
type hub struct {
	store store.Store
	log   *slog.Logger
	// ending is closed when the server ends what waits.
	ending chan struct{}

	mu       sync.Mutex
	subs     map[*subscriber]struct{}
	watching bool
	closed   bool
	stop     context.CancelFunc
	stopped  sync.WaitGroup
}

// rewatch is how long after a watch broke it is tried again.
const rewatch = time.Second

func newHub(st store.Store, log *slog.Logger) *hub {
	return &hub{store: st, log: log, ending: make(chan struct{}), subs: map[*subscriber]struct{}{}}
}

// subscriber holds the events that came since it last took them.
type subscriber struct {
	wake    chan struct{} // something came
	mu      sync.Mutex
	pending []store.Event
}

// maxPending is how many events are told apart; beyond, something changed.
const maxPending = 100

// subscribe begins to collect events; the caller unsubscribes.
func (h *hub) subscribe() *subscriber {
	sub := &subscriber{wake: make(chan struct{}, 1)}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.subs[sub] = struct{}{}
	if !h.watching && !h.closed {
		h.watching = true
		ctx, cancel := context.WithCancel(context.Background())
		h.stop = cancel
		h.stopped.Go(func() { h.watch(ctx) })
	}
	return sub
}

func (h *hub) unsubscribe(sub *subscriber) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.subs, sub)
}

func (h *hub) close() {
	h.mu.Lock()
	if !h.closed {
		h.closed = true
		close(h.ending)
		if h.stop != nil {
			h.stop()
		}
	}
	h.mu.Unlock()
	h.stopped.Wait()
}

func (h *hub) watch(ctx context.Context) {
	for {
		err := h.store.Watch(ctx, h.publish)
		if ctx.Err() != nil {
			return
		}
		h.log.Debug("the store's wake-ups were interrupted", "error", err)
		select {
		case <-ctx.Done():
			return
		case <-time.After(rewatch):
		}
		h.publish(store.Event{Topic: store.TopicAny}) // whatever was lost meanwhile
	}
}

func (h *hub) publish(e store.Event) {
	if e.Topic == store.TopicCancels {
		return // for nodes; who looks on is told of the occurrence
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for sub := range h.subs {
		sub.put(e)
	}
}

func (s *subscriber) put(e store.Event) {
	s.mu.Lock()
	s.pending = merge(s.pending, e)
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// merge adds an event to those that wait, unless it says nothing new.
func merge(pending []store.Event, e store.Event) []store.Event {
	for _, p := range pending {
		if p == e || p.Topic == store.TopicAny || p.Topic == e.Topic && p.Schedule == "" {
			return pending
		}
	}
	if len(pending) >= maxPending {
		return []store.Event{{Topic: store.TopicAny}}
	}
	return append(pending, e)
}

func (s *subscriber) take() []store.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	events := s.pending
	s.pending = nil
	return events
}

// takeAny takes the events, and reports whether one may be about a topic.
func (s *subscriber) takeAny(topic store.Topic) bool {
	for _, e := range s.take() {
		if e.Topic == topic || e.Topic == store.TopicAny {
			return true
		}
	}
	return false
}
