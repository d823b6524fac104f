package node_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/control"
	"github.com/duly-dev/duly/node"
	"github.com/duly-dev/duly/store"
)

func (w *world) triggerBeside(n *node.Node, schedule string) store.Inserted {
	w.t.Helper()
	made, err := control.NewBeside(n, w.st).Trigger(w.ctx, control.TriggerRequest{Schedule: schedule, By: "ann"})
	if err != nil {
		w.t.Fatal(err)
	}
	return made
}

func TestWhatIsTriggeredBesideANodeStartsWithoutAClaim(t *testing.T) {
	inBubble(t, func(w *world) {
		w.apply(handled("a", "0 0 1 1 *"))
		closed := &gate{Store: w.st}
		started := make(chan string, 1)
		n, _ := w.start(closed, node.Options{}, handle(func(_ context.Context, occ *node.Occurrence) error {
			started <- occ.Assignment.Occurrence
			return nil
		}))
		time.Sleep(time.Second)
		synctest.Wait()
		closed.set(true) // nothing is fired or claimed from now on
		made := w.triggerBeside(n, "a")
		if made.State != duly.Running {
			t.Fatalf("triggered %+v", made)
		}
		if id := <-started; id != made.ID {
			t.Fatalf("%s started, want %s", id, made.ID)
		}
		closed.set(false)
		time.Sleep(time.Minute)
		if o := w.occurrence(made.ID); o.State != duly.Succeeded || len(o.Attempts) != 1 {
			t.Fatalf("it came to %+v", o)
		}
	})
}

func TestANodeWithoutAFreeSlotTakesNothing(t *testing.T) {
	inBubble(t, func(w *world) {
		w.apply(handled("a", "0 0 1 1 *"), handled("b", "0 0 1 1 *"))
		release := make(chan struct{})
		n, _ := w.start(w.st, node.Options{Slots: 1}, handle(func(context.Context, *node.Occurrence) error {
			<-release
			return nil
		}))
		time.Sleep(time.Second)
		first, second := w.triggerBeside(n, "a"), w.triggerBeside(n, "b")
		if first.State != duly.Running || second.State != duly.Pending {
			t.Fatalf("triggered %+v, then %+v", first, second)
		}
		close(release)
		time.Sleep(time.Second)
		if o := w.occurrence(second.ID); o.State != duly.Succeeded {
			t.Fatalf("the second one is %s", o.State)
		}
	})
}

func TestANodeThatDrainsTakesNothing(t *testing.T) {
	inBubble(t, func(w *world) {
		w.apply(handled("a", "0 0 1 1 *"), handled("b", "0 0 1 1 *"))
		begun := false
		n, stop := w.start(w.st, node.Options{}, handle(func(context.Context, *node.Occurrence) error {
			begun = true
			return nil
		}))
		time.Sleep(time.Second)
		// The node is told to stop while it is on its way to take something.
		var late store.Inserted
		ended := make(chan struct{})
		err := n.Take(func(offer *store.ClaimRequest) (*store.Claim, error) {
			go func() { defer close(ended); stop() }()
			time.Sleep(time.Second)
			all, err := w.st.Insert(w.ctx, store.InsertRequest{Schedule: "a", By: "ann", Claim: offer, Occurrences: []store.NewOccurrence{{
				Period: "manual-x", Due: time.Now(), State: duly.Pending, Origin: duly.OriginTrigger,
				Placement: store.Placement{Capability: "handler:work", Serial: true, Lease: time.Minute},
			}}})
			if err != nil {
				return nil, err
			}
			late = all[0]
			return late.Claim, nil
		})
		if err != nil || late.State != duly.Running {
			t.Fatal(late, err)
		}
		<-ended
		if o := w.occurrence(late.ID); begun || o.State != duly.Pending || o.Attempts[0].Outcome != duly.AttemptReleased {
			t.Fatalf("begun %v, it came to %+v", begun, o)
		}
		if after := w.triggerBeside(n, "b"); after.State != duly.Pending {
			t.Fatalf("a node that ended took %+v", after)
		}
	})
}
