package sim_test

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/duly-dev/duly/internal/sim"
)

var (
	seed  = flag.Uint64("seed", 0, "play this one seed, and tell what happens in it")
	seeds = flag.Int("seeds", 40, "how many seeds to play")
	soak  = flag.Duration("soak", 0, "play random seeds for this long instead of the fixed ones")
)

// TestPromisesHold plays the fixed seeds, or with -soak as many others as time
// allows.
func TestPromisesHold(t *testing.T) {
	switch {
	case *seed != 0:
		res := sim.Run(sim.Generate(*seed, ""), os.Stdout)
		if res.Broken != "" {
			t.Fatal(failure(sim.Generate(*seed, "")))
		}
		t.Logf("%+v", res)
	case *soak > 0:
		first := uint64(time.Now().UnixNano())
		until := time.Now().Add(*soak)
		played := play(t, "", func(i int) (uint64, bool) { return first + uint64(i), time.Now().Before(until) })
		t.Logf("seeds %d to %d: %+v", first, first+uint64(played.runs), played)
	default:
		played := play(t, "", func(i int) (uint64, bool) { return uint64(i) + 1, i < *seeds })
		t.Logf("%+v", played)
		if played.Lost == 0 || played.Stale == 0 || played.Reused == 0 || played.Effects < 1000 {
			t.Errorf("nothing much happened: %+v", played)
		}
	}
}

// total is what happened in many runs.
type total struct {
	sim.Result
	runs, hours int
}

// play plays seeds on every processor until there are no more, or one breaks a
// promise.
func play(t *testing.T, bug sim.Bug, next func(i int) (uint64, bool)) (all total) {
	t.Helper()
	var mu sync.Mutex
	var wg sync.WaitGroup
	i := 0
	draw := func() (uint64, bool) {
		mu.Lock()
		defer mu.Unlock()
		s, ok := next(i)
		i++
		return s, ok && !t.Failed()
	}
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for s, ok := draw(); ok; s, ok = draw() {
				sc := sim.Generate(s, bug)
				res := sim.Run(sc, nil)
				if res.Broken != "" {
					t.Error(failure(sc))
				}
				mu.Lock()
				all.runs++
				all.hours += sc.Hours
				all.Occurrences += res.Occurrences
				all.Attempts += res.Attempts
				all.Lost += res.Lost
				all.Stale += res.Stale
				all.Effects += res.Effects
				all.Reused += res.Reused
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return all
}

// failure says what broke, in the smallest scenario that still breaks.
func failure(sc sim.Scenario) string {
	small := sim.Shrink(sc)
	var trace strings.Builder
	res := sim.Run(small, &trace)
	lines := strings.Split(strings.TrimSpace(trace.String()), "\n")
	return fmt.Sprintf("after %v: %s\nin %v\nand in the end:\n%s\n(all of it: go test ./internal/sim -run PromisesHold -seed %d)",
		res.At, res.Broken, small, strings.Join(lines[max(0, len(lines)-25):], "\n"), sc.Seed)
}

// bugSeeds is within how many seeds every bug has to be found. Most take one.
const bugSeeds = 150

// TestEveryBugIsFound shows that the promises are really looked at.
func TestEveryBugIsFound(t *testing.T) {
	for _, bug := range sim.Bugs {
		t.Run(strings.ReplaceAll(string(bug), " ", "_"), func(t *testing.T) {
			t.Parallel()
			for s := range uint64(bugSeeds) {
				if res := sim.Run(sim.Generate(s+1, bug), nil); res.Broken != "" {
					t.Logf("by seed %d, after %v: %s", s+1, res.At, res.Broken)
					return
				}
			}
			t.Errorf("%d seeds do not notice: %s", bugSeeds, bug)
		})
	}
}

func TestASeedAlwaysGivesTheSame(t *testing.T) {
	for s := range uint64(5) {
		var traces [2]strings.Builder
		for i := range traces {
			sim.Run(sim.Generate(s+1, ""), &traces[i])
		}
		if traces[0].String() != traces[1].String() {
			t.Errorf("seed %d gave two traces", s+1)
		}
	}
}

func TestShrinkingLeavesWhatItTakes(t *testing.T) {
	for s := range uint64(bugSeeds) {
		sc := sim.Generate(s+1, sim.FinishWithoutToken)
		if sim.Run(sc, nil).Broken == "" {
			continue
		}
		small := sim.Shrink(sc)
		if sim.Run(small, nil).Broken == "" {
			t.Fatalf("what is left breaks nothing: %v", small)
		}
		if len(small.Faults) > 3 || len(small.Schedules) > 2 {
			t.Fatalf("much is left of\n%v:\n%v", sc, small)
		}
		return
	}
	t.Fatal("no seed broke anything")
}
