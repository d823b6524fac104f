package target

import (
	"context"
	"encoding/json"
	"time"

	"github.com/duly-dev/duly"
)

// Runner does one kind of target: the one that [duly.Target.Capability] names.
type Runner interface {
	// Run makes one attempt and returns when nothing of it goes on any more,
	// or when it is Detached. The end of ctx asks for an early end, for the
	// reason that context.Cause gives: ErrTimeout, ErrCancelled, ErrLeaseLost
	// or ErrDraining. Run returns as soon as the target has stopped then, which
	// may be later. It is called from many goroutines at once.
	Run(ctx context.Context, a Assignment) Result
}

// Assignment is what one attempt is given.
type Assignment struct {
	Schedule   string
	Occurrence string // schedule@period
	Period     string
	// Covers lists the periods that the work is for. Empty: Period alone.
	Covers []string
	Due    time.Time
	// IntervalStart is when the schedule was due before: the work's data lies
	// in IntervalStart <= t < Due. Zero where there is no such time.
	IntervalStart time.Time
	Origin        duly.Origin
	Attempt       int // 1, 2, 3 …; 0 where Unowned
	// Unowned: the node could not reach the store and does this by itself, as
	// others may do at the same time (when_unavailable: run). No token guards
	// it; Token is 0.
	Unowned bool
	// Token is the fencing token and Resource what it guards: "queue/NAME" or
	// "schedule/ID" where at most one occurrence of that runs at once,
	// otherwise "occurrence/ID". A destination that has seen a greater token
	// for the resource must refuse this one.
	Token    int64
	Resource string
	// IdempotencyKey is the same for every attempt at the occurrence.
	IdempotencyKey string
	// LeaseUntil says until when the attempt is owned, by the store's clock; it
	// moves on while the lease is renewed. Nil: unknown.
	LeaseUntil func() time.Time
	Payload    json.RawMessage // may be empty
	Target     duly.Target
	// CallbackURL is where the receiver of a request reports the end of work
	// that it went on with after its answer (202). Empty: nobody listens.
	CallbackURL string
}

// Result is how an attempt ended.
type Result struct {
	// Outcome is never empty. It is AttemptLost when the attempt stopped
	// because its lease was lost, which is nothing that a node may report, and
	// AttemptRunning when Detached.
	Outcome duly.Outcome
	// Error says in words what went wrong and, where that is known, what to
	// do. Empty for AttemptSucceeded.
	Error string
	// Permanent: the target says that no further attempt can succeed.
	Permanent bool
	// RetryAfter is how long the target asks to be left alone, 0 for no wish.
	// It is bounded.
	RetryAfter time.Duration
	// ExitCode is a command's exit code (128 + n where signal n killed it) or
	// an HTTP status. Nil where there was none.
	ExitCode *int
	// Output is what the target printed or answered: bounded, valid UTF-8, no
	// NUL.
	Output string
	Result json.RawMessage // nil for none
	// Effects are the effects that the target says it caused or found.
	Effects []Effect
	// Detached: the target accepted the work and goes on with it. The attempt
	// has not ended; its report comes through Assignment.CallbackURL.
	Detached bool
}

// Effect is what an attempt tells of an effect.
type Effect = duly.EffectReport

// Failed is the Result of an attempt that failed with nothing else to tell.
func Failed(reason string) Result {
	return Result{Outcome: duly.AttemptFailed, Error: reason}
}

// FailedForGood is the Result of an attempt that no further one can better.
func FailedForGood(reason string) Result {
	return Result{Outcome: duly.AttemptFailed, Error: reason, Permanent: true}
}
