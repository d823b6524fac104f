package postgres

import (
	"context"

	"github.com/duly-dev/duly/store"
)

// Horizon implements store.Planner.
func (s *Store) Horizon(ctx context.Context) (store.Horizon, error) {
	return read(ctx, s, func(c *conn) (h store.Horizon, err error) {
		var now, due, deadline, lease, session, delayed, mark int64
		_, err = c.one(`SELECT duly.clock(),
			(SELECT min(next_due) FROM duly.tracks WHERE next_due IS NOT NULL),
			(SELECT min(start_by) FROM duly.occurrences WHERE waiting > 0 AND attempt = 0 AND start_by IS NOT NULL),
			(SELECT min(lease_until) FROM duly.occurrences WHERE state = 1),
			(SELECT min(until) FROM duly.nodes WHERE ended IS NULL),
			(SELECT min(not_before) FROM duly.occurrences WHERE waiting = 2),
			(SELECT mark FROM duly.marks)`, nil, func(r row) {
			now, due, deadline, lease, session, delayed, mark = r.int(0), r.int(1), r.int(2), r.int(3), r.int(4), r.int(5), r.int(6)
		})
		if err != nil {
			return h, err
		}
		h.Now = instant(now)
		if mark-now > store.ClockTolerance.Microseconds() {
			due = now
		}
		h.Due = instant(due)
		if deadline != 0 {
			deadline++ // it passes after this instant
		}
		h.Lease = instant(earliest(lease, deadline, session))
		ready, err := c.ready(now)
		h.Ready = instant(earliest(ready, delayed))
		return h, err
	})
}

func earliest(all ...int64) (first int64) {
	for _, t := range all {
		if t != 0 && (first == 0 || t < first) {
			first = t
		}
	}
	return first
}

// ready is when one of those that wait for a slot may start: now, unless all
// are in queues that are full, or at their rate. The recursion goes from lane
// to lane, each one look at the index.
func (c *conn) ready(now int64) (int64, error) {
	first, own := int64(0), false
	var queues []int64
	err := c.query(`WITH RECURSIVE waits (lane) AS (
			SELECT (SELECT lane FROM duly.occurrences WHERE waiting = 1 ORDER BY lane LIMIT 1)
			UNION ALL SELECT (SELECT o.lane FROM duly.occurrences o WHERE o.waiting = 1 AND o.lane > w.lane ORDER BY o.lane LIMIT 1) FROM waits w WHERE w.lane IS NOT NULL
		) SELECT DISTINCT l.queue FROM waits w JOIN duly.lanes l ON l.lane = w.lane`, nil, func(r row) error {
		if own = own || r.int(0) == 0; r.int(0) != 0 {
			queues = append(queues, r.int(0))
		}
		return nil
	})
	if err != nil || own {
		return now * flag(own), err
	}
	if len(queues) == 0 {
		return 0, nil
	}
	err = c.query(`SELECT concurrency, rate_count, rate_per, starts, `+queueRunning+` FROM duly.queues q WHERE q.queue = ANY(?)`, []any{queues}, func(r row) error {
		if r.int(4) >= r.int(0) {
			return nil // full: something has to end
		}
		at := now
		if r.int(1) > 0 {
			rate := window{count: r.int(1), per: r.int(2)}
			rate.read(r.str(3))
			at = rate.next(now)
		}
		first = earliest(first, at)
		return nil
	})
	return first, err
}

// queueRunning counts what runs in queue q.
const queueRunning = "(SELECT count(*) FROM duly.occurrences o WHERE o.state < 2 AND o.queue IS NOT NULL AND o.queue = q.queue AND o.state = 1)"
