package server

import (
	"context"
	"sync"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/plan"
	"github.com/duly-dev/duly/store"
)

// planCache keeps compiled definitions by their number in the store. Contents
// never change, so nothing is ever stale.
type planCache struct {
	store store.Reader

	mu    sync.Mutex
	plans map[int64]*plan.Plan
}

const maxPlans = 2048

func newPlanCache(st store.Reader) *planCache {
	return &planCache{store: st, plans: map[int64]*plan.Plan{}}
}

// get returns the plan of a definition.
func (c *planCache) get(ctx context.Context, definition int64) (*plan.Plan, error) {
	c.mu.Lock()
	p := c.plans[definition]
	c.mu.Unlock()
	if p != nil {
		return p, nil
	}
	def, err := c.store.Definition(ctx, definition)
	if err != nil {
		return nil, err
	}
	def.ID = "definition" // contents are shared between schedules and carry no name
	p, faults := plan.Compile(def)
	if len(faults) > 0 {
		return nil, duly.Errorf(duly.CodeInternal, "definition %d cannot be read by this version: %w", definition, faults[0])
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.plans) >= maxPlans {
		for id := range c.plans { // any victim will do: a miss costs one read
			delete(c.plans, id)
			break
		}
	}
	c.plans[definition] = p
	return p, nil
}
