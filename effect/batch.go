package effect

import (
	"context"
	"encoding/json"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/internal/sqldb"
)

// Batch is [Once] for many effects in one transaction, at the price of a few
// statements for all of them: each item has a business key of its own, and fn is
// called with the items whose effect has not happened yet, in their order. It
// returns one result for each of them, in that order. Where nothing is missing
// fn is not called.
//
// results and reused are in the order of items: reused[i] says that item i's
// effect had happened before. fn's error takes back the whole batch, to a
// savepoint. Two items with the same key are an error. For the rest, what Once
// promises holds, and so do its errors.
//
// All effects of a batch become true in one commit. What should survive a crash
// half way belongs into several, see [DoBatch].
func Batch[T, I any](ctx context.Context, tx Tx, items []I, key func(item I) string, fn func(ctx context.Context, missing []I) ([]T, error)) (results []T, reused []bool, err error) {
	w, err := begin(ctx)
	if err != nil {
		return nil, nil, err
	}
	if tx == nil {
		return nil, nil, duly.Invalid("tx", "is missing")
	}
	b, keys, err := newBatch(items, key)
	if err != nil || len(items) == 0 {
		return nil, nil, err
	}
	if ctx, err = enter(ctx, keys, nil); err != nil {
		return nil, nil, err
	}
	if err := w.fence(ctx, tx); err != nil {
		return nil, nil, err
	}
	var done outcome[T]
	err = savepoint(ctx, tx, b[0], func() error {
		done, err = performBatch(ctx, tx, w, b, items, fn)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	done.record(w)
	return done.results, done.reused, nil
}

// DoBatch is [Batch] in transactions of its own, with every items in each (500
// where every is 0): what was committed stays, and after a crash the next
// attempt goes on behind it. Conflicts with other transactions are tried again
// as [Do] does, and history is told after each commit.
//
// An error ends it; the transactions before stay committed.
func DoBatch[T, I, X any](ctx context.Context, db DB[X], every int, items []I, key func(item I) string, fn func(ctx context.Context, tx X, missing []I) ([]T, error)) (results []T, reused []bool, err error) {
	w, err := begin(ctx)
	if err != nil {
		return nil, nil, err
	}
	if every <= 0 {
		every = 500
	}
	all, keys, err := newBatch(items, key)
	if err != nil {
		return nil, nil, err
	}
	if err := apart(ctx, w, db, "batch of effects"); err != nil {
		return nil, nil, err
	}
	if ctx, err = enter(ctx, keys, db); err != nil {
		return nil, nil, err
	}
	results, reused = make([]T, 0, len(items)), make([]bool, 0, len(items))
	for from := 0; from < len(items); from += every {
		to := min(from+every, len(items))
		b := all[from:to]
		var done outcome[T]
		err := sqldb.InTx(ctx, db, func(s sqldb.Session[X]) error {
			w.again()
			if err := w.fence(ctx, s); err != nil {
				return err
			}
			done, err = performBatch(ctx, s, w, b, items[from:to], func(ctx context.Context, missing []I) ([]T, error) { return fn(ctx, s.Native(), missing) })
			if err != nil || to < len(items) {
				return err
			}
			return w.conclude(ctx, s, done.told)
		})
		if err != nil {
			return nil, nil, err
		}
		done.record(w)
		results, reused = append(results, done.results...), append(reused, done.reused...)
	}
	return results, reused, nil
}

// batch is the effects of some items, in their order.
type batch []effect

func newBatch[I any](items []I, key func(I) string) (b batch, seen map[string]bool, err error) {
	b, seen = make(batch, len(items)), make(map[string]bool, len(items))
	for i, item := range items {
		e, err := newEffect(key(item))
		if err != nil {
			return nil, nil, err
		}
		if seen[e.key] {
			return nil, nil, duly.Invalid("items", "hold two of the same business key: %s", e.name())
		}
		seen[e.key] = true
		b[i] = e
	}
	return b, seen, nil
}

// outcome is what became of a batch, in the order of its items.
type outcome[T any] struct {
	results []T
	told    []duly.EffectReport
	reused  []bool
}

func (o outcome[T]) record(w *work) {
	for _, told := range o.told {
		w.record(told)
	}
}

// performBatch takes the keys of a batch, lets fn have what is missing, and
// finds the rest.
func performBatch[T, I any](ctx context.Context, tx Tx, w *work, b batch, items []I, fn func(ctx context.Context, missing []I) ([]T, error)) (outcome[T], error) {
	var none outcome[T]
	existing, err := insertMany(ctx, tx, w, b)
	if err != nil {
		return none, err
	}
	o := outcome[T]{results: make([]T, len(items)), told: make([]duly.EffectReport, len(items)), reused: make([]bool, len(items))}
	fresh, err := o.reuse(w, b, existing)
	if err != nil || len(fresh) == 0 {
		return o, err
	}
	missing := make([]I, len(fresh))
	for j, i := range fresh {
		missing[j] = items[i]
	}
	made, err := fn(ctx, missing)
	if err != nil {
		return none, err
	}
	if len(made) != len(missing) {
		return none, duly.Invalid("results", "are %d for %d items: fn returns one for each, in their order", len(made), len(missing))
	}
	raws := make([]json.RawMessage, len(items)) // of those that exist, elsewhere
	for j, i := range fresh {
		if raws[i], err = encode(b[i], made[j]); err == nil && j == 0 { // they are all of one type
			err = legible[T](b[i], raws[i])
		}
		if err != nil {
			return none, err
		}
		o.results[i], o.told[i] = made[j], caused(b[i], raws[i])
	}
	return o, completeMany(ctx, tx, w, b, fresh, raws)
}

// reuse keeps what exists, and answers where in the batch something is missing.
func (o outcome[T]) reuse(w *work, b batch, existing map[string]*row) (missing []int, err error) {
	for i, e := range b {
		r, ok := existing[e.column]
		switch {
		case !ok:
			missing = append(missing, i)
			continue
		case r.state != Done:
			return nil, r.open(e)
		}
		if o.results[i], err = decode[T](e, r.result); err != nil {
			return nil, err
		}
		o.told[i] = w.found(e, *r)
		o.reused[i] = o.told[i].Reused
	}
	return missing, nil
}
