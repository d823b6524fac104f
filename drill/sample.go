package drill

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"strings"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the sample's database
	_ "modernc.org/sqlite"             // the sample's database

	"github.com/duly-dev/duly/effect"
)

// sampleHandler is the name of the sample's handler.
const sampleHandler = "send-invoices"

// customers are whom the sample bills: two effects for each period.
var customers = [...]string{"ada", "brouwer"}

// sample is an application with a database of its own. There is no unique
// constraint on its invoices, on purpose: what keeps them from being repeated
// is package effect alone, and a drill must be able to see it fail.
type sample struct {
	db       *sql.DB
	ledger   effect.DB[*sql.Tx]
	postgres bool
}

type invoice struct {
	Customer, Period, Node string
	Attempt                int
	Token                  int64
	IssuedAt               time.Time // by the node's clock, which may be wrong
}

// key names the effect, and neither who makes it nor when.
func (i invoice) key() string { return "invoice/" + i.Customer + "/" + i.Period }

func openSample(ctx context.Context, address string) (*sample, error) {
	driver, dialect, dsn := "sqlite", effect.SQLite, ""
	file, isFile := strings.CutPrefix(address, "sqlite:")
	if isFile {
		u := url.URL{Scheme: "file", OmitHost: true, Path: file}
		dsn = u.String() + "?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)&_txlock=immediate"
	} else {
		driver, dialect, dsn = "pgx", effect.Postgres, address
	}
	db, err := sql.Open(driver, dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(4)
	s := &sample{db: db, ledger: dialect.DB(db), postgres: !isFile}
	err = effect.Migrate(ctx, s.ledger)
	if err == nil {
		_, err = db.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS invoices (
			customer TEXT NOT NULL, period TEXT NOT NULL, node TEXT NOT NULL, attempt BIGINT NOT NULL, token BIGINT NOT NULL, issued_at TEXT NOT NULL)`)
	}
	if err != nil {
		_ = db.Close()
		return nil, fmt.Errorf("the sample's database: %w", err)
	}
	return s, nil
}

// Close closes the database.
func (s *sample) Close() error { return s.db.Close() }

// issue makes an invoice, once. inside is a pause within the transaction.
func (s *sample) issue(ctx context.Context, in invoice, inside time.Duration) (reused bool, err error) {
	insert := `INSERT INTO invoices (customer, period, node, attempt, token, issued_at) VALUES (?, ?, ?, ?, ?, ?)`
	if s.postgres {
		insert = `INSERT INTO invoices (customer, period, node, attempt, token, issued_at) VALUES ($1, $2, $3, $4, $5, $6)`
	}
	_, reused, err = effect.Do(ctx, s.ledger, in.key(), func(ctx context.Context, tx *sql.Tx) (struct{}, error) {
		_, err := tx.ExecContext(ctx, insert, in.Customer, in.Period, in.Node, in.Attempt, in.Token, in.IssuedAt.UTC().Format(time.RFC3339Nano))
		if err != nil {
			return struct{}{}, err
		}
		return struct{}{}, pause(ctx, inside)
	})
	return reused, err
}

// count counts invoices, by customer and period.
func (s *sample) count(ctx context.Context) (tally, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT customer, period, count(*) FROM invoices GROUP BY customer, period`)
	if err != nil {
		return tally{}, err
	}
	defer rows.Close()
	t := tally{keys: map[string]int{}}
	for rows.Next() {
		var in invoice
		var n int
		if err := rows.Scan(&in.Customer, &in.Period, &n); err != nil {
			return tally{}, err
		}
		t.keys[in.key()] = n
		t.total += n
	}
	return t, rows.Err()
}
