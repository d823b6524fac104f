//go:build unix

package effect_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/effect"
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

// Whether MySQL is strict, and calls what is missing an error, or not.
func TestTablesOfAnEarlierVersionAreChangedByMigrating(t *testing.T) {
	d := servers.MariaDB(t)
	prepared(t, openSQL(t, d))
	ctx := owner(t.Context(), 1, nil)
	for _, mode := range []string{"", "STRICT_ALL_TABLES"} {
		strict := d
		strict.DSN += "?sql_mode='" + mode + "'"
		r := openSQL(t, strict)
		have := func() error {
			_, _, err := r.doBatch(ctx, []int{1, 2}, 0, invoiceKey(mode), func(context.Context, *txn, []int) ([]Invoice, error) { return make([]Invoice, 2), nil })
			return err
		}
		r.exec(t, "ALTER TABLE duly_effects ALTER COLUMN state DROP DEFAULT")
		errorHas(t, have(), duly.CodeInvalid, "too old", "duly effects ddl --dialect mysql", "effect.Migrate")
		if err := errors.Join(r.migrate(ctx), have()); err != nil {
			t.Errorf("mode %q, after migrating: %v", mode, err)
		}
	}
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
