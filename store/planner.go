package store

import (
	"context"
	"time"

	"github.com/duly-dev/duly"
)

// Planner makes occurrences of schedules that are due.
type Planner interface {
	// Fire takes up to req.Limit schedules whose NextDue has come, skipping
	// those another node is firing, lets req.Plan decide, and in the same
	// transaction inserts the occurrences and moves the schedules on. An
	// occurrence whose schedule@period exists is left as it is: no error, not
	// counted. With req.Claim set it then claims, in that same transaction.
	//
	// The earliest due come first, and of what is due at one instant queues
	// take turns: a queue's n-th schedule comes before any queue's n+1st.
	//
	// A store's clock that was set back must not silence schedules whose
	// cursor now lies ahead. The store keeps the highest now that a Fire has
	// seen; when its now lies more than ClockTolerance behind that, Fire first
	// sets back the cursors and next due times that lie ahead of now, answers
	// ClockSetBack, and goes on from now. Occurrences are unique by name, and
	// what a name does not tell (DueSchedule.Ahead) the planner asks for, so
	// that none is repeated. Horizon answers Due = now in that state.
	// Leases that end later than now plus their length, as it was last granted,
	// are cut to that, and
	// what waits for a time ahead of now waits no longer than it would have.
	Fire(ctx context.Context, req FireRequest) (FireResult, error)

	// Horizon says when there is next something to do.
	Horizon(ctx context.Context) (Horizon, error)
}

// ClockTolerance is by how much a store's clock may step back unnoticed.
const ClockTolerance = 2 * time.Second

// FireRequest asks for due schedules to be fired.
type FireRequest struct {
	Now   time.Time
	Node  int64 // session of the node that fires
	Limit int   // schedules; default 1000
	Plan  PlanFunc
	Claim *ClaimRequest
}

// PlanFunc decides what due schedules owe. It is pure, and may be called more
// than once with the same arguments. It must not ask the store anything, but by
// Firing.Ask: Fire holds the schedules, on a connection that the question may
// have to wait for.
// It answers Firings for the first of them,
// in order; schedules beyond stay as they are and FireResult.More is set, so
// that a transaction is bounded by what it makes, not only by Limit.
type PlanFunc func(now time.Time, due []DueSchedule) []Firing

// DueSchedule is what a decision about one schedule rests on.
type DueSchedule struct {
	Schedule string
	// Cursor: every instant up to and including it has been planned.
	Cursor time.Time
	// Anchor is the second in which the store first met the schedule.
	Anchor time.Time
	// Revisions in force after Cursor, oldest first; never empty. Each holds
	// until the next one's From.
	Revisions []Revision
	// Fired counts the occurrences made so far, for Limit: those to be done,
	// not those recorded as skipped or missed.
	Fired int
	// Open counts unfinished occurrences, Running of them owned.
	Open, Running int
	// Waiting are the pending ones that never started, oldest first, at most
	// 100; filled only where the newest revision's overlap is combine.
	Waiting []Waiting
	// Active are the seqs of running ones; filled only for overlap replace.
	Active []int64
	// Resume is set on the first firing after a pause.
	Resume *Resume
	// Ahead is how far the store's clock had come before it was last set back;
	// zero: it never was. Something may exist for what is due up to it,
	// although it lies after Cursor.
	Ahead time.Time
	// Exists says, of the periods that were asked for, whether there is an
	// occurrence of that name, or one that covers it. A record that stands for
	// a run of periods is neither: what it missed while the clock was wrong may
	// be done in its own time.
	Exists map[string]bool
}

// Revision is a version of a definition and when it came into force.
type Revision struct {
	Number     int64
	Definition int64 // names the definition's content; see Reader.Definition
	From       time.Time
}

// Resume says what happens to what came due in From < t <= To, while the
// schedule was paused. What Policy does not want is recorded as skipped.
type Resume struct {
	From, To time.Time
	Policy   duly.CatchUpPolicy
	By       string
}

// Waiting is an occurrence that waits and can be merged.
type Waiting struct {
	Seq    int64
	Period string
	Covers []string
}

// Firing is the decision about one due schedule.
type Firing struct {
	Schedule string
	// Cursor and NextDue are the schedule's new ones. A zero NextDue means
	// never again.
	Cursor, NextDue time.Time
	Occurrences     []NewOccurrence
	// Merge lists waiting occurrences that the last of Occurrences takes over.
	Merge []int64
	// Cancel lists running occurrences that must give way to that one. Neither
	// happens where it existed before and so did not come to be.
	Cancel []int64
	// ResumeDone clears DueSchedule.Resume.
	ResumeDone bool
	// Ask lists periods that are not in DueSchedule.Exists and have to be
	// before the schedule can be decided on. All else in the Firing is void
	// then: Fire looks, and calls the PlanFunc again. To ask for what has been
	// told is an error of code internal.
	Ask []string
}

// NewOccurrence is an occurrence to be made.
type NewOccurrence struct {
	Period        string
	Covers        []string // empty: Period alone
	Count         int      // 0: 1
	Due           time.Time
	IntervalStart time.Time
	State         duly.State // pending, skipped or missed
	Reason        string
	Origin        duly.Origin
	NotBefore     time.Time // zero: at once
	StartBy       time.Time // zero: no deadline
	Revision      int64     // 0: the newest (Insert only)
	Definition    int64     // 0: the revision's (Insert only)
	// Extend continues the schedule's newest occurrence where that has the
	// same State and Reason and stands for a run of periods: its Count grows,
	// and the end of its period, "first..last", and its Due move.
	Extend bool

	Placement
}

// Placement is what a store needs to know of a definition to queue an
// occurrence and to hand it out. plan.Place derives it.
type Placement struct {
	Capability string // who may run it
	Queue      string // empty: the schedule's own
	// Serial occurrences of a schedule wait for each other, in order of Due.
	// A schedule's own queue has concurrency 1 if they are serial, otherwise
	// none.
	Serial   bool
	Priority int
	Lease    time.Duration
}

// FireResult says what was made.
type FireResult struct {
	Now       time.Time
	Schedules int // due ones that were taken
	// Fired lists what came to be. Those that existed before are not in it.
	Fired []Fired
	// More: schedules were due beyond Limit, or have more to plan.
	More   bool
	Claims []Claim
	// ClockSetBack is by how much the store's clock had been set back; zero
	// where it had not.
	ClockSetBack time.Duration
}

// Fired is an occurrence that came to be.
type Fired struct {
	Seq      int64
	Schedule string
	Period   string
	Due      time.Time
	State    duly.State
	Reason   string
	Count    int
}

// Horizon says when the store next has something to do. A zero time means not
// at all as things stand. Now is the store's clock.
type Horizon struct {
	Now   time.Time
	Due   time.Time // a schedule comes due
	Ready time.Time // a pending occurrence may start (now or earlier: at once)
	Lease time.Time // a lease or a node's session runs out, or a start deadline passes
}
