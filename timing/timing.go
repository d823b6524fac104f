package timing

import (
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/cron"
)

// Timing is the compiled form of all that a schedule says about time. It never
// changes and may be shared by goroutines and by schedules.
type Timing struct {
	loc     *time.Location
	sources []source
	except  []exclusion
	// start <= nominal < end; zero for no bound.
	start, end time.Time
	business   *business // nil: every day has business
	unit       duly.PeriodUnit
	offset     int
	warnings   []string

	// fixed is the sequence if no part of it depends on a schedule's anchor.
	fixed *Sequence
}

// Location is the schedule's zone.
func (t *Timing) Location() *time.Location { return t.loc }

// Unit is the unit of the business periods: the one that was asked for, or the
// default.
func (t *Timing) Unit() duly.PeriodUnit { return t.unit }

// Warnings says what a person should know who may have meant something else,
// one sentence each.
func (t *Timing) Warnings() []string { return t.warnings }

// IsZero reports whether the schedule has no timing: a platform does it.
func (t *Timing) IsZero() bool { return len(t.sources) == 0 }

// Sequence returns the due instants of a schedule that the store first met at
// anchor. Only intervals without an anchor of their own depend on it.
func (t *Timing) Sequence(anchor time.Time) Sequence {
	if t.fixed != nil {
		return *t.fixed
	}
	return t.sequence(anchor)
}

func (t *Timing) sequence(anchor time.Time) Sequence {
	s := Sequence{t: t}
	due, real := make([]cron.Sequence, len(t.sources)), make([]cron.Sequence, len(t.sources))
	skips := false
	for i, src := range t.sources {
		due[i] = src.sequence(anchor)
		real[i] = due[i]
		if src.real != nil {
			real[i], skips = src.real, true
		}
	}
	s.base = join(due)
	if skips {
		s.real = join(real)
	}
	if len(t.except) > 0 {
		s.except = make([]cron.Sequence, len(t.except))
		for i, x := range t.except {
			s.except[i] = x.sequence(anchor)
		}
	}
	return s
}

// source is one compiled timing.
type source struct {
	seq cron.Sequence // nil where it depends on the anchor
	// real leaves out what falls into a gap of the clocks, where seq has it as
	// something to be recorded as skipped. Nil where there is no difference.
	real  cron.Sequence
	every time.Duration
	// plain counts the wall times of a cron expression; nil for other timings.
	plain *wallCount
	// perDay is an upper bound of the instants on a local day of 24 hours.
	perDay int
	// daily: at most one instant on a local date.
	daily bool
}

func (s source) sequence(anchor time.Time) cron.Sequence {
	if s.seq != nil {
		return s.seq
	}
	seq, err := cron.Every(s.every, anchor)
	if err != nil {
		return cron.At() // an anchor outside the years 1970-9999: never due
	}
	return seq
}

// union is due whenever one of its parts is.
type union []cron.Sequence

func join(parts []cron.Sequence) cron.Sequence {
	if len(parts) == 1 {
		return parts[0]
	}
	return union(parts)
}

func (u union) Next(after time.Time) (first time.Time, ok bool) {
	for _, part := range u {
		if t, found := part.Next(after); found && (!ok || t.Before(first)) {
			first, ok = t, true
		}
	}
	return first, ok
}

func (u union) Prev(before time.Time) (last time.Time, ok bool) {
	for _, part := range u {
		if t, found := part.Prev(before); found && (!ok || t.After(last)) {
			last, ok = t, true
		}
	}
	return last, ok
}

// has reports whether an instant belongs to a sequence.
func has(s cron.Sequence, t time.Time) bool {
	n, ok := s.Next(t.Add(-1))
	return ok && n.Equal(t)
}
