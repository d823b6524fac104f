package memstore

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// queue is a shared one.
type queue struct {
	duly.Queue
	owner  string // empty: only named, never defined
	starts []time.Time
	paused *store.PauseStatus
}

// queue is the shared queue of a name, made on first use.
func (s *Store) queue(name string) *queue {
	q := s.queues[name]
	if q == nil {
		q = &queue{Queue: duly.Queue{Name: name, Concurrency: 1}}
		s.queues[name] = q
	}
	return q
}

func (s *Store) running(queue string) (n int) {
	for _, o := range s.open {
		if o.Queue == queue && o.State == duly.Running {
			n++
		}
	}
	return n
}

// pausedAt answers the pause that is in force.
func (q *queue) pausedAt(now time.Time) *store.PauseStatus {
	if q.paused == nil || !q.paused.Until.IsZero() && !q.paused.Until.After(now) {
		return nil
	}
	return q.paused
}

// room is how many may start in a shared queue.
func (s *Store) room(q *queue, now time.Time) int {
	if q.pausedAt(now) != nil {
		return 0
	}
	room := q.Concurrency - s.running(q.Name)
	if s.opt.Bugs.ClaimIgnoresConcurrency {
		room = q.Concurrency
	}
	if q.Rate.Count > 0 {
		room = min(room, q.Rate.Count-len(q.live(now)))
	}
	return max(0, room)
}

// live are the starts of the last span of a rate. Those of the future are from
// a clock that was set back.
func (q *queue) live(now time.Time) []time.Time {
	return slices.DeleteFunc(slices.Clone(q.starts), func(t time.Time) bool { return t.After(now) || now.Sub(t) >= q.Rate.Per.Std() })
}

// opens is when the next may start, zero while nothing but an end can help.
func (s *Store) opens(q *queue, now time.Time) time.Time {
	if q.Concurrency <= s.running(q.Name) {
		return time.Time{}
	}
	at := now
	if p := q.pausedAt(now); p != nil {
		if at = p.Until; at.IsZero() {
			return at
		}
	}
	if live := q.live(now); q.Rate.Count > 0 && len(live) >= q.Rate.Count {
		at = later(at, live[len(live)-q.Rate.Count].Add(q.Rate.Per.Std()))
	}
	return at
}

// PauseQueue implements store.Operator.
func (s *Store) PauseQueue(ctx context.Context, req store.PauseQueueRequest) error {
	return do(ctx, s, func() error {
		now := s.now(req.Now)
		q := s.queues[req.Queue]
		if q == nil {
			return notFound("shared queue", req.Queue)
		}
		since := now
		if p := q.pausedAt(now); p != nil {
			since = p.At
		}
		q.paused = &store.PauseStatus{At: since, By: req.By, Why: req.Why, Until: req.Until}
		after, err := json.Marshal(q.paused)
		if err != nil {
			return err
		}
		s.note(now, req.By, "pause", "queue/"+req.Queue, req.Why, nil, after)
		s.event(store.TopicOccurrences, "")
		return nil
	})
}

// ResumeQueue implements store.Operator.
func (s *Store) ResumeQueue(ctx context.Context, req store.ResumeQueueRequest) error {
	return do(ctx, s, func() error {
		now := s.now(req.Now)
		q := s.queues[req.Queue]
		if q == nil {
			return notFound("shared queue", req.Queue)
		}
		if q.pausedAt(now) == nil {
			return duly.Errorf(duly.CodeConflict, "queue %s is not paused", req.Queue)
		}
		q.paused = nil
		s.note(now, req.By, "resume", "queue/"+req.Queue, "", nil, nil)
		s.event(store.TopicOccurrences, "")
		return nil
	})
}
