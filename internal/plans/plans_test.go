package plans

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/duly-dev/duly"
)

// definitions answers from a map and counts how often it was asked.
type definitions struct {
	mu    sync.Mutex
	reads int
	err   error
	all   map[int64]duly.Schedule
}

func (d *definitions) Definition(_ context.Context, id int64) (duly.Schedule, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.reads++
	if d.err != nil {
		return duly.Schedule{}, d.err
	}
	return d.all[id], nil
}

func (d *definitions) Definitions(_ context.Context, ids []int64) (map[int64]duly.Schedule, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.reads++
	found := map[int64]duly.Schedule{}
	for _, id := range ids {
		if def, ok := d.all[id]; ok {
			found[id] = def
		}
	}
	return found, d.err
}

func daily(handler string) duly.Schedule {
	return duly.Schedule{Timing: duly.Timing{Cron: "0 9 * * *"}, Target: duly.Target{Handler: handler}}
}

func TestADefinitionIsReadOnce(t *testing.T) {
	from := &definitions{all: map[int64]duly.Schedule{1: daily("a")}}
	c := New(from)
	first, err := c.Get(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	second, err := c.Get(t.Context(), 1)
	if err != nil || second != first || from.reads != 1 {
		t.Errorf("%d reads, the same plan: %v, %v", from.reads, second == first, err)
	}
}

func TestDefinitionsShareTheirTimings(t *testing.T) {
	c := New(&definitions{all: map[int64]duly.Schedule{1: daily("a"), 2: daily("b")}})
	a, errA := c.Get(t.Context(), 1)
	b, errB := c.Get(t.Context(), 2)
	if errA != nil || errB != nil {
		t.Fatal(errA, errB)
	}
	if a == b || a.Timing != b.Timing {
		t.Errorf("plans shared: %v, timings shared: %v", a == b, a.Timing == b.Timing)
	}
	fresh := daily("c")
	fresh.ID = "fresh"
	p, faults := c.Compile(fresh)
	if len(faults) > 0 || p.Timing != a.Timing || p.Def.ID != "fresh" {
		t.Errorf("a definition that is not stored: %v, %v", p, faults)
	}
}

func TestTheCacheIsBounded(t *testing.T) {
	from := &definitions{all: map[int64]duly.Schedule{}}
	for i := range int64(50) {
		from.all[i] = daily(fmt.Sprintf("h%d", i))
	}
	c := New(from)
	c.max = 10
	for i := range int64(50) {
		p, err := c.Get(t.Context(), i)
		if err != nil || p.Def.Target.Handler != fmt.Sprintf("h%d", i) {
			t.Fatal(i, p, err)
		}
	}
	if n := len(c.young) + len(c.old); n != 10 {
		t.Errorf("%d plans are kept", n)
	}
	reads := from.reads
	for i := range int64(5) { // the newest are
		if _, err := c.Get(t.Context(), 45+i); err != nil {
			t.Fatal(err)
		}
	}
	if from.reads != reads {
		t.Errorf("%d of the newest were read again", from.reads-reads)
	}
}

func TestWhatCannotBeReadIsNotKept(t *testing.T) {
	from := &definitions{err: duly.Errorf(duly.CodeUnavailable, "away")}
	c := New(from)
	if _, err := c.Get(t.Context(), 1); duly.CodeOf(err) != duly.CodeUnavailable {
		t.Errorf("the store's error: %v", err)
	}
	bad := daily("a")
	bad.Timezone = "Mars/Olympus"
	from.err, from.all = nil, map[int64]duly.Schedule{1: bad, 2: daily("a")}
	_, err := c.Get(t.Context(), 1)
	if duly.CodeOf(err) != duly.CodeInternal || !strings.Contains(err.Error(), "definition 1") || !strings.Contains(err.Error(), "Mars/Olympus") {
		t.Errorf("a definition of a newer version: %v", err)
	}
	from.all[1] = daily("a")
	if _, err := c.Get(t.Context(), 1); err != nil {
		t.Errorf("after the store mended it: %v", err)
	}
}

func TestManyMayAskAtOnce(t *testing.T) {
	c := New(&definitions{all: map[int64]duly.Schedule{0: daily("a"), 1: daily("b"), 2: daily("c")}})
	c.max = 2
	var asking sync.WaitGroup
	for i := range int64(30) {
		asking.Go(func() {
			if p, err := c.Get(t.Context(), i%3); err != nil || p.Def.Target.Handler != string(rune('a'+i%3)) {
				t.Error(p, err)
			}
		})
	}
	asking.Wait()
}
