package postgres

import (
	"context"
	"encoding/json"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

const (
	defaultPage = 100
	maxPage     = 1000
)

// limit is how many items a page holds.
func limit(p store.Page) int {
	if p.Limit <= 0 {
		return defaultPage
	}
	return min(p.Limit, maxPage)
}

// Definition implements store.Reader.
func (s *Store) Definition(ctx context.Context, id int64) (duly.Schedule, error) {
	return look(ctx, s, func(c *conn) (def duly.Schedule, err error) {
		content, err := c.content(id)
		if err == nil {
			err = json.Unmarshal(content, &def)
		}
		return def, err
	})
}

// Definitions implements store.Reader.
func (s *Store) Definitions(ctx context.Context, ids []int64) (map[int64]duly.Schedule, error) {
	return look(ctx, s, func(c *conn) (map[int64]duly.Schedule, error) {
		defs := make(map[int64]duly.Schedule, len(ids))
		return defs, c.query("SELECT definition, content FROM duly.definitions WHERE definition = ANY(?)", []any{ids}, func(r row) error {
			var def duly.Schedule
			if json.Unmarshal(r.json(1), &def) == nil {
				defs[r.int(0)] = def
			}
			return nil
		})
	})
}

// Revisions implements store.Reader.
func (s *Store) Revisions(ctx context.Context, schedule string) ([]store.Revision, error) {
	return read(ctx, s, func(c *conn) (all []store.Revision, err error) {
		err = c.query("SELECT v.number, v.definition, v.from_at FROM duly.schedules s JOIN duly.revisions v ON v.sid = s.sid WHERE s.id = ? ORDER BY v.number", []any{schedule}, func(r row) error {
			all = append(all, store.Revision{Number: r.int(0), Definition: r.int(1), From: instant(r.int(2))})
			return nil
		})
		if err == nil && len(all) == 0 {
			err = notFound("schedule", schedule)
		}
		return all, err
	})
}

const selectStatus = `SELECT s.id, d.content, t.revision, s.owner, s.created_at, s.updated_at, t.anchor, t.cursor, t.next_due, t.fired, s.orphaned_at,
	s.paused_at, s.paused_by, s.paused_why, s.paused_until, s.paused_policy, o.period, o.due, o.state, t.succeeded_at, duly.clock()
	FROM duly.schedules s JOIN duly.tracks t ON t.sid = s.sid JOIN duly.definitions d ON d.definition = t.definition
	LEFT JOIN duly.occurrences o ON o.seq = t.newest WHERE s.removed_at IS NULL`

func readStatus(r row) (st store.ScheduleStatus, err error) {
	if err := json.Unmarshal(r.json(1), &st.Schedule); err != nil {
		return st, err
	}
	st.ID = r.str(0)
	st.Revision, st.Owner, st.CreatedAt, st.UpdatedAt = r.int(2), r.str(3), instant(r.int(4)), instant(r.int(5))
	st.Anchor, st.Cursor, st.NextDue, st.Fired = instant(r.int(6)), instant(r.int(7)), instant(r.int(8)), int(r.int(9))
	st.Orphaned, st.OrphanedAt = !r.null(10), instant(r.int(10))
	if !r.null(11) {
		st.Paused = &store.PauseStatus{
			At: instant(r.int(11)), By: r.str(12), Why: r.str(13), Until: instant(r.int(14)), Policy: duly.CatchUpPolicy(r.str(15)),
		}
		st.NextDue = st.Paused.Until
	}
	if !r.null(16) {
		st.Last = &store.LastOccurrence{ID: duly.OccurrenceID(st.ID, r.str(16)), Due: instant(r.int(17)), State: stateCodes[r.int(18)]}
	}
	st.LastSuccess = instant(r.int(19))
	return st, nil
}

// Schedule implements store.Reader.
func (s *Store) Schedule(ctx context.Context, id string) (store.ScheduleStatus, error) {
	return look(ctx, s, func(c *conn) (st store.ScheduleStatus, err error) { // one statement agrees with itself
		found := false
		err = c.query(selectStatus+" AND s.id = ?", []any{id}, func(r row) (err error) {
			found = true
			st, err = readStatus(r)
			st.Now = instant(r.int(20))
			return err
		})
		if err == nil && !found {
			err = notFound("schedule", id)
		}
		return st, err
	})
}

// Schedules implements store.Reader. They come in the order of their IDs.
func (s *Store) Schedules(ctx context.Context, f store.ScheduleFilter, page store.Page) ([]store.ScheduleStatus, string, error) {
	where := clause{}
	where.add(" AND s.id > ?", page.Cursor)
	if f.Prefix != "" {
		where.add(" AND s.id >= ? AND s.id < ?", f.Prefix, f.Prefix+"\U0010ffff")
	}
	if f.Owner != "" {
		where.add(" AND s.owner = ?", f.Owner)
	}
	if f.Queue != "" {
		where.add(" AND s.queue = (SELECT queue FROM duly.queues WHERE name = ?)", f.Queue)
	}
	if f.Alone {
		where.add(" AND s.alone IS NOT NULL")
	}
	where.isNull("s.paused_at", f.Paused)
	where.isNull("s.orphaned_at", f.Orphaned)
	n := limit(page)
	where.add(" ORDER BY s.id LIMIT ?", n+1)
	return paged(ctx, s, n, func(c *conn, item func(store.ScheduleStatus)) error {
		return c.query(selectStatus+where.text, where.args, func(r row) error {
			st, err := readStatus(r)
			item(st)
			return err
		})
	}, func(st store.ScheduleStatus) string { return st.ID })
}

// clause is the end of a query that grows with its conditions.
type clause struct {
	text string
	args []any
}

func (c *clause) add(text string, args ...any) {
	c.text += text
	c.args = append(c.args, args...)
}

// isNull adds that a column is set, or not, where that is asked for.
func (c *clause) isNull(column string, set *bool) {
	switch {
	case set == nil:
	case *set:
		c.text += " AND " + column + " IS NOT NULL"
	default:
		c.text += " AND " + column + " IS NULL"
	}
}

// paged reads a page of n items and one more, which tells whether there is a
// next page. cursor names an item for the page after it.
func paged[T any](ctx context.Context, s *Store, n int, query func(c *conn, item func(T)) error, cursor func(T) string) ([]T, string, error) {
	items, err := read(ctx, s, func(c *conn) ([]T, error) {
		items := []T{}
		err := query(c, func(item T) { items = append(items, item) })
		return items, err
	})
	if err != nil {
		return nil, "", err
	}
	if len(items) <= n {
		return items, "", nil
	}
	return items[:n], cursor(items[n-1]), nil
}
