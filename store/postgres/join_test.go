//go:build unix

package postgres

import (
	"context"
	"database/sql"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
	"github.com/duly-dev/duly/store/storetest"
)

func TestJoin(t *testing.T) {
	for name, open := range map[string]func(t *testing.T, dsn string) beginner{"pgx": openPgx, "DatabaseSQL": openSQL} {
		t.Run(name, func(t *testing.T) {
			storetest.RunJoin(t, func(t *testing.T) string { return servers.Postgres(t).DSN }, func(t *testing.T, url string) storetest.App {
				return storetest.App{Begin: open(t, url), Elsewhere: open(t, servers.Postgres(t).DSN)}
			})
		})
	}
}

// Each of pgx's ways to run a statement has forms of its own for lists.
func TestJoinInEveryModeOfPgx(t *testing.T) {
	for _, mode := range []string{"cache_statement", "cache_describe", "describe_exec", "exec", "simple_protocol"} {
		t.Run(mode, func(t *testing.T) {
			storetest.RunJoin(t, func(t *testing.T) string { return servers.Postgres(t).DSN }, func(t *testing.T, url string) storetest.App {
				return storetest.App{Begin: openPgx(t, url+"&default_query_exec_mode="+mode), Elsewhere: openPgx(t, servers.Postgres(t).DSN)}
			})
		})
	}
}

// An application's transaction that stays open holds none of the rows in which
// the store counts, so that no commit waits for it.
func TestAnOpenTransactionHoldsNoCount(t *testing.T) {
	dsn := servers.Postgres(t).DSN
	s, fire := dueOnce(t, dsn)
	if _, err := fire(everyDue); err != nil {
		t.Fatal(err)
	}
	res, err := s.Claim(t.Context(), store.ClaimRequest{Max: 3, Capabilities: []string{"handler:h"}})
	if err != nil || len(res.Claims) != 3 {
		t.Fatal(res, err)
	}
	begin := openPgx(t, dsn)
	var open []storetest.AppTx
	for _, c := range res.Claims {
		native, tx, err := begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = tx.Rollback() }()
		if _, err := s.FinishIn(t.Context(), native, store.Report{Seq: c.Seq, Token: c.Token, Outcome: duly.AttemptSucceeded, Next: store.Next{State: duly.Succeeded}}); err != nil {
			t.Fatal(err)
		}
		open = append(open, tx)
	}
	count := func(query string) (n int64) {
		if n, err = look(t.Context(), s, func(c *conn) (int64, error) { return c.number(query) }); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := count("SELECT count(*) FROM (SELECT slot FROM duly.tallies WHERE slot < 128 FOR NO KEY UPDATE SKIP LOCKED) f"); n != 128 {
		t.Errorf("%d of 128 are free", n)
	}
	for _, tx := range open {
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	if n := count("SELECT sum(n2)::bigint FROM duly.tallies"); n != 3 {
		t.Errorf("%d are counted as succeeded", n)
	}
	if n := count("SELECT count(*) FROM duly.tallies WHERE slot > 127"); n != 3 {
		t.Errorf("three transactions at once made %d rows", n)
	}
}

type beginner = func(context.Context) (any, storetest.AppTx, error)

const makeNotes = "CREATE TABLE IF NOT EXISTS notes (n integer)"

func openPgx(t *testing.T, dsn string) beginner {
	pool, err := pgxpool.New(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	if _, err := pool.Exec(t.Context(), makeNotes); err != nil {
		t.Fatal(err)
	}
	return func(ctx context.Context) (any, storetest.AppTx, error) {
		tx, err := pool.BeginTx(ctx, pgx.TxOptions{})
		if err != nil {
			return nil, storetest.AppTx{}, err
		}
		return tx, storetest.AppTx{
			Note: func(ctx context.Context) error {
				_, err := tx.Exec(ctx, "INSERT INTO notes VALUES (1)")
				return err
			},
			Notes: func(ctx context.Context) (n int, err error) {
				err = tx.QueryRow(ctx, "SELECT count(*) FROM notes").Scan(&n)
				return n, err
			},
			Commit: func() error { return tx.Commit(context.Background()) }, Rollback: func() error { return tx.Rollback(context.Background()) },
		}, nil
	}
}

func openSQL(t *testing.T, dsn string) beginner {
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := db.ExecContext(t.Context(), makeNotes); err != nil {
		t.Fatal(err)
	}
	return func(ctx context.Context) (any, storetest.AppTx, error) {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return nil, storetest.AppTx{}, err
		}
		return tx, storetest.AppTx{
			Note: func(ctx context.Context) error {
				_, err := tx.ExecContext(ctx, "INSERT INTO notes VALUES (1)")
				return err
			},
			Notes: func(ctx context.Context) (n int, err error) {
				err = tx.QueryRowContext(ctx, "SELECT count(*) FROM notes").Scan(&n)
				return n, err
			},
			Commit: tx.Commit, Rollback: tx.Rollback,
		}, nil
	}
}
