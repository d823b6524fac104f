package node

import (
	"context"
	"sync"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/plan"
	"github.com/duly-dev/duly/store"
	"github.com/duly-dev/duly/target"
)

// maxUnownedBatch is how many records are told in one call.
const maxUnownedBatch = 500

// unowned is what an attempt has that no lease owns.
type unowned struct{ started time.Time }

// alone keeps what was done without ownership until the store has been told.
type alone struct {
	node    string
	wake    chan struct{} // something ended
	changed chan struct{} // definitions did

	mu   sync.Mutex
	done []store.UnownedReport
}

func (l *alone) init(node string) {
	l.node = node
	l.wake, l.changed = make(chan struct{}, 1), make(chan struct{}, 1)
}

func (l *alone) held() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.done)
}

// ended keeps how one came out.
func (l *alone) ended(a *attempt, res target.Result, now time.Time) {
	c := &a.claim
	l.mu.Lock()
	l.done = append(l.done, store.UnownedReport{Schedule: c.Schedule, Unowned: duly.Unowned{
		Period: c.Period, Node: l.node, Due: c.Due, StartedAt: a.unowned.started, FinishedAt: now,
		Outcome: res.Outcome, Error: res.Error, ExitCode: res.ExitCode,
	}})
	l.mu.Unlock()
	signal(l.wake)
}

func (l *alone) forget(first int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.done = l.done[first:]; len(l.done) == 0 {
		l.done = nil
	}
}

// startUnowned begins work that no lease owns. It is not tried again: what it
// was for is still owed to the store.
func (n *Node) startUnowned(s *loner, next plan.Alone, now time.Time) {
	a := &attempt{
		claim: store.Claim{
			Schedule: s.id, Period: next.Period, Covers: next.Covers, Due: next.Due, IntervalStart: next.IntervalStart,
			Origin: duly.OriginSchedule, Revision: s.revision,
		},
		plan: s.plan, unowned: &unowned{started: now},
	}
	n.log.Warn("the store does not answer: running without ownership", "occurrence", a.id())
	ctx, cancel := context.WithCancelCause(context.Background())
	a.cancel = cancel
	n.active.add(a)
	go func() {
		defer func() {
			if n.active.remove(a) {
				signal(n.freed)
			}
			a.cancel(nil)
			signal(n.alone.wake)
		}()
		stopTimers := n.arm(ctx, a, s.plan)
		defer stopTimers()
		n.conclude(a, n.perform(ctx, a, s.plan))
	}()
}

// tellUnowned tells the store what was done without ownership. What it does not
// take is told again; what it refuses for what it is, is logged and dropped.
func (n *Node) tellUnowned(ctx context.Context) {
	most := maxUnownedBatch
	for {
		n.alone.mu.Lock()
		batch := n.alone.done[:min(len(n.alone.done), most)]
		n.alone.mu.Unlock()
		if len(batch) == 0 {
			return
		}
		call, cancel := context.WithTimeout(ctx, aloneCall)
		err := n.store.RecordUnowned(call, batch)
		late := call.Err() != nil
		cancel()
		switch {
		case err == nil:
		case late || duly.CodeOf(err) == duly.CodeUnavailable:
			return
		case len(batch) > 1:
			most = 1
			continue
		default:
			n.log.Error("the store does not take a record of what was done without ownership", "occurrence", duly.OccurrenceID(batch[0].Schedule, batch[0].Period), "outcome", batch[0].Outcome, "error", err)
		}
		n.alone.forget(len(batch))
	}
}
