//go:build unix

package effect_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/effect"
)

// provider is an external service inside the test. The real one, a process of
// its own, is in process_test.go.
type provider struct {
	mu      sync.Mutex
	keys    []string           // of all calls
	effects map[string]Invoice // by idempotency key
	calls   int
}

func (p *provider) charge(_ context.Context, key string) (Invoice, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls++
	p.keys = append(p.keys, key)
	if inv, known := p.effects[key]; known {
		return inv, nil
	}
	if p.effects == nil {
		p.effects = map[string]Invoice{}
	}
	inv := Invoice{Customer: 7, Note: fmt.Sprint("charge ", p.calls)}
	p.effects[key] = inv
	return inv, nil
}

// lost has the effect, but its answer does not arrive.
func (p *provider) lost(ctx context.Context, key string) (Invoice, error) {
	_, err := p.charge(ctx, key)
	return Invoice{}, errors.Join(errLost, err)
}

func (p *provider) lookup(_ context.Context, key string) (Invoice, bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	inv, found := p.effects[key]
	return inv, found, nil
}

var (
	errLost    = errors.New("connection reset by peer")
	errRefused = errors.New("card declined")
)

func (r *rig) wantEntry(t testing.TB, key string, state effect.State, attempt int) effect.Entry {
	t.Helper()
	e, err := r.get(context.Background(), key)
	if err != nil {
		t.Fatal(err)
	}
	if e.State != state || e.Attempt != attempt {
		t.Errorf("the ledger has %s by attempt %d, want %s by attempt %d", e.State, e.Attempt, state, attempt)
	}
	return e
}

func TestAnExternalEffectIsCalledOnceAndItsResultReused(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		var p provider
		var h history
		for attempt := 1; attempt <= 3; attempt++ {
			inv, reused, err := r.external(owner(t.Context(), attempt, &h), "charge/7", effect.Call[Invoice]{Call: p.charge})
			if err != nil || reused != (attempt > 1) || inv.Note != "charge 1" {
				t.Errorf("attempt %d: %+v, reused %v, error %v", attempt, inv, reused, err)
			}
		}
		if p.calls != 1 {
			t.Errorf("%d calls", p.calls)
		}
		h.want(t, 1, 2)
		e := r.wantEntry(t, "charge/7", effect.Done, 1)
		if e.IdempotencyKey != p.keys[0] || e.FinishedAt.IsZero() || e.Calls != 1 {
			t.Errorf("the ledger has %+v", e)
		}
	})
}

// B86: the idempotency key is made of the business key and of nothing else.
func TestB86_TheIdempotencyKeyIsTheSameInEveryAttempt(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		var p provider
		call := effect.Call[Invoice]{KeyLife: time.Hour, Timeout: time.Second, Call: p.lost}
		for attempt := 1; attempt <= 3; attempt++ {
			if _, _, err := r.external(owner(t.Context(), attempt, nil), "invoice/7/2027-01", call); !errors.Is(err, errLost) {
				t.Fatalf("attempt %d: error %v, want the lost answer", attempt, err)
			}
		}
		if _, _, err := r.external(owner(t.Context(), 3, nil), "invoice/7/2027-02", call); !errors.Is(err, errLost) {
			t.Fatal(err)
		}
		k := p.keys
		if len(k) != 4 || k[0] != k[1] || k[1] != k[2] || k[2] == k[3] {
			t.Errorf("the provider was given %q", k)
		}
		if k[0] != effect.IdempotencyKey("invoice/7/2027-01") || len(k[0]) != 36 {
			t.Errorf("the key is %q, want the UUID that every node makes of it", k[0])
		}
		if len(p.effects) != 2 {
			t.Errorf("%d effects, want 2", len(p.effects))
		}
		// The answer of the next attempt is not lost.
		call.Call = p.charge
		inv, reused, err := r.external(owner(t.Context(), 4, nil), "invoice/7/2027-01", call)
		if err != nil || reused || inv.Note != "charge 1" {
			t.Errorf("%+v, reused %v, error %v; want the first charge, recorded now", inv, reused, err)
		}
		r.wantEntry(t, "invoice/7/2027-01", effect.Done, 4)
	})
}

func TestTheIdempotencyKeyOfAKeyNeverChanges(t *testing.T) {
	// A new version of Duly must not give a provider another key for the same
	// effect: that would be a second effect.
	if got, want := effect.IdempotencyKey("invoice/42/2026-11"), "c80565b9-73a0-82c4-a273-fc5f37322597"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestALostAnswerIsLookedUp(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		var p provider
		var h history
		call := effect.Call[Invoice]{Call: p.lost, Lookup: p.lookup}
		if _, _, err := r.external(owner(t.Context(), 1, &h), "k", call); !errors.Is(err, errLost) || errors.Is(err, duly.ErrUncertain) {
			t.Fatalf("first attempt: %v", err)
		}
		r.wantEntry(t, "k", effect.Started, 1)
		inv, reused, err := r.external(owner(t.Context(), 2, &h), "k", call)
		if err != nil || !reused || inv.Note != "charge 1" {
			t.Errorf("second attempt: %+v, reused %v, error %v", inv, reused, err)
		}
		if p.calls != 1 {
			t.Errorf("%d calls", p.calls)
		}
		r.wantEntry(t, "k", effect.Done, 1) // the first attempt has made it
		h.want(t, 0, 1)
	})
}

func TestACallThatNeverArrivedIsRepeatedAfterALookup(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		var p provider
		call := effect.Call[Invoice]{Lookup: p.lookup, Call: func(context.Context, string) (Invoice, error) { return Invoice{}, errLost }}
		if _, _, err := r.external(owner(t.Context(), 1, nil), "k", call); !errors.Is(err, errLost) {
			t.Fatal(err)
		}
		call.Call = p.charge
		inv, reused, err := r.external(owner(t.Context(), 2, nil), "k", call)
		if err != nil || reused || inv.Note != "charge 1" {
			t.Errorf("%+v, reused %v, error %v", inv, reused, err)
		}
		r.wantEntry(t, "k", effect.Done, 2)
	})
}

func TestAFailedLookupLeavesTheEffectOpen(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		var p provider
		call := effect.Call[Invoice]{Call: p.lost, Lookup: func(context.Context, string) (Invoice, bool, error) { return Invoice{}, false, errRefused }}
		_, _, _ = r.external(owner(t.Context(), 1, nil), "k", call)
		if _, _, err := r.external(owner(t.Context(), 2, nil), "k", call); !errors.Is(err, errRefused) || errors.Is(err, duly.ErrUncertain) {
			t.Errorf("error %v, want the look-up's own", err)
		}
		r.wantEntry(t, "k", effect.Started, 1)
		call.Lookup = p.lookup
		if _, reused, err := r.external(owner(t.Context(), 3, nil), "k", call); err != nil || !reused {
			t.Errorf("reused %v, error %v", reused, err)
		}
		if p.calls != 1 {
			t.Errorf("%d calls", p.calls)
		}
	})
}

func TestWithNeitherKeysNorLookupALostAnswerIsUncertainAtOnce(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		var p provider
		call := effect.Call[Invoice]{Call: p.lost}
		for attempt := 1; attempt <= 3; attempt++ {
			_, _, err := r.external(owner(t.Context(), attempt, nil), "k", call)
			if !errors.Is(err, duly.ErrUncertain) {
				t.Fatalf("attempt %d: error %v, want one that wraps duly.ErrUncertain", attempt, err)
			}
			errorHas(t, err, duly.CodeUncertain, "effect k", "attempt 1", "invoices@2027-01", "duly effects resolve")
		}
		if p.calls != 1 {
			t.Errorf("%d calls", p.calls)
		}
		r.wantEntry(t, "k", effect.Uncertain, 1)
	})
}

func TestAfterItsKeyLifeALostAnswerIsUncertain(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		var p provider
		call := effect.Call[Invoice]{Call: p.lost, KeyLife: time.Hour, Timeout: time.Second}
		if _, _, err := r.external(owner(t.Context(), 1, nil), "k", call); !errors.Is(err, errLost) {
			t.Fatal(err)
		}
		r.exec(t, "UPDATE duly_effects SET created_at = created_at - 3590000000") // 59 min 50 s
		if _, _, err := r.external(owner(t.Context(), 2, nil), "k", call); !errors.Is(err, errLost) {
			t.Fatalf("within its life: %v", err)
		}
		r.exec(t, "UPDATE duly_effects SET created_at = created_at - 9500000") // a call that begins now could arrive too late
		_, _, err := r.external(owner(t.Context(), 3, nil), "k", call)
		errorHas(t, err, duly.CodeUncertain, "attempt 2")
		if p.calls != 2 || len(p.effects) != 1 {
			t.Errorf("%d calls had %d effects", p.calls, len(p.effects))
		}
		// Code that has learnt to look up finds out after all.
		call.Lookup = p.lookup
		if inv, reused, err := r.external(owner(t.Context(), 4, nil), "k", call); err != nil || !reused || inv.Note != "charge 1" {
			t.Errorf("%+v, reused %v, error %v", inv, reused, err)
		}
	})
}

func TestWhatSurelyDidNotHappenBeginsAnew(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		var p provider
		call := effect.Call[Invoice]{Call: func(context.Context, string) (Invoice, error) { return Invoice{}, effect.NotDone(errRefused) }}
		if _, _, err := r.external(owner(t.Context(), 1, nil), "k", call); !errors.Is(err, errRefused) || errors.Is(err, duly.ErrUncertain) {
			t.Errorf("error %v, want the provider's", err)
		}
		if _, err := r.get(t.Context(), "k"); duly.CodeOf(err) != duly.CodeNotFound {
			t.Errorf("the intent is still there: %v", err)
		}
		call.Call = p.charge
		if _, reused, err := r.external(owner(t.Context(), 2, nil), "k", call); err != nil || reused {
			t.Errorf("reused %v, error %v", reused, err)
		}
		if effect.NotDone(nil) != nil {
			t.Error("NotDone(nil) is an error")
		}
	})
}

// NotDone speaks for its own call only.
func TestNotDoneDoesNotExcuseAnEarlierCall(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		var p provider
		call := effect.Call[Invoice]{Call: p.lost, KeyLife: time.Hour, Timeout: time.Second}
		_, _, _ = r.external(owner(t.Context(), 1, nil), "k", call)
		call.Call = func(context.Context, string) (Invoice, error) { return Invoice{}, effect.NotDone(errLost) }
		_, _, _ = r.external(owner(t.Context(), 2, nil), "k", call)
		if e := r.wantEntry(t, "k", effect.Started, 2); e.Calls != 1 {
			t.Errorf("%d calls are unaccounted for, want the first", e.Calls)
		}
		call.KeyLife = 0
		if _, _, err := r.external(owner(t.Context(), 3, nil), "k", call); !errors.Is(err, duly.ErrUncertain) {
			t.Errorf("error %v, want uncertain", err)
		}
	})
}

func TestAnExternalResultThatCannotBeStored(t *testing.T) {
	t.Run("is refused before the call where its type says so", func(t *testing.T) {
		r := prepared(t, openSQL(t, servers.Postgres(t)))
		_, _, err := effect.External(owner(t.Context(), 1, nil), r.dialect.DB(r.sql), "k", effect.Call[chan int]{Call: func(context.Context, string) (chan int, error) {
			t.Error("called")
			return nil, nil
		}})
		errorHas(t, err, duly.CodeInvalid, "cannot be stored as JSON")
		r.want(t, 0, 0)
	})
	t.Run("leaves the effect open where its value does", func(t *testing.T) {
		r := prepared(t, openSQL(t, servers.Postgres(t)))
		_, _, err := effect.External(owner(t.Context(), 1, nil), r.dialect.DB(r.sql), "k", effect.Call[float64]{Call: func(context.Context, string) (float64, error) { return math.NaN(), nil }})
		errorHas(t, err, duly.CodeInvalid, "it has happened", "cannot be stored as JSON")
		r.wantEntry(t, "k", effect.Started, 1)
	})
}

func TestAnOpenEffectIsNotATransactionsOwn(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		var p provider
		_, _, _ = r.external(owner(t.Context(), 1, nil), invoiceKey("p")(1), effect.Call[Invoice]{Call: p.lost, KeyLife: time.Hour})
		_, _, err := r.once(t, owner(t.Context(), 1, nil), 1, "p", "")
		errorHas(t, err, duly.CodeConflict, "external", "outcome is open")
		_, _, err = r.doBatch(owner(t.Context(), 1, nil), customers(3), 0, invoiceKey("p"), nil)
		errorHas(t, err, duly.CodeConflict, "external")
	})
}

func TestBadCallsAreNamed(t *testing.T) {
	r := prepared(t, openSQL(t, servers.Postgres(t)))
	call := func(context.Context, string) (Invoice, error) { t.Error("called"); return Invoice{}, nil }
	for _, test := range []struct {
		call effect.Call[Invoice]
		word string
	}{
		{effect.Call[Invoice]{}, "call"},
		{effect.Call[Invoice]{Call: call, KeyLife: -1}, "key_life"},
		{effect.Call[Invoice]{Call: call, Timeout: -1}, "timeout"},
	} {
		_, _, err := r.external(owner(t.Context(), 1, nil), "k", test.call)
		errorHas(t, err, duly.CodeInvalid, test.word)
	}
	_, _, err := r.external(t.Context(), "k", effect.Call[Invoice]{Call: call})
	errorHas(t, err, duly.CodeInvalid, "no grant")
}
