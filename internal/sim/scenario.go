package sim

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/duly-dev/duly"
)

// Scenario is a run, all of it: playing it again gives the same.
type Scenario struct {
	Seed      uint64
	Nodes     int
	Hours     int // the last half of which, at least two, is free of faults
	Schedules []Spec
	Faults    []Fault
	Bug       Bug
}

// Spec is a schedule with how its work goes.
type Spec struct {
	ID          string
	Every       int // minutes
	Overlap     duly.Overlap
	CatchUp     duly.CatchUpPolicy
	Queue       string
	Lease       time.Duration
	MaxAttempts int
	StartBy     time.Duration
	// Work is how long an attempt takes at most.
	Work time.Duration
	// Fails is how many of a hundred attempts fail, before or after the effect.
	Fails int
	// Stubborn code does not stop when its context ends.
	Stubborn bool
}

// sharedQueue is the queue that some schedules share, and its concurrency.
const (
	sharedQueue      = "shared"
	queueConcurrency = 2
)

// Kind is a kind of fault.
type Kind string

// The faults. Each begins at At and lasts For.
const (
	Outage     Kind = "outage"       // the store answers nobody
	Partition  Kind = "partition"    // a node is cut off from the store
	Crash      Kind = "crash"        // a node dies and comes back
	Pause      Kind = "pause"        // a node stands still, and goes on as if nothing had been
	Slow       Kind = "slow"         // messages take up to half a minute and overtake each other
	LoseReply  Kind = "lose reply"   // steps are made and their answers lost
	Duplicate  Kind = "duplicate"    // messages come twice
	ClockBack  Kind = "clock back"   // the store's clock is set back by Amount, for good
	Skew       Kind = "skew"         // a node's clock is off by Amount
	PauseByMan Kind = "pause by man" // a person pauses a schedule, and resumes it
	Cancel     Kind = "cancel"       // a person cancels what runs
	Redefine   Kind = "redefine"     // a person changes a definition
	PauseQueue Kind = "pause queue"  // a person pauses the shared queue, and resumes it
	Drain      Kind = "drain"        // a node is asked to end, gives back what it works on, and comes back
)

var kinds = []Kind{Outage, Partition, Partition, Crash, Crash, Crash, Pause, Pause, Pause, Slow, Slow, Slow, LoseReply, LoseReply, Duplicate, ClockBack, Skew, PauseByMan, Cancel, Redefine, PauseQueue, Drain, Drain}

// Fault is something that goes wrong.
type Fault struct {
	Kind   Kind
	At     time.Duration
	For    time.Duration
	Node   int // or schedule
	Amount time.Duration
}

func (f Fault) String() string {
	return fmt.Sprintf("{%q at %v for %v, number %d, by %v}", f.Kind, f.At, f.For, f.Node, f.Amount)
}

func (s Scenario) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d, %d nodes, %d hours", s.Seed, s.Nodes, s.Hours)
	if s.Bug != "" {
		fmt.Fprintf(&b, ", broken: %s", s.Bug)
	}
	for _, sp := range s.Schedules {
		fmt.Fprintf(&b, "\n  schedule %+v", sp)
	}
	for _, f := range s.Faults {
		fmt.Fprintf(&b, "\n  fault %v", f)
	}
	return b.String()
}

// Generate makes the scenario of a seed.
func Generate(seed uint64, bug Bug) Scenario {
	rng := rand.New(rand.NewPCG(seed, 1))
	s := Scenario{Seed: seed, Nodes: 2 + rng.IntN(3), Hours: 4 + rng.IntN(3), Bug: bug}
	for i := range 3 + rng.IntN(4) {
		s.Schedules = append(s.Schedules, spec(rng, i))
	}
	faulty := time.Duration(s.Hours) * time.Hour / 2
	for range 4 + rng.IntN(12) {
		f := Fault{Kind: pick(rng, kinds...), At: upTo(rng, faulty), For: time.Second + upTo(rng, 20*time.Minute), Node: rng.IntN(16)}
		switch f.Kind {
		case ClockBack:
			f.Amount = upTo(rng, 6*time.Hour)
			// What was granted before must end although its owner is gone.
			s.Faults = append(s.Faults, Fault{Kind: Crash, At: f.At, For: time.Minute, Node: f.Node})
		case Skew:
			f.Amount = upTo(rng, time.Hour) - 30*time.Minute
		case Outage:
			if rng.IntN(4) == 0 {
				f.For = upTo(rng, faulty)
			}
		}
		f.For = min(f.For, faulty-f.At)
		s.Faults = append(s.Faults, f)
	}
	return s
}

func spec(rng *rand.Rand, i int) Spec {
	s := Spec{
		ID: fmt.Sprintf("s%d", i), Every: pick(rng, 1, 2, 5, 10, 30),
		Overlap:     pick(rng, duly.OverlapWait, duly.OverlapWait, duly.OverlapSkip, duly.OverlapCombine, duly.OverlapCombine, duly.OverlapAllow, duly.OverlapReplace),
		CatchUp:     pick(rng, duly.CatchUpNone, duly.CatchUpLatest, duly.CatchUpAll, duly.CatchUpAll, duly.CatchUpCombine),
		Lease:       pick(rng, 10*time.Second, 30*time.Second, 2*time.Minute),
		MaxAttempts: pick(rng, 1, 3, 5, 20),
		Work:        pick(rng, time.Second, 20*time.Second, 90*time.Second, 4*time.Minute),
		Fails:       pick(rng, 0, 0, 10, 50),
		Stubborn:    rng.IntN(2) == 0,
	}
	if rng.IntN(3) == 0 {
		s.Queue = sharedQueue
	}
	if rng.IntN(4) == 0 {
		s.StartBy = 10 * time.Minute
	}
	// Work that takes longer than its interval would never come to an end.
	s.Work = min(s.Work, time.Duration(s.Every)*time.Minute/4)
	return s
}

func (s Spec) schedule(version int) duly.Schedule {
	return duly.Schedule{
		ID: s.ID, Timing: duly.Timing{Cron: fmt.Sprintf("*/%d * * * *", s.Every)}, Overlap: s.Overlap,
		CatchUp: duly.CatchUp{Policy: s.CatchUp, Window: duly.Duration(6 * time.Hour)}, Queue: s.Queue, Lease: duly.Duration(s.Lease),
		Retry:         duly.Retry{MaxAttempts: s.MaxAttempts, Backoff: duly.Duration(5 * time.Second), MaxBackoff: duly.Duration(30 * time.Second)},
		StartDeadline: duly.Duration(s.StartBy), Payload: fmt.Appendf(nil, `{"version":%d}`, version), Target: duly.Target{Handler: "work"},
	}
}

func pick[T any](rng *rand.Rand, from ...T) T { return from[rng.IntN(len(from))] }

func upTo(rng *rand.Rand, d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return time.Duration(rng.Int64N(int64(d))).Truncate(time.Millisecond)
}
