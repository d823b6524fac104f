package sqlite

import (
	"context"
	"encoding/json"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/internal/pacing"
	"github.com/duly-dev/duly/store"
)

// PauseQueue implements store.Operator. Claims find the pause in the queue's
// row, and where it ends by itself, nothing is written.
func (s *Store) PauseQueue(ctx context.Context, req store.PauseQueueRequest) error {
	_, err := write(ctx, s, func(t *tx) (struct{}, error) {
		q, err := t.queueToPause(req.Queue)
		if err != nil {
			return struct{}{}, err
		}
		now := at(req.Now)
		pause := &store.PauseStatus{At: instant(now), By: req.By, Why: req.Why, Until: req.Until}
		if q.Holds(now) {
			pause.At = instant(q.Since)
		}
		_, err = t.exec("UPDATE queues SET paused_at = ?, paused_by = ?, paused_why = ?, paused_until = ? WHERE queue = ?",
			micros(pause.At), req.By, opt(req.Why), opt(micros(req.Until)), q.queue)
		if err != nil {
			return struct{}{}, err
		}
		t.event(store.TopicOccurrences, "")
		after, err := json.Marshal(pause)
		if err != nil {
			return struct{}{}, err
		}
		return struct{}{}, t.audit(now, req.By, "pause", "queue/"+req.Queue, req.Why, nil, after)
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
		now := at(req.Now)
		if !q.Holds(now) {
			return struct{}{}, duly.Errorf(duly.CodeConflict, "queue %s is not paused", req.Queue)
		}
		if _, err := t.exec("UPDATE queues SET paused_at = NULL, paused_by = NULL, paused_why = NULL, paused_until = NULL WHERE queue = ?", q.queue); err != nil {
			return struct{}{}, err
		}
		t.event(store.TopicOccurrences, "") // there may be room now
		return struct{}{}, t.audit(now, req.By, "resume", "queue/"+req.Queue, "", nil, nil)
	})
	return err
}

// queuePause is a queue and whether it is paused.
type queuePause struct {
	queue int64
	pacing.Pause
}

// queueToPause finds a shared queue.
func (t *tx) queueToPause(name string) (q queuePause, err error) {
	found, err := t.one(bg, "SELECT queue, paused_at, paused_until FROM queues WHERE name = ?", []any{name}, func(r row) {
		q = queuePause{r.int(0), pacing.Pause{Since: r.int(1), Until: r.int(2)}}
	})
	if err != nil || found {
		return q, err
	}
	own, err := t.number(bg, "SELECT count(*) FROM schedules WHERE id = ? AND removed_at IS NULL", name)
	if err != nil {
		return q, err
	}
	if own != 0 {
		return q, duly.Errorf(duly.CodeNotFound, "there is no shared queue %s; it is a schedule: pause the schedule instead", name)
	}
	return q, notFound("queue", name)
}
