package main

import (
	"context"
	"database/sql"
	"fmt"
	"io"

	_ "modernc.org/sqlite"

	"github.com/duly-dev/duly/node"
)

// Billing is the application: customers and their invoices.
type Billing struct{ db *sql.DB }

// The unique constraint is what makes an invoice happen once. Duly sees to it
// that one node at a time does the work; only the database that holds the
// invoices can see to it that work done twice has one effect.
const schema = `
CREATE TABLE IF NOT EXISTS customers (
	id    INTEGER PRIMARY KEY,
	name  TEXT NOT NULL UNIQUE,
	cents INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS invoices (
	id       INTEGER PRIMARY KEY,
	customer INTEGER NOT NULL REFERENCES customers,
	period   TEXT NOT NULL,
	cents    INTEGER NOT NULL,
	attempt  INTEGER NOT NULL,
	token    INTEGER NOT NULL,
	UNIQUE (customer, period)
);
INSERT OR IGNORE INTO customers (name, cents) VALUES
	('Ada', 1900), ('Brouwer', 4900), ('Curie', 900), ('Dijkstra', 12900), ('Euler', 2718);
`

// OpenBilling opens the database and makes its tables and customers.
func OpenBilling(ctx context.Context, file string) (*Billing, error) {
	db, err := sql.Open("sqlite", "file:"+file+"?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_txlock=immediate")
	if err != nil {
		return nil, err
	}
	if _, err := db.ExecContext(ctx, schema); err != nil {
		db.Close()
		return nil, fmt.Errorf("billing database %s: %w", file, err)
	}
	return &Billing{db: db}, nil
}

// Close closes the database.
func (b *Billing) Close() error { return b.db.Close() }

// Invoice bills every customer for the occurrence's periods in one transaction,
// and tells Duly which invoices it made and which an earlier attempt had made.
func (b *Billing) Invoice(ctx context.Context, occ *node.Occurrence) (made, found int, err error) {
	tx, err := b.db.BeginTx(ctx, nil)
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = tx.Rollback() }()
	customers, err := customerIDs(ctx, tx)
	if err != nil {
		return 0, 0, err
	}
	var keys []string
	created := map[string]bool{}
	for _, period := range occ.Covers { // its own, and those it makes up for
		for _, id := range customers {
			res, err := tx.ExecContext(ctx, `INSERT INTO invoices (customer, period, cents, attempt, token)
				SELECT id, ?, cents, ?, ? FROM customers WHERE id = ? ON CONFLICT (customer, period) DO NOTHING`,
				period, occ.Attempt, occ.Token, id)
			if err != nil {
				return 0, 0, err
			}
			count, err := res.RowsAffected()
			if err != nil {
				return 0, 0, err
			}
			key := fmt.Sprintf("invoice/%d/%s", id, period)
			keys = append(keys, key)
			created[key] = count == 1
		}
	}
	if err := tx.Commit(); err != nil {
		return 0, 0, err
	}
	for _, key := range keys {
		occ.RecordEffect(key, !created[key], nil)
		if created[key] {
			made++
		}
	}
	return made, len(keys) - made, nil
}

func customerIDs(ctx context.Context, tx *sql.Tx) ([]int64, error) {
	rows, err := tx.QueryContext(ctx, `SELECT id FROM customers ORDER BY id`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var ids []int64
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

// Summary prints how many invoices there are and how many should be.
func (b *Billing) Summary(ctx context.Context, w io.Writer) error {
	var customers, periods, invoices int
	err := b.db.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM customers), (SELECT count(DISTINCT period) FROM invoices),
		(SELECT count(*) FROM invoices)`).Scan(&customers, &periods, &invoices)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "\n  %d customers, %d periods billed, %d invoices: %d per customer and period\n\n",
		customers, periods, invoices, invoices/max(1, customers*periods))
	return err
}
