package effect

import (
	"context"
	"errors"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/internal/sqldb"
)

// Complete finishes the handler's attempt as succeeded within the application's
// own open transaction, where Duly's store is in the same database: a PostgreSQL
// database that holds its schema, or its SQLite file. Business rows, business
// keys and completion are then one commit, and no crash can come between them.
//
//	invoice, _, err := effect.Once(ctx, effect.Postgres.Tx(tx), key, fn)
//	…
//	if err := effect.Complete(ctx, effect.Postgres.Tx(tx)); err != nil {
//		return err // and roll back
//	}
//	return tx.Commit() // and return nil: nothing is left to be reported
//
// The effects and the result that the handler has recorded so far are part of
// it; what it records later is not. It comes last in the transaction, and the
// commit soon: until then the occurrence is locked, and others of its schedule
// cannot end. On PostgreSQL, later statements of the transaction are planned as
// Duly's are, by indexes alone. There, one that is REPEATABLE READ or
// SERIALIZABLE and began before the lease was last renewed is unavailable: keep
// it shorter than a third of the lease, and than 10 seconds.
//
// After a commit the handler returns nil; an error that it returns all the same
// is logged and changes nothing. After a rollback the attempt goes on as if
// nothing had been said, and the handler's return value decides.
//
// Only a success can join. A failure is what the handler returns.
//
// An error means that the transaction must be rolled back. Errors: stale_token
// (wrapping ErrStale: a newer attempt owns the occurrence, or this one has ended
// otherwise); invalid (ctx is not a handler's, the node's store takes part in no
// transaction, or tx is in another database); unavailable (another transaction
// was in the way: see [Retryable]).
func Complete(ctx context.Context, tx Tx) error {
	grant, _ := duly.GrantFrom(ctx)
	if tx == nil {
		return duly.Invalid("tx", "is missing")
	}
	return completeIn(ctx, grant, tx, nil)
}

type completingKey struct{}

// Completing says that the effect caused under the returned context is the last
// thing that the attempt does: the commit of [Do], and that of [DoBatch]'s last
// transaction, finishes it as [Complete] would. Where the effect had happened
// before, finishing is all that they commit. A DoBatch of no items has no
// transaction, and leaves the end to the handler's return.
//
// It is not for Once and Batch, in whose transactions the application calls
// Complete itself, nor for External, and does not reach into the effect's own
// function.
func Completing(ctx context.Context) context.Context {
	return context.WithValue(ctx, completingKey{}, true)
}

func isCompleting(ctx context.Context) bool {
	completing, _ := ctx.Value(completingKey{}).(bool)
	return completing
}

// notCompleting is for what goes on inside of an effect.
func notCompleting(ctx context.Context) context.Context {
	if !isCompleting(ctx) {
		return ctx
	}
	return context.WithValue(ctx, completingKey{}, false)
}

// conclude runs the last statements of an effect, and finishes the attempt where
// the effect is its last: on PostgreSQL through pgx in the same round trip.
func (w *work) conclude(ctx context.Context, tx Tx, told []duly.EffectReport, last ...sqldb.Statement) error {
	if !w.completing {
		return tx.Send(ctx, last...)
	}
	return completeIn(ctx, w.grant, tx, told, last...)
}

func completeIn(ctx context.Context, grant duly.Grant, tx Tx, told []duly.EffectReport, first ...sqldb.Statement) error {
	if grant.Complete == nil {
		return duly.Invalid("ctx", "carries no grant of an attempt that can be finished in a transaction: that takes a handler on a node whose store is this database")
	}
	if Dialect(tx.Dialect()) == MySQL {
		return duly.Invalid("tx", "is in MySQL, where no store of Duly is")
	}
	raw, ran, err := tx.Raw(ctx, first...)
	if err != nil {
		return err
	}
	err = grant.Complete(ctx, raw, told)
	if done, failed := ran(); failed != nil {
		return failed
	} else if !done && err == nil {
		return duly.Errorf(duly.CodeInternal, "the attempt was completed without the last statements of its effect")
	}
	if duly.CodeOf(err) == duly.CodeStaleToken && !errors.Is(err, ErrStale) {
		return duly.Errorf(duly.CodeStaleToken, "%v: %w", err, ErrStale)
	}
	return err
}
