package sqlite

import (
	"context"
	"encoding/json"

	"github.com/duly-dev/duly"
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
		if q.paused(now) {
			pause.At = instant(q.since)
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
		if !q.paused(now) {
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

// queuePause is whether a queue is paused.
type queuePause struct{ queue, since, until int64 }

func (p queuePause) paused(now int64) bool { return p.since != 0 && (p.until == 0 || p.until > now) }

// open is when a queue that may hand out from a time on does, paused as it is;
// 0 where that is for a person to say.
func (p queuePause) open(from int64) int64 {
	switch {
	case p.since == 0:
		return from
	case p.until == 0:
		return 0
	}
	return max(from, p.until)
}

// queueToPause finds a shared queue.
func (t *tx) queueToPause(name string) (q queuePause, err error) {
	found, err := t.one(bg, "SELECT queue, paused_at, paused_until FROM queues WHERE name = ?", []any{name}, func(r row) {
		q = queuePause{r.int(0), r.int(1), r.int(2)}
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
