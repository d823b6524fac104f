package sqlite

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// Effects implements store.Reader: the newest first, or, where they are asked
// for by prefix, in the order of their keys.
func (s *Store) Effects(ctx context.Context, f store.EffectFilter, page store.Page) ([]store.EffectStatus, string, error) {
	type numbered struct {
		store.EffectStatus
		effect int64
	}
	n := limit(page)
	where := clause{}
	if f.Key != "" {
		where.add(" AND e.key = ?", f.Key)
	}
	if f.Occurrence != "" {
		schedule, period, ok := duly.SplitOccurrenceID(f.Occurrence)
		if !ok {
			return nil, "", duly.Invalid("occurrence", "%q names no occurrence; write schedule@period", f.Occurrence)
		}
		where.add(" AND e.sid = (SELECT sid FROM schedules WHERE id = ?) AND e.period = ?", schedule, period)
	}
	order := " ORDER BY e.effect DESC LIMIT ?"
	cursor := func(e numbered) string { return strconv.FormatInt(e.effect, 10) }
	after, key, _ := strings.Cut(page.Cursor, " ")
	effect, err := strconv.ParseInt(after, 10, 64)
	if page.Cursor != "" && err != nil {
		return nil, "", duly.Invalid("cursor", "%q is not a cursor of this list", page.Cursor)
	}
	if f.Prefix != "" {
		where.add(" AND e.key >= ? AND e.key < ?", f.Prefix, f.Prefix+"\U0010ffff")
		order = " ORDER BY e.key, e.effect LIMIT ?"
		cursor = func(e numbered) string { return strconv.FormatInt(e.effect, 10) + " " + e.Key }
		if page.Cursor != "" {
			where.add(" AND (e.key, e.effect) > (?, ?)", key, effect)
		}
	} else if page.Cursor != "" {
		where.add(" AND e.effect < ?", effect)
	}
	where.add(order, n+1)
	all, next, err := paged(ctx, s, n, func(c *conn, item func(numbered)) error {
		return c.query(ctx, `SELECT e.effect, e.key, e.attempt, e.token, e.created_at, e.result, e.reused, s.id, e.period, e.open
			FROM effects e JOIN schedules s ON s.sid = e.sid WHERE true`+where.text, where.args, func(r row) error {
			item(numbered{store.EffectStatus{
				Effect:     duly.Effect{Key: r.str(1), Attempt: int(r.int(2)), Token: r.int(3), CreatedAt: instant(r.int(4)), Result: r.bytes(5), Open: r.bool(9)},
				Occurrence: duly.OccurrenceID(r.str(7), r.str(8)), Reused: int(r.int(6)),
			}, r.int(0)})
			return nil
		})
	}, cursor)
	effects := make([]store.EffectStatus, len(all))
	for i, e := range all {
		effects[i] = e.EffectStatus
	}
	return effects, next, err
}

// Queues implements store.Reader: those that are defined, and those that
// schedules or open occurrences name, and those that are paused.
func (s *Store) Queues(ctx context.Context) ([]store.QueueStatus, error) {
	return read(ctx, s, func(c *conn) ([]store.QueueStatus, error) {
		all := []store.QueueStatus{}
		now := now()
		err := c.query(ctx, `SELECT * FROM (SELECT name, concurrency, rate_count, rate_per, owner,
				(SELECT count(*) FROM occurrences o INDEXED BY occurrences_queued WHERE o.state < 2 AND o.queue IS NOT NULL AND o.queue = q.queue AND o.state = 1) AS running,
				(SELECT count(*) FROM occurrences o INDEXED BY occurrences_queued WHERE o.state < 2 AND o.queue IS NOT NULL AND o.queue = q.queue AND o.state = 0) AS pending,
				EXISTS (SELECT 1 FROM schedules s WHERE s.queue = q.queue AND s.removed_at IS NULL) AS named,
				paused_at, paused_until, paused_by, paused_why, paused_at IS NOT NULL AND coalesce(paused_until > ?, true) AS paused
			FROM queues q) WHERE owner IS NOT NULL OR running OR pending OR named OR paused ORDER BY name`, []any{now}, func(r row) error {
			q := store.QueueStatus{Queue: queueOf(r.str(0), int(r.int(1)), r.int(2), r.int(3)), Running: int(r.int(5)), Pending: int(r.int(6))}
			if r.bool(12) {
				q.Paused = &store.PauseStatus{At: instant(r.int(8)), Until: instant(r.int(9)), By: r.str(10), Why: r.str(11)}
			}
			all = append(all, q)
			return nil
		})
		return all, err
	})
}

// NodeList implements store.Reader: the newest sessions first, at most a
// thousand.
func (s *Store) NodeList(ctx context.Context) ([]store.NodeStatus, error) {
	return read(ctx, s, func(c *conn) ([]store.NodeStatus, error) {
		all := []store.NodeStatus{}
		now := now()
		err := c.query(ctx, `SELECT n.node, m.name, n.host, n.pid, n.version, m.tzdata, n.capabilities, n.slots, n.ttl, n.running, n.clock_offset, n.draining,
				n.joined_at, n.seen_at, n.until, n.ended FROM nodes n JOIN makers m ON m.maker = n.maker ORDER BY n.node DESC LIMIT 1000`, nil, func(r row) error {
			n := store.NodeStatus{
				ID: r.int(0), JoinedAt: instant(r.int(12)), SeenAt: instant(r.int(13)), Until: instant(r.int(14)), State: "live",
				NodeInfo: store.NodeInfo{
					Name: r.str(1), Host: r.str(2), PID: int(r.int(3)), Version: r.str(4), TZData: r.str(5), Capabilities: unlist(r.str(6)), Slots: int(r.int(7)), TTL: span(r.int(8)),
				},
				NodeLoad: store.NodeLoad{Running: int(r.int(9)), ClockOffset: span(r.int(10)), Draining: r.bool(11)},
			}
			switch {
			case r.int(15) == endedLeft:
				n.State = "left"
			case r.int(15) == endedGone || r.int(14) <= now:
				n.State = "gone"
			}
			all = append(all, n)
			return nil
		})
		return all, err
	})
}

// LeaseList implements store.Reader: the leases that are held, by name,
// without their owner tokens.
func (s *Store) LeaseList(ctx context.Context) ([]duly.Lease, error) {
	return read(ctx, s, func(c *conn) ([]duly.Lease, error) {
		all := []duly.Lease{}
		now := now()
		err := c.query(ctx, selectLease+"WHERE until > ? ORDER BY name", []any{now, now}, func(r row) error {
			l := readLease(r)
			l.Owner = ""
			all = append(all, l)
			return nil
		})
		return all, err
	})
}

// Audit implements store.Reader: the newest first.
func (s *Store) Audit(ctx context.Context, object string, page store.Page) ([]store.AuditRow, string, error) {
	n := limit(page)
	where := clause{}
	if object != "" {
		where.add(" AND object = ?", object)
	}
	if page.Cursor != "" {
		before, err := strconv.ParseInt(page.Cursor, 10, 64)
		if err != nil {
			return nil, "", duly.Invalid("cursor", "%q is not a cursor of this list", page.Cursor)
		}
		where.add(" AND row < ?", before)
	}
	where.add(" ORDER BY row DESC LIMIT ?", n+1)
	return paged(ctx, s, n, func(c *conn, item func(store.AuditRow)) error {
		return c.query(ctx, "SELECT row, at, by, action, object, why, before, after FROM audit WHERE true"+where.text, where.args, func(r row) error {
			item(store.AuditRow{Seq: r.int(0), At: instant(r.int(1)), By: r.str(2), Action: r.str(3), Object: r.str(4), Why: r.str(5), Before: r.bytes(6), After: r.bytes(7)})
			return nil
		})
	}, func(a store.AuditRow) string { return strconv.FormatInt(a.Seq, 10) })
}

// Stats implements store.Reader.
func (s *Store) Stats(ctx context.Context) (store.Stats, error) {
	return read(ctx, s, func(c *conn) (store.Stats, error) {
		now := now()
		st := store.Stats{Now: instant(now), Occurrences: map[duly.State]int64{}, Skips: []store.SkipCount{}}
		counters := map[string]int64{}
		err := c.query(ctx, "SELECT name, value FROM counters", nil, func(r row) error {
			counters[r.str(0)] = r.int(1)
			return nil
		})
		if err != nil {
			return st, err
		}
		for code, state := range stateCodes {
			if n := counters[counterState(int64(code))]; n != 0 {
				st.Occurrences[state] = n
			}
		}
		st.Schedules, st.Paused = int(counters[counterSchedules]), int(counters[counterPaused])
		st.Pending, st.Running = int(counters[counterState(pending)]), int(counters[counterState(running)])
		st.Attention = int(attention(counters))
		nodes, err := c.number(ctx, "SELECT count(*) FROM nodes INDEXED BY nodes_live WHERE ended IS NULL AND until > ?", now)
		if err != nil {
			return st, err
		}
		st.Nodes = int(nodes)
		err = c.query(ctx, "SELECT s.id, k.reason, k.count FROM skips k INDEXED BY skips_count CROSS JOIN schedules s ON s.sid = k.sid ORDER BY k.count DESC LIMIT 1000", nil, func(r row) error {
			st.Skips = append(st.Skips, store.SkipCount{Schedule: r.str(0), Reason: r.str(1), Count: r.int(2)})
			return nil
		})
		slices.SortFunc(st.Skips, func(a, b store.SkipCount) int {
			return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Schedule, b.Schedule), cmp.Compare(a.Reason, b.Reason))
		})
		return st, err
	})
}
