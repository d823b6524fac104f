package timing

import (
	"fmt"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/calendar"
)

// PerPeriod returns the sequence with the first due of each business period
// alone, of those whose nominal instants come after since: the later ones would
// be of the same name. A schedule that is due at most once in a period is
// unchanged.
func (s Sequence) PerPeriod(since time.Time) Sequence {
	if s.t.repeats() {
		s.distinct, s.since = true, since
	}
	return s
}

// repeats reports whether several dues may share a period.
func (t *Timing) repeats() bool {
	switch {
	case t.unit == duly.PeriodInstant || len(t.sources) == 0:
		return false
	case len(t.sources) > 1 || t.unit == duly.PeriodWeek || t.unit == duly.PeriodMonth:
		return true
	}
	return !t.sources[0].daily
}

// Find returns the due that a period names, and false if there is none.
func (s Sequence) Find(period string) (Due, bool) {
	unit := calendar.Unit(s.t.unit)
	name, err := calendar.ParseKey(unit, period)
	if err != nil {
		return Due{}, false
	}
	if unit != calendar.Instant && s.t.offset != 0 {
		if name, err = calendar.Neighbour(unit, name, -s.t.offset, s.t.loc); err != nil {
			return Due{}, false
		}
	}
	start, end, err := calendar.Bounds(unit, name, s.t.loc)
	if err != nil {
		return Due{}, false
	}
	for n, ok := s.rawNext(start.Add(-1)); ok && n.Before(end); n, ok = s.rawNext(n) {
		if d := s.due(n); d.Period == period {
			return d, true
		}
	}
	return Due{}, false
}

// Near describes the periods next to one that a schedule does not have, for an
// error message: those of the dues around an instant.
func (s Sequence) Near(t time.Time) string {
	before, hasBefore := s.Prev(t)
	after, hasAfter := s.Next(t.Add(-1))
	switch {
	case hasBefore && hasAfter:
		return fmt.Sprintf("the nearest are %s and %s", before.Period, after.Period)
	case hasBefore:
		return "the last is " + before.Period
	case hasAfter:
		return "the first is " + after.Period
	}
	return "it is never due"
}

// bounds returns the first instant of the period, before any offset, in which
// a nominal instant lies, and that of the next one.
func (s Sequence) bounds(n time.Time) (start, end time.Time) {
	unit := calendar.Unit(s.t.unit)
	start, end, err := calendar.Bounds(unit, calendar.Key(unit, 0, n, s.t.loc), s.t.loc)
	if err != nil || start.After(n) || !end.After(n) {
		return n, n.Add(1)
	}
	return start, end
}

// firstOf returns the first nominal instant in the period of one.
func (s Sequence) firstOf(n time.Time) time.Time {
	start, _ := s.bounds(n)
	after := start.Add(-1)
	if s.since.After(after) && s.since.Before(n) {
		after = s.since
	}
	if first, ok := s.rawNext(after); ok {
		return first
	}
	return n
}

// nextNominal returns the first instant after the given one that the timings
// name, within the bounds and not excluded.
func (s Sequence) nextNominal(after time.Time) (time.Time, bool) {
	n, ok := s.rawNext(after)
	if !s.distinct {
		return n, ok
	}
	for ok && !s.firstOf(n).Equal(n) {
		_, end := s.bounds(n)
		skip := end.Add(-1)
		if !s.since.Before(n) && s.since.Before(skip) {
			skip = s.since // from there on the period counts anew
		}
		n, ok = s.rawNext(skip)
	}
	return n, ok
}

// prevNominal returns the last such instant before the given one.
func (s Sequence) prevNominal(before time.Time) (time.Time, bool) {
	n, ok := s.rawPrev(before)
	if !s.distinct || !ok {
		return n, ok
	}
	return s.firstOf(n), true
}
