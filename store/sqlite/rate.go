package sqlite

import (
	"math"

	"github.com/duly-dev/duly/internal/pacing"
)

// queueState is a queue as a claim finds it.
type queueState struct {
	name        string
	concurrency int
	room        int // how many may start now
	rate        pacing.Rate
	limited     bool
	unsaved     int64 // starts that rate does not know of yet
}

// queueState reads a queue once in a claim. The room of a shared queue is what
// its running occurrences leave of its concurrency, counted, so that it cannot
// drift; queues of schedules' own need no count, since an occurrence that
// waits for an earlier one is not ready.
func (c *claiming) queueState(id int64) (*queueState, error) {
	if q := c.queues[id]; q != nil {
		return q, nil
	}
	q := &queueState{room: math.MaxInt}
	c.queues[id] = q
	if id == 0 {
		return q, nil
	}
	var starts string
	var pause pacing.Pause
	_, err := c.one(bg, "SELECT name, concurrency, rate_count, rate_per, starts, paused_at, paused_until FROM queues WHERE queue = ?", []any{id}, func(r row) {
		q.name, q.concurrency, q.rate.Count, q.rate.Per, starts = r.str(0), int(r.int(1)), r.int(2), r.int(3), r.str(4)
		pause = pacing.Pause{Since: r.int(5), Until: r.int(6)}
	})
	if err != nil {
		return nil, err
	}
	if pause.Holds(c.now) {
		q.room = 0
		return q, nil
	}
	active, err := c.number(bg, `SELECT count(*) FROM occurrences INDEXED BY occurrences_queued WHERE state < 2 AND queue IS NOT NULL AND queue = ? AND state = 1`, id)
	if err != nil {
		return nil, err
	}
	q.room = max(0, q.concurrency-int(active))
	if q.rate.Count > 0 {
		q.limited = true
		q.rate.Read(starts)
		q.room = min(q.room, int(q.rate.Room(c.now)))
	}
	return q, nil
}

// started counts a start in a queue.
func (c *claiming) started(queue int64) {
	if q := c.queues[queue]; q != nil {
		q.room--
		q.unsaved++
	}
}

// saveStarts writes the starts of queues that have a rate.
func (c *claiming) saveStarts() error {
	for id, q := range c.queues {
		if !q.limited || q.unsaved == 0 {
			continue
		}
		q.rate.Add(c.now, q.unsaved)
		q.unsaved = 0
		if _, err := c.exec("UPDATE queues SET starts = ? WHERE queue = ?", q.rate.Text(), id); err != nil {
			return err
		}
	}
	return nil
}
