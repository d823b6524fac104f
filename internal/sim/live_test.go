package sim_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/control"
	"github.com/duly-dev/duly/internal/memstore"
	"github.com/duly-dev/duly/node"
	"github.com/duly-dev/duly/store"
	"github.com/duly-dev/duly/store/storetest"
)

// TestRealNodesComeThrough has real nodes over the store in memory, in fake
// time: cut off, slowed down, deprived of answers and abandoned for three
// hours, and left in peace for one. What the scheduler of goroutines makes of
// it differs from run to run, and so this is about what has to be true anyhow.
func TestRealNodesComeThrough(t *testing.T) {
	lost := 0
	for seed := range uint64(6) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { lost += live(t, rand.New(rand.NewPCG(seed, 3))) })
		})
	}
	if lost == 0 {
		t.Error("nothing went wrong, which proves nothing")
	}
}

const liveNodes = 3

// live answers how many attempts were lost.
func live(t *testing.T, rng *rand.Rand) (lost int) {
	st := memstore.New(memstore.Options{})
	var schedules []duly.Schedule
	for i, overlap := range []duly.Overlap{duly.OverlapWait, duly.OverlapAllow, duly.OverlapCombine} {
		schedules = append(schedules, duly.Schedule{
			ID: fmt.Sprint("s", i), Timing: duly.Timing{Cron: "* * * * *"}, Overlap: overlap, Lease: duly.Duration(10 * time.Second),
			CatchUp: duly.CatchUp{Policy: duly.CatchUpAll}, Retry: duly.Retry{MaxAttempts: 1000, MaxBackoff: duly.Duration(20 * time.Second)},
			Target: duly.Target{Handler: "work"},
		})
	}
	if _, err := control.New(st).Apply(t.Context(), control.ApplyRequest{Owner: "test", By: "test", Schedules: schedules}); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	var led liveLedger
	var nodes []*liveNode
	var ended sync.WaitGroup
	start := func() *liveNode {
		n := &liveNode{line: storetest.NewFaulty(st)}
		ctx, cancel := context.WithCancel(context.Background())
		n.stop = cancel
		real := node.New(n.line, node.Options{Logger: slog.New(slog.DiscardHandler), Slots: 5, DrainTime: time.Second, CancelGrace: time.Second})
		real.Handle("work", led.work)
		ended.Go(func() { _ = real.Run(ctx) })
		return n
	}
	for range liveNodes {
		nodes = append(nodes, start())
	}
	dice := &dice{rng: rng}
	for time.Since(begin) < 3*time.Hour {
		i := dice.upTo(liveNodes)
		n := nodes[i]
		switch dice.upTo(5) {
		case 0:
			n.line.Set(storetest.Faults{Outage: true})
		case 1:
			n.line.Set(storetest.Faults{Delay: time.Duration(dice.upTo(15_000)) * time.Millisecond})
		case 2:
			n.line.Set(storetest.Faults{LoseReply: func(string) bool { return dice.upTo(3) == 0 }})
		case 3: // as good as dead: nobody hears of it again
			n.line.Set(storetest.Faults{Outage: true})
			n.stop()
			nodes[i] = start()
		case 4:
			n.line.Set(storetest.Faults{})
		}
		time.Sleep(time.Duration(dice.upTo(240)) * time.Second)
	}
	for _, n := range nodes {
		n.line.Set(storetest.Faults{})
	}
	time.Sleep(time.Hour)
	for _, n := range nodes {
		n.stop()
	}
	ended.Wait()
	return led.check(t, st, schedules, begin)
}

type liveNode struct {
	line *storetest.Faulty
	stop func()
}

type dice struct {
	mu  sync.Mutex
	rng *rand.Rand
}

func (d *dice) upTo(n int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.rng.IntN(n)
}

// liveLedger is where the handler's effects happen.
type liveLedger struct {
	mu   sync.Mutex
	seen map[string]int64
	rows map[string]int
}

func (l *liveLedger) work(ctx context.Context, occ *node.Occurrence) error {
	select {
	case <-ctx.Done():
	case <-time.After(5 * time.Second):
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.rows == nil {
		l.rows, l.seen = map[string]int{}, map[string]int64{}
	}
	if occ.Token < l.seen[occ.Resource] {
		return duly.Errorf(duly.CodeStaleToken, "a newer token was seen")
	}
	l.seen[occ.Resource] = occ.Token
	for _, period := range occ.Covers {
		if key := duly.OccurrenceID(occ.Schedule, period); l.rows[key] == 0 {
			l.rows[key]++
		}
	}
	return nil
}

func (l *liveLedger) check(t *testing.T, st store.Store, schedules []duly.Schedule, begin time.Time) (lost int) {
	t.Helper()
	stale := 0
	for _, s := range schedules {
		accounted := map[string]bool{}
		for page := (store.Page{Limit: 1000}); ; {
			some, next, err := st.Occurrences(t.Context(), store.OccurrenceFilter{Schedule: s.ID}, page)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range some {
				token := int64(0)
				for _, a := range o.Attempts {
					if a.Token <= token {
						t.Errorf("%s: token %d after %d", o.ID, a.Token, token)
					}
					token = a.Token
					if a.Outcome == duly.AttemptLost {
						lost++
					}
					if a.Stale != nil {
						stale++
					}
				}
				if o.State != duly.Merged {
					for _, period := range o.Covers {
						accounted[period] = true
						if o.State == duly.Succeeded && l.rows[duly.OccurrenceID(s.ID, period)] != 1 {
							t.Errorf("%s succeeded without the effect of %s", o.ID, period)
						}
					}
				}
				if o.State != duly.Succeeded && o.State != duly.Merged && time.Since(o.Due) > 5*time.Minute {
					t.Errorf("%s is %s in the end: %s", o.ID, o.State, o.Reason)
				}
			}
			if page.Cursor = next; next == "" {
				break
			}
		}
		for due := begin.UTC().Truncate(time.Minute).Add(time.Minute); time.Since(due) > 5*time.Minute; due = due.Add(time.Minute) {
			if period := due.Format(time.RFC3339); !accounted[period] {
				t.Errorf("%s owes %s, and nothing tells of it", s.ID, period)
			}
		}
	}
	t.Logf("%d effects, %d attempts lost, %d reports stale", len(l.rows), lost, stale)
	return lost
}
