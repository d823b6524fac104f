//go:build unix

package effect_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/effect"
	"github.com/duly-dev/duly/internal/sqltest"
)

func TestAttemptsAtTheSameMomentHaveOneEffect(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		const attempts = 16
		var h history
		var calls, reuses atomic.Int32
		start := make(chan struct{})
		var wg sync.WaitGroup
		for i := range attempts {
			wg.Go(func() {
				ctx := effect.Unowned(t.Context())
				if i%2 == 0 { // half of them as goroutines of one attempt
					ctx = owner(t.Context(), 1, &h)
				}
				<-start
				inv, reused, err := r.do(ctx, "invoice/7/2027-01", func(ctx context.Context, tx *txn) (Invoice, error) {
					calls.Add(1)
					return tx.bill(ctx, 7, "2027-01", fmt.Sprint(i))
				})
				if err != nil {
					t.Errorf("attempt %d: %v", i, err)
				}
				if reused {
					reuses.Add(1)
				} else if inv.Note != fmt.Sprint(i) {
					t.Errorf("attempt %d is told that it made the invoice of %s", i, inv.Note)
				}
			})
		}
		close(start)
		wg.Wait()
		r.want(t, 1, 1)
		if reuses.Load() != attempts-1 {
			t.Errorf("%d of %d reused it", reuses.Load(), attempts)
		}
	})
}

// The one that waits takes over where the first one fails.
func TestWhoWaitsForAFailedAttemptHasTheEffectItself(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		ctx := effect.Unowned(t.Context())
		first := r.open(t, ctx)
		if _, _, err := effect.Once(ctx, first, "invoice/1/2027-01", biller(first, 1, "2027-01", "first")); err != nil {
			t.Fatal(err)
		}
		const waiters = 3
		results := make(chan bool, waiters)
		for range waiters {
			go func() {
				_, reused, err := r.do(ctx, "invoice/1/2027-01", func(ctx context.Context, tx *txn) (Invoice, error) {
					return tx.bill(ctx, 1, "2027-01", "waiter")
				})
				if err != nil {
					t.Error(err)
				}
				results <- reused
			}()
		}
		r.awaitBlocked(t, waiters)
		if err := first.rollback(); err != nil {
			t.Fatal(err)
		}
		created := 0
		for range waiters {
			if !<-results {
				created++
			}
		}
		if created != 1 {
			t.Errorf("%d of the waiting ones made it", created)
		}
		r.want(t, 1, 1)
	})
}

// awaitBlocked waits until n transactions wait for others, as far as the
// database can tell.
func (r *rig) awaitBlocked(t testing.TB, n int) {
	t.Helper()
	query := map[string]string{
		"postgres": "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()",
		"mysql":    "SELECT count(*) FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'",
	}[r.Dialect]
	if query == "" { // SQLite keeps no such list; whoever comes later finds the same
		time.Sleep(20 * time.Millisecond)
		return
	}
	deadline := time.Now().Add(10 * time.Second)
	for r.number(t, query) < n {
		if time.Now().After(deadline) {
			t.Fatalf("%d transactions did not come to wait", n)
		}
		time.Sleep(120 * time.Millisecond) // MySQL answers the same as before when asked again within 100 ms
	}
}

// Two transactions that each read what the other writes cannot both be right;
// Do tries the one that is turned away again.
func TestASerializationFailureIsTriedAgain(t *testing.T) {
	pg := servers.Postgres(t)
	for _, r := range []*rig{prepared(t, openSQL(t, pg)), prepared(t, openPGX(t, pg))} {
		r.exec(t, "ALTER DATABASE "+r.databaseName()+" SET default_transaction_isolation = 'serializable'")
		if r.name == "pgx" {
			*r = *openPGX(t, pg)
		} else {
			r.sql.SetMaxIdleConns(0)
		}
		r.exec(t, "DELETE FROM counters")
		r.exec(t, "INSERT INTO counters VALUES (1, 0), (2, 0)")
		// The first transaction of an owner holds the fence alone. Later ones share it.
		if _, _, err := r.do(owner(t.Context(), 1, nil), "first/"+r.name, func(context.Context, *txn) (Invoice, error) { return Invoice{}, nil }); err != nil {
			t.Fatal(err)
		}
		var both sync.WaitGroup
		both.Add(2)
		var tries atomic.Int32
		var wg sync.WaitGroup
		for i := 1; i <= 2; i++ {
			wg.Go(func() {
				met := false
				_, _, err := r.do(owner(t.Context(), 1, nil), fmt.Sprintf("skew/%s/%d", r.name, i), func(ctx context.Context, tx *txn) (Invoice, error) {
					tries.Add(1)
					if err := tx.exec(ctx, "SELECT sum(n) FROM counters"); err != nil {
						return Invoice{}, err
					}
					if !met { // both have read before either writes
						met = true
						both.Done()
						both.Wait()
					}
					return Invoice{}, tx.exec(ctx, fmt.Sprintf("UPDATE counters SET n = n + 1 WHERE id = %d", i))
				})
				if err != nil {
					t.Errorf("%s: %v", r.name, err)
				}
			})
		}
		wg.Wait()
		if tries.Load() < 3 {
			t.Errorf("%s: nothing was tried again, so this has shown nothing", r.name)
		}
		if n := r.number(t, "SELECT sum(n) FROM counters"); n != 2 {
			t.Errorf("%s: two effects counted %d", r.name, n)
		}
	}
}

func TestADeadlockIsTriedAgain(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		if r.Dialect == "sqlite" {
			return // with one writer at a time there are none; see TestABusyFileIsTriedAgain
		}
		r.exec(t, "INSERT INTO counters VALUES (1, 0), (2, 0)")
		var both sync.WaitGroup
		both.Add(2)
		var tries atomic.Int32
		var wg sync.WaitGroup
		for i := 1; i <= 2; i++ {
			wg.Go(func() {
				met := false
				_, _, err := r.do(effect.Unowned(t.Context()), fmt.Sprint("crossing/", i), func(ctx context.Context, tx *txn) (Invoice, error) {
					tries.Add(1)
					if err := tx.exec(ctx, fmt.Sprintf("UPDATE counters SET n = n + 1 WHERE id = %d", i)); err != nil {
						return Invoice{}, err
					}
					if !met {
						met = true
						both.Done()
						both.Wait()
					}
					return Invoice{}, tx.exec(ctx, fmt.Sprintf("UPDATE counters SET n = n + 1 WHERE id = %d", 3-i))
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if tries.Load() < 3 {
			t.Error("nothing was tried again, so this has shown nothing")
		}
		if n := r.number(t, "SELECT sum(n) FROM counters"); n != 4 {
			t.Errorf("two effects of two steps counted %d", n)
		}
	})
}

// Without a busy timeout, and with transactions that begin as readers, SQLite
// answers that it is busy instead of waiting.
func TestABusyFileIsTriedAgain(t *testing.T) {
	servers.Each(t, func(t *testing.T, d sqltest.Database) {
		if d.Dialect != "sqlite" {
			return
		}
		d.DSN = strings.NewReplacer("busy_timeout(10000)", "busy_timeout(0)", "&_txlock=immediate", "").Replace(d.DSN)
		r := prepared(t, openSQL(t, d))
		var wg sync.WaitGroup
		for i := range 4 {
			wg.Go(func() {
				for n := range 10 {
					_, _, err := r.do(owner(t.Context(), 1, nil), fmt.Sprint(i, "/", n), func(ctx context.Context, tx *txn) (Invoice, error) {
						return tx.bill(ctx, i, "2027-01", "")
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		r.want(t, 40, 40)
	})
}

func TestWhatNeverEndsIsNotTriedForEver(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		tries := 0
		_, _, err := r.do(effect.Unowned(t.Context()), "k", func(ctx context.Context, tx *txn) (Invoice, error) {
			tries++
			return Invoice{}, &conflict{1213}
		})
		errorHas(t, err, duly.CodeUnavailable, "tried 10 times")
		if tries != 10 || !effect.Retryable(r.dialect, err) {
			t.Errorf("tried %d times, retryable %v", tries, effect.Retryable(r.dialect, err))
		}
		r.want(t, 0, 0)
	})
}

// conflict is a serialization failure as PostgreSQL's drivers, MySQL's and a
// lost connection would tell it, so that one test serves all.
type conflict struct{ Number uint16 }

func (*conflict) Error() string { return "conflict" }

func (*conflict) SQLState() string { return "40001" }

func (*conflict) Unwrap() error { return sql.ErrConnDone }

func TestRetryableTellsAConflictFromAFailure(t *testing.T) {
	for _, test := range []struct {
		dialect effect.Dialect
		err     error
		want    bool
	}{
		{effect.Postgres, errBill, false},
		{effect.Postgres, fmt.Errorf("bill: %w", &conflict{1213}), true},
		{effect.Postgres, errors.Join(errBill, &conflict{1213}), true},
		{effect.MySQL, &struct{ error }{errBill}, false},
		{effect.SQLite, nil, false},
	} {
		if got := effect.Retryable(test.dialect, test.err); got != test.want {
			t.Errorf("Retryable(%s, %v) = %v", test.dialect, test.err, got)
		}
	}
}
