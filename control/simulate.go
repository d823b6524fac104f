package control

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/plan"
	"github.com/duly-dev/duly/store"
)

// SimulateRequest asks what definitions would do to a range of time.
type SimulateRequest struct {
	Schedules []duly.Schedule
	// From <= due < To. Default: a year from the store's now on.
	From, To time.Time
}

// Simulated is the answer to a SimulateRequest.
type Simulated struct {
	From, To  time.Time
	Schedules []Simulation
}

// Simulation is what a definition would do to the periods of one schedule.
type Simulation struct {
	ID     string
	Action store.Action // create, update or keep
	// Before and After count the periods under the stored and under the given
	// definition; Added, Dropped and Moved those that differ.
	Before, After         int
	Added, Dropped, Moved int
	// Periods lists the first of those, in order of time; Omitted counts the
	// ones beyond.
	Periods []PeriodChange
	Omitted int
	// To is how far the schedule was compared: less than asked for where it
	// has very many periods.
	To time.Time
}

// PeriodChange is a period that is added, dropped or moved.
type PeriodChange struct {
	Period string
	// Before and After are when it is due; zero for not at all.
	Before, After           time.Time
	BeforeLocal, AfterLocal string
	Note                    string
}

const (
	simulateDefault = 365 * 24 * time.Hour
	// maxSimulated is how many periods of a schedule are compared.
	maxSimulated = 100_000
	// maxChanges is how many changes of a schedule are listed.
	maxChanges = 1000
)

// Simulate compares the periods of a range under given definitions with those
// under the stored ones, and changes nothing.
func (c *Control) Simulate(ctx context.Context, req SimulateRequest) (Simulated, error) {
	_, faults := c.compile(req.Schedules)
	if len(faults.List) > 0 {
		return Simulated{}, faults
	}
	now, err := c.now(ctx)
	if err != nil {
		return Simulated{}, err
	}
	res := Simulated{From: req.From.UTC(), To: req.To.UTC()}
	if res.From.IsZero() {
		res.From = now
	}
	if res.To.IsZero() {
		res.To = res.From.Add(simulateDefault)
	}
	if !res.From.Before(res.To) {
		return res, duly.Invalid("to", "is not after from")
	}
	for _, s := range req.Schedules {
		sim, err := c.simulate(ctx, s, now, res.From, res.To)
		if err != nil {
			return res, err
		}
		res.Schedules = append(res.Schedules, sim)
	}
	return res, nil
}

func (c *Control) simulate(ctx context.Context, s duly.Schedule, now, from, to time.Time) (Simulation, error) {
	next, faults := c.plans.Compile(s)
	if len(faults) > 0 {
		return Simulation{}, faults[0] // compiled before, so there are none
	}
	sim := Simulation{ID: s.ID, Action: store.ActionCreate}
	anchor := now.Truncate(time.Second)
	before := periods{end: to}
	stored, old, err := c.planned(ctx, s.ID)
	switch duly.CodeOf(err) {
	case "":
		anchor = stored.Anchor
		before = collect(old, anchor, from, to)
		sim.Action = store.ActionUpdate
		if same(old, next) {
			sim.Action = store.ActionKeep
		}
	case duly.CodeNotFound:
	default:
		return sim, err
	}
	after := collect(next, anchor, from, to)
	sim.compare(before, after, old, next)
	return sim, nil
}

func same(a, b *plan.Plan) bool {
	x, errX := json.Marshal(a.Def)
	y, errY := json.Marshal(b.Def)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// periods are those of a range, by name, up to its end.
type periods struct {
	end  time.Time
	due  map[string]time.Time
	skip map[string]string // why one of the range does not run
	note map[string]string // what its calendar did to one that runs
}

func collect(p *plan.Plan, anchor, from, to time.Time) periods {
	all := periods{end: to, due: map[string]time.Time{}, skip: map[string]string{}, note: map[string]string{}}
	for d := range p.Timing.Sequence(anchor).PerPeriod(time.Time{}).Between(from.Add(-1), to.Add(-1)) {
		if len(all.due) == maxSimulated {
			all.end = d.At
			break
		}
		if d.Skip != "" {
			all.skip[d.Period] = d.Skip
			continue
		}
		all.due[d.Period] = d.At
		if !d.Nominal.Equal(d.At) {
			all.note[d.Period] = "its calendar moves it from " + d.Nominal.In(p.Timing.Location()).Format("Mon 2006-01-02")
		}
	}
	return all
}

func (sim *Simulation) compare(before, after periods, old, next *plan.Plan) {
	sim.To = before.end
	if after.end.Before(sim.To) {
		sim.To = after.end
	}
	var changes []PeriodChange
	for period, at := range before.due {
		if !at.Before(sim.To) {
			continue
		}
		sim.Before++
		then, stays := after.due[period]
		switch {
		case !stays:
			sim.Dropped++
			changes = append(changes, PeriodChange{Period: period, Before: at, Note: after.skip[period]})
		case !then.Equal(at):
			sim.Moved++
			changes = append(changes, PeriodChange{Period: period, Before: at, After: then, Note: after.note[period]})
		}
	}
	for period, at := range after.due {
		if !at.Before(sim.To) {
			continue
		}
		sim.After++
		if _, was := before.due[period]; !was {
			sim.Added++
			changes = append(changes, PeriodChange{Period: period, After: at, Note: cmp.Or(after.note[period], before.skip[period])})
		}
	}
	slices.SortFunc(changes, func(a, b PeriodChange) int { return a.at().Compare(b.at()) })
	if len(changes) > maxChanges {
		sim.Omitted = len(changes) - maxChanges
		changes = changes[:maxChanges]
	}
	for i := range changes {
		changes[i].describe(old, next)
	}
	sim.Periods = changes
}

// at is where a change stands in the order of time.
func (c PeriodChange) at() time.Time {
	if c.Before.IsZero() {
		return c.After
	}
	return c.Before
}

// describe adds local times, and a note where the clocks change on that day.
func (c *PeriodChange) describe(old, next *plan.Plan) {
	note := ""
	if !c.Before.IsZero() {
		c.BeforeLocal = localText(old, c.Before)
		note = clockChange(c.Before.In(old.Timing.Location()))
	}
	if !c.After.IsZero() {
		c.AfterLocal = localText(next, c.After)
		if note == "" {
			note = clockChange(c.After.In(next.Timing.Location()))
		}
	}
	switch {
	case c.Note == "":
		c.Note = note
	case note != "":
		c.Note += "; " + note
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
