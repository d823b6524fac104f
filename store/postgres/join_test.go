//go:build unix

package postgres

import (
	"context"
	"database/sql"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

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
