package control

import (
	"bytes"
	"context"
	"encoding/json"
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
	plan.Simulation
}

const simulateDefault = 365 * 24 * time.Hour

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
	sim := Simulation{ID: s.ID, Action: store.ActionCreate}
	next, faults := c.plans.Compile(s)
	if len(faults) > 0 {
		return sim, faults[0] // compiled before, so there are none
	}
	anchor := now.Truncate(time.Second) // where the store would meet it now
	stored, old, err := c.planned(ctx, s.ID)
	switch duly.CodeOf(err) {
	case "":
		anchor, sim.Action = stored.Anchor, store.ActionUpdate
		if same(old, next) {
			sim.Action = store.ActionKeep
		}
	case duly.CodeNotFound:
	default:
		return sim, err
	}
	sim.Simulation = plan.Simulate(old, next, anchor, from, to)
	return sim, nil
}

func same(a, b *plan.Plan) bool {
	x, errX := json.Marshal(a.Def)
	y, errY := json.Marshal(b.Def)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}
