package duly

import (
	"errors"
	"time"
)

// Permanent wraps an error that no further attempt can mend: the occurrence
// becomes failed at once. Permanent(nil) is nil.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &outcomeError{error: err, permanent: true}
}

// RetryAfter wraps an error and says how long to wait before the next attempt,
// instead of the schedule's backoff. RetryAfter(nil, d) is nil.
func RetryAfter(err error, d time.Duration) error {
	if err == nil {
		return nil
	}
	return &outcomeError{error: err, after: d}
}

// ErrUncertain says that an external outcome is unknown. A handler that
// returns an error which wraps it makes its occurrence uncertain: it waits for
// a person or a reconcile and is never repeated blindly.
var ErrUncertain = errors.New("outcome unknown")

// IsPermanent reports whether err was wrapped by Permanent.
func IsPermanent(err error) bool {
	var o *outcomeError
	return errors.As(err, &o) && o.permanent
}

// RetryDelay returns the delay that RetryAfter asked for, 0 for none.
func RetryDelay(err error) time.Duration {
	var o *outcomeError
	if errors.As(err, &o) {
		return o.after
	}
	return 0
}

type outcomeError struct {
	error
	permanent bool
	after     time.Duration
}

func (e *outcomeError) Unwrap() error { return e.error }
