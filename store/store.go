package store

import (
	"context"
	"encoding/json"
	"time"

	"github.com/duly-dev/duly"
)

// Store is the whole contract.
type Store interface {
	Planner
	Worker
	Definer
	Operator
	Nodes
	Leases
	Reader

	// Watch calls notify when something happened that another process or
	// goroutine of this store did, until ctx ends. It is a wake-up and no more:
	// events may be merged, repeated or lost.
	Watch(ctx context.Context, notify func(Event)) error
	Close() error
}

// Event says that something of a kind changed. An empty Schedule means that
// more than one, or an unknown one, is meant.
type Event struct {
	Topic    Topic  `json:"topic"`
	Schedule string `json:"schedule,omitempty"`
}

// Topic is the kind of thing an event is about.
type Topic string

// The topics. TopicAny comes from stores that only know that something changed.
const (
	TopicAny         Topic = "any"
	TopicSchedules   Topic = "schedules"
	TopicOccurrences Topic = "occurrences"
	TopicNodes       Topic = "nodes"
	TopicLeases      Topic = "leases"
	// TopicCancels: the owner of a running attempt is to learn, by its next
	// Renew, that somebody wants it ended. TopicOccurrences comes with it.
	TopicCancels Topic = "cancels"
)

// Planner makes occurrences of schedules that are due.
type Planner interface {
	// Fire takes up to req.Limit schedules whose NextDue has come, skipping
	// those another node is firing, lets req.Plan decide, and in the same
	// transaction inserts the occurrences and moves the schedules on. An
	// occurrence whose schedule@period exists is left as it is: no error, not
	// counted. With req.Claim set it then claims, in that same transaction.
	//
	// A store's clock that was set back must not silence schedules whose
	// cursor now lies ahead. The store keeps the highest now that a Fire has
	// seen; when its now lies more than ClockTolerance behind that, Fire first
	// sets back the cursors and next due times that lie ahead of now, answers
	// ClockSetBack, and goes on from now. Occurrences are unique by name, so
	// none is repeated. Horizon answers Due = now in that state.
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
// than once with the same arguments. It must not ask the store anything: Fire
// holds the schedules, on a connection that the question may have to wait for.
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

// Worker hands out ownership and takes reports.
type Worker interface {
	// Claim takes up to req.Max pending occurrences that may start now and
	// that req.Capabilities can run: higher priority first, then earlier due,
	// fair between queues. It opens an attempt for each, with a token greater
	// than every earlier one. A queue's concurrency is exact, however many
	// claim at once. Occurrences past StartBy that never started become missed
	// instead.
	Claim(ctx context.Context, req ClaimRequest) (ClaimResult, error)

	// Renew extends leases. An item that is no longer owned is answered
	// Lost; one that a person wants ended, Cancelled. Results are in order.
	Renew(ctx context.Context, node int64, items []Renewal) ([]Renewed, error)

	// Finish records reports, each conditional on its token being the newest
	// granted for its occurrence. One that comes after the lease ran out but
	// was not superseded is accepted and marked late. A superseded one is kept
	// beside its attempt as stale and answered with code stale_token. The same
	// report given twice is answered twice alike. One of code unavailable has
	// changed nothing, as another transaction holds its occurrence or schedule:
	// it is to be given again. Results are in order.
	Finish(ctx context.Context, node int64, reports []Report) ([]Finished, error)

	// RecordUnowned keeps, beside the occurrences, what a node did by itself
	// while it could not reach the store (when_unavailable: run), with an audit
	// row for each. No state changes by it, and what is owed stays owed. One that
	// is given again is kept once; one of a schedule that the store has never
	// met is dropped.
	RecordUnowned(ctx context.Context, done []UnownedReport) error

	// Reap ends up to req.Limit attempts whose lease has run out, by
	// req.Decide, makes occurrences missed whose start deadline passed, and
	// ends the sessions of nodes that were not kept alive.
	Reap(ctx context.Context, req ReapRequest) (ReapResult, error)
}

// ClaimRequest asks for work.
type ClaimRequest struct {
	Now          time.Time
	Node         int64 // session
	Max          int
	Capabilities []string
}

// ClaimResult is work, and when to ask again.
type ClaimResult struct {
	Now    time.Time
	Claims []Claim
	Missed []Fired // whose start deadline had passed
}

// Claim is the ownership of an occurrence for one attempt.
type Claim struct {
	Seq           int64
	Schedule      string
	Period        string
	Covers        []string
	Due           time.Time
	IntervalStart time.Time
	Origin        duly.Origin
	Queue         string
	Revision      int64
	Definition    int64
	Payload       json.RawMessage // set where it differs from the definition's (trigger)
	Attempt       int             // 1, 2, 3 …
	Tries         int             // attempts that count against the limit, with this one
	Token         int64
	// Lease is the length of ownership, counted by the store from Now. A
	// worker counts it from before it asked, on its monotonic clock.
	Lease      time.Duration
	LeaseUntil time.Time
	// Exclusive: at most one occurrence of its queue runs at once, so the
	// queue is the resource that fences guard.
	Exclusive bool
}

// Resource names what a fence guards: the queue where that runs one occurrence
// at a time, since then tokens grow along with it; otherwise the occurrence, as
// tokens of a wider queue interleave.
func (c *Claim) Resource() string {
	switch {
	case !c.Exclusive:
		return "occurrence/" + duly.OccurrenceID(c.Schedule, c.Period)
	case c.Queue != "":
		return "queue/" + c.Queue
	}
	return "schedule/" + c.Schedule
}

// Renewal asks for a lease to be extended.
type Renewal struct {
	Seq, Token int64
	Lease      time.Duration // from the store's now
}

// Renewed is the answer to a Renewal.
type Renewed struct {
	Lost      bool // no longer owned: stop at once
	Cancelled bool // still owned, but wanted ended; report cancelled when it has
	Reason    string
	Until     time.Time
}

// Report is what a worker says of an attempt, with the decision that follows
// (made by plan.After).
type Report struct {
	Seq, Token int64
	Outcome    duly.Outcome
	Error      string
	ExitCode   *int
	Output     string
	Result     json.RawMessage
	Effects    []EffectReport
	Next       Next
}

// EffectReport names an effect that an attempt caused or found.
type EffectReport = duly.EffectReport

// UnownedReport is what a node did without ownership. RecordedAt is the
// store's to set.
type UnownedReport struct {
	Schedule string
	duly.Unowned
}

// Next is where an occurrence goes when an attempt has ended.
type Next struct {
	// State failed becomes uncertain where an effect of the occurrence is
	// open: nobody knows then what the attempts did.
	State  duly.State
	Reason string
	// Delay is from the store's now; for pending.
	Delay time.Duration
	// Uncounted attempts do not count against the limit (released).
	Uncounted bool
	// Hold keeps the schedule's later occurrences waiting until a person
	// retries, resolves or cancels this one (on_failure: hold).
	Hold bool
}

// Finished is the answer to a Report.
type Finished struct {
	Schedule string
	Period   string
	State    duly.State // of the occurrence now
	Late     bool
	// Err is nil where the report was accepted; otherwise of code stale_token
	// (superseded, and kept), not_found, invalid (no outcome or next state that
	// a report can have), or unavailable (held by another transaction: report
	// again).
	Err error
}

// ReapRequest asks for run-out leases to be ended.
type ReapRequest struct {
	Now   time.Time
	Limit int // default 1000
	// Decide is pure and must not ask the store anything; see PlanFunc. A zero
	// Next leaves an attempt for another time.
	Decide func(Expired) Next
}

// Expired is an attempt whose lease ran out.
type Expired struct {
	Seq        int64
	Schedule   string
	Period     string
	Definition int64
	Attempt    int
	Tries      int
	Node       string
	Cancelled  bool // it was wanted ended
}

// ReapResult says what was ended.
type ReapResult struct {
	Now    time.Time
	Lost   []Reaped
	Missed []Fired
	More   bool
}

// Reaped is an attempt that was ended as lost and where its occurrence went.
type Reaped struct {
	Expired
	State duly.State
}

// Definer changes what schedules exist.
type Definer interface {
	// Apply makes a set of definitions the ones that owner holds, in one step,
	// with an audit row for each change. A definition equal to the one in
	// force changes nothing. A changed one makes a revision in force from now,
	// with the cursor where it is: what came due under the old one before now
	// is still owed. Answers what changed; with req.DryRun nothing is done.
	Apply(ctx context.Context, req ApplyRequest) (ApplyResult, error)

	// Declare says which definitions a live node carries in its code. In force
	// is, for each schedule owned by code, the newest definition (by when the
	// store first met it) that a live node still declares; it changes here,
	// and when nodes join, leave or expire. A schedule that no live node
	// declares is marked orphaned. A schedule owned by a file or a person is
	// left alone and answered as such.
	Declare(ctx context.Context, req DeclareRequest) (ApplyResult, error)
}

// Definition is a schedule's definition with what the store must know of it.
type Definition struct {
	Schedule duly.Schedule
	// Next gives the first due instant after a time, for a schedule anchored
	// at anchor; zero for never. The store calls it to set NextDue.
	Next func(anchor, after time.Time) time.Time
}

// ApplyRequest changes definitions.
type ApplyRequest struct {
	Now       time.Time
	Owner     string // "file:duly.yaml", "api", …
	By        string // who, for the audit
	Schedules []Definition
	Queues    []duly.Queue
	// Remove lists schedules to remove. Prune removes every schedule and queue
	// of Owner that is not in the request. Open occurrences of a removed
	// schedule are cancelled; history stays.
	Remove []string
	Prune  bool
	DryRun bool
	// Force takes over schedules of another owner; otherwise they are a
	// conflict that fails the whole request.
	Force bool
}

// DeclareRequest carries a node's definitions.
type DeclareRequest struct {
	Now       time.Time
	Node      int64
	Owner     string // the application, "code:billing"
	Schedules []Definition
}

// ApplyResult lists changes in the order of the request.
type ApplyResult struct {
	Changes []Change
}

// Change is what happened, or would, to one schedule or queue.
type Change struct {
	Kind   string `json:"kind"` // schedule or queue
	ID     string `json:"id"`
	Action Action `json:"action"`
	// Before and After are the definitions as JSON, where they exist.
	Before   json.RawMessage `json:"before,omitempty"`
	After    json.RawMessage `json:"after,omitempty"`
	Revision int64           `json:"revision,omitempty"`
	NextDue  time.Time       `json:"next_due,omitzero"`
	Reason   string          `json:"reason,omitempty"`
}

// Action is what a change did.
type Action string

// The actions.
const (
	ActionCreate Action = "create"
	ActionUpdate Action = "update"
	ActionRemove Action = "remove"
	ActionKeep   Action = "keep"   // nothing to do
	ActionIgnore Action = "ignore" // owned by somebody else, or older than what is in force
)

// Operator does what people ask for. Every step leaves an audit row.
type Operator interface {
	// Insert makes occurrences that a person asked for. One that exists is
	// answered as it stands, Existing set; with req.Retry, one in a state that
	// StepRetry may leave goes back to pending.
	Insert(ctx context.Context, req InsertRequest) ([]Inserted, error)

	// Pause stops a schedule from firing. Pausing again replaces who, why and
	// until.
	Pause(ctx context.Context, req PauseRequest) error
	// Resume lets it fire again, deciding on what came due meanwhile. Resuming
	// a schedule that is not paused is a conflict.
	Resume(ctx context.Context, req ResumeRequest) error

	// PauseQueue keeps a shared queue from handing anything out, to Claim and to
	// the claim within Fire alike; what is running goes on. Pausing again
	// replaces who, why and until. Once until has passed it is not paused any
	// more. What Apply changes of the queue leaves the pause as it is. Code
	// not_found for a queue that nothing ever named, such as a schedule's own,
	// for which there is Pause.
	PauseQueue(ctx context.Context, req PauseQueueRequest) error
	// ResumeQueue lets it hand out again. One that is not paused is a conflict.
	ResumeQueue(ctx context.Context, req ResumeQueueRequest) error

	// Retry sends an occurrence back to pending, its count of tries reset.
	// Code conflict where its state forbids it.
	Retry(ctx context.Context, occurrence, by, why string) error
	// Cancel ends a pending or dismisses an ended occurrence at once, and asks
	// the owner of a running one to stop.
	Cancel(ctx context.Context, occurrence, by, why string) error
	// Resolve says what became of an uncertain occurrence: that it succeeded,
	// or that it did not happen and is pending again, its count of tries reset.
	// Code conflict where its state forbids it.
	Resolve(ctx context.Context, occurrence string, to duly.State, by, why string) error
	// ResolveEffect notes what a person decided about an open effect in the
	// ledger, and sends every uncertain occurrence that waits for it back to
	// pending, its count of tries reset. It answers their IDs. What is given
	// again changes nothing more.
	ResolveEffect(ctx context.Context, req ResolveEffectRequest) ([]string, error)

	// Trim deletes up to limit ended occurrences that finished before a time,
	// with their attempts, and old audit rows and ended nodes. Effects stay,
	// and so does an occurrence that holds its schedule.
	Trim(ctx context.Context, before time.Time, limit int) (int, error)
}

// InsertRequest makes occurrences of one schedule.
type InsertRequest struct {
	Now         time.Time
	Schedule    string
	By, Why     string
	Occurrences []NewOccurrence
	Payload     json.RawMessage // nil: the definition's
	// Retry says which existing ones to send back to pending.
	Retry []duly.State
	// Once is an idempotency key: a request with a key seen before for this
	// schedule is answered with what it made then.
	Once string
	// DryRun answers what would happen and does nothing.
	DryRun bool
	// Claim hands out a new occurrence in the same transaction, as Fire's does,
	// if a Claim right after would hand out just that. Otherwise it is left to a
	// Claim, and a store may do so whenever it has to look further than at a lone
	// occurrence that nothing stands before.
	Claim *ClaimRequest
}

// Inserted is the answer for one occurrence.
type Inserted struct {
	ID       string
	Seq      int64
	State    duly.State // before a retry, if Existing
	Existing bool
	Retried  bool
	// Claim is the ownership of it, where it was handed out; State is running
	// then.
	Claim *Claim
}

// ResolveEffectRequest tells of a person's decision about an effect.
type ResolveEffectRequest struct {
	Key     string
	By, Why string
	// Before and After are the effect as the ledger had and has it, for the
	// audit.
	Before, After json.RawMessage
	// Occurrences lists some more that wait for it, as the ledger knows.
	Occurrences []string
}

// Decided says why an occurrence that waited for the effect goes on.
func (r ResolveEffectRequest) Decided() string {
	text := "effect " + r.Key + " is decided"
	if r.Why != "" {
		text += ": " + r.Why
	}
	return text
}

// PauseRequest stops a schedule.
type PauseRequest struct {
	Now      time.Time
	Schedule string
	By, Why  string
	Until    time.Time // zero: until resumed
	// Policy is for an Until that passes by itself.
	Policy duly.CatchUpPolicy
}

// ResumeRequest starts a schedule again.
type ResumeRequest struct {
	Now      time.Time
	Schedule string
	By       string
	Policy   duly.CatchUpPolicy
}

// PauseQueueRequest stops a shared queue.
type PauseQueueRequest struct {
	Now     time.Time
	Queue   string
	By, Why string
	Until   time.Time // zero: until resumed
}

// ResumeQueueRequest starts a shared queue again.
type ResumeQueueRequest struct {
	Now   time.Time
	Queue string
	By    string
}

// Nodes keeps sessions.
type Nodes interface {
	// Join opens a session and answers its number.
	Join(ctx context.Context, node NodeInfo) (int64, error)
	// Beat keeps a session alive until the store's now + ttl. Code not_found
	// where it has expired: join again.
	Beat(ctx context.Context, node int64, ttl time.Duration, load NodeLoad) error
	// Leave ends a session.
	Leave(ctx context.Context, node int64) error
}

// NodeInfo describes a process that takes part.
type NodeInfo struct {
	Name         string        `json:"name"` // unique among live nodes by host and pid, for people
	Host         string        `json:"host"`
	PID          int           `json:"pid"`
	Version      string        `json:"version"`
	TZData       string        `json:"tzdata"`
	Capabilities []string      `json:"capabilities"`
	Slots        int           `json:"slots"` // occurrences it runs at once
	TTL          time.Duration `json:"-"`
}

// NodeLoad is what a node tells with each beat.
type NodeLoad struct {
	Running int `json:"running"`
	// ClockOffset is the node's clock minus the store's.
	ClockOffset time.Duration `json:"clock_offset"`
	Draining    bool          `json:"draining,omitempty"`
}

// Leases are named: ownership of something that is no occurrence.
type Leases interface {
	// Acquire takes a named lease for an owner token, or answers code conflict
	// with the holder in the result. Acquiring again with the owner token that
	// holds it renews it and keeps the fencing token. Waiters are served in
	// the order in which they first asked, as long as each asks again within
	// its wait.
	Acquire(ctx context.Context, req AcquireRequest) (duly.Lease, error)
	// RenewLease extends it. Code not_holder where the token does not hold it.
	RenewLease(ctx context.Context, name, owner string, ttl time.Duration) (duly.Lease, error)
	// ReleaseLease gives it up. Code not_holder where the token does not hold
	// it; nothing changes then. The fencing counter stays.
	ReleaseLease(ctx context.Context, name, owner string) error
}

// AcquireRequest asks for a named lease.
type AcquireRequest struct {
	Now   time.Time
	Name  string
	Owner string // random, the caller's own
	// Holder is for people: host, pid, purpose.
	Holder string
	TTL    time.Duration
	// Wait keeps a place in the queue of waiters for this long; 0: try once.
	Wait time.Duration
}
