package sqldb

import (
	"context"

	"github.com/duly-dev/duly"
)

// Explain says what an error of one of our own statements means and what to do
// about it. doing names the statement's purpose. It is called inside the
// transaction that failed.
func Explain(ctx context.Context, tx Tx, doing string, err error) error {
	fault := tx.Dialect().FaultOf(err)
	if fault == Generic && !hasTables(ctx, tx) {
		fault = NoTable
	}
	return explain(tx.Dialect(), fault, doing, err)
}

func explain(d Dialect, fault Fault, doing string, err error) error {
	if duly.CodeOf(err) != duly.CodeInternal { // it has been explained already
		return err
	}
	switch fault {
	case Conflict:
		return duly.Errorf(duly.CodeUnavailable, "%s: another transaction was in the way; try the whole transaction again: %w", doing, err)
	case Lost:
		return duly.Errorf(duly.CodeUnavailable, "%s: the connection to the database is gone: %w", doing, err)
	case NoTable:
		return duly.Errorf(duly.CodeInvalid, "%s: the effect ledger's tables are missing or too old; create them with `duly effects ddl --dialect %s` or effect.Migrate: %w", doing, d, err)
	case ReadOnly:
		return duly.Errorf(duly.CodeInvalid, "%s: the database or the transaction is read-only, so no effect can be recorded in it: %w", doing, err)
	case Aborted:
		return duly.Errorf(duly.CodeInvalid, "%s: an earlier error has already doomed this transaction; roll it back and begin another: %w", doing, err)
	}
	if Ended(err) {
		return err
	}
	return duly.Errorf(duly.CodeInternal, "%s: %w", doing, err)
}

// hasTables asks SQLite, which has no error code of its own for a missing
// table. In doubt they are there.
func hasTables(ctx context.Context, tx Tx) bool {
	var n int
	err := tx.Query(ctx, "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name IN ('duly_effects', 'duly_batches', 'duly_fences')", nil,
		func(r Row) error { return r.Scan(&n) })
	return err != nil || n == 3
}
