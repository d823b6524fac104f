package plan

import (
	"cmp"
	"slices"
	"time"

	"github.com/duly-dev/duly/timing"
)

// Simulation is what a new definition would do to the periods of a schedule if
// it came into force at the beginning of a span of time.
type Simulation struct {
	// Before and After count the periods that are due in the span under the
	// old and under the new definition.
	Before, After int
	// Added, Dropped and Moved count those that differ.
	Added, Dropped, Moved int
	// Changes lists the first MaxChanges of those that differ, in order of
	// time; Omitted counts the others.
	Changes []PeriodChange
	Omitted int
	// To is how far the definitions were compared: less than asked for where
	// one of them has very many periods.
	To time.Time
}

// PeriodChange is what a new definition does to one period.
type PeriodChange struct {
	Period string
	// Before and After are when it is due; zero for not at all. BeforeLocal
	// and AfterLocal are the same by the clock of the definition's zone.
	Before, After           time.Time
	BeforeLocal, AfterLocal string
	// Note says why it is dropped, where the calendar moves it, and whether
	// the clocks change on its day.
	Note string
}

// MaxChanges is how many periods a Simulation lists at most.
const MaxChanges = 1000

// maxSimulated is how many periods of one definition are looked at.
const maxSimulated = 100_000

// Simulate compares the periods of two definitions that are due in a span,
// from <= due < to, for a schedule that the store first met at anchor. old is
// nil for a schedule that does not exist yet.
//
// It is what would happen if next came into force at from. A period that was
// due before from under the old definition has happened: the new one, that has
// it later, does not add it. One that the new definition has before from has
// passed by then: it is dropped.
func Simulate(old, next *Plan, anchor, from, to time.Time) Simulation {
	before, after := foresee(old, anchor, from, to), foresee(next, anchor, from, to)
	s := Simulation{To: earlier(before.end, after.end)}
	for _, d := range before.dues {
		if !d.At.Before(s.To) {
			break
		}
		s.Before++
		then, runs := after.find(d.Period)
		change := PeriodChange{Period: d.Period, Before: d.At}
		switch {
		case !runs:
			s.Dropped++
			change.Note = then.Skip
		case then.At.Before(from):
			s.Dropped++
			change.Note = "it would have been due " + next.Local(then.At) + ", which has passed"
		case !then.At.Equal(d.At):
			s.Moved++
			change.After, change.Note = then.At, moved(next, then)
		default:
			continue
		}
		s.Changes = append(s.Changes, change)
	}
	for _, d := range after.dues {
		if !d.At.Before(s.To) {
			break
		}
		was, ran := before.find(d.Period)
		switch {
		case ran && was.At.Before(from):
			continue // it has happened
		case !ran:
			s.Added++
			s.Changes = append(s.Changes, PeriodChange{Period: d.Period, After: d.At, Note: cmp.Or(moved(next, d), was.Skip)})
		case !was.At.Before(s.To): // else it is counted above
			s.Moved++
			s.Changes = append(s.Changes, PeriodChange{Period: d.Period, Before: was.At, After: d.At, Note: moved(next, d)})
		}
		s.After++
	}
	s.list(old, next)
	return s
}

// list puts the changes into order, cuts them, and describes what is left.
func (s *Simulation) list(old, next *Plan) {
	slices.SortStableFunc(s.Changes, func(a, b PeriodChange) int { return a.at().Compare(b.at()) })
	if len(s.Changes) > MaxChanges {
		s.Omitted = len(s.Changes) - MaxChanges
		s.Changes = slices.Clone(s.Changes[:MaxChanges]) // the rest is not kept in memory
	}
	for i := range s.Changes {
		s.Changes[i].describe(old, next)
	}
}

// at is where a change stands in the order of time.
func (c *PeriodChange) at() time.Time {
	if c.Before.IsZero() {
		return c.After
	}
	return c.Before
}

// describe adds local times, and a note where the clocks change on that day.
func (c *PeriodChange) describe(old, next *Plan) {
	clocks := ""
	if !c.Before.IsZero() {
		c.BeforeLocal = old.Local(c.Before)
		clocks = clockChange(c.Before.In(old.Timing.Location()))
	}
	if !c.After.IsZero() {
		c.AfterLocal = next.Local(c.After)
		clocks = cmp.Or(clocks, clockChange(c.After.In(next.Timing.Location())))
	}
	switch {
	case c.Note == "":
		c.Note = clocks
	case clocks != "":
		c.Note += "; " + clocks
	}
}

// clockChange says whether the clocks change on a local day.
func clockChange(t time.Time) string {
	y, m, d := t.Date()
	_, before := time.Date(y, m, d, 0, 0, 0, 0, t.Location()).Zone()
	_, after := time.Date(y, m, d+1, 0, 0, 0, 0, t.Location()).Zone()
	switch {
	case after > before:
		return "clocks go forward"
	case after < before:
		return "clocks go back"
	}
	return ""
}

// moved says what the calendar did to a due.
func moved(p *Plan, d timing.Due) string {
	if d.At.Equal(d.Nominal) {
		return ""
	}
	return "its calendar moves it from " + d.Nominal.In(p.Timing.Location()).Format("Mon 2006-01-02")
}

// foresight is what a definition has due in a span, in order.
type foresight struct {
	end  time.Time // of the span, or of what was looked at
	dues []timing.Due
	at   map[string]int // index by period
	seq  timing.Sequence
	none bool // no definition
}

func foresee(p *Plan, anchor, from, to time.Time) foresight {
	f := foresight{end: to, at: map[string]int{}, none: p == nil}
	if f.none {
		return f
	}
	f.seq = p.Timing.Sequence(anchor).PerPeriod(time.Time{})
	seen := 0
	for d := range f.seq.Between(from.Add(-1), to.Add(-1)) {
		if seen++; seen > maxSimulated {
			f.end = d.At
			break
		}
		if d.Skip == "" {
			f.at[d.Period] = len(f.dues)
			f.dues = append(f.dues, d)
		}
	}
	return f
}

// find returns the due of a period, wherever it lies, and whether it runs.
func (f foresight) find(period string) (timing.Due, bool) {
	if i, ok := f.at[period]; ok {
		return f.dues[i], true
	}
	if f.none {
		return timing.Due{}, false
	}
	d, ok := f.seq.Find(period)
	return d, ok && d.Skip == ""
}
