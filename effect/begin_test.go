//go:build unix

package effect_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/effect"
	"github.com/duly-dev/duly/effect/pgxeffect"
	"github.com/duly-dev/duly/internal/sqltest"
)

// Whether a transaction begins by itself or with its first statements.
func TestADatabaseThatCannotBeReachedIsUnavailable(t *testing.T) {
	t.Parallel() // each call is tried again for some seconds
	var wg sync.WaitGroup
	for _, open := range []func(testing.TB, sqltest.Database) *rig{openSQL, openPGX} {
		d := servers.Postgres(t)
		d.DSN = postgresDir.ReplaceAllString(d.DSN, "host="+t.TempDir())
		r := open(t, d)
		for name, call := range map[string]func() error{
			"owned": func() error {
				_, _, err := r.do(owner(t.Context(), 1, nil), "k", nil)
				return err
			},
			"unowned": func() error {
				_, _, err := r.do(effect.Unowned(t.Context()), "k", nil)
				return err
			},
			"batch": func() error {
				_, _, err := r.doBatch(effect.Unowned(t.Context()), []int{1}, 0, invoiceKey("p"), nil)
				return err
			},
			"get": func() error {
				_, err := r.get(t.Context(), "k")
				return err
			},
		} {
			wg.Go(func() {
				if err := call(); duly.CodeOf(err) != duly.CodeUnavailable || strings.Count(err.Error(), "the connection to the database is gone") != 1 {
					t.Errorf("%s: %s %v", name, duly.CodeOf(err), err)
				}
			})
		}
	}
	wg.Wait()
}

// As after a restart of the server: the pool does not know yet.
func TestConnectionsThatDiedWhileTheyWereIdleAreReplaced(t *testing.T) {
	r := prepared(t, openPGX(t, servers.Postgres(t)))
	const theirs = "FROM pg_stat_activity WHERE application_name = 'app'"
	eachMode(t, r, func(t *testing.T, mode string, db effect.DB[pgx.Tx]) {
		for i := range 6 {
			_, _, err := effect.Do(owner(t.Context(), 1, nil), db, fmt.Sprint(mode, i), func(ctx context.Context, tx pgx.Tx) (int, error) {
				if i%3 > 0 {
					return i, nil
				}
				two := &pgx.Batch{} // whose failure makes pgx forget statements, at the next use of the connection
				two.Queue("SELECT 1")
				two.Queue("SELECT 1/0")
				return 0, tx.SendBatch(ctx, two).Close()
			})
			if (err != nil) != (i%3 == 0) {
				t.Errorf("%d: %v", i, err)
			}
			r.exec(t, "SELECT pg_terminate_backend(pid) "+theirs)
			for r.number(t, "SELECT count(*) "+theirs) > 0 {
				if err := t.Context().Err(); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

// eachMode runs a test with a pool in each of pgx's query execution modes.
func eachMode(t *testing.T, r *rig, test func(t *testing.T, mode string, db effect.DB[pgx.Tx])) {
	for _, mode := range []string{"cache_statement", "cache_describe", "describe_exec", "exec", "simple_protocol"} {
		t.Run(mode, func(t *testing.T) {
			pool, err := pgxpool.New(t.Context(), r.DSN+"&application_name=app&pool_max_conns=3&default_query_exec_mode="+mode)
			if err != nil {
				t.Fatal(err)
			}
			defer pool.Close()
			test(t, mode, pgxeffect.DB(pool))
		})
	}
}

// Its connection is in use by somebody else then, which the race detector sees.
func TestATransactionThatItsHandleHasEndedIsNotLookedAt(t *testing.T) {
	r := openPGX(t, servers.Postgres(t))
	pool, err := pgxpool.New(t.Context(), r.DSN+"&pool_max_conns=2")
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	db := pgxeffect.DB(pool)
	if err := effect.Migrate(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for ctx.Err() == nil {
				_, _ = pool.Exec(t.Context(), "SELECT 1")
			}
		})
	}
	grant := duly.WithGrant(t.Context(), duly.Grant{Resource: "r", Token: 1, Complete: func(context.Context, any, []duly.EffectReport) error {
		t.Error("it was completed")
		return nil
	}})
	for range 100 {
		_, _, err := effect.Do(effect.Completing(grant), db, "k", func(ctx context.Context, tx pgx.Tx) (int, error) { return 0, tx.Rollback(ctx) })
		errorHas(t, err, duly.CodeConflict, "ended already")
		tx, err := pool.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := tx.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		errorHas(t, effect.Complete(grant, pgxeffect.Tx(tx)), duly.CodeConflict, "ended already")
	}
	stop()
	wg.Wait()
}

// Its transaction would wait for that around it: for the row of their fence, or
// to be the writer.
func TestAnEffectDoesNotWaitForTheOneAroundIt(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		for name, ctx := range map[string]context.Context{"owned": owner(t.Context(), 1, nil), "unowned": effect.Unowned(t.Context())} {
			inner := map[string]func(context.Context) error{
				"Do": func(ctx context.Context) error {
					_, _, err := r.do(ctx, name+"/inner", func(ctx context.Context, tx *txn) (Invoice, error) { return tx.bill(ctx, 1, "p", "") })
					return err
				},
				"DoBatch": func(ctx context.Context) error {
					_, _, err := r.doBatch(ctx, []int{7}, 0, invoiceKey(name), func(ctx context.Context, tx *txn, _ []int) ([]Invoice, error) { return make([]Invoice, 1), nil })
					return err
				},
				"External": func(ctx context.Context) error {
					_, _, err := r.external(ctx, name+"/external", effect.Call[Invoice]{Call: func(context.Context, string) (Invoice, error) { return Invoice{}, nil }})
					return err
				},
			}
			for what, have := range inner {
				_, _, err := r.do(ctx, name+"/outer/"+what, func(ctx context.Context, tx *txn) (Invoice, error) { return Invoice{}, have(ctx) })
				if name == "unowned" && r.Dialect != "sqlite" {
					if err != nil {
						t.Errorf("%s, %s: %v, though nothing is in its way", what, name, err)
					}
					continue
				}
				errorHas(t, err, duly.CodeInvalid, "inside the function of another effect", "use Once or Batch")
				if err := have(ctx); err != nil {
					t.Errorf("%s, %s, afterwards: %v", what, name, err)
				}
			}
			// A call is in no transaction.
			_, _, err := r.external(ctx, name+"/call", effect.Call[Invoice]{Call: func(ctx context.Context, _ string) (Invoice, error) { return Invoice{}, inner["Do"](ctx) }})
			if err != nil {
				t.Errorf("inside of a call, %s: %v", name, err)
			}
		}
	})
}
