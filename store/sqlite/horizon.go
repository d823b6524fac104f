package sqlite

import (
	"context"

	"github.com/duly-dev/duly/internal/pacing"
	"github.com/duly-dev/duly/store"
)

// Horizon implements store.Planner.
func (s *Store) Horizon(ctx context.Context) (store.Horizon, error) {
	return read(ctx, s, func(c *conn) (store.Horizon, error) {
		now := now()
		h := store.Horizon{Now: instant(now)}
		var due, deadline, lease, session, delayed, mark int64
		_, err := c.one(ctx, `SELECT
			(SELECT min(next_due) FROM schedules INDEXED BY schedules_due WHERE next_due IS NOT NULL),
			(SELECT min(start_by) FROM occurrences INDEXED BY occurrences_deadline WHERE waiting > 0 AND attempt = 0 AND start_by IS NOT NULL),
			(SELECT min(lease_until) FROM occurrences INDEXED BY occurrences_leased WHERE state = 1),
			(SELECT min(until) FROM nodes INDEXED BY nodes_live WHERE ended IS NULL),
			(SELECT min(not_before) FROM occurrences INDEXED BY occurrences_delayed WHERE waiting = 2),
			(SELECT value FROM counters WHERE name = 'mark')`, nil, func(r row) {
			due, deadline, lease, session, delayed, mark = r.int(0), r.int(1), r.int(2), r.int(3), r.int(4), r.int(5)
		})
		if err != nil {
			return h, err
		}
		if mark-now > store.ClockTolerance.Microseconds() {
			due = now
		}
		h.Due = instant(due)
		if deadline != 0 {
			deadline++ // it passes after this instant
		}
		h.Lease = instant(earliest(lease, deadline, session))
		ready, err := c.ready(ctx, now)
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
// are in queues that are full, at their rate, or paused.
func (c *conn) ready(ctx context.Context, now int64) (int64, error) {
	first := int64(0)
	full := map[int64]int64{} // by queue, when there is room; 0: when something ends
	lane := int64(-1)
	for {
		// From lane to lane: each is one look at the index.
		var queue int64
		found, err := c.one(ctx, `SELECT l.lane, l.queue FROM lanes l WHERE l.lane =
			(SELECT min(lane) FROM occurrences INDEXED BY occurrences_ready WHERE waiting = 1 AND lane > ?)`, []any{lane}, func(r row) { lane, queue = r.int(0), r.int(1) })
		if err != nil || !found {
			return first, err
		}
		if queue == 0 {
			return now, nil
		}
		at, known := full[queue]
		if !known {
			if at, err = c.room(ctx, queue, now); err != nil {
				return 0, err
			}
			full[queue] = at
		}
		if at != 0 && at <= now {
			return now, nil
		}
		first = earliest(first, at)
	}
}

// room is when the next occurrence may start in a queue, 0 while it is full or
// paused until somebody resumes it.
func (c *conn) room(ctx context.Context, queue, now int64) (int64, error) {
	var concurrency, active int64
	var rate pacing.Rate
	var pause pacing.Pause
	_, err := c.one(ctx, `SELECT concurrency, rate_count, rate_per, starts, paused_at, paused_until, (SELECT count(*) FROM occurrences INDEXED BY occurrences_queued
			WHERE state < 2 AND queue IS NOT NULL AND queue = ?1 AND state = 1) FROM queues WHERE queue = ?1`, []any{queue}, func(r row) {
		concurrency, active = r.int(0), r.int(6)
		pause = pacing.Pause{Since: r.int(4), Until: r.int(5)}
		rate.Count, rate.Per = r.int(1), r.int(2)
		rate.Read(r.str(3))
	})
	if err != nil || active >= concurrency {
		return 0, err
	}
	return pause.Open(rate.Next(now)), nil
}
