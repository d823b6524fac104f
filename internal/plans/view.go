package plans

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/plan"
)

// View is the cache for one step of a store, which must not ask the store for
// more while it is under way. What it lacks is noted, and read before the step
// is taken again:
//
//	for again := true; again; {
//		st.Fire(…) // decides by view.Plan, and not about what that lacks
//		again, err = view.Load(ctx)
//	}
//
// What was loaded stays with the view, however many there are, so this ends.
type View struct {
	cache *Cache

	mu    sync.Mutex
	own   map[int64]compiled
	lacks map[int64]bool
}

type compiled struct {
	plan *plan.Plan
	err  error
}

// View makes an empty one.
func (c *Cache) View() *View {
	return &View{cache: c, own: map[int64]compiled{}, lacks: map[int64]bool{}}
}

// Plan answers the plan of a definition. ok is false where it has to be loaded
// first. The error is of code internal, where this version cannot read it.
func (v *View) Plan(definition int64) (p *plan.Plan, ok bool, err error) {
	if p := v.cache.kept(definition); p != nil {
		return p, true, nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	one, ok := v.own[definition]
	if !ok {
		v.lacks[definition] = true
	}
	return one.plan, ok, one.err
}

// maxLoad is how many definitions are read at once.
const maxLoad = 1000

// Load reads what was lacking. It answers whether there was anything. Errors are
// the store's.
func (v *View) Load(ctx context.Context) (loaded bool, err error) {
	v.mu.Lock()
	lacks := slices.Sorted(maps.Keys(v.lacks))
	v.mu.Unlock()
	for ids := range slices.Chunk(lacks, maxLoad) {
		defs, err := v.cache.from.Definitions(ctx, ids)
		if err != nil {
			return false, err
		}
		v.mu.Lock()
		for _, id := range ids {
			one := compiled{err: duly.Errorf(duly.CodeInternal, "definition %d cannot be read by this version", id)}
			if def, ok := defs[id]; ok {
				one.plan, one.err = v.cache.compile(id, def)
			}
			v.own[id] = one
			delete(v.lacks, id)
		}
		v.mu.Unlock()
	}
	return len(lacks) > 0, nil
}
