package sqlite

import (
	"context"
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"github.com/duly-dev/duly/store/storetest"
)

func TestJoin(t *testing.T) {
	storetest.RunJoin(t, fresh, func(t *testing.T, url string) storetest.App {
		own := application(t, strings.TrimPrefix(url, "sqlite:"))
		other := application(t, filepath.Join(t.TempDir(), "other.db"))
		return storetest.App{Begin: beginner(own), Elsewhere: beginner(other), OneWriter: true}
	})
}

// application opens a file as an application does, and makes a table of its own
// in it.
func application(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE IF NOT EXISTS notes (n INTEGER)"); err != nil {
		t.Fatal(err)
	}
	return db
}

func beginner(db *sql.DB) func(context.Context) (any, storetest.AppTx, error) {
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
