package effect

import (
	"context"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/internal/sqldb"
)

// step is what follows for a call once the ledger was asked.
type step int

const (
	stepCall      step = iota // the row is ours: call
	stepAsk                   // the row is ours, an earlier call's outcome unknown: ask the provider
	stepReuse                 // it has happened
	stepWait                  // somebody else is calling
	stepUncertain             // nobody can find out
)

// claim is the answer to a call that wants to be the one that calls.
type claim struct {
	step  step
	row   row
	until time.Time // by this process's clock, and never later than by the database's
	gone  bool      // the row is, while we wait
}

// A waiting call asks again after a pause, which grows.
const (
	firstWait = 10 * time.Millisecond
	maxWait   = 500 * time.Millisecond
)

// claim finds out what this call is to do, and waits where another is calling.
func (x *external[T, X]) claim(ctx context.Context) (claim, error) {
	wait := firstWait
	for {
		var c claim
		err := sqldb.InTx(ctx, x.db, func(s sqldb.Session[X]) (err error) {
			c, err = x.tryClaim(ctx, s)
			return err
		})
		if err != nil {
			return claim{}, err
		}
		x.open = c.step != stepReuse && !c.gone
		switch {
		case c.step == stepUncertain:
			return claim{}, uncertain(x.e, c.row, nil)
		case c.step != stepWait:
			return c, nil
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return claim{}, duly.Errorf(duly.CodeUnavailable, "%s: attempt %d of %q is calling: %w", x.e.name(), c.row.attempt, c.row.occurrence, context.Cause(ctx))
		case <-timer.C:
		}
		wait = min(2*wait, maxWait)
	}
}

func (x *external[T, X]) tryClaim(ctx context.Context, tx Tx) (claim, error) {
	until := time.Now().Add(x.call.Timeout) // before the database counts the same time
	mine, r, err := insert(ctx, tx, x.w, x.e, &intent{claimFor: x.call.Timeout, idempotencyKey: x.key}, false)
	if err != nil || mine || r.claim == x.w.claim && r.state == Started { // the latter: the answer to the first commit was lost
		return claim{step: stepCall, until: until}, err
	}
	// What insert read was not held; nothing may change until we have decided.
	r, ok, err := read(ctx, tx, x.e, tx.Dialect().ForUpdate())
	if err != nil {
		return claim{}, err
	}
	if !ok { // an intent that was just taken back
		return claim{step: stepWait, gone: true}, nil
	}
	c := claim{row: r, until: until}
	age := time.Duration(r.now-r.createdAt) * time.Microsecond
	switch {
	case r.state == Done:
		c.step = stepReuse
		return c, nil
	case r.claimUntil > r.now:
		c.step = stepWait
		return c, nil
	case r.calls == 0: // a person has said that nothing happened
		c.step = stepCall
		return c, x.take(ctx, tx, 1)
	case x.call.Lookup != nil:
		c.step = stepAsk
		return c, x.holdRow(ctx, tx)
	case age+x.call.Timeout < x.call.KeyLife: // a call that begins now arrives in time
		c.step = stepCall
		return c, x.take(ctx, tx, r.calls+1)
	}
	c.step = stepUncertain
	_, err = tx.Exec(ctx, `UPDATE duly_effects SET state = 'uncertain', claim_until = 0 WHERE business_key = ?`, x.e.column)
	return c, x.explain(ctx, tx, err)
}

// claimAsked is the claim of a call whose provider knows of no effect yet.
func (x *external[T, X]) claimAsked(ctx context.Context) (claim, error) {
	c := claim{step: stepCall}
	err := sqldb.InTx(ctx, x.db, func(s sqldb.Session[X]) error {
		if err := x.w.fence(ctx, s); err != nil {
			return err
		}
		c.until = time.Now().Add(x.call.Timeout)
		r, ok, err := read(ctx, s, x.e, s.Dialect().ForUpdate())
		if err != nil {
			return err
		}
		if ok && r.state == Done {
			c.step, c.row = stepReuse, r
			return nil
		}
		if !ok || r.claim != x.w.claim {
			return duly.Errorf(duly.CodeStaleToken, "%s: another attempt has taken over while this one was asking: %w", x.e.name(), ErrStale)
		}
		return x.take(ctx, s, 1)
	})
	return c, err
}

// take makes the row this call's: it is the one that calls.
func (x *external[T, X]) take(ctx context.Context, tx Tx, calls int) error {
	_, err := tx.Exec(ctx, `UPDATE duly_effects SET state = 'started', calls = ?, claim = ?, claim_until = `+tx.Dialect().Now()+` + ?,
		occurrence = ?, attempt = ?, token = ?, resource = ? WHERE business_key = ?`,
		calls, x.w.claim, x.call.Timeout.Microseconds(), x.w.occurrence, x.w.grant.Attempt, x.w.grant.Token, x.w.resource, x.e.column)
	return x.explain(ctx, tx, err)
}

// holdRow keeps others from calling while the provider is asked. Whoever called
// before stays the one that may have made the effect.
func (x *external[T, X]) holdRow(ctx context.Context, tx Tx) error {
	_, err := tx.Exec(ctx, `UPDATE duly_effects SET state = 'started', claim = ?, claim_until = `+tx.Dialect().Now()+` + ? WHERE business_key = ?`,
		x.w.claim, x.call.Timeout.Microseconds(), x.e.column)
	return x.explain(ctx, tx, err)
}

// release lets others find out what happened.
func (x *external[T, X]) release(ctx context.Context) error {
	return x.afterwards(ctx, func(ctx context.Context, tx Tx) error {
		_, err := tx.Exec(ctx, `UPDATE duly_effects SET claim_until = 0 WHERE business_key = ? AND claim = ? AND state <> 'done'`, x.e.column, x.w.claim)
		return x.explain(ctx, tx, err)
	})
}

// takeBack forgets a call that had no effect, and the intent where there was no
// other call.
func (x *external[T, X]) takeBack(ctx context.Context) error {
	forgotten := false
	err := x.afterwards(ctx, func(ctx context.Context, tx Tx) error {
		n, err := tx.Exec(ctx, `DELETE FROM duly_effects WHERE business_key = ? AND claim = ? AND state <> 'done' AND calls <= 1`, x.e.column, x.w.claim)
		if forgotten = n == 1; err == nil {
			_, err = tx.Exec(ctx, `UPDATE duly_effects SET claim_until = 0, calls = calls - 1 WHERE business_key = ? AND claim = ? AND state <> 'done' AND claim_until > 0`, x.e.column, x.w.claim)
		}
		return x.explain(ctx, tx, err)
	})
	x.open = err != nil || !forgotten
	return err
}

// uncertain gives an effect over to a person: this call's outcome is unknown and
// there is no way to find out.
func (x *external[T, X]) uncertain(ctx context.Context, cause error) error {
	var r row
	err := x.afterwards(ctx, func(ctx context.Context, tx Tx) error {
		_, err := tx.Exec(ctx, `UPDATE duly_effects SET state = 'uncertain', claim_until = 0 WHERE business_key = ? AND claim = ? AND state <> 'done'`, x.e.column, x.w.claim)
		if err != nil {
			return x.explain(ctx, tx, err)
		}
		r, _, err = read(ctx, tx, x.e, "")
		return err
	})
	if err != nil {
		r.attempt, r.occurrence = x.w.grant.Attempt, x.w.grant.Occurrence
	}
	return uncertain(x.e, r, cause)
}

func uncertain(e effect, r row, cause error) error {
	why := ""
	if cause != nil {
		why = ": " + cause.Error()
	}
	return duly.Errorf(duly.CodeUncertain, "%s: a call of attempt %d of %q may or may not have had it%s; find out from the provider, then `duly effects resolve`: %w",
		e.name(), r.attempt, r.occurrence, why, duly.ErrUncertain)
}

func (x *external[T, X]) explain(ctx context.Context, tx Tx, err error) error {
	if err == nil {
		return nil
	}
	return sqldb.Explain(ctx, tx, x.e.name(), err)
}
