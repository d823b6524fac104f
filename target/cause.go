package target

import (
	"context"
	"errors"

	"github.com/duly-dev/duly"
)

// The causes for which a node ends an attempt early: it gives one of them to
// the context.CancelCauseFunc (or WithTimeoutCause) of the context that it
// passes to Run. A cause may wrap them with more to say.
var (
	ErrTimeout   = errors.New("the attempt took longer than the schedule's timeout")
	ErrCancelled = errors.New("the attempt was cancelled")
	ErrLeaseLost = errors.New("the lease was lost, so another attempt may own the occurrence")
	ErrDraining  = errors.New("the node is draining")
)

// Stopped is the Result of an attempt that ended because ctx did. A cause that
// is none of those above counts as cancelled, and a bare deadline as a
// timeout.
func Stopped(ctx context.Context) Result {
	cause := context.Cause(ctx)
	switch cause {
	case nil, context.Canceled:
		cause = ErrCancelled
	case context.DeadlineExceeded:
		cause = ErrTimeout
	}
	return Result{Outcome: outcomeOf(cause), Error: cause.Error()}
}

func outcomeOf(cause error) duly.Outcome {
	switch {
	case errors.Is(cause, ErrLeaseLost):
		return duly.AttemptLost
	case errors.Is(cause, ErrTimeout), errors.Is(cause, context.DeadlineExceeded):
		return duly.AttemptTimedOut
	case errors.Is(cause, ErrDraining):
		return duly.AttemptReleased
	}
	return duly.AttemptCancelled
}
