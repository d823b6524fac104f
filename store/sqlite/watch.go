package sqlite

import (
	"context"
	"sync"
	"time"

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

// watchers are those who want to be woken.
type watchers struct {
	mu     sync.Mutex
	list   map[*mailbox]bool
	ticker *time.Ticker // runs while somebody watches
	every  time.Duration
	closed bool
}

// mailbox collects events for one watcher until it takes them.
type mailbox struct {
	mu     sync.Mutex
	events events
	filled chan struct{}
	gone   chan struct{} // closed with the store
}

// Watch implements store.Store. What this process does is told right after its
// commit; what others do is noticed by looking at the file's version every
// poll interval.
func (s *Store) Watch(ctx context.Context, notify func(store.Event)) error {
	m := &mailbox{filled: make(chan struct{}, 1), gone: make(chan struct{})}
	if !s.watchers.join(m, s.cfg.poll) {
		return errClosed
	}
	defer s.watchers.leave(m)
	var look <-chan time.Time
	var other *looker
	if s.writer != nil {
		signal(s.writer.wake) // it learns that there is something to look for
	} else if s.cfg.poll > 0 {
		other = &looker{store: s}
		defer other.close()
		ticker := time.NewTicker(lonely * s.cfg.poll)
		defer ticker.Stop()
		look = ticker.C
	}
	for {
		select {
		case <-ctx.Done():
			return s.classify(ctx.Err())
		case <-m.gone:
			return errClosed
		case <-look:
			if err := other.look(ctx); err != nil {
				return s.classify(err)
			}
			continue
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

// looker notices changes where there is no writer to do so, in a store that is
// opened for reading only.
type looker struct {
	store   *Store
	conn    *conn
	version int64
}

func (l *looker) look(ctx context.Context) error {
	if l.conn == nil {
		c, err := connect(ctx, l.store.readers.connector)
		if err != nil {
			return err
		}
		l.conn = c
	}
	version, err := l.conn.number(ctx, "PRAGMA data_version")
	if err != nil {
		return err
	}
	if l.version != 0 && version != l.version {
		l.store.watchers.changedElsewhere()
	}
	l.version = version
	return nil
}

func (l *looker) close() {
	if l.conn != nil {
		_ = l.conn.close()
	}
}

func (w *watchers) join(m *mailbox, poll time.Duration) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return false
	}
	if w.list == nil {
		w.list = map[*mailbox]bool{}
	}
	w.list[m] = true
	if w.ticker == nil && poll > 0 {
		w.ticker, w.every = time.NewTicker(poll), poll
	}
	return true
}

func (w *watchers) leave(m *mailbox) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.list, m)
	if len(w.list) == 0 && w.ticker != nil {
		w.ticker.Stop()
		w.ticker = nil
	}
}

// pace sets how often the writer looks.
func (w *watchers) pace(every time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ticker != nil && w.every != every {
		w.ticker.Reset(every)
		w.every = every
	}
}

// poll is what the writer waits for to look for changes by others; nil, which
// never comes, while nobody watches.
func (w *watchers) poll() <-chan time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ticker == nil {
		return nil
	}
	return w.ticker.C
}

func (w *watchers) publish(e events) {
	if len(e) == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for m := range w.list {
		m.mu.Lock()
		for topic, schedule := range e {
			m.events.add(topic, schedule)
		}
		m.mu.Unlock()
		signal(m.filled)
	}
}

func (w *watchers) changedElsewhere() { w.publish(events{store.TopicAny: ""}) }

func (w *watchers) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	for m := range w.list {
		close(m.gone)
	}
}
