package postgres

import (
	"context"
	"sync"

	"github.com/duly-dev/duly/store"
)

// events are what a transaction did, merged: a schedule's name where there was
// one of a topic, none where there were more.
type events map[store.Topic]string

func (e *events) add(topic store.Topic, schedule string) {
	if *e == nil {
		*e = events{}
	}
	if had, ok := (*e)[topic]; ok && had != schedule {
		schedule = ""
	}
	(*e)[topic] = schedule
}

func (e *events) merge(others events) {
	for topic, schedule := range others {
		e.add(topic, schedule)
	}
}

// watchers are those who want to be woken. What this process does is told right
// after its commit; what others do comes over the listener, which runs while
// somebody watches.
type watchers struct {
	store  *Store
	mu     sync.Mutex
	list   map[*mailbox]bool
	closed bool
	// listening ends the listener; ended is closed when it has.
	listening context.CancelFunc
	ended     chan struct{}
	push      push
}

// mailbox collects events for one watcher until it takes them.
type mailbox struct {
	mu     sync.Mutex
	events events
	filled chan struct{}
	gone   chan struct{} // closed with the store
}

func (w *watchers) init(s *Store) { w.store, w.list = s, map[*mailbox]bool{} }

// Watch implements store.Store.
func (s *Store) Watch(ctx context.Context, notify func(store.Event)) error {
	m := &mailbox{filled: make(chan struct{}, 1), gone: make(chan struct{})}
	if !s.watchers.join(m) {
		return errClosed
	}
	defer s.watchers.leave(m)
	for {
		select {
		case <-ctx.Done():
			return s.classify(ctx.Err())
		case <-m.gone:
			return errClosed
		case <-m.filled:
		}
		m.mu.Lock()
		taken := m.events
		m.events = nil
		m.mu.Unlock()
		for topic, schedule := range taken {
			notify(store.Event{Topic: topic, Schedule: schedule})
		}
	}
}

func (w *watchers) join(m *mailbox) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return false
	}
	w.list[m] = true
	if w.listening == nil {
		ctx, cancel := context.WithCancel(w.store.over)
		w.listening, w.ended = cancel, make(chan struct{})
		go w.listen(ctx, w.ended)
	}
	return true
}

func (w *watchers) leave(m *mailbox) {
	w.mu.Lock()
	delete(w.list, m)
	ended := w.quiet(len(w.list) == 0)
	w.mu.Unlock()
	if ended != nil {
		<-ended
	}
}

// quiet ends the listener if nobody needs it and answers what to wait for.
func (w *watchers) quiet(unneeded bool) chan struct{} {
	if !unneeded || w.listening == nil {
		return nil
	}
	w.listening()
	w.listening = nil
	return w.ended
}

func (w *watchers) publish(e events) {
	if len(e) == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for m := range w.list {
		m.mu.Lock()
		m.events.merge(e)
		m.mu.Unlock()
		signal(m.filled)
	}
}

func (w *watchers) close() {
	w.mu.Lock()
	w.closed = true
	for m := range w.list {
		close(m.gone)
	}
	ended := w.quiet(true)
	w.mu.Unlock()
	if ended != nil {
		<-ended
	}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
