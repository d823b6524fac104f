//go:build unix

package effect_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/effect"
)

// once has the effect in a transaction of its own, which it commits.
func (r *rig) once(t testing.TB, ctx context.Context, customer int, period, note string) (Invoice, bool, error) {
	t.Helper()
	tx := r.open(t, ctx)
	defer tx.rollback()
	inv, reused, err := effect.Once(ctx, tx, invoiceKey(period)(customer), biller(tx, customer, period, note))
	if err != nil {
		return inv, reused, err
	}
	return inv, reused, tx.commit()
}

func (r *rig) open(t testing.TB, ctx context.Context) *txn {
	t.Helper()
	tx, err := r.begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return tx
}

func TestASecondAttemptFindsTheFirstOnesResult(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		var h history
		first, reused, err := r.once(t, owner(t.Context(), 1, &h), 7, "2027-01", "by the first")
		if err != nil || reused {
			t.Fatalf("first: reused %v, error %v", reused, err)
		}
		second, reused, err := r.once(t, owner(t.Context(), 2, &h), 7, "2027-01", "by the second")
		if err != nil || !reused || second != first {
			t.Errorf("second: %+v, reused %v, error %v; want %+v reused", second, reused, err, first)
		}
		r.want(t, 1, 1)
		h.want(t, 1, 1)
		if got, want := h.results["invoice/7/2027-01"], `{"customer":7,"period":"2027-01","note":"by the first"}`; got != want {
			t.Errorf("history was told %s, want %s", got, want)
		}
		e, err := r.get(t.Context(), "invoice/7/2027-01")
		if err != nil {
			t.Fatal(err)
		}
		if e.State != effect.Done || e.Occurrence != "invoices@2027-01" || e.Attempt != 1 || e.Token != 1 || e.Resource != "schedule/invoices" {
			t.Errorf("the ledger names %+v, want attempt 1 of invoices@2027-01", e)
		}
		if age := time.Since(e.CreatedAt); age < -time.Minute || age > time.Minute {
			t.Errorf("created %v ago, at %v", age, e.CreatedAt)
		}
	})
}

// B87: a second occurrence for work that is done says so quietly.
func TestB87_TwoOccurrencesForTheSameWorkAreOneEffectAndNoFailure(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		var h history
		for i, occurrence := range []string{"billing@2027-01-31", "billing@manual-1"} {
			ctx := duly.WithGrant(t.Context(), duly.Grant{Occurrence: occurrence, Attempt: 1, Token: int64(i + 1), Resource: "schedule/billing", Record: h.record})
			_, reused, err := r.once(t, ctx, 7, "2027-01", "")
			if err != nil || reused != (i == 1) {
				t.Errorf("%s: reused %v, error %v", occurrence, reused, err)
			}
		}
		r.want(t, 1, 1)
		h.want(t, 1, 1)
	})
}

var errBill = errors.New("the printer is out of paper")

func TestAFailedFunctionLeavesNoTraceWhileItsTransactionGoesOn(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		ctx := owner(t.Context(), 1, nil)
		tx := r.open(t, ctx)
		defer tx.rollback()
		_, _, err := effect.Once(ctx, tx, "invoice/1/2027-01", func(ctx context.Context) (Invoice, error) {
			if _, err := tx.bill(ctx, 1, "2027-01", "never"); err != nil {
				return Invoice{}, err
			}
			return Invoice{}, errBill
		})
		if !errors.Is(err, errBill) {
			t.Fatalf("error %v, want the function's own", err)
		}
		if _, _, err := effect.Once(ctx, tx, "invoice/2/2027-01", biller(tx, 2, "2027-01", "")); err != nil {
			t.Fatal(err)
		}
		if err := tx.commit(); err != nil {
			t.Fatal(err)
		}
		r.want(t, 1, 1)
		if _, reused, err := r.once(t, ctx, 1, "2027-01", ""); err != nil || reused {
			t.Errorf("the next attempt: reused %v, error %v", reused, err)
		}
	})
}

func TestAnSQLErrorInTheFunctionDoesNotDoomTheTransaction(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		ctx := effect.Unowned(t.Context())
		tx := r.open(t, ctx)
		defer tx.rollback()
		_, _, err := effect.Once(ctx, tx, "k", func(ctx context.Context) (Invoice, error) {
			return Invoice{}, tx.exec(ctx, "INSERT INTO no_such_table VALUES (1)")
		})
		if err == nil {
			t.Fatal("a statement about no table succeeded")
		}
		if _, err := tx.bill(ctx, 1, "2027-01", ""); err != nil {
			t.Fatalf("the transaction does not go on: %v", err)
		}
		if err := tx.commit(); err != nil {
			t.Fatal(err)
		}
		r.want(t, 1, 0)
	})
}

func TestARolledBackTransactionLeavesNoTrace(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		ctx := owner(t.Context(), 1, nil)
		tx := r.open(t, ctx)
		if _, _, err := effect.Once(ctx, tx, "invoice/1/2027-01", biller(tx, 1, "2027-01", "")); err != nil {
			t.Fatal(err)
		}
		if err := tx.rollback(); err != nil {
			t.Fatal(err)
		}
		r.want(t, 0, 0)
		if n := r.number(t, "SELECT count(*) FROM duly_fences"); n != 0 {
			t.Errorf("%d fences stayed raised", n)
		}
	})
}

func TestAPanicPassesThroughAndLeavesNoTrace(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		ctx := owner(t.Context(), 1, nil)
		caught := func(f func()) (v any) {
			defer func() { v = recover() }()
			f()
			return nil
		}
		tx := r.open(t, ctx)
		defer tx.rollback()
		got := caught(func() {
			_, _, _ = effect.Once(ctx, tx, "invoice/1/2027-01", func(ctx context.Context) (Invoice, error) {
				if _, err := tx.bill(ctx, 1, "2027-01", ""); err != nil {
					t.Error(err)
				}
				panic("out of cheese")
			})
		})
		if got != "out of cheese" {
			t.Errorf("Once: panic %v did not pass through", got)
		}
		if err := tx.commit(); err != nil { // the application recovered, and goes on
			t.Fatal(err)
		}
		got = caught(func() {
			_, _, _ = r.do(ctx, "invoice/2/2027-01", func(ctx context.Context, tx *txn) (Invoice, error) {
				if _, err := tx.bill(ctx, 2, "2027-01", ""); err != nil {
					t.Error(err)
				}
				panic("out of cheese")
			})
		})
		if got != "out of cheese" {
			t.Errorf("Do: panic %v did not pass through", got)
		}
		r.want(t, 0, 0)
		// Nothing is held: the same keys can be had at once.
		for customer := 1; customer <= 2; customer++ {
			if _, _, err := r.once(t, owner(limited(t, 5*time.Second), 1, nil), customer, "2027-01", ""); err != nil {
				t.Error(err)
			}
		}
	})
}

// oneWay can be written as JSON but not read back.
type oneWay struct{ Err error }

func (oneWay) MarshalJSON() ([]byte, error) { return []byte(`{"Err":"text"}`), nil }

func TestAResultThatCannotBeStoredIsAnErrorBeforeAnythingIsCommitted(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		ctx := effect.Unowned(t.Context())
		tx := r.open(t, ctx)
		defer tx.rollback()
		_, _, err := effect.Once(ctx, tx, "a", func(ctx context.Context) (func(), error) {
			_, err := tx.bill(ctx, 1, "2027-01", "")
			return func() {}, err
		})
		errorHas(t, err, duly.CodeInvalid, "effect a", "cannot be stored as JSON")
		_, _, err = effect.Once(ctx, tx, "b", func(ctx context.Context) (oneWay, error) {
			_, err := tx.bill(ctx, 1, "2027-01", "")
			return oneWay{}, err
		})
		errorHas(t, err, duly.CodeInvalid, "effect b", "not read back")
		if err := tx.commit(); err != nil {
			t.Fatal(err)
		}
		r.want(t, 0, 0)
	})
}

func TestResultsComeBackAsTheyWere(t *testing.T) {
	type kept struct {
		Text  string
		Bytes []byte
		Map   map[string]any
		Time  time.Time
		None  *int
	}
	want := kept{
		Text:  "Zoë \x00 '\"\\ $1 ? %s 😀\u2028 </script>",
		Bytes: []byte{0, 255, 39},
		Map:   map[string]any{"größe": 1.5, "": nil},
		Time:  time.Date(2027, 1, 2, 3, 4, 5, 6789, time.UTC),
	}
	each(t, func(t *testing.T, r *rig) {
		ctx := effect.Unowned(t.Context())
		for _, reused := range []bool{false, true} {
			tx := r.open(t, ctx)
			defer tx.rollback()
			got, again, err := effect.Once(ctx, tx, "k", func(context.Context) (kept, error) { return want, nil })
			if err != nil || again != reused {
				t.Fatalf("reused %v, error %v", again, err)
			}
			if fmt.Sprintf("%#v", got) != fmt.Sprintf("%#v", want) {
				t.Errorf("reused %v: got %#v, want %#v", reused, got, want)
			}
			if err := tx.commit(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestAnEffectWithoutAResultKeepsItsKey(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		ctx := effect.Unowned(t.Context())
		calls := 0
		for range 2 {
			tx := r.open(t, ctx)
			defer tx.rollback()
			if _, _, err := effect.Once(ctx, tx, "k", func(context.Context) (struct{}, error) { calls++; return struct{}{}, nil }); err != nil {
				t.Fatal(err)
			}
			if err := tx.commit(); err != nil {
				t.Fatal(err)
			}
		}
		if calls != 1 {
			t.Errorf("the function was called %d times", calls)
		}
	})
}

func TestAStoredResultThatDoesNotFitIsAnErrorAndNotASecondEffect(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		ctx := effect.Unowned(t.Context())
		if _, _, err := r.once(t, ctx, 1, "2027-01", ""); err != nil {
			t.Fatal(err)
		}
		tx := r.open(t, ctx)
		defer tx.rollback()
		_, _, err := effect.Once(ctx, tx, "invoice/1/2027-01", func(context.Context) (int, error) {
			t.Error("the function was called for an effect that had happened")
			return 0, nil
		})
		errorHas(t, err, duly.CodeInvalid, "happened before", "does not fit")
	})
}

func TestKeysAreExact(t *testing.T) {
	keys := []string{
		"invoice/1", "Invoice/1", "invoice/1 ", " invoice/1", "invoice/1\t", "invoice/1\x00", "invoice/1\x00\x00", "\x00",
		"straße", "strasse", "STRASSE", "e\u0301", "\u00e9", "e", "😀", "😁", "\xff\xfe", "\ufffd",
		`a\b`, `a\\b`, `a'b`, `a"b`, "a`b", "a%b", "a_b", "a?b", "a$1b", "a--b", "a;b",
		strings.Repeat("x", 4096), strings.Repeat("x", 4095) + "y", strings.Repeat("😀", 1024), strings.Repeat("\x00", 4096), strings.Repeat("\\", 4096),
	}
	each(t, func(t *testing.T, r *rig) {
		ctx := effect.Unowned(t.Context())
		for try := range 2 {
			for i, key := range keys {
				got, reused, err := r.do(ctx, key, func(ctx context.Context, tx *txn) (Invoice, error) { return tx.bill(ctx, i, "p", "") })
				if err != nil {
					t.Fatalf("key %.40q: %v", key, err)
				}
				if reused != (try == 1) || got.Customer != i {
					t.Errorf("key %.40q: reused %v with the result of key %.40q", key, reused, keys[got.Customer])
				}
			}
		}
		r.want(t, len(keys), len(keys))
		for _, key := range keys {
			if e, err := r.get(ctx, key); err != nil || e.Key != key {
				t.Errorf("Get(%.40q) answers %.40q, error %v", key, e.Key, err)
			}
			told := effect.HistoryKey(key)
			if e, err := r.get(ctx, told); err != nil || e.Key != key || len(told) > 1000 {
				t.Errorf("Get(%.40q), as history calls it, answers %.40q, error %v", told, e.Key, err)
			}
		}
	})
}

func TestBadArgumentsAreNamed(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		ctx := effect.Unowned(t.Context())
		tx := r.open(t, ctx)
		defer tx.rollback()
		never := func(context.Context) (int, error) { t.Error("called"); return 0, nil }
		_, _, err := effect.Once(ctx, tx, "", never)
		errorHas(t, err, duly.CodeInvalid, "key")
		_, _, err = effect.Once(ctx, tx, strings.Repeat("x", 4097), never)
		errorHas(t, err, duly.CodeInvalid, "key", "4096")
		_, _, err = effect.Once(ctx, tx, effect.HistoryKey(strings.Repeat("x", 2000)), never)
		errorHas(t, err, duly.CodeInvalid, "key", "names a longer key")
		_, _, err = effect.Once(t.Context(), tx, "k", never)
		errorHas(t, err, duly.CodeInvalid, "no grant", "effect.Unowned")
		_, _, err = effect.Once(ctx, nil, "k", never)
		errorHas(t, err, duly.CodeInvalid, "tx")
		_, _, err = effect.Once(ctx, effect.Dialect("oracle").Tx(new(sql.Tx)), "k", never)
		errorHas(t, err, duly.CodeInvalid, "oracle", "postgres")
		_, _, err = effect.Once(ctx, r.dialect.Tx(r.sql), "k", never)
		errorHas(t, err, duly.CodeInvalid, "*sql.DB", "no transaction")
		_, _, err = effect.Once(duly.WithGrant(ctx, duly.Grant{Resource: "q", Token: 0}), tx, "k", never)
		errorHas(t, err, duly.CodeInvalid, "token")
	})
}

func TestEffectsCanContainOthersButNotThemselves(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		ctx := effect.Unowned(t.Context())
		tx := r.open(t, ctx)
		defer tx.rollback()
		_, _, err := effect.Once(ctx, tx, "outer", func(ctx context.Context) (Invoice, error) {
			if _, _, err := effect.Once(ctx, tx, "inner", biller(tx, 1, "2027-01", "")); err != nil {
				return Invoice{}, err
			}
			_, _, err := effect.Once(ctx, tx, "failing", func(ctx context.Context) (Invoice, error) {
				_, _ = tx.bill(ctx, 99, "2027-01", "")
				return Invoice{}, errBill
			})
			if !errors.Is(err, errBill) {
				t.Errorf("the failing one: %v", err)
			}
			_, _, err = effect.Once(ctx, tx, "outer", biller(tx, 2, "2027-01", ""))
			errorHas(t, err, duly.CodeConflict, "inside its own function")
			return tx.bill(ctx, 3, "2027-01", "")
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := tx.commit(); err != nil {
			t.Fatal(err)
		}
		r.want(t, 2, 2)
	})
}

// A function that ends the transaction, or passes over an error that did, must
// not be told that its effect has happened.
func TestAFunctionThatEndsItsTransactionIsFoundOut(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		ctx := effect.Unowned(t.Context())
		for name, end := range map[string]func(tx *txn) error{
			"by its handle":    func(tx *txn) error { return tx.rollback() },
			"by its statement": func(tx *txn) error { return tx.exec(ctx, "ROLLBACK") },
		} {
			_, _, err := r.do(ctx, "k", func(ctx context.Context, tx *txn) (Invoice, error) {
				inv, err := tx.bill(ctx, 1, "2027-01", "")
				return inv, errors.Join(err, end(tx))
			})
			if err == nil {
				t.Errorf("%s: an effect that was rolled back was called done", name)
			}
			_, _, err = r.doBatch(ctx, customers(40), 0, invoiceKey("2027-01"), func(ctx context.Context, tx *txn, missing []int) ([]Invoice, error) {
				made, err := tx.billAll(ctx, missing, "2027-01")
				return made, errors.Join(err, end(tx))
			})
			if err == nil {
				t.Errorf("%s: a batch that was rolled back was called done", name)
			}
			r.want(t, 0, 0)
			if n := r.number(t, "SELECT count(*) FROM duly_batches"); n != 0 {
				t.Errorf("%s: %d parts of a batch stayed", name, n)
			}
		}
	})
}
