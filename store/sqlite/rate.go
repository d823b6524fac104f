package sqlite

import (
	"encoding/json"
	"math"
	"slices"
)

// queueState is a queue as a claim finds it.
type queueState struct {
	name        string
	concurrency int
	room        int // how many may start now
	rate        window
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
	var pause queuePause
	_, err := c.one(bg, "SELECT name, concurrency, rate_count, rate_per, starts, paused_at, paused_until FROM queues WHERE queue = ?", []any{id}, func(r row) {
		q.name, q.concurrency, q.rate.count, q.rate.per, starts = r.str(0), int(r.int(1)), r.int(2), r.int(3), r.str(4)
		pause = queuePause{id, r.int(5), r.int(6)}
	})
	if err != nil {
		return nil, err
	}
	if pause.paused(c.now) {
		q.room = 0
		return q, nil
	}
	active, err := c.number(bg, `SELECT count(*) FROM occurrences INDEXED BY occurrences_queued WHERE state < 2 AND queue IS NOT NULL AND queue = ? AND state = 1`, id)
	if err != nil {
		return nil, err
	}
	q.room = max(0, q.concurrency-int(active))
	if q.rate.count > 0 {
		q.limited = true
		q.rate.read(starts)
		q.room = min(q.room, int(q.rate.room(c.now)))
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
		q.rate.add(c.now, q.unsaved)
		q.unsaved = 0
		if _, err := c.exec("UPDATE queues SET starts = ? WHERE queue = ?", q.rate.text(), id); err != nil {
			return err
		}
	}
	return nil
}

// parts is into how many parts a rate's span is cut.
const parts = 20

// window counts the starts of a rate's last span, in parts. A part counts
// until a whole span has passed since its end, so no span of that length, by
// whichever clock it is cut out, ever holds more than count; the price is that
// the next start may be late by a part.
type window struct {
	count, per int64
	starts     []starts
}

// starts is how many began in one part of time.
type starts struct {
	Part  int64 `json:"p"`
	Count int64 `json:"n"`
}

func (w *window) part(now int64) int64 { return now / max(1, w.per/parts) }

func (w *window) read(text string) {
	if text != "" {
		_ = json.Unmarshal([]byte(text), &w.starts) // written by text
	}
}

func (w *window) text() string {
	b, _ := json.Marshal(w.starts)
	return string(b)
}

// room is how many may start now.
func (w *window) room(now int64) int64 {
	used := int64(0)
	for _, s := range w.live(now) {
		used += s.Count
	}
	return max(0, w.count-used)
}

// live are the parts that still count. Those of the future are from a clock
// that was set back, or a span that was redefined, and do not.
func (w *window) live(now int64) []starts {
	current := w.part(now)
	return slices.DeleteFunc(slices.Clone(w.starts), func(s starts) bool { return s.Part > current || s.Part < current-parts })
}

func (w *window) add(now, n int64) {
	w.starts = w.live(now)
	if last := len(w.starts) - 1; last >= 0 && w.starts[last].Part == w.part(now) {
		w.starts[last].Count += n
		return
	}
	w.starts = append(w.starts, starts{w.part(now), n})
}

// next is when the next start is allowed, now where it is.
func (w *window) next(now int64) int64 {
	live := w.live(now)
	used := int64(0)
	for _, s := range live {
		used += s.Count
	}
	for _, s := range live {
		if used < w.count {
			break
		}
		used -= s.Count
		if used < w.count {
			return (s.Part + parts + 1) * max(1, w.per/parts)
		}
	}
	return now
}
