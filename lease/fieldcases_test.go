//go:build unix

package lease_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/effect"
	"github.com/duly-dev/duly/internal/sqltest"
	"github.com/duly-dev/duly/lease"
	"github.com/duly-dev/duly/store"
	_ "github.com/duly-dev/duly/store/postgres"
)

// B95: a fail-over of the store lost the row of a lease while its holder
// worked, and a second one took it. That nothing starts while the store is away
// is package node's test of the same case.
func TestFieldCase_B95_ALeaseThatTheStoreLostRevokesNothingSilently(t *testing.T) {
	var servers sqltest.Servers
	defer servers.Stop()
	for _, kind := range []struct {
		database sqltest.Database
		store    func(d sqltest.Database) string
	}{
		{sqltest.SQLite(t), func(sqltest.Database) string { return "sqlite:" + t.TempDir() + "/duly.db" }},
		{servers.Postgres(t), func(d sqltest.Database) string { return d.DSN }},
	} {
		t.Run(kind.database.Name, func(t *testing.T) {
			ctx, url := t.Context(), kind.store(kind.database)
			st, err := store.Open(ctx, url, store.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer st.Close()
			app := kind.database.Open(t)
			dialect, err := effect.ParseDialect(kind.database.Dialect)
			if err != nil {
				t.Fatal(err)
			}
			if err := effect.Migrate(ctx, dialect.DB(app)); err != nil {
				t.Fatal(err)
			}

			a, err := lease.Acquire(ctx, st, "invoices", lease.Options{TTL: 3 * time.Second, Holder: "a"})
			if err != nil {
				t.Fatal(err)
			}
			lose(t, kind.database, url, app)
			b, err := lease.Acquire(ctx, st, "invoices", lease.Options{TTL: 30 * time.Second, Holder: "b"})
			if err != nil {
				t.Fatal("the lease that was lost cannot be had:", err)
			}
			if b.Token() <= a.Token() {
				t.Fatalf("b's fencing token %d is not above a's, %d", b.Token(), a.Token())
			}

			invoice := func(l *lease.Lease, key string) error {
				ctx := duly.WithGrant(ctx, duly.Grant{Token: l.Token(), Resource: "lease/invoices"})
				_, _, err := effect.Do(ctx, dialect.DB(app), key, func(context.Context, *sql.Tx) (int, error) { return 1, nil })
				return err
			}
			if err := invoice(b, "invoice/2026-11/1"); err != nil {
				t.Fatal(err)
			}
			if err := invoice(a, "invoice/2026-11/2"); !errors.Is(err, effect.ErrStale) {
				t.Errorf("a's late effect: %v, want it refused by its token", err)
			}
			select {
			case <-a.Context().Done():
				if cause := context.Cause(a.Context()); !errors.Is(cause, lease.ErrLost) {
					t.Errorf("a's context ended with %v", cause)
				}
			case <-time.After(10 * time.Second):
				t.Error("a was never told that its lease is lost")
			}
			if code := duly.CodeOf(a.Release()); code != duly.CodeNotHolder {
				t.Errorf("a's release was answered %q, want not_holder", code)
			}
			if err := b.Release(); err != nil {
				t.Errorf("a's release took b's lease: %v", err)
			}
		})
	}
}

// lose deletes every row about the lease behind the store's back.
func lose(t *testing.T, d sqltest.Database, storeURL string, app *sql.DB) {
	t.Helper()
	db, table := app, "duly.leases"
	if d.Name == "sqlite" {
		var err error
		if db, err = sql.Open("sqlite", "file:"+storeURL[len("sqlite:"):]+"?_pragma=busy_timeout(10000)"); err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		table = "leases"
	}
	res, err := db.ExecContext(t.Context(), "DELETE FROM "+table)
	if err != nil {
		t.Fatal(err)
	}
	if n, _ := res.RowsAffected(); n != 1 {
		t.Fatalf("%d leases were deleted, want 1", n)
	}
}
