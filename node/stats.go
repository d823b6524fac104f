package node

import (
	"sync/atomic"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// LatenessBuckets are the upper bounds of Stats' lateness histogram.
var LatenessBuckets = [...]time.Duration{
	time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 25 * time.Millisecond, 50 * time.Millisecond,
	100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond, time.Second, 5 * time.Second, 30 * time.Second, 5 * time.Minute,
}

// Stats counts what this node did since it was made. Its methods may be called
// at any time.
type Stats struct {
	made          [3]atomic.Int64 // pending, skipped, missed
	lost          atomic.Int64
	stale         atomic.Int64
	late          atomic.Int64
	abandoned     atomic.Int64
	renewFailures atomic.Int64
	outcomes      [6]atomic.Int64 // in the order of duly.Outcomes
	lateness      [len(LatenessBuckets) + 1]atomic.Int64
	latenessSum   atomic.Int64
}

// Counts is a reading of Stats.
type Counts struct {
	Made          map[duly.State]int64   // occurrences made by this node
	Outcomes      map[duly.Outcome]int64 // attempts finished by this node
	Lost          int64                  // attempts of any node that this one ended as lost
	Stale         int64                  // reports refused
	Late          int64                  // reports accepted after the lease had run out
	Abandoned     int64                  // handlers that ignored their cancellation
	RenewFailures int64
	// Lateness counts starts by due-to-start delay, cumulative, one count for
	// each of LatenessBuckets and one for all.
	Lateness    [len(LatenessBuckets) + 1]int64
	LatenessSum time.Duration
	Running     int
	Held        int // reports that wait for the store
}

// Counts reads the node's counters.
func (n *Node) Counts() Counts {
	s := &n.stats
	c := Counts{
		Made: map[duly.State]int64{}, Outcomes: map[duly.Outcome]int64{},
		Lost: s.lost.Load(), Stale: s.stale.Load(), Late: s.late.Load(), Abandoned: s.abandoned.Load(), RenewFailures: s.renewFailures.Load(),
		LatenessSum: time.Duration(s.latenessSum.Load()), Running: n.active.size(), Held: n.reports.held(),
	}
	for i, state := range []duly.State{duly.Pending, duly.Skipped, duly.Missed} {
		c.Made[state] = s.made[i].Load()
	}
	for i, o := range duly.Outcomes {
		c.Outcomes[o] = s.outcomes[i].Load()
	}
	sum := int64(0)
	for i := range s.lateness {
		sum += s.lateness[i].Load()
		c.Lateness[i] = sum
	}
	return c
}

func (s *Stats) fired(all []store.Fired) {
	for _, f := range all {
		switch f.State {
		case duly.Skipped:
			s.made[1].Add(int64(max(f.Count, 1)))
		case duly.Missed:
			s.made[2].Add(int64(max(f.Count, 1)))
		default:
			s.made[0].Add(1)
		}
	}
}

func (s *Stats) started(late time.Duration) {
	late = max(late, 0)
	s.latenessSum.Add(int64(late))
	for i, bound := range LatenessBuckets {
		if late <= bound {
			s.lateness[i].Add(1)
			return
		}
	}
	s.lateness[len(LatenessBuckets)].Add(1)
}

func (s *Stats) finished(outcome duly.Outcome, late bool) {
	for i, o := range duly.Outcomes {
		if o == outcome {
			s.outcomes[i].Add(1)
		}
	}
	if late {
		s.late.Add(1)
	}
}

func (s *Stats) reaped(res store.ReapResult) {
	s.lost.Add(int64(len(res.Lost)))
	s.fired(res.Missed)
}
