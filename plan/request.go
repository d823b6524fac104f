package plan

import (
	"fmt"
	"iter"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/calendar"
	"github.com/duly-dev/duly/store"
	"github.com/duly-dev/duly/timing"
)

// The functions of this file make what a person or a platform asks for. The
// caller sets Revision and Definition, which a Plan does not know.

// Manual makes an occurrence with an identity of its own, due now, that can
// never swallow one of the schedule's. suffix tells apart two of one second; it
// is made of letters, digits and '-'.
func Manual(p *Plan, now time.Time, suffix string) store.NewOccurrence {
	o := p.requested(duly.OriginTrigger)
	o.Period = "manual-" + now.UTC().Format("20060102T150405Z")
	if suffix != "" {
		o.Period += "-" + suffix
	}
	o.Due = now
	return o
}

// ForPeriod makes the occurrence of a given period, with the due instant that
// the schedule has for it. An error of code invalid names the nearest periods
// where it has none.
func ForPeriod(p *Plan, anchor time.Time, period string) (store.NewOccurrence, error) {
	unit := calendar.Unit(p.Def.Period)
	name, err := calendar.ParseKey(unit, period)
	if err != nil {
		return store.NewOccurrence{}, duly.Invalid("period", "%v", err)
	}
	if p.Timing.IsZero() {
		return p.external(name)
	}
	seq := p.Timing.Sequence(anchor).PerPeriod(time.Time{})
	if d, ok := seq.Find(name); ok {
		return p.forDue(seq, d, duly.OriginTrigger), nil
	}
	start, _, err := calendar.Bounds(unit, name, p.Timing.Location())
	if err != nil {
		return store.NewOccurrence{}, duly.Invalid("period", "%v", err)
	}
	return store.NewOccurrence{}, duly.Invalid("period", "the schedule is not due in %q; %s", name, seq.Near(start))
}

// external makes the occurrence of a period of a schedule without timings: it
// is due when the period begins.
func (p *Plan) external(name string) (store.NewOccurrence, error) {
	unit, loc := calendar.Unit(p.Def.Period), p.Timing.Location()
	begins := name
	var err error
	if p.Def.PeriodOffset != 0 && unit != calendar.Instant {
		begins, err = calendar.Neighbour(unit, name, -p.Def.PeriodOffset, loc)
	}
	var start time.Time
	if err == nil {
		start, _, err = calendar.Bounds(unit, begins, loc)
	}
	if err != nil {
		return store.NewOccurrence{}, duly.Invalid("period", "%v", err)
	}
	o := p.requested(duly.OriginExternal)
	o.Period, o.Due = name, start
	return o, nil
}

// ForDue makes the occurrence that is due at an instant. A schedule without
// timings takes any instant; another one takes its own, and an error of code
// invalid names those around.
func ForDue(p *Plan, anchor, at time.Time) (store.NewOccurrence, error) {
	if p.Timing.IsZero() {
		o := p.requested(duly.OriginExternal)
		o.Period = calendar.Key(calendar.Unit(p.Def.Period), p.Def.PeriodOffset, at, p.Timing.Location())
		o.Due = at.UTC().Truncate(time.Second)
		return o, nil
	}
	seq := p.Timing.Sequence(anchor)
	if d, ok := seq.Next(at.Add(-1)); ok && d.At.Equal(at) {
		return p.forDue(seq, d, duly.OriginTrigger), nil
	}
	around := "it is never due"
	before, hasBefore := seq.Prev(at)
	after, hasAfter := seq.Next(at)
	switch {
	case hasBefore && hasAfter:
		around = fmt.Sprintf("it is at %s and next at %s", before.At.Format(time.RFC3339), after.At.Format(time.RFC3339))
	case hasBefore:
		around = "it was last at " + before.At.Format(time.RFC3339)
	case hasAfter:
		around = "it is first at " + after.At.Format(time.RFC3339)
	}
	return store.NewOccurrence{}, duly.Invalid("due", "the schedule is not due at %s; %s", at.Format(time.RFC3339), around)
}

// Range yields the occurrences that are due in a range, from <= due < to, for a
// backfill: those that run, one for each period. They are computed one at a
// time.
func Range(p *Plan, anchor, from, to time.Time) iter.Seq[store.NewOccurrence] {
	return func(yield func(store.NewOccurrence) bool) {
		seq := p.Timing.Sequence(anchor).PerPeriod(time.Time{})
		for d := range seq.Between(from.Add(-1), to.Add(-1)) {
			if d.Skip == "" && !yield(p.forDue(seq, d, duly.OriginBackfill)) {
				return
			}
		}
	}
}

func (p *Plan) forDue(seq timing.Sequence, d timing.Due, origin duly.Origin) store.NewOccurrence {
	o := p.requested(origin)
	o.Period, o.Due, o.IntervalStart = d.Period, d.At, seq.Interval(d)
	return o
}

func (p *Plan) requested(origin duly.Origin) store.NewOccurrence {
	return store.NewOccurrence{State: duly.Pending, Origin: origin, Placement: p.place}
}
