package node

import (
	"context"
	"fmt"
	"sync"

	"github.com/duly-dev/duly/plan"
	"github.com/duly-dev/duly/store"
)

// planCache keeps compiled definitions by their number in the store. Contents
// never change, so nothing is ever stale; the bound keeps a node with a
// million definitions small.
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
	// Contents are shared between schedules and carry no name of their own.
	def.ID = "definition"
	p, faults := plan.Compile(def)
	if len(faults) > 0 {
		return nil, faultsError(fmt.Sprint("with definition ", definition), faults)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.plans) >= maxPlans {
		// Any victim will do: a miss costs one read and a compile.
		for id := range c.plans {
			delete(c.plans, id)
			break
		}
	}
	c.plans[definition] = p
	return p, nil
}
