// Package pgxeffect hands transactions of pgx over to packages effect and fence.
//
//	tx, err := pool.Begin(ctx)
//	…
//	invoice, reused, err := effect.Once(ctx, pgxeffect.Tx(tx), key, fn)
//
// It works in each of pgx's query execution modes, so behind a pooler too.
//
// What lives here: the adapter. What may not: statements about effects; those
// are the same for database/sql, and live in package effect.
package pgxeffect
