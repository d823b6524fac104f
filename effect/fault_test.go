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

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/effect"
	"github.com/duly-dev/duly/effect/pgxeffect"
	"github.com/duly-dev/duly/internal/sqltest"
)

func TestMissingTablesNameTheCommandThatCreatesThem(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		r.exec(t, "DROP TABLE duly_effects")
		command := "duly effects ddl --dialect " + r.Dialect
		_, _, err := r.once(t, effect.Unowned(t.Context()), 1, "2027-01", "")
		errorHas(t, err, duly.CodeInvalid, command, "effect.Migrate")
		_, _, err = r.doBatch(effect.Unowned(t.Context()), []int{1, 2}, 0, invoiceKey("2027-01"), nil)
		errorHas(t, err, duly.CodeInvalid, command)
		_, err = r.get(t.Context(), "k")
		errorHas(t, err, duly.CodeInvalid, command)
		_, _, err = r.external(effect.Unowned(t.Context()), "k", effect.Call[Invoice]{Call: func(context.Context, string) (Invoice, error) {
			t.Error("called without an intent")
			return Invoice{}, nil
		}})
		errorHas(t, err, duly.CodeInvalid, command)
		r.exec(t, "DROP TABLE duly_fences")
		_, _, err = r.once(t, owner(t.Context(), 1, nil), 1, "2027-01", "")
		errorHas(t, err, duly.CodeInvalid, command)

		// The printed statements are the cure.
		for _, stmt := range strings.SplitAfter(uncommented(effect.DDL(r.dialect)), ";") {
			if strings.TrimSpace(stmt) != "" {
				r.exec(t, stmt)
			}
		}
		if _, _, err := r.once(t, owner(t.Context(), 1, nil), 1, "2027-01", ""); err != nil {
			t.Error(err)
		}
	})
}

func uncommented(ddl string) string {
	var b strings.Builder
	for line := range strings.Lines(ddl) {
		code, _, _ := strings.Cut(line, "--")
		b.WriteString(strings.TrimSpace(code) + "\n")
	}
	return b.String()
}

func TestMigratingFromManyNodesAtOnceAndAgainIsFine(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		r.exec(t, "DROP TABLE duly_effects")
		r.exec(t, "DROP TABLE duly_fences")
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				if err := r.migrate(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if _, _, err := r.once(t, owner(t.Context(), 1, nil), 1, "2027-01", ""); err != nil {
			t.Error(err)
		}
		if err := r.migrate(t.Context()); err != nil {
			t.Error(err)
		}
		r.want(t, 1, 1)
	})
}

func TestADoomedTransactionIsCalledThat(t *testing.T) {
	for _, r := range []*rig{prepared(t, openSQL(t, servers.Postgres(t))), prepared(t, openPGX(t, servers.Postgres(t)))} {
		ctx := owner(t.Context(), 1, nil)
		tx := r.open(t, ctx)
		defer tx.rollback()
		if tx.exec(ctx, "SELECT 1/0") == nil {
			t.Fatal("division by zero went well")
		}
		_, _, err := effect.Once(ctx, tx, "k", biller(tx, 1, "2027-01", ""))
		errorHas(t, err, duly.CodeInvalid, "already doomed", "roll it back")
		_, _, err = effect.Once(effect.Unowned(t.Context()), tx, "k", biller(tx, 1, "2027-01", ""))
		errorHas(t, err, duly.CodeInvalid, "already doomed")
	}
}

// An application that passes over an SQL error must not be told that its effect
// has happened.
func TestAnErrorThatTheFunctionPassesOverIsNotADoneEffect(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		if r.Dialect != "postgres" {
			return // elsewhere a failed statement leaves the transaction as it was
		}
		ctx := effect.Unowned(t.Context())
		passOver := func(ctx context.Context, tx *txn) (Invoice, error) {
			_ = tx.exec(ctx, "SELECT 1/0")
			return Invoice{}, nil
		}
		tx := r.open(t, ctx)
		defer tx.rollback()
		_, _, err := effect.Once(ctx, tx, "k", func(ctx context.Context) (Invoice, error) { return passOver(ctx, tx) })
		errorHas(t, err, duly.CodeInvalid, "already doomed")
		_, _, err = r.do(ctx, "k", passOver)
		errorHas(t, err, duly.CodeInvalid, "already doomed")
		r.want(t, 0, 0)
	})
}

func TestAReadOnlyTransactionIsCalledThat(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		switch {
		case r.name == "sqlite":
			r.sql.SetMaxOpenConns(1)
			r.exec(t, "PRAGMA query_only = 1")
		case r.name == "mariadb":
			r.DSN += "?tx_read_only=1"
			*r = *openSQL(t, r.Database)
		default:
			r.exec(t, "ALTER DATABASE "+r.databaseName()+" SET default_transaction_read_only = on")
			if r.name == "pgx" {
				*r = *openPGX(t, r.Database)
			} else {
				r.sql.SetMaxIdleConns(0)
			}
		}
		for _, ctx := range []context.Context{owner(t.Context(), 1, nil), effect.Unowned(t.Context())} {
			_, _, err := r.do(ctx, "k", func(context.Context, *txn) (Invoice, error) {
				t.Error("called in a transaction that cannot keep it")
				return Invoice{}, nil
			})
			errorHas(t, err, duly.CodeInvalid, "read-only")
		}
	})
}

func (r *rig) databaseName() string {
	_, rest, _ := strings.Cut(r.DSN, "@/")
	name, _, _ := strings.Cut(rest, "?")
	return name
}

func TestACancelledContextEndsTheEffectWithoutATrace(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		for _, own := range []bool{true, false} {
			ctx, cancel := context.WithCancel(owner(t.Context(), 1, nil))
			fn := func(ctx context.Context, tx *txn) (Invoice, error) {
				if _, err := tx.bill(ctx, 1, "2027-01", ""); err != nil {
					return Invoice{}, err
				}
				cancel()
				return tx.bill(ctx, 1, "2027-01", "")
			}
			var err error
			if own {
				_, _, err = r.do(ctx, "k", fn)
			} else {
				tx := r.open(t, ctx)
				_, _, err = effect.Once(ctx, tx, "k", func(ctx context.Context) (Invoice, error) { return fn(ctx, tx) })
				_ = tx.rollback() // the cancelled context may have done so already
			}
			if !errors.Is(err, context.Canceled) && !errors.Is(err, sql.ErrTxDone) {
				t.Errorf("own transaction %v: error %v, want that of the context", own, err)
			}
			r.want(t, 0, 0)
		}
		ctx, cancel := context.WithCancel(owner(t.Context(), 1, nil))
		cancel()
		if _, _, err := r.do(ctx, "k", nil); !errors.Is(err, context.Canceled) {
			t.Errorf("ended before it began: %v", err)
		}
	})
}

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

func (*conflict) Error() string    { return "conflict" }
func (*conflict) SQLState() string { return "40001" }
func (*conflict) Unwrap() error    { return sql.ErrConnDone }

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

func TestEachIsolationLevelKeepsThePromise(t *testing.T) {
	servers.Each(t, func(t *testing.T, d sqltest.Database) {
		levels := []sql.IsolationLevel{sql.LevelReadCommitted, sql.LevelRepeatableRead, sql.LevelSerializable}
		if d.Dialect == "sqlite" {
			levels = []sql.IsolationLevel{sql.LevelDefault}
		}
		r := prepared(t, openSQL(t, d))
		for n, level := range levels {
			var wg sync.WaitGroup
			for i := range 6 {
				wg.Go(func() {
					for { // as an application does that has its own transactions
						err := func() error {
							ctx := owner(t.Context(), 1, nil)
							tx, err := r.sql.BeginTx(ctx, &sql.TxOptions{Isolation: level})
							if err != nil {
								return err
							}
							defer func() { _ = tx.Rollback() }()
							x := sqlTxn(r.dialect, tx)
							// A read before it fixes what a snapshot holds.
							if err := x.exec(ctx, "SELECT count(*) FROM invoices"); err != nil {
								return err
							}
							if _, _, err := effect.Once(ctx, x, fmt.Sprint("level/", n), biller(x, i, "2027-01", level.String())); err != nil {
								return err
							}
							return tx.Commit()
						}()
						if effect.Retryable(r.dialect, err) {
							continue
						}
						if err != nil {
							t.Errorf("%s: %v", level, err)
						}
						return
					}
				})
			}
			wg.Wait()
			r.want(t, n+1, n+1)
		}
	})
}

// Whatever a team has set on its connections, a key is a key.
func TestSettingsOfTheConnectionChangeNothing(t *testing.T) {
	keys := []string{`it's "a" \ key?`, "größe 😀", "Größe 😀", "größe 😀 "}
	try := func(t *testing.T, r *rig) {
		for try := range 2 {
			for i, key := range keys {
				inv, reused, err := r.do(owner(t.Context(), 1, nil), key, func(ctx context.Context, tx *txn) (Invoice, error) {
					_, err := tx.bill(ctx, i, "2027-01", "")
					return Invoice{Customer: i, Note: key}, err
				})
				if err != nil || reused != (try == 1) || inv.Customer != i || inv.Note != key {
					t.Errorf("%q: %+v, reused %v, error %v", key, inv, reused, err)
				}
			}
			_, reused, err := effect.DoBatch(owner(t.Context(), 1, nil), r.dialect.DB(r.sql), 0, keys, func(k string) string { return "batch " + k },
				func(_ context.Context, _ *sql.Tx, missing []string) ([]string, error) { return missing, nil })
			for i := range keys {
				if err != nil || reused[i] != (try == 1) {
					t.Errorf("batch %q: reused %v, error %v", keys[i], reused, err)
				}
			}
		}
		r.want(t, len(keys), 2*len(keys))
	}
	for _, params := range []string{
		"clientFoundRows=true", "interpolateParams=true", "charset=latin1", "parseTime=true",
		"sql_mode='ANSI_QUOTES,NO_BACKSLASH_ESCAPES'", "sql_mode=''", "tx_isolation='READ-COMMITTED'", "innodb_lock_wait_timeout=0",
		"interpolateParams=true&clientFoundRows=true&collation=latin1_swedish_ci",
	} {
		t.Run("mariadb "+params, func(t *testing.T) {
			d := servers.MariaDB(t)
			d.DSN += "?" + params
			try(t, prepared(t, openSQL(t, d)))
		})
	}
	for _, mode := range []string{"cache_statement", "cache_describe", "describe_exec", "exec", "simple_protocol"} {
		t.Run("postgres "+mode, func(t *testing.T) {
			d := servers.Postgres(t)
			d.DSN += "&default_query_exec_mode=" + mode
			try(t, prepared(t, openSQL(t, d)))
		})
	}
}

func TestPgxWorksInEachOfItsModes(t *testing.T) {
	d := servers.Postgres(t)
	for _, mode := range []string{"cache_statement", "cache_describe", "describe_exec", "exec", "simple_protocol"} {
		pool, err := pgxpool.New(t.Context(), d.DSN+"&default_query_exec_mode="+mode)
		if err != nil {
			t.Fatal(err)
		}
		defer pool.Close()
		db := pgxeffect.DB(pool)
		if err := effect.Migrate(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		for try := range 2 {
			inv, reused, err := effect.Do(owner(t.Context(), 1, nil), db, "mode/"+mode, func(context.Context, pgx.Tx) (Invoice, error) {
				return Invoice{Note: "größe"}, nil
			})
			if err != nil || reused != (try == 1) || inv.Note != "größe" {
				t.Errorf("%s: %+v, reused %v, error %v", mode, inv, reused, err)
			}
			items := []int{1, 2, 3}
			_, all, err := effect.DoBatch(owner(t.Context(), 1, nil), db, 2, items, func(i int) string { return fmt.Sprint(mode, "/", i) },
				func(_ context.Context, _ pgx.Tx, missing []int) ([]int, error) { return missing, nil })
			if err != nil || all[2] != (try == 1) {
				t.Errorf("%s: batch reused %v, error %v", mode, all, err)
			}
		}
		if _, err := effect.Get(t.Context(), db, "mode/"+mode); err != nil {
			t.Errorf("%s: %v", mode, err)
		}
		if _, _, err := effect.List(t.Context(), db, effect.Filter{Prefix: "mode/", State: effect.Done}); err != nil {
			t.Errorf("%s: %v", mode, err)
		}
	}
}
