package plan

import (
	"iter"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/timing"
)

// Simulation compares what two definitions of a schedule would do in a span of
// time, period by period.
type Simulation struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
	// Kept, Added, Dropped and Moved count periods: due at the same time as
	// before, due only now, due no more, due at another time.
	Kept    int `json:"kept"`
	Added   int `json:"added"`
	Dropped int `json:"dropped"`
	Moved   int `json:"moved"`
	// Changes lists those that are not kept, in order, the first MaxChanges of
	// them; Omitted counts the others.
	Changes []PeriodChange `json:"changes"`
	Omitted int            `json:"omitted,omitempty"`
	// Clocks are the clock changes of the new definition's zone, and Calendar
	// the periods that its calendar skips or moves (the first MaxChanges).
	Clocks   []ClockMark    `json:"clocks,omitempty"`
	Calendar []CalendarMark `json:"calendar,omitempty"`
	// Renamed: the definitions name periods by different units, so that every
	// period is dropped and added.
	Renamed bool `json:"renamed,omitempty"`
	// Cut: the span holds too much; only the time up to To was looked at.
	Cut bool `json:"cut,omitempty"`
}

// MaxChanges is how many rows each list of a Simulation has at most.
const MaxChanges = 1000

// maxSimulated is how many dues of one definition are looked at.
const maxSimulated = 1_000_000

// PeriodChange is what a new definition does to one period.
type PeriodChange struct {
	Period string    `json:"period"`
	Action string    `json:"action"` // added, dropped or moved
	Before time.Time `json:"before,omitzero"`
	After  time.Time `json:"after,omitzero"`
	// Why is the calendar's or the clocks' reason if that drops it.
	Why string `json:"why,omitempty"`
	// ClockChange: the clocks move on one of the local days that it is about.
	ClockChange bool `json:"clock_change,omitempty"`
}

// ClockMark is a clock change with what is due on its local day.
type ClockMark struct {
	At    time.Time   `json:"at"`
	Date  string      `json:"date"`
	Shift string      `json:"shift"` // "+1h0m0s" where clocks go forward
	Due   []time.Time `json:"due"`   // the first ten
}

// CalendarMark is a period that the calendar skips or moves.
type CalendarMark struct {
	Period  string    `json:"period"`
	Nominal time.Time `json:"nominal"`
	Due     time.Time `json:"due,omitzero"` // where it is moved
	Why     string    `json:"why,omitempty"`
}

// Simulate compares the dues of two definitions, from < nominal <= to, for a
// schedule that the store first met at anchor. old is nil for a new schedule.
// Intervals without an anchor of their own keep the schedule's.
func Simulate(old, new *Plan, anchor, from, to time.Time) Simulation {
	s := Simulation{From: from, To: to, Changes: []PeriodChange{}}
	sim := simulation{Simulation: &s, days: map[string]bool{}}
	sim.marks(new, anchor)
	if old != nil {
		s.Renamed = old.Def.Period != new.Def.Period
	}
	switch {
	case old == nil:
		sim.disjoint(nil, sim.dues(new, anchor))
	case s.Renamed:
		sim.disjoint(sim.dues(old, anchor), sim.dues(new, anchor))
	case new.Def.Period == duly.PeriodInstant:
		sim.merge(sim.dues(old, anchor), sim.dues(new, anchor))
	default:
		sim.match(sim.dues(old, anchor), sim.dues(new, anchor))
	}
	return s
}

type simulation struct {
	*Simulation
	days map[string]bool // local dates on which clocks move
	loc  *time.Location
}

// dues yields the dues of a definition, one for each period, up to a bound.
func (s *simulation) dues(p *Plan, anchor time.Time) iter.Seq[timing.Due] {
	return func(yield func(timing.Due) bool) {
		n := 0
		for d := range p.Timing.Sequence(anchor).PerPeriod(time.Time{}).ByNominal(s.From, s.To) {
			if n++; n > maxSimulated {
				s.Cut, s.To = true, d.Nominal.Add(-1)
				return
			}
			if !yield(d) {
				return
			}
		}
	}
}

// disjoint is for definitions that have no period in common.
func (s *simulation) disjoint(old, new iter.Seq[timing.Due]) {
	if old != nil {
		for d := range old {
			s.compare(&d, nil)
		}
	}
	for d := range new {
		s.compare(nil, &d)
	}
}

// merge is for periods that are instants, which come in the same order.
func (s *simulation) merge(old, new iter.Seq[timing.Due]) {
	next, stop := iter.Pull(new)
	defer stop()
	n, ok := next()
	for o := range old {
		for ; ok && n.Nominal.Before(o.Nominal); n, ok = next() {
			s.compare(nil, &n)
		}
		if ok && n.Nominal.Equal(o.Nominal) {
			s.compare(&o, &n)
			n, ok = next()
			continue
		}
		s.compare(&o, nil)
	}
	for ; ok; n, ok = next() {
		s.compare(nil, &n)
	}
}

// match is for periods that are hours or more, of which a span has few.
func (s *simulation) match(old, new iter.Seq[timing.Due]) {
	after := map[string]timing.Due{}
	var order []string
	for d := range new {
		after[d.Period] = d
		order = append(order, d.Period)
	}
	// Additions are listed before the first old period that they precede.
	i := 0
	known := map[string]bool{}
	var olds []timing.Due
	for d := range old {
		olds = append(olds, d)
		known[d.Period] = true
	}
	additions := func(before func(timing.Due) bool) {
		for ; i < len(order); i++ {
			d := after[order[i]]
			if !before(d) {
				return
			}
			if !known[d.Period] {
				s.compare(nil, &d)
			}
		}
	}
	for _, o := range olds {
		additions(func(d timing.Due) bool { return d.Nominal.Before(o.Nominal) })
		if n, ok := after[o.Period]; ok {
			s.compare(&o, &n)
		} else {
			s.compare(&o, nil)
		}
	}
	additions(func(timing.Due) bool { return true })
}

// compare counts and lists what becomes of a period. One that is skipped is as
// good as none.
func (s *simulation) compare(old, new *timing.Due) {
	if old != nil && old.Nominal.After(s.To) || new != nil && new.Nominal.After(s.To) {
		return // beyond where the other was cut
	}
	change := PeriodChange{}
	runs := func(d *timing.Due) bool { return d != nil && d.Skip == "" }
	switch {
	case runs(old) && runs(new) && old.At.Equal(new.At):
		s.Kept++
		return
	case runs(old) && runs(new):
		s.Moved++
		change = PeriodChange{Period: new.Period, Action: "moved", Before: old.At, After: new.At}
	case runs(new):
		s.Added++
		change = PeriodChange{Period: new.Period, Action: "added", After: new.At}
	case runs(old):
		s.Dropped++
		change = PeriodChange{Period: old.Period, Action: "dropped", Before: old.At}
		if new != nil {
			change.Why = new.Skip
		}
	default:
		return
	}
	if len(s.Changes) == MaxChanges {
		s.Omitted++
		return
	}
	for _, d := range [...]*timing.Due{old, new} {
		change.ClockChange = change.ClockChange || d != nil && s.days[d.At.In(s.loc).Format(time.DateOnly)]
	}
	s.Changes = append(s.Changes, change)
}

// marks notes what the clocks and the calendar do to the new definition.
func (s *simulation) marks(p *Plan, anchor time.Time) {
	s.loc = p.Timing.Location()
	seq := p.Timing.Sequence(anchor).PerPeriod(time.Time{})
	for _, c := range p.Timing.ClockChanges(s.From, s.To) {
		day := c.At.In(s.loc)
		mark := ClockMark{At: c.At, Date: day.Format(time.DateOnly), Shift: c.Shift.String(), Due: []time.Time{}}
		if c.Shift > 0 {
			mark.Shift = "+" + mark.Shift
		}
		s.days[mark.Date] = true
		for d := range seq.Between(c.At.Add(-36*time.Hour), c.At.Add(36*time.Hour)) {
			if d.At.In(s.loc).Format(time.DateOnly) == mark.Date && d.Skip == "" && len(mark.Due) < 10 {
				mark.Due = append(mark.Due, d.At)
			}
		}
		s.Clocks = append(s.Clocks, mark)
	}
	if p.Def.Calendar == nil {
		return
	}
	for d := range s.dues(p, anchor) {
		if d.Skip == "" && d.At.Equal(d.Nominal) {
			continue
		}
		if len(s.Calendar) == MaxChanges {
			return
		}
		mark := CalendarMark{Period: d.Period, Nominal: d.Nominal, Why: d.Skip}
		if d.Skip == "" {
			mark.Due = d.At
		}
		s.Calendar = append(s.Calendar, mark)
	}
}
