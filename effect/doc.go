// Package effect makes an effect happen once, however many attempts there were
// at it.
//
// # The idea
//
// A worker can crash between doing its work and saying so, and be paused for
// longer than its lease. Whoever comes after it cannot know what it did, so work
// is done again: an attempt is not an effect, and no lock makes one of it. What
// can tell is the place where the effect is kept. So every effect gets a
// business key, a name for what it is and not for who makes it
// ("invoice/2026-11/42", never an attempt or a time of day), and a row in a
// ledger in the application's own database. One transaction holds the business
// row, the key, its result, and the check of the attempt's fencing token.
//
//	tx, err := db.BeginTx(ctx, nil)
//	…
//	invoice, reused, err := effect.Once(ctx, effect.Postgres.Tx(tx), "invoice/2026-11/42",
//		func(ctx context.Context) (Invoice, error) { return insertInvoice(ctx, tx, 42) })
//	…
//	err = tx.Commit()
//
// # Which tool
//
//   - The effect is in this database: [Once] in the application's transaction,
//     [Do] in one of its own.
//   - Duly's store is this database too: [Complete] finishes the attempt in the
//     same transaction, [Completing] in that of Do or DoBatch.
//   - There are many of them: [Batch] and [DoBatch], for thousands of keys in a
//     few statements.
//   - The effect is at a provider that takes idempotency keys: [External] with
//     KeyLife. A lost answer is repeated with the same key.
//   - The provider can be asked: External with Lookup. A lost answer is looked
//     up. Where it takes keys too, give both.
//   - It can do neither: External without either. A lost answer is uncertain, and
//     a person decides ([Resolve]). Nothing can make such an effect happen
//     exactly once; what Duly does is never to repeat it by itself.
//
// # The fence
//
// The grant in a handler's context carries a fencing token; see package fence.
// It is checked before anything else, and an attempt that has lost its ownership
// gets [ErrStale]. Code that no lease owns says so with [Unowned]: it keeps
// business keys, and goes unfenced.
//
// # Databases
//
// SQLite, PostgreSQL, and MySQL or MariaDB through database/sql; PostgreSQL
// through pgx with package pgxeffect. Their tables are made by [Migrate] or by
// what [DDL] answers. No driver is linked here: errors are told apart by the
// codes that the usual drivers give.
//
// The ledger is for ever: as long as an attempt at some old work can come, its
// key must be there.
//
// # What it cannot do
//
//   - It knows nothing of what fn does outside its transaction. A mail that fn
//     sends is sent again with the next attempt.
//   - A worker that is paused inside a transaction keeps the fence and the key
//     until the database ends its session, and the next owner waits for that.
//     Bound it: idle_in_transaction_session_timeout in PostgreSQL,
//     innodb_lock_wait_timeout for those who wait in MySQL, busy_timeout in
//     SQLite.
//   - In MySQL a statement that changes tables (CREATE, ALTER, TRUNCATE) commits
//     what was done so far. fn must not contain one.
//   - A request that a paused process has already handed to its network cannot be
//     called back. A provider's keys make it harmless; a look-up alone can come
//     too early to see it.
//   - Each Once costs a few round trips, and in PostgreSQL a subtransaction:
//     thousands in one transaction are what Batch is for.
//
// What lives here: the ledger and what is built on it. What may not: a driver,
// leases, and Duly's own store and history, which are reached by way of the grant.
package effect
