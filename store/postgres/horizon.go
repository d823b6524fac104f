package postgres

import (
	"context"

	"github.com/duly-dev/duly/internal/pacing"
	"github.com/duly-dev/duly/store"
)

// Horizon implements store.Planner. It is one round trip, unless all that
// waits is in shared queues.
func (s *Store) Horizon(ctx context.Context) (store.Horizon, error) {
	return look(ctx, s, func(c *conn) (h store.Horizon, err error) {
		var now, due, deadline, lease, session, delayed, mark int64
		c.ask(`SELECT duly.clock(),
			(SELECT min(next_due) FROM duly.tracks WHERE next_due IS NOT NULL),
			(SELECT min(start_by) FROM duly.occurrences WHERE waiting > 0 AND attempt = 0 AND start_by IS NOT NULL),
			(SELECT min(lease_until) FROM duly.occurrences WHERE state = 1),
			(SELECT min(until) FROM duly.nodes WHERE ended IS NULL),
			(SELECT min(not_before) FROM duly.occurrences WHERE waiting = 2),
			(SELECT mark FROM duly.marks)`, nil, func(r row) error {
			now, due, deadline, lease, session, delayed, mark = r.int(0), r.int(1), r.int(2), r.int(3), r.int(4), r.int(5), r.int(6)
			return nil
		})
		own, queues, err := c.waiting()
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
		ready := now
		if !own {
			ready, err = c.room(queues, now)
		}
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

// waiting says where something waits for a slot: in queues of schedules' own,
// and in which shared ones. The recursion goes from lane to lane, each one look
// at the index.
func (c *conn) waiting() (own bool, queues []int64, err error) {
	err = c.query(`WITH RECURSIVE waits (lane) AS (
			SELECT (SELECT lane FROM duly.occurrences WHERE waiting = 1 ORDER BY lane LIMIT 1)
			UNION ALL SELECT (SELECT o.lane FROM duly.occurrences o WHERE o.waiting = 1 AND o.lane > w.lane ORDER BY o.lane LIMIT 1) FROM waits w WHERE w.lane IS NOT NULL
		) SELECT DISTINCT l.queue FROM waits w JOIN duly.lanes l ON l.lane = w.lane`, nil, func(r row) error {
		if own = own || r.int(0) == 0; r.int(0) != 0 {
			queues = append(queues, r.int(0))
		}
		return nil
	})
	return own, queues, err
}

// room is when the next occurrence may start in one of some queues: 0 while all
// are full, or paused until somebody resumes them.
func (c *conn) room(queues []int64, now int64) (first int64, err error) {
	if len(queues) == 0 {
		return 0, nil
	}
	err = c.query(`SELECT concurrency, rate_count, rate_per, starts, paused_at, paused_until, `+queueRunning+` FROM duly.queues q WHERE q.queue = ANY(?)`, []any{queues}, func(r row) error {
		if r.int(6) >= r.int(0) {
			return nil // something has to end
		}
		rate := pacing.Rate{Count: r.int(1), Per: r.int(2)}
		rate.Read(r.str(3))
		first = earliest(first, pacing.Pause{Since: r.int(4), Until: r.int(5)}.Open(rate.Next(now)))
		return nil
	})
	return first, err
}

// queueRunning counts what runs in queue q.
const queueRunning = "(SELECT count(*) FROM duly.occurrences o WHERE o.state < 2 AND o.queue IS NOT NULL AND o.queue = q.queue AND o.state = 1)"
