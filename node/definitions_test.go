package node_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/node"
	"github.com/duly-dev/duly/store"
)

// onLoan notes who asks for definitions while a step holds its connection.
type onLoan struct {
	store.Store
	busy   atomic.Int64
	asked  atomic.Int64 // meanwhile
	loaded atomic.Int64
}

func (s *onLoan) Fire(ctx context.Context, req store.FireRequest) (store.FireResult, error) {
	s.busy.Add(1)
	defer s.busy.Add(-1)
	return s.Store.Fire(ctx, req)
}

func (s *onLoan) Reap(ctx context.Context, req store.ReapRequest) (store.ReapResult, error) {
	s.busy.Add(1)
	defer s.busy.Add(-1)
	return s.Store.Reap(ctx, req)
}

func (s *onLoan) Definition(ctx context.Context, id int64) (duly.Schedule, error) {
	if s.busy.Load() > 0 {
		s.asked.Add(1)
	}
	return s.Store.Definition(ctx, id)
}

func (s *onLoan) Definitions(ctx context.Context, ids []int64) (map[int64]duly.Schedule, error) {
	if s.busy.Load() > 0 {
		s.asked.Add(1)
	}
	s.loaded.Add(1)
	return s.Store.Definitions(ctx, ids)
}

// Behind a small pooler the connection that a planner asks over may be one that
// waits for the schedules it plans.
func TestNobodyAsksForDefinitionsWhileAStepIsUnderWay(t *testing.T) {
	inBubble(t, func(w *world) {
		a, b := handled("a", "* * * * *"), handled("b", "* * * * *")
		b.Payload = []byte(`{"another":"definition"}`)
		lost := duly.Schedule{ID: "lost", Timing: duly.Timing{Cron: "0 0 1 1 *"}, Target: duly.Target{Handler: "lost"}, Lease: duly.Duration(30 * time.Second)}
		w.apply(a, b, lost)
		owner, err := w.st.Join(w.ctx, store.NodeInfo{Name: "owner", TTL: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		made, err := w.st.Insert(w.ctx, store.InsertRequest{
			Schedule: "lost", By: "ann", Claim: &store.ClaimRequest{Node: owner, Max: 1, Capabilities: []string{"handler:lost"}},
			Occurrences: []store.NewOccurrence{{Period: "x", Due: time.Now(), State: duly.Pending, Origin: duly.OriginTrigger, Placement: store.Placement{Capability: "handler:lost", Lease: 30 * time.Second}}},
		})
		if err != nil || made[0].Claim == nil {
			t.Fatal(made, err)
		}
		s := &onLoan{Store: w.st}
		w.start(s, node.Options{}, handle(done))
		toMinute(time.Second)
		toMinute(time.Second)
		for _, id := range []string{"a", "b"} {
			if all := w.occurrences(id); len(all) != 2 || all[1].State != duly.Succeeded {
				t.Errorf("%s came to %+v", id, all)
			}
		}
		if o := w.occurrence(made[0].ID); o.Attempts[0].Outcome != duly.AttemptLost {
			t.Errorf("what was lost is %+v", o)
		}
		if s.asked.Load() > 0 || s.loaded.Load() != 2 {
			t.Errorf("asked %d times while a step was under way, and %d times before one", s.asked.Load(), s.loaded.Load())
		}
	})
}
