package main

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"time"

	_ "modernc.org/sqlite"

	"github.com/duly-dev/duly/effect"
)

// Billing is the application: customers and their invoices, in a database of
// its own.
type Billing struct {
	db *sql.DB
	// ledger is the same database, as package effect wants it: the invoices,
	// their business keys and the fence become true in one transaction.
	ledger effect.DB[*sql.Tx]
	// slow is a pause in each transaction and after the last: time to kill
	// the worker in the middle of its work.
	slow time.Duration
}

// Customer is somebody who is billed.
type Customer struct{ ID, Cents int64 }

// The unique constraint is the belt to the business keys' braces: the one place
// that could not even be told to hold an invoice twice.
const schema = `
CREATE TABLE IF NOT EXISTS customers (
	id    INTEGER PRIMARY KEY,
	name  TEXT NOT NULL UNIQUE,
	cents INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS invoices (
	number   INTEGER PRIMARY KEY,
	customer INTEGER NOT NULL REFERENCES customers,
	period   TEXT NOT NULL,
	cents    INTEGER NOT NULL,
	UNIQUE (customer, period)
);
INSERT INTO customers (name, cents)
	SELECT column1, column2 FROM (VALUES ('Ada', 1900), ('Brouwer', 4900), ('Curie', 900), ('Dijkstra', 12900), ('Euler', 2718))
	WHERE NOT EXISTS (SELECT 1 FROM customers);
`

// OpenBilling opens the database and makes its tables: the application's, and
// those of the effect ledger.
func OpenBilling(ctx context.Context, file string, slow time.Duration) (*Billing, error) {
	db, err := sql.Open("sqlite", "file:"+file+"?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_txlock=immediate")
	if err != nil {
		return nil, err
	}
	b := &Billing{db: db, ledger: effect.SQLite.DB(db), slow: slow}
	if _, err = db.ExecContext(ctx, schema); err == nil {
		err = effect.Migrate(ctx, b.ledger)
	}
	if err != nil {
		db.Close()
		return nil, fmt.Errorf("billing database %s: %w", file, err)
	}
	return b, nil
}

// Close closes the database.
func (b *Billing) Close() error { return b.db.Close() }

// Invoice bills every customer for each of the periods, once: it counts the
// invoices it made, and those it found made by an earlier attempt.
func (b *Billing) Invoice(ctx context.Context, periods []string) (made, found int, err error) {
	customers, err := b.customers(ctx)
	if err != nil {
		return 0, 0, err
	}
	for _, period := range periods {
		key := func(c Customer) string { return fmt.Sprintf("invoice/%d/%s", c.ID, period) }
		create := func(ctx context.Context, tx *sql.Tx, missing []Customer) ([]int64, error) {
			numbers, err := insert(ctx, tx, period, missing)
			if err != nil {
				return nil, err
			}
			return numbers, pause(ctx, b.slow) // killed here, the worker has made nothing
		}
		_, reused, err := effect.DoBatch(ctx, b.ledger, 500, customers, key, create)
		if err != nil {
			return made, found, err
		}
		for _, r := range reused {
			if r {
				found++
			} else {
				made++
			}
		}
	}
	return made, found, pause(ctx, b.slow) // killed here, it has made all of them and cannot say so
}

// insert makes the invoices of a period and answers their numbers, in order.
func insert(ctx context.Context, tx *sql.Tx, period string, customers []Customer) ([]int64, error) {
	numbers := make([]int64, len(customers))
	for i, c := range customers {
		res, err := tx.ExecContext(ctx, `INSERT INTO invoices (customer, period, cents) VALUES (?, ?, ?)`, c.ID, period, c.Cents)
		if err != nil {
			return nil, err
		}
		if numbers[i], err = res.LastInsertId(); err != nil {
			return nil, err
		}
	}
	return numbers, nil
}

func (b *Billing) customers(ctx context.Context) ([]Customer, error) {
	rows, err := b.db.QueryContext(ctx, `SELECT id, cents FROM customers ORDER BY id`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []Customer
	for rows.Next() {
		var c Customer
		if err := rows.Scan(&c.ID, &c.Cents); err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, rows.Err()
}

// Summary prints how many invoices there are and how many should be.
func (b *Billing) Summary(ctx context.Context, w io.Writer) error {
	var customers, periods, invoices, distinct int
	err := b.db.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM customers), (SELECT count(DISTINCT period) FROM invoices),
		(SELECT count(*) FROM invoices), (SELECT count(*) FROM (SELECT DISTINCT customer, period FROM invoices))`).
		Scan(&customers, &periods, &invoices, &distinct)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "\n  %d customers, %d periods billed, %d invoices: %d repeated, %d missing\n\n",
		customers, periods, invoices, invoices-distinct, customers*periods-distinct)
	return err
}

func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}
