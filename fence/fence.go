package fence

import (
	"context"
	"errors"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/internal/sqldb"
)

// ErrStale is wrapped by every refusal: a greater token was seen, so the caller
// has lost its ownership. Its code is stale_token.
var ErrStale = errors.New("a newer fencing token was seen")

// Guard is the rule: a token that is smaller than the greatest one seen for its
// resource is refused with ErrStale. Seen is 0 where there was none.
func Guard(seen, token int64) error {
	if token < 1 {
		return duly.Invalid("token", "is %d; fencing tokens begin at 1", token)
	}
	if token < seen {
		return duly.Errorf(duly.CodeStaleToken, "fencing token %d is refused: this attempt has lost its ownership to the one with token %d: %w", token, seen, ErrStale)
	}
	return nil
}

// Tx is the application's own transaction. Package effect makes one:
// effect.Postgres.Tx(tx), effect.SQLite.Tx(tx), effect.MySQL.Tx(tx), or
// pgxeffect.Tx(tx) for pgx.
type Tx = sqldb.Tx

// Check raises the greatest token seen for a resource to token, or fails with
// ErrStale where a greater one was seen. The row that says so stays held until
// the transaction ends: shared, so that many transactions of one owner go on
// side by side, while a new owner's first Check waits for them.
//
// What was raised is undone when the transaction is rolled back. Errors:
// stale_token (wrapping ErrStale), invalid (a bad argument, missing tables, a
// read-only or doomed transaction), unavailable (another transaction was in the
// way: try the whole one again).
func Check(ctx context.Context, tx Tx, resource string, token int64) error {
	return CheckAnd(ctx, tx, resource, token)
}

// CheckAnd is [Check] and what package effect does next, in one round trip where
// the driver can. Where the token is refused, the statements may have run: the
// transaction must be rolled back. Their errors are answered as they are.
func CheckAnd(ctx context.Context, tx Tx, resource string, token int64, then ...sqldb.Statement) error {
	if resource == "" {
		return duly.Invalid("resource", "is missing")
	}
	if err := Guard(0, token); err != nil {
		return err
	}
	if tx == nil {
		return duly.Invalid("tx", "is missing")
	}
	key, _ := sqldb.KeyColumns(resource)
	seen, err := raise(ctx, tx, key, token, then)
	switch {
	case err != nil && seen == 0:
		return sqldb.Explain(ctx, tx, "fence "+sqldb.Printable(resource), err)
	case seen > token:
		return Guard(seen, token)
	}
	return err
}

// raise answers the greatest token seen, which is token at least; 0 where it
// could not be raised. Another error is of what follows.
func raise(ctx context.Context, tx Tx, resource string, token int64, then []sqldb.Statement) (seen int64, err error) {
	d := tx.Dialect()
	if d == sqldb.MySQL {
		seen, err := raiseMySQL(ctx, tx, resource, token)
		if err != nil || seen > token {
			return seen, err
		}
		return seen, tx.Send(ctx, then...)
	}
	first := sqldb.Statement{Query: raiseSQLite(d), Args: []any{resource, token}, Each: func(r sqldb.Row) error { return r.Scan(&seen) }}
	if d == sqldb.Postgres {
		first.Query, first.Args = raisePostgres(d), []any{resource, token, resource, token}
	}
	err = tx.Send(ctx, append([]sqldb.Statement{first}, then...)...)
	return seen, err
}

// On PostgreSQL one statement both looks and raises. It must not hold the row of
// a token that has yet to be raised before it raises it: two that did would wait
// for each other.
func raisePostgres(d sqldb.Dialect) string {
	return `WITH held AS (SELECT token FROM duly_fences WHERE resource = ? AND token >= ? FOR SHARE),
		raised AS (INSERT INTO duly_fences AS f (resource, token, raised_at) SELECT ?::text, ?::bigint, ` + d.Now() + ` WHERE NOT EXISTS (SELECT 1 FROM held)
			ON CONFLICT (resource) DO UPDATE SET token = GREATEST(f.token, EXCLUDED.token), raised_at = EXCLUDED.raised_at RETURNING f.token)
		SELECT token FROM held UNION ALL SELECT token FROM raised`
}

// SQLite has one writer at a time. Writing first makes the transaction that
// writer before it reads: one that reads first can be refused at its first
// write, without waiting, because another has written since.
func raiseSQLite(d sqldb.Dialect) string {
	return `INSERT INTO duly_fences (resource, token, raised_at) VALUES (?, ?, ` + d.Now() + `)
		ON CONFLICT (resource) DO UPDATE SET token = max(token, excluded.token),
			raised_at = CASE WHEN excluded.token > token THEN excluded.raised_at ELSE raised_at END
		RETURNING token`
}

// MySQL holds every row that a locking read visits, so it is first asked
// without. What it then answers may be old, and only decides what to do next.
func raiseMySQL(ctx context.Context, tx Tx, resource string, token int64) (int64, error) {
	seen, err := one(ctx, tx, `SELECT token FROM duly_fences WHERE resource = ?`, resource)
	if err != nil {
		return 0, err
	}
	if seen < token {
		_, err := tx.Exec(ctx, `INSERT INTO duly_fences (resource, token, raised_at) VALUES (?, ?, `+tx.Dialect().Now()+`)
			ON DUPLICATE KEY UPDATE token = GREATEST(token, VALUES(token)), raised_at = VALUES(raised_at)`, resource, token)
		if err != nil {
			return 0, err
		}
	}
	return one(ctx, tx, `SELECT token FROM duly_fences WHERE resource = ? LOCK IN SHARE MODE`, resource)
}

// one reads a single number, 0 where there is no row.
func one(ctx context.Context, tx Tx, query string, args ...any) (int64, error) {
	var n int64
	err := tx.Query(ctx, query, args, func(r sqldb.Row) error { return r.Scan(&n) })
	return n, err
}
