package effect

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/internal/sqldb"
)

// Call is an effect outside of the application's database, and how to find out
// what became of one whose answer was lost.
type Call[T any] struct {
	// Call has the effect. It passes idempotencyKey on where the provider takes
	// one: it is the same in every attempt and on every node. An error leaves
	// the outcome unknown, unless it is a NotDone. ctx ends with Timeout.
	Call func(ctx context.Context, idempotencyKey string) (T, error)

	// Lookup asks the provider whether the effect has happened. Nil where it
	// cannot be asked.
	Lookup func(ctx context.Context, idempotencyKey string) (result T, found bool, err error)

	// KeyLife is how long the provider remembers idempotency keys, so that a
	// call repeated with the same one has no second effect. It is counted from
	// the intent, by the database's clock. Default 0: not at all.
	KeyLife time.Duration

	// Timeout is how long a call or a look-up may take. While it lasts nobody
	// else calls for the same key, and after a crash a retry waits until it is
	// over before it asks or repeats. Default 1 minute.
	Timeout time.Duration
}

const (
	defaultTimeout = time.Minute
	// recordTime is how long an answer is tried to be recorded. It is tried
	// although ctx has ended: the effect has happened.
	recordTime = 10 * time.Second
)

// NotDone wraps an error of a Call that surely had no effect: the provider
// refused it, or was never reached. The intent is taken back, and a later
// attempt begins anew. Where an earlier call for the same key is unaccounted
// for, NotDone only speaks for this one, and the effect stays open.
// NotDone(nil) is nil.
func NotDone(err error) error {
	if err == nil {
		return nil
	}
	return &notDone{err}
}

type notDone struct{ error }

func (e *notDone) Unwrap() error { return e.error }

// IdempotencyKey is what a provider is given for a business key: a UUID made of
// it and of nothing else.
func IdempotencyKey(key string) string {
	sum := sha256.Sum256([]byte("duly idempotency key\n" + key))
	sum[6] = sum[6]&0x0f | 0x80 // version 8: made by a rule of our own
	sum[8] = sum[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[0:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

// External has an effect at a provider, which no transaction can take back. It
// commits the intent, calls, and commits the result. A retry that finds an
// intent without a result does not know what happened, and
//
//   - asks Lookup where there is one: a found result is recorded and returned as
//     reused; otherwise nothing has happened and it calls;
//   - else repeats the call with the same idempotency key, while the provider
//     still remembers it;
//   - else returns an error that wraps [duly.ErrUncertain]. A handler that
//     returns it makes its occurrence uncertain: it waits for [Resolve] (`duly
//     effects resolve`), and nothing is repeated.
//
// Of two attempts at the same moment one calls; the other waits and finds its
// result. One that was paused before its call does not begin it late, and one
// paused after it cannot record over a newer attempt: ErrStale. What a paused
// process has already sent nobody can call back; there the provider's own
// memory of keys is what helps, see the package's comment.
//
// Errors: those of [Once]; uncertain; Call's and Lookup's own.
func External[T, X any](ctx context.Context, db DB[X], key string, call Call[T]) (result T, reused bool, err error) {
	w, e, err := prepare(ctx, key)
	if err != nil {
		return result, false, err
	}
	if err := apart(ctx, w, db, e.name()); err != nil {
		return result, false, err
	}
	if ctx, err = enter(ctx, map[string]bool{key: true}, nil); err != nil {
		return result, false, err
	}
	if err := call.check(e); err != nil {
		return result, false, err
	}
	x := &external[T, X]{db: db, w: w, e: e, call: call, key: IdempotencyKey(key)}
	defer func() {
		if x.open { // after a panic too
			w.record(duly.EffectReport{Key: key, Open: true})
		}
	}()
	result, told, err := x.perform(ctx)
	if err != nil {
		var none T
		return none, false, err
	}
	x.open = false
	w.record(told)
	return result, told.Reused, nil
}

func (c *Call[T]) check(e effect) error {
	switch {
	case c.Call == nil:
		return duly.Invalid("call", "is missing")
	case c.KeyLife < 0:
		return duly.Invalid("key_life", "is %v; it cannot be negative", c.KeyLife)
	case c.Timeout < 0:
		return duly.Invalid("timeout", "is %v; it cannot be negative", c.Timeout)
	}
	if c.Timeout == 0 {
		c.Timeout = defaultTimeout
	}
	// A type that can never be stored is better found out before the call.
	var zero T
	var unsupported *json.UnsupportedTypeError
	if _, err := encode(e, zero); errors.As(err, &unsupported) {
		return err
	}
	return nil
}

// external is one call of External.
type external[T, X any] struct {
	db   DB[X]
	w    *work
	e    effect
	call Call[T]
	key  string // idempotency key
	// open: it has been intended, by this call or another, and what became of
	// that is not known here.
	open bool
}

func (x *external[T, X]) perform(ctx context.Context) (result T, told duly.EffectReport, err error) {
	c, err := x.claim(ctx)
	if err != nil {
		return result, told, err
	}
	if c.step == stepReuse {
		return x.reuse(c.row)
	}
	settled := false
	defer func() {
		if !settled { // a panic: what the call did is unknown
			_ = x.release(ctx)
		}
	}()
	if c.step == stepAsk {
		var found bool
		result, found, err = x.ask(ctx, c)
		if err != nil {
			settled = true
			err = fmt.Errorf("%s: an earlier call's outcome is unknown, and the look-up failed: %w", x.e.name(), err)
			return result, told, errors.Join(err, x.release(ctx))
		}
		if found {
			settled = true
			result, told, err = x.record(ctx, result)
			if err == nil && !told.Reused { // this call has recorded what that one did
				c.row.result = told.Result
				told = x.w.found(x.e, c.row)
			}
			return result, told, err
		}
		if c, err = x.claimAsked(ctx); err != nil || c.step == stepReuse {
			settled = true // by another
			if err == nil {
				return x.reuse(c.row)
			}
			return result, told, err
		}
	}
	result, called, err := x.ring(ctx, c)
	settled = true
	if err == nil {
		return x.record(ctx, result)
	}
	return result, told, x.settle(ctx, called, err)
}

// reuse answers what an earlier call has recorded.
func (x *external[T, X]) reuse(r row) (T, duly.EffectReport, error) {
	x.open = false
	result, err := decode[T](x.e, r.result)
	return result, x.w.found(x.e, r), err
}

// ask asks the provider, within the time of the claim.
func (x *external[T, X]) ask(ctx context.Context, c claim) (T, bool, error) {
	ctx, cancel := context.WithDeadline(ctx, c.until)
	defer cancel()
	return x.call.Lookup(ctx, x.key)
}

// ring calls the provider, unless the time of the claim has already passed:
// whoever was paused that long may no longer call.
func (x *external[T, X]) ring(ctx context.Context, c claim) (result T, called bool, err error) {
	ctx, cancel := context.WithDeadline(ctx, c.until)
	defer cancel()
	if err := context.Cause(ctx); err != nil {
		return result, false, fmt.Errorf("%s: not called, since its time had passed: %w", x.e.name(), err)
	}
	result, err = x.call.Call(ctx, x.key)
	return result, true, err
}

// settle keeps what is known after a call that brought no result.
func (x *external[T, X]) settle(ctx context.Context, called bool, err error) error {
	var none *notDone
	if !called || errors.As(err, &none) {
		return errors.Join(err, x.takeBack(ctx))
	}
	if x.call.Lookup == nil && x.call.KeyLife == 0 {
		return x.uncertain(ctx, err)
	}
	err = fmt.Errorf("%s: its outcome is unknown and will be found out by the next attempt: %w", x.e.name(), err)
	return errors.Join(err, x.release(ctx))
}

// record stores a result, whatever became of ctx meanwhile.
func (x *external[T, X]) record(ctx context.Context, result T) (T, duly.EffectReport, error) {
	var none duly.EffectReport
	raw, err := encode(x.e, result)
	if err != nil {
		err = fmt.Errorf("it has happened, but its result is lost: %w", err)
		return result, none, errors.Join(err, x.release(ctx))
	}
	var kept bool
	var r row
	err = x.afterwards(ctx, func(ctx context.Context, tx Tx) error {
		err := tx.Send(ctx, completion(tx.Dialect(), x.w, x.e, raw, func(rows int64) error {
			kept = rows == 1
			return nil
		}))
		if err != nil || kept {
			return x.explain(ctx, tx, err)
		}
		r, _, err = read(ctx, tx, x.e, tx.Dialect().Latest())
		return err
	})
	switch {
	case err != nil:
		return result, none, fmt.Errorf("%s has happened, but that could not be recorded: %w", x.e.name(), err)
	case kept || r.state == Done && x.w.made(r.claim): // the latter: the answer to the first commit was lost
		return result, caused(x.e, raw), nil
	case r.state == Done:
		return x.reuse(r)
	}
	return result, none, duly.Errorf(duly.CodeStaleToken, "%s: another attempt has taken over while this one was calling: %w", x.e.name(), ErrStale)
}

// afterwards is a transaction that is needed although ctx may have ended.
func (x *external[T, X]) afterwards(ctx context.Context, fn func(ctx context.Context, tx Tx) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTime)
	defer cancel()
	return sqldb.InTx(ctx, x.db, func(s sqldb.Session[X]) error { return fn(ctx, s) })
}
