package plan

import (
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
	"github.com/duly-dev/duly/timing"
)

// Plan is a compiled definition. It never changes and may be shared by
// goroutines, and by schedules with the same definition.
type Plan struct {
	// Def is the definition with every default set, Period too.
	Def duly.Schedule
	// Timing turns its timings into instants.
	Timing *timing.Timing

	place store.Placement
}

// Compile checks a definition and makes a Plan of it. It returns every fault
// at once, each with its field.
func Compile(def duly.Schedule) (*Plan, []*duly.Error) {
	return compile(def, timing.Compile)
}

// CompileShared is Compile with a cache of timings, for those who hold many
// definitions.
func CompileShared(cache *timing.Cache, def duly.Schedule) (*Plan, []*duly.Error) {
	return compile(def, cache.Compile)
}

func compile(def duly.Schedule, times func(duly.Schedule) (*timing.Timing, []*duly.Error)) (*Plan, []*duly.Error) {
	if faults := def.Validate(); len(faults) > 0 {
		return nil, faults
	}
	t, faults := times(def)
	if len(faults) > 0 {
		return nil, faults
	}
	p := &Plan{Def: def.WithDefaults(), Timing: t, place: Place(def)}
	p.Def.Period = t.Unit()
	return p, nil
}

// Warnings says what a person should know who may have meant something else,
// one sentence each.
func (p *Plan) Warnings() []string { return p.Timing.Warnings() }

// Next returns the first instant after a time at which there is something to
// decide, for a schedule that the store first met at anchor; zero for never.
// It is what store.Definition asks for. It does not know of limits.
func (p *Plan) Next(anchor, after time.Time) time.Time {
	t, ok := p.Timing.Sequence(anchor).NextAt(after)
	if !ok {
		return time.Time{}
	}
	return t
}

// Local writes an instant by the clock of the schedule's zone, as in
// 2026-11-28T09:00:00+01:00.
func (p *Plan) Local(t time.Time) string {
	return t.In(p.Timing.Location()).Format("2006-01-02T15:04:05-07:00")
}

// Place says what a store needs to know of a definition to queue an occurrence
// and to hand it out.
func Place(def duly.Schedule) store.Placement {
	def = def.WithDefaults()
	return store.Placement{
		Capability: def.Target.Capability(),
		Queue:      def.Queue,
		Serial:     def.Overlap != duly.OverlapAllow,
		Priority:   def.Priority,
		Lease:      def.Lease.Std(),
	}
}
