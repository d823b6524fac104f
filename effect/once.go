package effect

import (
	"context"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/internal/sqldb"
)

// Once has an effect at most once under its business key, in the application's
// own open transaction. In this order it
//
//  1. checks the fence: fails with [ErrStale] where a newer attempt has written;
//  2. takes the key. Where the effect has happened it returns the stored result
//     and reused is true; fn is not called. A transaction that is just having
//     the same effect is waited for;
//  3. calls fn, which does its work in the same transaction, and stores its
//     result as JSON.
//
// All of it becomes true when the application commits, and none of it when it
// does not. Where fn fails or panics, its writes and the key are taken back to a
// savepoint, and the application may go on with the transaction.
//
// T is any type that JSON can carry both ways; struct{} where there is nothing
// to keep. fn must do its work with the transaction and nothing else: what it
// does elsewhere is not undone ([External] is for that).
//
// The grant comes from ctx, as a node gives it to a handler; see [Unowned].
// History is told of the effect when fn is done, since the commit is not seen
// here; [Do] commits itself and tells it afterwards.
//
// Errors: stale_token (wrapping ErrStale); invalid (no grant, a bad key, a result
// that cannot be stored, missing tables, a read-only or doomed transaction);
// conflict (the key is that of an external effect whose outcome is open);
// unavailable (another transaction was in the way: see [Retryable]); fn's own.
func Once[T any](ctx context.Context, tx Tx, key string, fn func(ctx context.Context) (T, error)) (result T, reused bool, err error) {
	w, e, err := prepare(ctx, key)
	if err != nil {
		return result, false, err
	}
	if tx == nil {
		return result, false, duly.Invalid("tx", "is missing")
	}
	if ctx, err = enter(ctx, map[string]bool{key: true}, nil); err != nil {
		return result, false, err
	}
	// The fence comes before the savepoint, so that it holds even where fn fails.
	if err := w.fence(ctx, tx); err != nil {
		return result, false, err
	}
	var told duly.EffectReport
	err = savepoint(ctx, tx, e, func() error {
		result, told, err = perform(ctx, tx, w, e, true, fn, func(_ duly.EffectReport, last ...sqldb.Statement) error { return tx.Send(ctx, last...) })
		return err
	})
	if err != nil {
		var none T
		return none, false, err
	}
	w.record(told)
	return result, told.Reused, nil
}

// Do is [Once] in a transaction of its own: it begins one, lets fn work in it,
// and commits. Conflicts with other transactions, and a connection that was
// lost, begin it all anew, ten times at most, so fn can be called more than
// once. History is told after the commit.
//
// Where the answer to a commit is lost, Do asks the ledger what became of it.
//
// Inside of fn, effects in the same database use [Once] or [Batch] with tx:
// where fences guard them, and on SQLite, those with a transaction of their own
// would wait for this one, and are refused.
func Do[T, X any](ctx context.Context, db DB[X], key string, fn func(ctx context.Context, tx X) (T, error)) (result T, reused bool, err error) {
	w, e, err := prepare(ctx, key)
	if err != nil {
		return result, false, err
	}
	if err := apart(ctx, w, db, e.name()); err != nil {
		return result, false, err
	}
	if ctx, err = enter(ctx, map[string]bool{key: true}, db); err != nil {
		return result, false, err
	}
	var told duly.EffectReport
	err = sqldb.InTx(ctx, db, func(s sqldb.Session[X]) error {
		w.again()
		// Without a savepoint: what fails here takes the whole transaction back.
		result, told, err = perform(ctx, s, w, e, false, func(ctx context.Context) (T, error) { return fn(ctx, s.Native()) },
			func(told duly.EffectReport, last ...sqldb.Statement) error {
				return w.conclude(ctx, s, []duly.EffectReport{told}, last...)
			})
		return err
	})
	if err != nil {
		var none T
		return none, false, err
	}
	w.record(told)
	return result, told.Reused, nil
}

// Retryable reports whether err says that a transaction failed because others
// were in the way, or lost its connection, so that the whole of it can be tried
// again. Do and the other functions that take a DB have done so already.
func Retryable(d Dialect, err error) bool {
	fault := sqldb.Dialect(d).FaultOf(err)
	return fault == sqldb.Conflict || fault == sqldb.Lost
}

func prepare(ctx context.Context, key string) (*work, effect, error) {
	w, err := begin(ctx)
	if err != nil {
		return nil, effect{}, err
	}
	e, err := newEffect(key)
	return w, e, err
}

// perform takes the key and calls fn, or finds what became of it before. fenced
// says that the fence was checked; otherwise it is now. end gets what there is
// to tell and runs the last statement, where there is one.
func perform[T any](ctx context.Context, tx Tx, w *work, e effect, fenced bool, fn func(ctx context.Context) (T, error),
	end func(duly.EffectReport, ...sqldb.Statement) error,
) (result T, told duly.EffectReport, err error) {
	mine, existing, err := insert(ctx, tx, w, e, nil, fenced)
	if err != nil {
		return result, told, err
	}
	if !mine {
		if existing.state != Done {
			return result, told, existing.open(e)
		}
		if result, err = decode[T](e, existing.result); err != nil {
			return result, told, err
		}
		told = w.found(e, existing)
		return result, told, end(told)
	}
	if result, err = fn(ctx); err != nil {
		return result, told, err
	}
	raw, err := encode(e, result)
	if err != nil {
		return result, told, err
	}
	if err = legible[T](e, raw); err != nil {
		return result, told, err
	}
	told = caused(e, raw)
	err = end(told, completion(tx.Dialect(), w, e, raw, func(rows int64) error {
		if rows == 1 {
			return nil
		}
		return duly.Errorf(duly.CodeConflict, "%s: its function has ended the transaction that it is part of", e.name())
	}))
	if err != nil && duly.CodeOf(err) == duly.CodeInternal { // the statement's, and not the store's
		err = sqldb.Explain(ctx, tx, e.name(), err)
	}
	return result, told, err
}

// open is the answer about a key whose effect may or may not have happened.
func (r row) open(e effect) error {
	return duly.Errorf(duly.CodeConflict, "%s is an external one whose outcome is open: %s since attempt %d of %q", e.name(), r.state, r.attempt, r.occurrence)
}
