//go:build unix

package effect_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/effect"
	"github.com/duly-dev/duly/effect/pgxeffect"
	"github.com/duly-dev/duly/internal/sqltest"
)

var servers sqltest.Servers

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		os.Exit(playRole(role))
	}
	os.Exit(servers.Run(m))
}

// Invoice is the application's effect.
type Invoice struct {
	Customer int    `json:"customer"`
	Period   string `json:"period"`
	Note     string `json:"note,omitempty"`
}

// txn is a transaction of the application, of database/sql or of pgx.
type txn struct {
	effect.Tx
	exec     func(ctx context.Context, query string, args ...any) error
	commit   func() error
	rollback func() error
}

// rig is an application with its database, whichever way it speaks to it.
type rig struct {
	sqltest.Database
	name         string
	dialect      effect.Dialect
	sql          *sql.DB
	begin        func(ctx context.Context) (*txn, error)
	migrate      func(ctx context.Context) error
	do           func(ctx context.Context, key string, fn func(context.Context, *txn) (Invoice, error)) (Invoice, bool, error)
	external     func(ctx context.Context, key string, call effect.Call[Invoice]) (Invoice, bool, error)
	resolve      func(ctx context.Context, key string, r effect.Resolution) error
	get          func(ctx context.Context, key string) (effect.Entry, error)
	find         func(ctx context.Context, keys []string) (map[string]effect.Entry, error)
	list         func(ctx context.Context, f effect.Filter) ([]effect.Entry, string, error)
	doBatch      func(ctx context.Context, customers []int, every int, key func(int) string, fn func(context.Context, *txn, []int) ([]Invoice, error)) ([]Invoice, []bool, error)
	doPlainBatch func(ctx context.Context, customers []int, every int, key func(int) string, fn func(context.Context, *txn, []int) error) ([]struct{}, []bool, error)
}

// each runs a test on every database, and on PostgreSQL through pgx too.
func each(t *testing.T, test func(t *testing.T, r *rig)) {
	servers.Each(t, func(t *testing.T, d sqltest.Database) {
		t.Parallel()
		test(t, prepared(t, openSQL(t, d)))
	})
	t.Run("pgx", func(t *testing.T) {
		t.Parallel()
		test(t, prepared(t, openPGX(t, servers.Postgres(t))))
	})
}

// prepared makes the tables. The invoices have no unique key of their own, so
// that one which is made twice is seen twice.
func prepared(t testing.TB, r *rig) *rig {
	t.Helper()
	if err := r.migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, ddl := range []string{
		"CREATE TABLE IF NOT EXISTS invoices (customer INTEGER NOT NULL, period VARCHAR(40) NOT NULL, note VARCHAR(200) NOT NULL)",
		"CREATE TABLE IF NOT EXISTS counters (id INTEGER NOT NULL PRIMARY KEY, n INTEGER NOT NULL)",
	} {
		if _, err := r.sql.ExecContext(t.Context(), ddl); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func openSQL(t testing.TB, d sqltest.Database) *rig { return sqlRig(d, d.Open(t)) }

func sqlRig(d sqltest.Database, db *sql.DB) *rig {
	dialect := effect.Dialect(d.Dialect)
	r := newRig(d, db, dialect.DB(db), func(tx *sql.Tx) *txn { return sqlTxn(dialect, tx) })
	r.begin = func(ctx context.Context) (*txn, error) {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return nil, err
		}
		return sqlTxn(dialect, tx), nil
	}
	return r
}

func sqlTxn(dialect effect.Dialect, tx *sql.Tx) *txn {
	return &txn{
		Tx: dialect.Tx(tx), commit: tx.Commit, rollback: tx.Rollback,
		exec: func(ctx context.Context, query string, args ...any) error {
			_, err := tx.ExecContext(ctx, query, args...)
			return err
		},
	}
}

func openPGX(t testing.TB, d sqltest.Database) *rig {
	pool, err := pgxpool.New(t.Context(), d.DSN)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pgxRig(d, d.Open(t), pool)
}

func pgxRig(d sqltest.Database, db *sql.DB, pool *pgxpool.Pool) *rig {
	r := newRig(d, db, pgxeffect.DB(pool), pgxTxn)
	r.name = "pgx"
	r.begin = func(ctx context.Context) (*txn, error) {
		tx, err := pool.Begin(ctx)
		if err != nil {
			return nil, err
		}
		return pgxTxn(tx), nil
	}
	return r
}

func pgxTxn(tx pgx.Tx) *txn {
	return &txn{
		Tx:       pgxeffect.Tx(tx),
		commit:   func() error { return tx.Commit(context.Background()) },
		rollback: func() error { return tx.Rollback(context.Background()) },
		exec: func(ctx context.Context, query string, args ...any) error {
			_, err := tx.Exec(ctx, query, args...)
			return err
		},
	}
}

func newRig[X any](d sqltest.Database, db *sql.DB, handle effect.DB[X], wrap func(X) *txn) *rig {
	return &rig{
		Database: d, name: d.Name, dialect: effect.Dialect(d.Dialect), sql: db,
		migrate: func(ctx context.Context) error { return effect.Migrate(ctx, handle) },
		do: func(ctx context.Context, key string, fn func(context.Context, *txn) (Invoice, error)) (Invoice, bool, error) {
			return effect.Do(ctx, handle, key, func(ctx context.Context, tx X) (Invoice, error) { return fn(ctx, wrap(tx)) })
		},
		external: func(ctx context.Context, key string, call effect.Call[Invoice]) (Invoice, bool, error) {
			return effect.External(ctx, handle, key, call)
		},
		resolve: func(ctx context.Context, key string, r effect.Resolution) error {
			return effect.Resolve(ctx, handle, key, r)
		},
		get: func(ctx context.Context, key string) (effect.Entry, error) { return effect.Get(ctx, handle, key) },
		find: func(ctx context.Context, keys []string) (map[string]effect.Entry, error) {
			return effect.Find(ctx, handle, keys)
		},
		list: func(ctx context.Context, f effect.Filter) ([]effect.Entry, string, error) {
			return effect.List(ctx, handle, f)
		},
		doBatch: func(ctx context.Context, customers []int, every int, key func(int) string, fn func(context.Context, *txn, []int) ([]Invoice, error)) ([]Invoice, []bool, error) {
			return effect.DoBatch(ctx, handle, every, customers, key, func(ctx context.Context, tx X, missing []int) ([]Invoice, error) { return fn(ctx, wrap(tx), missing) })
		},
		doPlainBatch: func(ctx context.Context, customers []int, every int, key func(int) string, fn func(context.Context, *txn, []int) error) ([]struct{}, []bool, error) {
			return effect.DoBatch(ctx, handle, every, customers, key, func(ctx context.Context, tx X, missing []int) ([]struct{}, error) {
				return make([]struct{}, len(missing)), fn(ctx, wrap(tx), missing)
			})
		},
	}
}

func invoiceKey(period string) func(int) string {
	return func(customer int) string { return fmt.Sprintf("invoice/%d/%s", customer, period) }
}

// bill makes an invoice in the application's table.
func (x *txn) bill(ctx context.Context, customer int, period, note string) (Invoice, error) {
	err := x.exec(ctx, fmt.Sprintf("INSERT INTO invoices (customer, period, note) VALUES (%d, '%s', '%s')", customer, period, note))
	return Invoice{Customer: customer, Period: period, Note: note}, err
}

func biller(x *txn, customer int, period, note string) func(context.Context) (Invoice, error) {
	return func(ctx context.Context) (Invoice, error) { return x.bill(ctx, customer, period, note) }
}

// number answers a query for a single number.
func (r *rig) number(t testing.TB, query string, args ...any) int {
	t.Helper()
	var n int
	if err := r.sql.QueryRowContext(context.Background(), query, args...).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

// want checks how many invoices and ledger rows there are.
func (r *rig) want(t testing.TB, invoices, effects int) {
	t.Helper()
	if n := r.number(t, "SELECT count(*) FROM invoices"); n != invoices {
		t.Errorf("%d invoices, want %d", n, invoices)
	}
	if n := r.number(t, "SELECT count(*) FROM duly_effects"); n != effects {
		t.Errorf("%d rows in the ledger, want %d", n, effects)
	}
}

// exec runs a statement outside of every transaction of the test.
func (r *rig) exec(t testing.TB, query string) {
	t.Helper()
	if _, err := r.sql.ExecContext(context.Background(), query); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// history is what a node would have been told.
type history struct {
	mu              sync.Mutex
	created, reused []string
	open            []string
	makers          map[string]*duly.EffectMaker // of reused ones
	results         map[string]string
}

func (h *history) record(told duly.EffectReport) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.results == nil {
		h.results, h.makers = map[string]string{}, map[string]*duly.EffectMaker{}
	}
	switch {
	case told.Open:
		h.open = append(h.open, told.Key)
		return
	case told.Reused:
		h.reused = append(h.reused, told.Key)
		h.makers[told.Key] = told.Maker
	default:
		h.created = append(h.created, told.Key)
	}
	h.results[told.Key] = string(told.Result)
}

func (h *history) want(t testing.TB, created, reused int) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.created) != created || len(h.reused) != reused {
		t.Errorf("history has %d created and %d reused, want %d and %d", len(h.created), len(h.reused), created, reused)
	}
}

// owner answers the context of an attempt. Attempts of a test share the
// resource, and each has the token of its number.
func owner(ctx context.Context, attempt int, h *history) context.Context {
	g := duly.Grant{Occurrence: "invoices@2027-01", Attempt: attempt, Token: int64(attempt), Resource: "schedule/invoices"}
	if h != nil {
		g.Record = h.record
	}
	return duly.WithGrant(ctx, g)
}

// errorHas checks an error's code and that its text holds what helps.
func errorHas(t testing.TB, err error, code duly.Code, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with code %s", code)
	}
	if got := duly.CodeOf(err); got != code {
		t.Errorf("code %s, want %s: %v", got, code, err)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q does not say %q", err, w)
		}
	}
}

func limited(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}
