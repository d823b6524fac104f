// Package plans keeps compiled definitions at hand for those who decide by
// them again and again: nodes, servers and control. A definition's content
// never changes under its number, so nothing that is kept is ever stale, and a
// bound keeps a process that meets a million of them small.
//
// What may not live here: decisions, and anything that writes to a store.
package plans

import (
	"context"
	"sync"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/plan"
	"github.com/duly-dev/duly/timing"
)

// Definitions reads the contents of definitions by their numbers. Every
// store.Reader does.
type Definitions interface {
	Definition(ctx context.Context, id int64) (duly.Schedule, error)
	Definitions(ctx context.Context, ids []int64) (map[int64]duly.Schedule, error)
}

// Cache holds plans by the number of their definition. It is for any number of
// goroutines.
type Cache struct {
	from    Definitions
	max     int
	timings timing.Cache // definitions that differ in other things share one

	// Two generations: what nobody asked for while the young one filled up goes
	// with the old one, and nothing that was just read goes before it is used.
	mu         sync.Mutex
	young, old map[int64]*plan.Plan
}

// maxPlans is how many plans are kept, of some 2 KiB each.
const maxPlans = 8192

// New makes an empty Cache over a store, which stays the caller's.
func New(from Definitions) *Cache {
	return &Cache{from: from, max: maxPlans, young: map[int64]*plan.Plan{}}
}

// Get returns the plan of a stored definition. Errors are the store's, and of
// code internal where this version cannot read the definition.
func (c *Cache) Get(ctx context.Context, definition int64) (*plan.Plan, error) {
	if p := c.kept(definition); p != nil {
		return p, nil
	}
	def, err := c.from.Definition(ctx, definition)
	if err != nil {
		return nil, err
	}
	return c.compile(definition, def)
}

// compile keeps what it compiles.
func (c *Cache) compile(definition int64, def duly.Schedule) (*plan.Plan, error) {
	def.ID = "definition" // contents are shared by schedules and carry no name of their own
	p, faults := c.Compile(def)
	if len(faults) > 0 {
		return nil, duly.Errorf(duly.CodeInternal, "definition %d cannot be read by this version: %w", definition, faults[0])
	}
	c.keep(definition, p)
	return p, nil
}

// Compile is plan.Compile with the timings that the cache has.
func (c *Cache) Compile(def duly.Schedule) (*plan.Plan, []*duly.Error) {
	return plan.CompileShared(&c.timings, def)
}

func (c *Cache) kept(definition int64) *plan.Plan {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.young[definition]
	if p == nil {
		if p = c.old[definition]; p != nil {
			c.put(definition, p) // it is in use
		}
	}
	return p
}

func (c *Cache) keep(definition int64, p *plan.Plan) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(definition, p)
}

func (c *Cache) put(definition int64, p *plan.Plan) {
	if len(c.young) >= c.max/2 {
		c.old, c.young = c.young, map[int64]*plan.Plan{}
	}
	c.young[definition] = p
}
