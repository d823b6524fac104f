//go:build unix

package effect_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/effect"
	"github.com/duly-dev/duly/internal/sqldb"
)

func customers(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// billAll makes the missing invoices with few statements, as an application does
// that wants to be quick.
func (x *txn) billAll(ctx context.Context, missing []int, period string) ([]Invoice, error) {
	made := make([]Invoice, 0, len(missing))
	for chunk := range slices.Chunk(missing, 1000) {
		var values []string
		for _, customer := range chunk {
			values = append(values, fmt.Sprintf("(%d, '%s', '')", customer, period))
			made = append(made, Invoice{Customer: customer, Period: period})
		}
		if err := x.exec(ctx, "INSERT INTO invoices (customer, period, note) VALUES "+strings.Join(values, ",")); err != nil {
			return nil, err
		}
	}
	return made, nil
}

func count(reused []bool) (n int) {
	for _, r := range reused {
		if r {
			n++
		}
	}
	return n
}

func TestABatchHasWhatIsMissingAndFindsTheRest(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		ctx := owner(t.Context(), 1, nil)
		for _, customer := range []int{0, 3, 2499} {
			if _, _, err := r.once(t, ctx, customer, "2027-01", "early"); err != nil {
				t.Fatal(err)
			}
		}
		var h history
		ctx = owner(t.Context(), 2, &h)
		tx := r.open(t, ctx)
		defer tx.rollback()
		var asked []int
		results, reused, err := effect.Batch(ctx, tx, customers(2500), invoiceKey("2027-01"), func(ctx context.Context, missing []int) ([]Invoice, error) {
			asked = missing
			return tx.billAll(ctx, missing, "2027-01")
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := tx.commit(); err != nil {
			t.Fatal(err)
		}
		if len(asked) != 2497 || !slices.IsSorted(asked) || slices.Contains(asked, 3) {
			t.Errorf("fn was asked for %d customers, want the 2497 missing ones in their order", len(asked))
		}
		for i, inv := range results {
			early := i == 0 || i == 3 || i == 2499
			if inv.Customer != i || (inv.Note == "early") != early || reused[i] != early {
				t.Fatalf("result %d is %+v, reused %v", i, inv, reused[i])
			}
		}
		r.want(t, 2500, 2500)
		h.want(t, 2497, 3)
		if got, want := h.results["invoice/3/2027-01"], `{"customer":3,"period":"2027-01","note":"early"}`; got != want {
			t.Errorf("history was told %s, want %s", got, want)
		}

		again, reused, err := r.doBatch(owner(t.Context(), 3, nil), customers(2500), 0, invoiceKey("2027-01"), func(context.Context, *txn, []int) ([]Invoice, error) {
			t.Error("fn was called though nothing is missing")
			return nil, nil
		})
		if err != nil || count(reused) != 2500 || !slices.Equal(again, results) {
			t.Errorf("the next attempt: %d reused, same results %v, error %v", count(reused), slices.Equal(again, results), err)
		}
		e, err := r.get(t.Context(), "invoice/7/2027-01")
		if err != nil || e.State != effect.Done || e.Attempt != 2 || e.Occurrence != "invoices@2027-01" {
			t.Errorf("the ledger has %+v, error %v", e, err)
		}
	})
}

func TestABatchWithoutResultsKeepsItsKeys(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		ctx := owner(t.Context(), 1, nil)
		for try := range 2 {
			tx := r.open(t, ctx)
			defer tx.rollback()
			_, reused, err := effect.Batch(ctx, tx, customers(1500), invoiceKey("p"), func(ctx context.Context, missing []int) ([]struct{}, error) {
				_, err := tx.billAll(ctx, missing, "p")
				return make([]struct{}, len(missing)), err
			})
			if err != nil || count(reused) != 1500*try {
				t.Fatalf("try %d: %d reused, error %v", try, count(reused), err)
			}
			if err := tx.commit(); err != nil {
				t.Fatal(err)
			}
		}
		r.want(t, 1500, 1500)
		if e, err := r.get(t.Context(), "invoice/1/p"); err != nil || e.State != effect.Done {
			t.Errorf("the ledger has %+v, error %v", e, err)
		}
	})
}

func TestAFailedBatchLeavesNoTraceWhileItsTransactionGoesOn(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		ctx := owner(t.Context(), 1, nil)
		tx := r.open(t, ctx)
		defer tx.rollback()
		for _, fn := range []func(ctx context.Context, missing []int) ([]Invoice, error){
			func(ctx context.Context, missing []int) ([]Invoice, error) {
				_, err := tx.billAll(ctx, missing, "p")
				return nil, errors.Join(errBill, err)
			},
			func(ctx context.Context, missing []int) ([]Invoice, error) {
				made, err := tx.billAll(ctx, missing, "p")
				return made[1:], err
			},
		} {
			if _, _, err := effect.Batch(ctx, tx, customers(20), invoiceKey("p"), fn); err == nil {
				t.Error("a batch that cannot be succeeded")
			}
		}
		if _, _, err := effect.Batch(ctx, tx, customers(3), invoiceKey("p"), func(ctx context.Context, missing []int) ([]Invoice, error) {
			return tx.billAll(ctx, missing, "p")
		}); err != nil {
			t.Fatal(err)
		}
		if err := tx.commit(); err != nil {
			t.Fatal(err)
		}
		r.want(t, 3, 3)
	})
}

func TestABatchRefusesTwoItemsOfOneKey(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		_, _, err := r.doBatch(effect.Unowned(t.Context()), []int{1, 2, 1}, 0, invoiceKey("p"), nil)
		errorHas(t, err, duly.CodeInvalid, "two of the same business key", "invoice/1/p")
		results, _, err := r.doBatch(effect.Unowned(t.Context()), nil, 0, invoiceKey("p"), nil)
		if err != nil || len(results) != 0 {
			t.Errorf("a batch of nothing: %v, error %v", results, err)
		}
	})
}

func TestABatchOfAStaleAttemptIsRefused(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		if _, _, err := r.once(t, owner(t.Context(), 2, nil), 1, "p", ""); err != nil {
			t.Fatal(err)
		}
		_, _, err := r.doBatch(owner(t.Context(), 1, nil), customers(3), 0, invoiceKey("p"), nil)
		errorHas(t, err, duly.CodeStaleToken)
		r.want(t, 1, 1)
	})
}

// Batches that overlap and run in differing orders wait for each other, and
// share what they find.
func TestBatchesAtTheSameMomentHaveEachEffectOnce(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		const batches, n = 4, 600
		start := make(chan struct{})
		var wg sync.WaitGroup
		var mu sync.Mutex
		created := 0
		for i := range batches {
			wg.Go(func() {
				mine := customers(n)
				if i%2 == 1 {
					slices.Reverse(mine)
				}
				<-start
				_, reused, err := r.doBatch(effect.Unowned(limited(t, time.Minute)), mine, 150, invoiceKey("p"), func(ctx context.Context, tx *txn, missing []int) ([]Invoice, error) {
					return tx.billAll(ctx, missing, "p")
				})
				if err != nil {
					t.Errorf("batch %d: %v", i, err)
				}
				mu.Lock()
				created += n - count(reused)
				mu.Unlock()
			})
		}
		close(start)
		wg.Wait()
		r.want(t, n, n)
		if created != n {
			t.Errorf("%d were called created, want %d", created, n)
		}
	})
}

// What was committed before an error stays, and is told to history.
func TestAnErrorHalfWayKeepsTheTransactionsBefore(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		var h history
		_, _, err := r.doBatch(owner(t.Context(), 1, &h), customers(100), 30, invoiceKey("p"), func(ctx context.Context, tx *txn, missing []int) ([]Invoice, error) {
			if missing[0] == 60 {
				return nil, errBill
			}
			return tx.billAll(ctx, missing, "p")
		})
		if !errors.Is(err, errBill) {
			t.Errorf("error %v, want the function's own", err)
		}
		r.want(t, 60, 60)
		h.want(t, 60, 0)
	})
}

func TestAKeyOfALaterStatementThatIsTakenSpoilsNothing(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		const n = 5100 // keys of two statements
		key := func(i int) string { return fmt.Sprintf("bill/%05d", i) }
		last := []int{n - 1}
		plain := func(customers []int) []bool {
			t.Helper()
			_, reused, err := r.doPlainBatch(owner(t.Context(), 1, nil), customers, n, key, func(ctx context.Context, tx *txn, missing []int) error {
				_, err := tx.bill(ctx, len(missing), "p", "")
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return reused
		}
		plain(last)
		if reused := plain(customers(n)); count(reused) != 1 || !reused[n-1] {
			t.Errorf("%d of %d were reused", count(reused), n)
		}
		r.want(t, 2, n)
		if got := r.number(t, "SELECT max(customer) FROM invoices"); got != n-1 {
			t.Errorf("the function was called with %d, want %d", got, n-1)
		}
	})
}

func TestLargeResultsAndLongKeysFitIntoABatch(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		ctx := effect.Unowned(t.Context())
		key := func(i int) string { return strings.Repeat("\x00'\\\"", 249) + fmt.Sprint(i) }
		big := strings.Repeat("ü'\\\"?$1", 8000)
		for try := range 2 {
			tx := r.open(t, ctx)
			defer tx.rollback()
			results, reused, err := effect.Batch(ctx, tx, customers(120), key, func(_ context.Context, missing []int) ([]string, error) {
				made := make([]string, len(missing))
				for i := range made {
					made[i] = big
				}
				return made, nil
			})
			if err != nil || count(reused) != 120*try || results[119] != big {
				t.Fatalf("try %d: %d reused, error %v", try, count(reused), err)
			}
			if err := tx.commit(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// Keys are taken in one order, so batches wait for each other in a row and never
// in a circle.
func TestBatchesInDifferingOrdersDoNotDeadlock(t *testing.T) {
	r := prepared(t, openSQL(t, servers.Postgres(t)))
	for round := range 8 {
		start := make(chan struct{})
		var wg sync.WaitGroup
		for i := range 3 {
			wg.Go(func() {
				mine := customers(3000)
				if i%2 == 1 {
					slices.Reverse(mine)
				}
				ctx := effect.Unowned(t.Context())
				tx := r.open(t, ctx)
				defer tx.rollback()
				<-start
				_, _, err := effect.Batch(ctx, tx, mine, invoiceKey(fmt.Sprint(round)), func(_ context.Context, missing []int) ([]int, error) { return missing, nil })
				if err == nil {
					err = tx.commit()
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		close(start)
		wg.Wait()
	}
}

// In MySQL a transaction's plain reads answer as of its first one.
func TestATransactionThatHadLookedBeforeFindsWhatWasCommittedSince(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		if r.Dialect == "sqlite" {
			return // where it is the only writer from its beginning
		}
		ctx := owner(t.Context(), 1, nil)
		tx := r.open(t, ctx)
		defer tx.rollback()
		if err := tx.Query(ctx, "SELECT n FROM counters", nil, func(sqldb.Row) error { return nil }); err != nil {
			t.Fatal(err)
		}
		all := customers(70)
		if _, _, err := r.doBatch(ctx, all, 0, invoiceKey("p"), func(ctx context.Context, tx *txn, missing []int) ([]Invoice, error) {
			return tx.billAll(ctx, missing, "p")
		}); err != nil {
			t.Fatal(err)
		}
		results, reused, err := effect.Batch(ctx, tx, all, invoiceKey("p"), func(context.Context, []int) ([]Invoice, error) { return nil, errBill })
		if err != nil || count(reused) != len(all) || results[69].Customer != all[69] {
			t.Errorf("%d reused, %v (%v)", count(reused), results, err)
		}
		one, again, err := effect.Once(ctx, tx, invoiceKey("p")(all[40]), func(context.Context) (Invoice, error) { return Invoice{}, errBill })
		if err != nil || !again || one.Customer != all[40] {
			t.Errorf("one: %+v (%v)", one, err)
		}
	})
}

// Whatever they hold, and whichever form of a statement they make necessary.
func TestABatchKeepsEveryKeyAsItIs(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	bits := []string{"'", `"`, `\`, "\x00", "\n", "ü", " ", "{", "}", `{"a":1}`, "null", "1", "?", "$1", ":a", "--", "%", "\xff", "\u2028", "A", "a", `\x27`, `\"`, "😀", "\x7f", ","}
	seen := map[string]bool{}
	var keys []string
	for len(keys) < 1500 {
		n := 1 + rnd.IntN(5)
		if rnd.IntN(30) == 0 {
			n = 100 + rnd.IntN(1000) // and is then found by its digest
		}
		var b strings.Builder
		for range n {
			b.WriteString(bits[rnd.IntN(len(bits))])
		}
		key := b.String()[:min(b.Len(), 4096)]
		if !seen[key] {
			seen[key], keys = true, append(keys, key)
		}
	}
	each(t, func(t *testing.T, r *rig) {
		ctx := owner(t.Context(), 1, nil)
		have := func(items []int) ([]Invoice, []bool, error) {
			return r.doBatch(ctx, items, 600, func(i int) string { return keys[i] }, func(_ context.Context, _ *txn, missing []int) ([]Invoice, error) {
				made := make([]Invoice, len(missing))
				for j, i := range missing {
					made[j] = Invoice{Customer: i, Note: strings.ToValidUTF8(keys[i], "")}
				}
				return made, nil
			})
		}
		var wg sync.WaitGroup
		for seed := range uint64(3) { // of the same keys, in differing orders
			wg.Go(func() {
				items := rand.New(rand.NewPCG(seed, 0)).Perm(len(keys))[:1000]
				results, _, err := have(items)
				for j, made := range results {
					if made.Customer != items[j] {
						t.Errorf("%q has the result of %q", keys[items[j]], keys[made.Customer])
					}
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		items := make([]int, len(keys))
		for i := range items {
			items[i] = i
		}
		if _, _, err := have(items); err != nil {
			t.Fatal(err)
		}
		if n := r.number(t, "SELECT count(*) FROM duly_effects WHERE state = 'done'"); n != len(keys) {
			t.Errorf("%d rows for %d keys", n, len(keys))
		}
		for some := range slices.Chunk(keys, 500) {
			found, err := r.find(ctx, some)
			if err != nil || len(found) != len(some) {
				t.Errorf("%d of %d are found (%v)", len(found), len(some), err)
			}
			for _, key := range some {
				if found[key].Key != key {
					t.Errorf("%q is found as %q", key, found[key].Key)
				}
			}
		}
	})
}
