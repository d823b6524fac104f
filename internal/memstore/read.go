package memstore

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// paged is a page of a list, and the cursor for the next one.
func paged[T any](all []T, p store.Page, cursor func(T) string) ([]T, string) {
	n := p.Limit
	if n <= 0 {
		n = 100
	}
	n = min(n, 1000)
	if len(all) <= n {
		return slices.Clone(all), ""
	}
	return slices.Clone(all[:n]), cursor(all[n-1])
}

// before reads a cursor that is a number: what comes after it in a list whose
// newest are first.
func before(p store.Page) (int64, error) {
	if p.Cursor == "" {
		return 1<<63 - 1, nil
	}
	n, err := strconv.ParseInt(p.Cursor, 10, 64)
	if err != nil {
		return 0, duly.Invalid("cursor", "%q is not a cursor of this list", p.Cursor)
	}
	return n, nil
}

// list is step for lists.
func list[T any](ctx context.Context, s *Store, read func() ([]T, string, error)) ([]T, string, error) {
	type page struct {
		items  []T
		cursor string
	}
	p, err := step(ctx, s, func() (p page, err error) {
		p.items, p.cursor, err = read()
		return p, err
	})
	if p.items == nil && err == nil {
		p.items = []T{}
	}
	return p.items, p.cursor, err
}

// Revisions implements store.Reader.
func (s *Store) Revisions(ctx context.Context, schedule string) ([]store.Revision, error) {
	return step(ctx, s, func() ([]store.Revision, error) {
		sc := s.schedules[schedule]
		if sc == nil {
			return nil, notFound("schedule", schedule)
		}
		return slices.Clone(sc.revisions), nil
	})
}

func (sc *schedule) status() store.ScheduleStatus {
	st := store.ScheduleStatus{
		Schedule: sc.def, Revision: sc.revision().Number, Owner: sc.owner, CreatedAt: sc.created, UpdatedAt: sc.updated, Anchor: sc.anchor,
		Cursor: sc.cursor, NextDue: sc.next, Fired: sc.fired, Orphaned: !sc.orphaned.IsZero(), OrphanedAt: sc.orphaned, LastSuccess: sc.succeeded,
	}
	st.ID = sc.id
	if sc.paused != nil {
		p := *sc.paused
		st.Paused = &p
	}
	if n := len(sc.chain); n > 0 {
		o := sc.chain[n-1]
		st.Last = &store.LastOccurrence{ID: o.ID, Due: o.Due, State: o.State}
	}
	return st
}

// Schedule implements store.Reader.
func (s *Store) Schedule(ctx context.Context, id string) (store.ScheduleStatus, error) {
	return step(ctx, s, func() (store.ScheduleStatus, error) {
		sc, err := s.existing(id)
		if err != nil {
			return store.ScheduleStatus{}, err
		}
		return sc.status(), nil
	})
}

// Schedules implements store.Reader.
func (s *Store) Schedules(ctx context.Context, f store.ScheduleFilter, page store.Page) ([]store.ScheduleStatus, string, error) {
	differs := func(want *bool, is bool) bool { return want != nil && *want != is }
	return list(ctx, s, func() ([]store.ScheduleStatus, string, error) {
		var all []store.ScheduleStatus
		for _, id := range s.ids() {
			sc := s.schedules[id]
			switch {
			case !sc.removed.IsZero(), id <= page.Cursor, !strings.HasPrefix(id, f.Prefix),
				f.Owner != "" && sc.owner != f.Owner, f.Queue != "" && sc.def.Queue != f.Queue,
				differs(f.Paused, sc.paused != nil), differs(f.Orphaned, !sc.orphaned.IsZero()),
				f.Alone && sc.def.WhenUnavailable != duly.UnavailableRun:
				continue
			}
			all = append(all, sc.status())
		}
		items, next := paged(all, page, func(st store.ScheduleStatus) string { return st.ID })
		return items, next, nil
	})
}

// read is an occurrence as readers get it.
func (s *Store) read(o *occurrence, now time.Time, output bool) duly.Occurrence {
	r := o.Occurrence
	r.Covers = slices.Clone(o.Covers)
	r.Waiting = s.waiting(o, now)
	if r.State != duly.Pending {
		r.NotBefore = time.Time{}
	}
	r.Attempts = make([]duly.Attempt, len(o.attempts))
	for i, a := range o.attempts {
		r.Attempts[i] = a.Attempt
		if !output {
			r.Attempts[i].Output = ""
		}
	}
	r.Effects = []duly.Effect{}
	return r
}

// Occurrence implements store.Reader.
func (s *Store) Occurrence(ctx context.Context, id string) (duly.Occurrence, error) {
	return step(ctx, s, func() (duly.Occurrence, error) {
		o, err := s.find(id)
		if err != nil {
			return duly.Occurrence{}, err
		}
		r := s.read(o, s.now(time.Time{}), true)
		r.Unowned = o.unownedOf()
		for _, e := range s.effects {
			if e.Occurrence == id {
				r.Effects = append(r.Effects, e.Effect)
			}
		}
		return r, nil
	})
}

// Occurrences implements store.Reader.
func (s *Store) Occurrences(ctx context.Context, f store.OccurrenceFilter, page store.Page) ([]duly.Occurrence, string, error) {
	return list(ctx, s, func() ([]duly.Occurrence, string, error) {
		before, err := before(page)
		if err != nil {
			return nil, "", err
		}
		from := s.all
		if f.Schedule != "" {
			from = nil
			if sc := s.schedules[f.Schedule]; sc != nil {
				from = sc.chain
			}
		}
		var all []*occurrence
		for _, o := range slices.Backward(from) {
			switch {
			case o.Seq >= before, f.Attention && !o.State.NeedsAttention(), len(f.States) > 0 && !slices.Contains(f.States, o.State),
				!f.From.IsZero() && o.Due.Before(f.From), !f.To.IsZero() && !o.Due.Before(f.To):
				continue
			}
			all = append(all, o)
		}
		some, next := paged(all, page, func(o *occurrence) string { return strconv.FormatInt(o.Seq, 10) })
		items := make([]duly.Occurrence, len(some))
		now := s.now(time.Time{})
		for i, o := range some {
			items[i] = s.read(o, now, false)
		}
		return items, next, nil
	})
}

// Attempts implements store.Reader.
func (s *Store) Attempts(ctx context.Context, keys []store.AttemptKey) ([]store.AttemptFacts, error) {
	return step(ctx, s, func() ([]store.AttemptFacts, error) {
		facts := make([]store.AttemptFacts, len(keys))
		for i, k := range keys {
			o := s.bySeq[k.Seq]
			if o == nil {
				continue
			}
			for _, a := range o.attempts {
				if a.Token == k.Token {
					facts[i] = store.AttemptFacts{Seq: o.Seq, Schedule: o.Schedule, Period: o.Period, Definition: o.definition, Attempt: a.Number, Tries: a.tries}
				}
			}
		}
		return facts, nil
	})
}
