package timing

import (
	"encoding/json"
	"sync"

	"github.com/duly-dev/duly"
)

// Cache shares compiled timings by their content, so that a hundred thousand
// schedules with the same timing hold one. Its zero value is ready for use, by
// any number of goroutines.
type Cache struct {
	// Max is how many timings are kept. Default 10,000.
	Max int

	mu    sync.Mutex
	fresh map[string]*Timing // used since the last turn
	old   map[string]*Timing // used before it; dropped at the next
}

const defaultCached = 10_000

// Compile is the function Compile, answered from the cache where it can be.
// Faulty definitions are not kept.
func (c *Cache) Compile(s duly.Schedule) (*Timing, []*duly.Error) {
	key, err := contentOf(s)
	if err != nil {
		return Compile(s)
	}
	if t := c.get(key); t != nil {
		return t, nil
	}
	t, faults := Compile(s)
	if len(faults) > 0 {
		return nil, faults
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(key, t)
	return t, nil
}

// contentOf is all that Compile looks at.
func contentOf(s duly.Schedule) (string, error) {
	data, err := json.Marshal(duly.Schedule{
		Timing: s.Timing, Timings: s.Timings, Except: s.Except, Timezone: s.Timezone, DST: s.DST,
		Start: s.Start, End: s.End, Period: s.Period, PeriodOffset: s.PeriodOffset, Calendar: s.Calendar,
	})
	return string(data), err
}

func (c *Cache) get(key string) *Timing {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t := c.fresh[key]; t != nil {
		return t
	}
	t := c.old[key]
	if t != nil {
		c.put(key, t)
	}
	return t
}

// put keeps a timing. When half of the room is used up, what was not asked for
// since the last time that this happened is dropped.
func (c *Cache) put(key string, t *Timing) {
	most := c.Max
	if most <= 0 {
		most = defaultCached
	}
	if c.fresh == nil || len(c.fresh) >= (most+1)/2 {
		c.old, c.fresh = c.fresh, make(map[string]*Timing)
	}
	c.fresh[key] = t
}
