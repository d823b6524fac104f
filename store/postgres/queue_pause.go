package postgres

import (
	"context"
	"encoding/json"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/internal/pacing"
	"github.com/duly-dev/duly/store"
)

// PauseQueue implements store.Operator. Claims find the pause in the queue's
// row, which they lock, and where it ends by itself, nothing is written.
func (s *Store) PauseQueue(ctx context.Context, req store.PauseQueueRequest) error {
	_, err := write(ctx, s, func(t *tx) (struct{}, error) {
		q, err := t.queueToPause(req.Queue)
		if err != nil {
			return struct{}{}, err
		}
		now, err := t.clock(req.Now)
		if err != nil {
			return struct{}{}, err
		}
		pause := &store.PauseStatus{At: instant(now), By: req.By, Why: req.Why, Until: req.Until}
		if q.Holds(now) {
			pause.At = instant(q.Since)
		}
		t.later("UPDATE duly.queues SET paused_at = ?, paused_by = ?, paused_why = ?, paused_until = ? WHERE queue = ?",
			micros(pause.At), plain(req.By), opt(plain(req.Why)), opt(micros(req.Until)), q.queue)
		t.event(store.TopicOccurrences, "")
		after, err := json.Marshal(pause)
		if err != nil {
			return struct{}{}, err
		}
		t.audit(now, req.By, "pause", "queue/"+req.Queue, req.Why, nil, after)
		return struct{}{}, nil
	})
	return err
}

// ResumeQueue implements store.Operator.
func (s *Store) ResumeQueue(ctx context.Context, req store.ResumeQueueRequest) error {
	_, err := write(ctx, s, func(t *tx) (struct{}, error) {
		q, err := t.queueToPause(req.Queue)
		if err != nil {
			return struct{}{}, err
		}
		now, err := t.clock(req.Now)
		if err != nil {
			return struct{}{}, err
		}
		if !q.Holds(now) {
			return struct{}{}, duly.Errorf(duly.CodeConflict, "queue %s is not paused", req.Queue)
		}
		t.later("UPDATE duly.queues SET paused_at = NULL, paused_by = NULL, paused_why = NULL, paused_until = NULL WHERE queue = ?", q.queue)
		t.event(store.TopicOccurrences, "") // there may be room now
		t.audit(now, req.By, "resume", "queue/"+req.Queue, "", nil, nil)
		return struct{}{}, nil
	})
	return err
}

// queuePause is a queue and whether it is paused.
type queuePause struct {
	queue int64
	pacing.Pause
}

// queueToPause finds a shared queue and locks it.
func (t *tx) queueToPause(name string) (q queuePause, err error) {
	found, err := t.one("SELECT queue, paused_at, paused_until FROM duly.queues WHERE name = ? FOR NO KEY UPDATE", []any{plain(name)}, func(r row) {
		q = queuePause{r.int(0), pacing.Pause{Since: r.int(1), Until: r.int(2)}}
	})
	if err != nil || found {
		return q, err
	}
	own, err := t.number("SELECT count(*) FROM duly.schedules WHERE id = ? AND removed_at IS NULL", plain(name))
	if err != nil {
		return q, err
	}
	if own != 0 {
		return q, duly.Errorf(duly.CodeNotFound, "there is no shared queue %s; it is a schedule: pause the schedule instead", name)
	}
	return q, notFound("queue", name)
}
