//go:build unix

package effect_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/effect"
	"github.com/duly-dev/duly/effect/pgxeffect"
)

// exampleDB is an application's database with its tables and the ledger's.
func exampleDB() (*sql.DB, func()) {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "app.db")+"?_txlock=immediate&_pragma=busy_timeout(5000)")
	if err != nil {
		panic(err)
	}
	if err := effect.Migrate(context.Background(), effect.SQLite.DB(db)); err != nil {
		panic(err)
	}
	if _, err := db.Exec("CREATE TABLE invoices (id INTEGER PRIMARY KEY, customer INTEGER, period TEXT)"); err != nil {
		panic(err)
	}
	return db, func() { _, _ = db.Close(), os.RemoveAll(dir) }
}

// attempt is the context that a node gives to a handler.
func attempt(number int) context.Context {
	return duly.WithGrant(context.Background(), duly.Grant{
		Occurrence: "invoices@2026-11", Attempt: number, Token: int64(number), Resource: "schedule/invoices",
	})
}

// An attempt writes an invoice; the next one finds it.
func ExampleOnce() {
	db, done := exampleDB()
	defer done()

	invoice := func(ctx context.Context) (number int64, reused bool, err error) {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return 0, false, err
		}
		defer func() { _ = tx.Rollback() }()
		number, reused, err = effect.Once(ctx, effect.SQLite.Tx(tx), "invoice/2026-11/42", func(ctx context.Context) (int64, error) {
			res, err := tx.ExecContext(ctx, "INSERT INTO invoices (customer, period) VALUES (42, '2026-11')")
			if err != nil {
				return 0, err
			}
			return res.LastInsertId()
		})
		if err != nil {
			return 0, false, err
		}
		return number, reused, tx.Commit()
	}
	fmt.Println(invoice(attempt(1)))
	fmt.Println(invoice(attempt(2)))
	_, _, err := invoice(attempt(1)) // it was only paused, and wakes up
	fmt.Println(errors.Is(err, effect.ErrStale))
	// Output:
	// 1 false <nil>
	// 1 true <nil>
	// true
}

// Do begins and commits the transaction itself.
func ExampleDo() {
	db, done := exampleDB()
	defer done()

	number, reused, err := effect.Do(attempt(1), effect.SQLite.DB(db), "invoice/2026-11/42", func(ctx context.Context, tx *sql.Tx) (int64, error) {
		res, err := tx.ExecContext(ctx, "INSERT INTO invoices (customer, period) VALUES (42, '2026-11')")
		if err != nil {
			return 0, err
		}
		return res.LastInsertId()
	})
	fmt.Println(number, reused, err)
	// Output: 1 false <nil>
}

// With pgx the function is given pgx's own transaction.
func ExampleDo_pgx() {
	invoice := func(ctx context.Context, pool *pgxpool.Pool) (number int64, reused bool, err error) {
		return effect.Do(ctx, pgxeffect.DB(pool), "invoice/2026-11/42", func(ctx context.Context, tx pgx.Tx) (number int64, err error) {
			err = tx.QueryRow(ctx, "INSERT INTO invoices (customer, period) VALUES (42, '2026-11') RETURNING id").Scan(&number)
			return number, err
		})
	}
	_ = invoice
}

// A night's invoices, a thousand in a transaction. After a crash the next
// attempt goes on where this one stopped.
func ExampleDoBatch() {
	db, done := exampleDB()
	defer done()

	customers := make([]int, 2500)
	for i := range customers {
		customers[i] = i + 1
	}
	key := func(customer int) string { return fmt.Sprintf("invoice/2026-11/%d", customer) }
	bill := func(ctx context.Context, tx *sql.Tx, missing []int) ([]struct{}, error) {
		insert, err := tx.PrepareContext(ctx, "INSERT INTO invoices (customer, period) VALUES (?, '2026-11')")
		if err != nil {
			return nil, err
		}
		defer insert.Close()
		for _, customer := range missing {
			if _, err := insert.ExecContext(ctx, customer); err != nil {
				return nil, err
			}
		}
		return make([]struct{}, len(missing)), nil
	}
	for number := 1; number <= 2; number++ {
		_, reused, err := effect.DoBatch(attempt(number), effect.SQLite.DB(db), 1000, customers, key, bill)
		fmt.Println(len(reused), reused[0], err)
	}
	// Output:
	// 2500 false <nil>
	// 2500 true <nil>
}

// A provider whose answer was lost is asked, and not charged again.
func ExampleExternal() {
	db, done := exampleDB()
	defer done()

	charged := map[string]string{} // at the provider
	call := effect.Call[string]{
		Call: func(_ context.Context, idempotencyKey string) (string, error) {
			charged[idempotencyKey] = "charge 1"
			return "", errors.New("connection reset by peer")
		},
		Lookup: func(_ context.Context, idempotencyKey string) (string, bool, error) {
			receipt, found := charged[idempotencyKey]
			return receipt, found, nil
		},
		KeyLife: 24 * time.Hour,
	}
	_, _, err := effect.External(attempt(1), effect.SQLite.DB(db), "payment/2026-11/42", call)
	fmt.Println(err)
	receipt, reused, err := effect.External(attempt(2), effect.SQLite.DB(db), "payment/2026-11/42", call)
	fmt.Println(receipt, reused, err)
	// Output:
	// effect payment/2026-11/42: its outcome is unknown and will be found out by the next attempt: connection reset by peer
	// charge 1 true <nil>
}

// Where nobody can find out, a person decides.
func ExampleResolve() {
	db, done := exampleDB()
	defer done()
	ledger := effect.SQLite.DB(db)

	call := effect.Call[string]{Call: func(context.Context, string) (string, error) { return "", errors.New("connection reset by peer") }}
	_, _, err := effect.External(attempt(1), ledger, "fax/2026-11/42", call)
	fmt.Println(errors.Is(err, duly.ErrUncertain))

	err = effect.Resolve(context.Background(), ledger, "fax/2026-11/42", effect.Resolution{Result: []byte(`"page 1 of 1"`), By: "ada"})
	fmt.Println(err)
	receipt, reused, err := effect.External(attempt(2), ledger, "fax/2026-11/42", call)
	fmt.Println(receipt, reused, err)
	// Output:
	// true
	// <nil>
	// page 1 of 1 true <nil>
}
