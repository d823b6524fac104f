package store

import (
	"context"
	"encoding/json"
	"time"

	"github.com/duly-dev/duly"
)

// Operator does what people ask for. Every step leaves an audit row.
type Operator interface {
	// Insert makes occurrences that a person asked for. One that exists is
	// answered as it stands, Existing set; with req.Retry, one in a state that
	// StepRetry may leave goes back to pending. A period that another
	// occurrence covers exists, and that one is the answer.
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
	// and so does an occurrence that holds its schedule, or that is uncertain
	// and waits for a person.
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
	ID       string // of the one that covers the period, where it exists so
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
