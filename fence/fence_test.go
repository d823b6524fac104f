//go:build unix

package fence_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/effect"
	"github.com/duly-dev/duly/effect/pgxeffect"
	"github.com/duly-dev/duly/fence"
	"github.com/duly-dev/duly/internal/sqltest"
)

var servers sqltest.Servers

func TestMain(m *testing.M) { os.Exit(servers.Run(m)) }

// guarded is a destination that checks in its transactions.
type guarded struct {
	begin func(ctx context.Context) (tx fence.Tx, commit, rollback func() error, err error)
	store fence.Store
	d     sqltest.Database
}

// each runs a test on every database, and on PostgreSQL through pgx too.
func each(t *testing.T, test func(t *testing.T, g guarded)) {
	servers.Each(t, func(t *testing.T, d sqltest.Database) {
		db := d.Open(t)
		dialect := effect.Dialect(d.Dialect)
		if err := effect.Migrate(t.Context(), dialect.DB(db)); err != nil {
			t.Fatal(err)
		}
		test(t, guarded{d: d, store: fence.SQL(dialect.DB(db)), begin: func(ctx context.Context) (fence.Tx, func() error, func() error, error) {
			tx, err := db.BeginTx(ctx, nil)
			if err != nil {
				return nil, nil, nil, err
			}
			return dialect.Tx(tx), tx.Commit, tx.Rollback, nil
		}})
	})
	t.Run("pgx", func(t *testing.T) {
		d := servers.Postgres(t)
		pool, err := pgxpool.New(t.Context(), d.DSN)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(pool.Close)
		if err := effect.Migrate(t.Context(), pgxeffect.DB(pool)); err != nil {
			t.Fatal(err)
		}
		test(t, guarded{d: d, store: fence.SQL(pgxeffect.DB(pool)), begin: func(ctx context.Context) (fence.Tx, func() error, func() error, error) {
			tx, err := pool.Begin(ctx)
			if err != nil {
				return nil, nil, nil, err
			}
			bg := context.Background()
			return pgxeffect.Tx(tx), func() error { return tx.Commit(bg) }, func() error { return tx.Rollback(bg) }, nil
		}})
	})
}

// check is a transaction that checks and commits.
func (g guarded) check(t testing.TB, resource string, token int64) error {
	t.Helper()
	tx, commit, rollback, err := g.begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rollback() }()
	if err := fence.Check(t.Context(), tx, resource, token); err != nil {
		return err
	}
	return commit()
}

func wantStale(t testing.TB, err error) {
	t.Helper()
	if !errors.Is(err, fence.ErrStale) || duly.CodeOf(err) != duly.CodeStaleToken {
		t.Errorf("error %v, want one with code stale_token that wraps ErrStale", err)
	}
}

func TestAnOlderTokenIsRefusedAndTheSameIsNot(t *testing.T) {
	each(t, func(t *testing.T, g guarded) {
		for name, raise := range map[string]func(resource string, token int64) error{
			"check": func(resource string, token int64) error { return g.check(t, resource, token) },
			"store": func(resource string, token int64) error { return g.store.Raise(t.Context(), resource, token) },
		} {
			r := "queue/" + name
			for _, step := range []struct {
				token int64
				stale bool
			}{{3, false}, {3, false}, {2, true}, {7, false}, {3, true}, {7, false}, {8, false}, {1 << 62, false}, {8, true}} {
				err := raise(r, step.token)
				if !step.stale && err != nil {
					t.Errorf("%s %d: %v", name, step.token, err)
				}
				if step.stale {
					wantStale(t, err)
				}
			}
			if err := raise(r+"/other", 1); err != nil {
				t.Errorf("another resource is refused: %v", err)
			}
		}
	})
}

func TestResourcesAreExact(t *testing.T) {
	each(t, func(t *testing.T, g guarded) {
		long := strings.Repeat("x", 500)
		for i, resource := range []string{"a", "A", "a ", "a\x00", "ä", "😀", long, long + "y", `a\b`} {
			if err := g.check(t, resource, int64(i+1)); err != nil {
				t.Errorf("%.20q: %v", resource, err)
			}
		}
		for i, resource := range []string{"a", "A", "a "} {
			if err := g.check(t, resource, int64(i+1)); err != nil {
				t.Errorf("%q has been raised by another: %v", resource, err)
			}
		}
		wantStale(t, g.check(t, long+"y", 7))
	})
}

func TestARolledBackTransactionRaisesNothing(t *testing.T) {
	each(t, func(t *testing.T, g guarded) {
		tx, _, rollback, err := g.begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := fence.Check(t.Context(), tx, "r", 9); err != nil {
			t.Fatal(err)
		}
		if err := rollback(); err != nil {
			t.Fatal(err)
		}
		if err := g.check(t, "r", 1); err != nil {
			t.Error(err)
		}
	})
}

// Nothing slips between a check and its commit: whoever raises waits for those
// who have checked.
func TestARaiseWaitsForTransactionsThatHaveChecked(t *testing.T) {
	each(t, func(t *testing.T, g guarded) {
		for _, raised := range []bool{false, true} { // a first check raises, a later one shares
			resource := fmt.Sprint("r", raised)
			if raised {
				if err := g.check(t, resource, 1); err != nil {
					t.Fatal(err)
				}
			}
			tx, commit, rollback, err := g.begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = rollback() }()
			if err := fence.Check(t.Context(), tx, resource, 1); err != nil {
				t.Fatal(err)
			}
			newer := make(chan error, 1)
			go func() { newer <- g.store.Raise(context.Background(), resource, 2) }()
			select {
			case err := <-newer:
				t.Fatalf("raised: %v: the newer one did not wait (error %v)", raised, err)
			case <-time.After(150 * time.Millisecond):
			}
			if err := commit(); err != nil {
				t.Errorf("the older one was disturbed: %v", err)
			}
			if err := <-newer; err != nil {
				t.Error(err)
			}
			wantStale(t, g.check(t, resource, 1))
		}
	})
}

// One owner's transactions go on side by side, once the first has raised.
func TestTransactionsOfOneOwnerShareTheFence(t *testing.T) {
	each(t, func(t *testing.T, g guarded) {
		if g.d.Name == "sqlite" {
			return // it has one writer at a time anyway
		}
		if err := g.check(t, "r", 5); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			tx, _, rollback, err := g.begin(ctx)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = rollback() }()
			if err := fence.Check(ctx, tx, "r", 5); err != nil {
				t.Errorf("one that holds it keeps another of the same owner waiting: %v", err)
			}
		}
	})
}

func TestManyFirstChecksDoNotBlockEachOther(t *testing.T) {
	each(t, func(t *testing.T, g guarded) {
		start := make(chan struct{})
		var wg sync.WaitGroup
		for i := range 12 {
			wg.Go(func() {
				<-start
				if err := g.store.Raise(t.Context(), "new", int64(1+i/6)); err != nil && !errors.Is(err, fence.ErrStale) {
					t.Error(err)
				}
			})
		}
		close(start)
		wg.Wait()
		wantStale(t, g.check(t, "new", 1))
		if err := g.check(t, "new", 2); err != nil {
			t.Error(err)
		}
	})
}

func TestBadArgumentsOfACheckAreNamed(t *testing.T) {
	each(t, func(t *testing.T, g guarded) {
		tx, _, rollback, err := g.begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = rollback() }()
		for _, test := range []struct {
			tx       fence.Tx
			resource string
			token    int64
			word     string
		}{{tx, "", 1, "resource"}, {tx, "r", 0, "token"}, {tx, "r", -1, "token"}, {nil, "r", 1, "tx"}} {
			err := fence.Check(t.Context(), test.tx, test.resource, test.token)
			if duly.CodeOf(err) != duly.CodeInvalid || !strings.Contains(err.Error(), test.word) {
				t.Errorf("%q, %d: error %v, want one about %s", test.resource, test.token, err, test.word)
			}
		}
	})
}

func TestTheRuleItself(t *testing.T) {
	for _, test := range []struct {
		seen, token int64
		code        duly.Code
	}{{0, 1, ""}, {1, 1, ""}, {1, 2, ""}, {2, 1, duly.CodeStaleToken}, {0, 0, duly.CodeInvalid}, {5, -1, duly.CodeInvalid}} {
		if got := duly.CodeOf(fence.Guard(test.seen, test.token)); got != test.code {
			t.Errorf("Guard(%d, %d) has code %q, want %q", test.seen, test.token, got, test.code)
		}
	}
}

func TestMemoryKeepsTheGreatestTokenOfEachResource(t *testing.T) {
	var m fence.Memory
	var wg sync.WaitGroup
	for token := range int64(100) {
		wg.Go(func() { _ = m.Raise(t.Context(), "r", token+1) })
	}
	wg.Wait()
	wantStale(t, m.Raise(t.Context(), "r", 99))
	if err := m.Raise(t.Context(), "r", 100); err != nil {
		t.Error(err)
	}
	if err := m.Raise(t.Context(), "other", 1); err != nil {
		t.Error(err)
	}
	if err := m.Raise(t.Context(), "", 1); duly.CodeOf(err) != duly.CodeInvalid {
		t.Errorf("no resource: %v", err)
	}
}
