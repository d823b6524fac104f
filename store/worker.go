package store

import (
	"context"
	"encoding/json"
	"time"

	"github.com/duly-dev/duly"
)

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
