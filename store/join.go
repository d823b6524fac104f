package store

import "context"

// Joiner is a store that can be the application's own database. It is optional:
// a store that is not one leaves completion to Finish, after the effect's
// commit.
type Joiner interface {
	// FinishIn is Finish for one report of a success, as a part of tx, the
	// application's open transaction as its driver calls it: *sql.Tx or what
	// has its methods, or pgx.Tx. It becomes true when the application commits,
	// and leaves no trace when it rolls back. The store neither commits nor
	// rolls back; until the application does, the occurrence is locked, so
	// this comes last in a transaction.
	//
	// The same report given before, by FinishIn or Finish, is answered alike,
	// and so is the one given to Finish afterwards: it writes nothing, and
	// wakes those who watch. An error means that the transaction must be
	// rolled back. Its code is stale_token where a newer token was granted or
	// the attempt has ended otherwise (nothing is kept of it: report to Finish
	// what became of the attempt), not_found where there is no such
	// occurrence or attempt, and invalid where the report is of no success, or
	// tx is nothing that the store can use, or of another database.
	FinishIn(ctx context.Context, tx any, report Report) (Finished, error)
}
