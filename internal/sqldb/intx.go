package sqldb

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/duly-dev/duly"
)

// A transaction that met another one is tried again, at most maxTries times in
// all, with pauses that double from firstPause and are spread so that those who
// met once do not meet again. That is about three seconds in the worst case.
const (
	maxTries   = 10
	firstPause = 5 * time.Millisecond
	maxPause   = 800 * time.Millisecond
)

// InTx calls fn in a transaction and commits. A conflict with another
// transaction, and a connection that was lost, begins it all anew, so fn must
// have no effect outside the transaction. A commit whose answer was lost may
// have happened: fn must recognise its own work when it is called again.
// An error or a panic of fn rolls back.
func InTx[X any](ctx context.Context, db DB[X], fn func(Session[X]) error) error {
	pause := firstPause
	for try := 1; ; try++ {
		again, err := once(ctx, db, fn)
		if err == nil || !again || ctx.Err() != nil {
			return err
		}
		if try == maxTries {
			return duly.Errorf(duly.CodeUnavailable, "tried %d times: %w", try, err)
		}
		timer := time.NewTimer(pause/2 + rand.N(pause))
		select {
		case <-ctx.Done():
			timer.Stop()
			return errors.Join(context.Cause(ctx), err)
		case <-timer.C:
		}
		pause = min(2*pause, maxPause)
	}
}

// once is one try, and whether another one makes sense.
func once[X any](ctx context.Context, db DB[X], fn func(Session[X]) error) (again bool, err error) {
	s, err := db.Begin(ctx)
	if err != nil {
		return unanswered(db.Dialect(), err), ended(db.Dialect(), "begin a transaction", err)
	}
	committed := false
	defer func() {
		if !committed { // fn failed or panicked
			_ = s.Rollback(context.WithoutCancel(ctx)) // what cannot be rolled back ends with its connection
		}
	}()
	if err := fn(s); err != nil {
		return repeatable(db.Dialect(), err) || ctx.Err() == nil && s.Gone(ctx), err
	}
	err = s.Commit(ctx)
	if err == nil {
		committed = true
		return false, nil
	}
	return unanswered(db.Dialect(), err), ended(db.Dialect(), "commit", err)
}

// unanswered reports whether a begin or commit that failed is worth another try:
// the database was in the way of itself, or did not answer, so that nobody knows
// whether it committed.
func unanswered(d Dialect, err error) bool {
	switch d.FaultOf(err) {
	case Conflict, Lost, Other:
		return !Ended(err) && duly.CodeOf(err) != duly.CodeInvalid
	}
	return false
}

// ended explains why a transaction could not begin or commit. What the database
// did not answer itself is its connection's fault.
func ended(d Dialect, doing string, err error) error {
	fault := d.FaultOf(err)
	if fault == Other {
		fault = Lost
		if Ended(err) || duly.CodeOf(err) != duly.CodeInternal {
			return err
		}
	}
	return explain(d, fault, doing, err)
}

func repeatable(d Dialect, err error) bool {
	fault := d.FaultOf(err)
	return fault == Conflict || fault == Lost
}
