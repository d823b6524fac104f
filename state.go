package duly

// State is where an occurrence is in its life.
type State string

// The states. Each has a Reason on the occurrence that a person can read.
const (
	Pending   State = "pending"   // due; waits for a slot, its time, or an earlier one
	Running   State = "running"   // an attempt owns it
	Succeeded State = "succeeded" // done
	Failed    State = "failed"    // attempts used up, or a permanent error
	Uncertain State = "uncertain" // an external outcome is unknown; needs a person or a reconcile
	Skipped   State = "skipped"   // not wanted: overlap, pause, calendar
	Merged    State = "merged"    // a later occurrence covers it
	Missed    State = "missed"    // its time passed and catch-up did not want it
	Cancelled State = "cancelled" // a person ended it
)

// States lists every state, open ones first.
var States = []State{Pending, Running, Succeeded, Failed, Uncertain, Skipped, Merged, Missed, Cancelled}

// Open reports whether work remains to be done.
func (s State) Open() bool { return s == Pending || s == Running }

// NeedsAttention reports whether a person should look.
func (s State) NeedsAttention() bool { return s == Failed || s == Uncertain || s == Missed }

// Outcome is how an attempt ended.
type Outcome string

// The outcomes. AttemptRunning is the outcome of an attempt that has none yet.
const (
	AttemptRunning   Outcome = "running"
	AttemptSucceeded Outcome = "succeeded"
	AttemptFailed    Outcome = "failed"
	AttemptLost      Outcome = "lost"      // the lease ran out
	AttemptTimedOut  Outcome = "timed_out" // longer than the schedule's timeout
	AttemptCancelled Outcome = "cancelled" // a person, or overlap replace
	AttemptReleased  Outcome = "released"  // a draining node gave it back; not counted
	AttemptUncertain Outcome = "uncertain" // an external outcome is unknown
)

// Outcomes lists every outcome a worker may report.
var Outcomes = []Outcome{AttemptSucceeded, AttemptFailed, AttemptTimedOut, AttemptCancelled, AttemptReleased, AttemptUncertain}

// Step is a cause of a transition.
type Step string

// The steps. Every change of state, on every store, is one of them.
const (
	StepFire    Step = "fire"    // a planner makes the occurrence
	StepInsert  Step = "insert"  // a person makes it
	StepClaim   Step = "claim"   // a worker takes it
	StepFinish  Step = "finish"  // a worker reports
	StepReap    Step = "reap"    // a lease ran out
	StepExpire  Step = "expire"  // its start deadline passed
	StepMerge   Step = "merge"   // a later one takes it over
	StepCancel  Step = "cancel"  // a person ends or dismisses it
	StepRetry   Step = "retry"   // a person, or a backfill, asks for it again
	StepResolve Step = "resolve" // a person or a reconcile says what happened
)

// transitions is the whole state machine: from, step, and where it may lead.
// The empty state is an occurrence that does not exist yet.
var transitions = map[State]map[Step][]State{
	"": {
		StepFire:   {Pending, Skipped, Missed},
		StepInsert: {Pending},
	},
	Pending: {
		StepClaim:  {Running},
		StepFinish: {Succeeded, Failed, Uncertain}, // a late report nobody superseded
		StepExpire: {Missed},
		StepMerge:  {Merged},
		StepCancel: {Cancelled},
	},
	Running: {
		StepFinish: {Succeeded, Failed, Uncertain, Pending, Cancelled},
		StepReap:   {Pending, Failed, Uncertain, Cancelled},
	},
	Failed: {
		StepFinish: {Succeeded, Uncertain}, // the last attempt was lost, and its report came late
		StepCancel: {Cancelled},
		StepRetry:  {Pending},
	},
	Uncertain: {
		StepCancel:  {Cancelled},
		StepRetry:   {Pending},
		StepResolve: {Succeeded, Pending},
	},
	Missed: {
		StepCancel: {Cancelled},
		StepRetry:  {Pending},
	},
	Skipped:   {StepRetry: {Pending}},
	Cancelled: {StepRetry: {Pending}},
	Succeeded: {StepRetry: {Pending}}, // only where a backfill says `all`
	Merged:    {},
}

// CanMove reports whether a step may lead from one state to another. The empty
// state stands for an occurrence that does not exist yet.
func CanMove(from State, step Step, to State) bool {
	for _, t := range transitions[from][step] {
		if t == to {
			return true
		}
	}
	return false
}

// Movable lists the states from which a step may start.
func Movable(step Step) []State {
	var from []State
	for _, s := range States {
		if len(transitions[s][step]) > 0 {
			from = append(from, s)
		}
	}
	return from
}
