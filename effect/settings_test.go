//go:build unix

package effect_test

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/effect"
	"github.com/duly-dev/duly/effect/pgxeffect"
	"github.com/duly-dev/duly/internal/sqltest"
	"github.com/duly-dev/duly/store"
)

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

// Its snapshot is older than the lease, which it would have to change.
func TestAnIsolatedTransactionOlderThanARenewalIsToBeTriedAgain(t *testing.T) {
	j := newJoint(t, servers.Postgres(t), openPGX, time.Minute)
	c := j.claim(t)
	ctx := j.grant(t.Context(), c)
	for _, renewed := range []bool{true, false} {
		tx, err := j.begin(ctx)
		if err != nil {
			t.Fatal(err)
		}
		defer tx.rollback()
		if err := tx.exec(ctx, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"); err != nil {
			t.Fatal(err)
		}
		if _, _, err := effect.Once(ctx, tx, "k", biller(tx, 1, "p", "")); err != nil {
			t.Fatal(err)
		}
		if renewed {
			if _, err := j.st.Renew(ctx, 0, []store.Renewal{{Seq: c.Seq, Token: c.Token, Lease: time.Minute}}); err != nil {
				t.Fatal(err)
			}
		}
		err = effect.Complete(ctx, tx)
		if (err != nil) != renewed || renewed && !effect.Retryable(effect.Postgres, err) {
			t.Errorf("renewed %v: %v", renewed, err)
		}
		if err == nil {
			err = tx.commit()
		} else {
			err = tx.rollback()
		}
		if err != nil {
			t.Error(err)
		}
	}
	if o := j.occurrence(t); o.State != duly.Succeeded {
		t.Errorf("in the end %s", o.State)
	}
	j.want(t, 1, 1)
}
