package memstore

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// Horizon implements store.Planner.
func (s *Store) Horizon(ctx context.Context) (store.Horizon, error) {
	return step(ctx, s, func() (store.Horizon, error) {
		h := store.Horizon{Now: s.now(time.Time{})}
		for _, sc := range s.schedules {
			if sc.removed.IsZero() {
				h.Due = first(h.Due, sc.next)
			}
		}
		if s.mark.Sub(h.Now) > store.ClockTolerance && !s.opt.Bugs.ClockBackUnnoticed {
			h.Due = h.Now
		}
		for _, n := range s.nodes {
			if !n.ended {
				h.Lease = first(h.Lease, n.Until)
			}
		}
		for _, o := range s.open {
			if o.State == duly.Running {
				h.Lease = first(h.Lease, o.newest().LeaseUntil)
				continue
			}
			if len(o.attempts) == 0 && !o.StartBy.IsZero() {
				h.Lease = first(h.Lease, o.StartBy.Add(time.Microsecond)) // it passes after this instant
			}
			h.Ready = first(h.Ready, s.ready(o, h.Now))
		}
		return h, nil
	})
}

// first is the earlier of two instants that may be never.
func first(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// ready is when a pending occurrence may start, as things stand.
func (s *Store) ready(o *occurrence, now time.Time) time.Time {
	at := now
	switch s.waiting(o, now) {
	case duly.WaitingEarlier:
		return time.Time{}
	case duly.WaitingTime:
		at = o.NotBefore
	}
	if o.Queue == "" {
		return at
	}
	opens := s.opens(s.queue(o.Queue), now)
	if opens.IsZero() {
		return opens
	}
	return later(at, opens)
}

// Effects implements store.Reader: the newest first, or, where they are asked
// for by prefix, in the order of their keys.
func (s *Store) Effects(ctx context.Context, f store.EffectFilter, page store.Page) ([]store.EffectStatus, string, error) {
	if f.Occurrence != "" {
		if _, _, ok := duly.SplitOccurrenceID(f.Occurrence); !ok {
			return nil, "", duly.Invalid("occurrence", "%q names no occurrence; write schedule@period", f.Occurrence)
		}
	}
	return list(ctx, s, func() ([]store.EffectStatus, string, error) {
		var all []*effect
		for _, e := range slices.Backward(s.effects) {
			if (f.Key == "" || e.Key == f.Key) && strings.HasPrefix(e.Key, f.Prefix) && (f.Occurrence == "" || e.Occurrence == f.Occurrence) {
				all = append(all, e)
			}
		}
		if f.Prefix != "" {
			slices.SortStableFunc(all, func(a, b *effect) int { return cmp.Compare(a.Key, b.Key) })
		}
		if page.Cursor != "" {
			i := slices.IndexFunc(all, func(e *effect) bool { return strconv.Itoa(e.seq) == page.Cursor })
			if i < 0 {
				return nil, "", duly.Invalid("cursor", "%q is not a cursor of this list", page.Cursor)
			}
			all = all[i+1:]
		}
		some, next := paged(all, page, func(e *effect) string { return strconv.Itoa(e.seq) })
		items := make([]store.EffectStatus, len(some))
		for i, e := range some {
			items[i] = e.EffectStatus
		}
		return items, next, nil
	})
}

// Queues implements store.Reader.
func (s *Store) Queues(ctx context.Context) ([]store.QueueStatus, error) {
	return step(ctx, s, func() ([]store.QueueStatus, error) {
		now := s.now(time.Time{})
		all := []store.QueueStatus{}
		for _, name := range slices.Sorted(maps.Keys(s.queues)) {
			q := s.queues[name]
			st := store.QueueStatus{Queue: q.Queue, Running: s.running(name), Paused: q.pausedAt(now)}
			for _, o := range s.open {
				if o.Queue == name && o.State == duly.Pending {
					st.Pending++
				}
			}
			named := q.owner != "" || st.Running > 0 || st.Pending > 0 || st.Paused != nil
			for _, sc := range s.schedules {
				named = named || sc.def.Queue == name && sc.removed.IsZero()
			}
			if named {
				all = append(all, st)
			}
		}
		return all, nil
	})
}

// Audit implements store.Reader.
func (s *Store) Audit(ctx context.Context, object string, page store.Page) ([]store.AuditRow, string, error) {
	return list(ctx, s, func() ([]store.AuditRow, string, error) {
		before, err := before(page)
		if err != nil {
			return nil, "", err
		}
		var all []store.AuditRow
		for _, r := range slices.Backward(s.audit) {
			if r.Seq < before && (object == "" || r.Object == object) {
				all = append(all, r)
			}
		}
		items, next := paged(all, page, func(r store.AuditRow) string { return strconv.FormatInt(r.Seq, 10) })
		return items, next, nil
	})
}

// Stats implements store.Reader.
func (s *Store) Stats(ctx context.Context) (store.Stats, error) {
	return step(ctx, s, func() (store.Stats, error) {
		st := store.Stats{Now: s.now(time.Time{}), Occurrences: map[duly.State]int64{}, Skips: []store.SkipCount{}}
		for _, state := range duly.States {
			if n := s.counts[state]; n != 0 {
				st.Occurrences[state] = n
			}
			if state.NeedsAttention() {
				st.Attention += int(s.counts[state] - s.counts[trimmed(state)])
			}
		}
		st.Pending, st.Running = int(s.counts[duly.Pending]), int(s.counts[duly.Running])
		for _, n := range s.nodes {
			if n.live(st.Now) {
				st.Nodes++
			}
		}
		for _, sc := range s.schedules {
			if sc.removed.IsZero() {
				st.Schedules++
				if sc.paused != nil {
					st.Paused++
				}
			}
			for reason, n := range sc.skips {
				st.Skips = append(st.Skips, store.SkipCount{Schedule: sc.id, Reason: reason, Count: n})
			}
		}
		slices.SortFunc(st.Skips, func(a, b store.SkipCount) int {
			return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Schedule, b.Schedule), cmp.Compare(a.Reason, b.Reason))
		})
		return st, nil
	})
}
