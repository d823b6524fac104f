//go:build unix

package effect_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/effect"
	"github.com/duly-dev/duly/internal/sqldb"
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

func TestOfAttemptsAtTheSameMomentOneCalls(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		const attempts = 8
		var p provider
		var created atomic.Int32
		entered := make(chan struct{}, attempts)
		leave := make(chan struct{})
		call := effect.Call[Invoice]{Call: func(ctx context.Context, key string) (Invoice, error) {
			entered <- struct{}{}
			<-leave
			return p.charge(ctx, key)
		}}
		var wg sync.WaitGroup
		for i := range attempts {
			wg.Go(func() {
				ctx := effect.Unowned(t.Context())
				if i%2 == 0 {
					ctx = owner(t.Context(), 1, nil)
				}
				inv, reused, err := r.external(ctx, "k", call)
				if err != nil || inv.Note != "charge 1" {
					t.Errorf("%+v, error %v", inv, err)
				}
				if !reused {
					created.Add(1)
				}
			})
		}
		<-entered
		time.Sleep(50 * time.Millisecond) // the others come to wait, and none to call
		close(leave)
		wg.Wait()
		if p.calls != 1 || created.Load() != 1 {
			t.Errorf("%d calls, %d of them called created", p.calls, created.Load())
		}
	})
}

func TestWhoWaitsForACallEndsWithItsContext(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		entered, leave := make(chan struct{}), make(chan struct{})
		done := make(chan error)
		go func() {
			_, _, err := r.external(owner(t.Context(), 1, nil), "k", effect.Call[Invoice]{Call: func(context.Context, string) (Invoice, error) {
				close(entered)
				<-leave
				return Invoice{}, nil
			}})
			done <- err
		}()
		<-entered
		ctx, cancel := context.WithTimeout(owner(t.Context(), 1, nil), 50*time.Millisecond)
		defer cancel()
		_, _, err := r.external(ctx, "k", effect.Call[Invoice]{Call: func(context.Context, string) (Invoice, error) {
			t.Error("called beside another")
			return Invoice{}, nil
		}})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v, want that of the context", err)
		}
		if err := r.resolve(t.Context(), "k", effect.Resolution{Redo: true, By: "me"}); duly.CodeOf(err) != duly.CodeConflict {
			t.Errorf("an effect under way was resolved: %v", err)
		}
		close(leave)
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// A new owner takes over when the time of the old one's call is over, and the
// old one, coming back, can neither record nor call.
func TestAPausedCallerCannotRecordOverTheNewOwner(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		var p provider
		entered, leave := make(chan struct{}), make(chan struct{})
		call := effect.Call[Invoice]{Timeout: 150 * time.Millisecond, KeyLife: time.Hour}
		slow := call
		slow.Call = func(ctx context.Context, key string) (Invoice, error) { // as a process that is stopped
			close(entered)
			<-leave
			return p.charge(context.WithoutCancel(ctx), key)
		}
		done := make(chan error)
		go func() {
			_, _, err := r.external(owner(t.Context(), 1, nil), "k", slow)
			done <- err
		}()
		<-entered
		// The next owner's call has its answer lost, so that nothing is done yet.
		call.Call = p.lost
		if _, _, err := r.external(owner(t.Context(), 2, nil), "k", call); !errors.Is(err, errLost) {
			t.Fatal(err)
		}
		close(leave)
		if err := <-done; !errors.Is(err, effect.ErrStale) || duly.CodeOf(err) != duly.CodeStaleToken {
			t.Errorf("the paused one: %v, want ErrStale", err)
		}
		r.wantEntry(t, "k", effect.Started, 2)
		call.Call = p.charge
		if _, _, err := r.external(owner(t.Context(), 1, nil), "k", call); !errors.Is(err, effect.ErrStale) {
			t.Errorf("the paused one begins anew: %v, want ErrStale", err)
		}
		if _, _, err := r.external(owner(t.Context(), 2, nil), "k", call); err != nil {
			t.Error(err)
		}
		if len(p.effects) != 1 {
			t.Errorf("%d effects", len(p.effects))
		}
	})
}

// slowCommit is a database whose every commit takes its time, as for a process
// that is stopped right after it.
type slowCommit struct {
	effect.DB[*sql.Tx]
	pause time.Duration
}

func (s slowCommit) Begin(ctx context.Context) (sqldb.Session[*sql.Tx], error) {
	tx, err := s.DB.Begin(ctx)
	commit := tx.Commit
	tx.Commit = func(ctx context.Context) error {
		err := commit(ctx)
		time.Sleep(s.pause)
		return err
	}
	return tx, err
}

// By then another attempt may be calling.
func TestACallThatComesToItsTurnTooLateIsNotMade(t *testing.T) {
	r := prepared(t, openSQL(t, servers.Postgres(t)))
	db := slowCommit{r.dialect.DB(r.sql), 200 * time.Millisecond}
	_, _, err := effect.External(owner(t.Context(), 1, nil), db, "k", effect.Call[Invoice]{Timeout: 100 * time.Millisecond, Call: func(context.Context, string) (Invoice, error) {
		t.Error("called")
		return Invoice{}, nil
	}})
	if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, duly.ErrUncertain) {
		t.Errorf("error %v, want that its time had passed", err)
	}
	r.want(t, 0, 0) // nothing was called, so nothing is open
}

// A look-up that takes longer than its time loses its claim; what it says about
// the time before must not lead to a second call.
func TestALookupThatTakesTooLongDoesNotLeadToACall(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		ctx := effect.Unowned(t.Context())
		for _, test := range []struct {
			other string
			want  error
		}{{"loses its answer", effect.ErrStale}, {"succeeds", nil}} {
			var p provider
			never := func(context.Context, string) (Invoice, error) { return Invoice{}, errLost }
			call := effect.Call[Invoice]{Timeout: 50 * time.Millisecond, Call: never, Lookup: p.lookup}
			if _, _, err := r.external(ctx, test.other, call); !errors.Is(err, errLost) {
				t.Fatal(err)
			}
			other := call
			other.Call = p.charge
			if test.other == "loses its answer" {
				other.Call = p.lost
			}
			call.Call = func(context.Context, string) (Invoice, error) {
				t.Error("called twice")
				return Invoice{}, errLost
			}
			call.Lookup = func(ctx context.Context, key string) (Invoice, bool, error) {
				inv, found, err := p.lookup(ctx, key)
				time.Sleep(80 * time.Millisecond)
				_, _, _ = r.external(effect.Unowned(t.Context()), test.other, other)
				return inv, found, err
			}
			inv, reused, err := r.external(ctx, test.other, call)
			if !errors.Is(err, test.want) || test.want == nil && (!reused || inv.Note != "charge 1") {
				t.Errorf("the other %s: %+v, reused %v, error %v", test.other, inv, reused, err)
			}
			if p.calls != 1 {
				t.Errorf("the other %s: %d calls", test.other, p.calls)
			}
		}
	})
}

func TestACallEndsWithItsTimeout(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		_, _, err := r.external(owner(t.Context(), 1, nil), "k", effect.Call[Invoice]{Timeout: 50 * time.Millisecond, KeyLife: time.Hour, Call: func(ctx context.Context, _ string) (Invoice, error) {
			<-ctx.Done()
			return Invoice{}, ctx.Err()
		}})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v, want that of the timeout", err)
		}
		r.wantEntry(t, "k", effect.Started, 1)
	})
}

// The effect has happened, whatever became of the attempt meanwhile.
func TestAResultIsRecordedAlthoughTheContextHasEnded(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		var p provider
		ctx, cancel := context.WithCancel(owner(t.Context(), 1, nil))
		_, _, err := r.external(ctx, "k", effect.Call[Invoice]{Call: func(ctx context.Context, key string) (Invoice, error) {
			inv, err := p.charge(ctx, key)
			cancel()
			return inv, err
		}})
		if err != nil {
			t.Error(err)
		}
		r.wantEntry(t, "k", effect.Done, 1)
	})
}

func TestAPanicInACallLeavesTheEffectOpen(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		var p provider
		func() {
			defer func() {
				if v := recover(); v != "out of cheese" {
					t.Errorf("panic %v did not pass through", v)
				}
			}()
			_, _, _ = r.external(owner(t.Context(), 1, nil), "k", effect.Call[Invoice]{Call: func(ctx context.Context, key string) (Invoice, error) {
				_, _ = p.charge(ctx, key)
				panic("out of cheese")
			}})
		}()
		// Nobody has to wait for the timeout of that call.
		inv, reused, err := r.external(owner(limited(t, 10*time.Second), 2, nil), "k", effect.Call[Invoice]{Call: p.charge, Lookup: p.lookup})
		if err != nil || !reused || p.calls != 1 {
			t.Errorf("%+v, reused %v, error %v, %d calls", inv, reused, err, p.calls)
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

func TestAPersonResolvesWhatNobodyElseCan(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		var p provider
		uncertain := func(key string, attempt int) {
			t.Helper()
			if _, _, err := r.external(owner(t.Context(), attempt, nil), key, effect.Call[Invoice]{Call: p.lost}); !errors.Is(err, duly.ErrUncertain) {
				t.Fatal(err)
			}
		}
		uncertain("done", 1)
		if err := r.resolve(t.Context(), "done", effect.Resolution{Result: []byte(`{"customer":7,"note":"größe, says the bank"}`), By: "Zoë"}); err != nil {
			t.Fatal(err)
		}
		inv, reused, err := r.external(owner(t.Context(), 2, nil), "done", effect.Call[Invoice]{Call: p.charge})
		if err != nil || !reused || inv.Note != "größe, says the bank" {
			t.Errorf("%+v, reused %v, error %v", inv, reused, err)
		}
		if e := r.wantEntry(t, "done", effect.Done, 1); e.ResolvedBy != "Zoë" || e.ResolvedAt.IsZero() {
			t.Errorf("the ledger has %+v", e)
		}

		uncertain("redo", 2)
		if err := r.resolve(t.Context(), "redo", effect.Resolution{Redo: true, By: "Zoë"}); err != nil {
			t.Fatal(err)
		}
		calls := p.calls
		if _, reused, err := r.external(owner(t.Context(), 3, nil), "redo", effect.Call[Invoice]{Call: p.charge}); err != nil || reused {
			t.Errorf("reused %v, error %v", reused, err)
		}
		if p.calls != calls+1 {
			t.Errorf("called %d times again", p.calls-calls)
		}
		if e := r.wantEntry(t, "redo", effect.Done, 3); e.ResolvedBy != "Zoë" {
			t.Errorf("the ledger has %+v", e)
		}

		uncertain("k", 3)
		for _, test := range []struct {
			key  string
			r    effect.Resolution
			code duly.Code
			word string
		}{
			{"k", effect.Resolution{Redo: true}, duly.CodeInvalid, "by"},
			{"k", effect.Resolution{Redo: true, Result: []byte("1"), By: "me"}, duly.CodeInvalid, "result"},
			{"k", effect.Resolution{Result: []byte("{"), By: "me"}, duly.CodeInvalid, "JSON"},
			{"unknown", effect.Resolution{Redo: true, By: "me"}, duly.CodeNotFound, "not in the ledger"},
			{"done", effect.Resolution{Redo: true, By: "me"}, duly.CodeConflict, "has happened"},
		} {
			errorHas(t, r.resolve(t.Context(), test.key, test.r), test.code, test.word)
		}
		r.wantEntry(t, "k", effect.Uncertain, 3)
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

func TestTheLedgerIsListedInTheOrderOfItsKeys(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		ctx := owner(t.Context(), 1, nil)
		if _, _, err := r.doBatch(ctx, customers(40), 0, func(i int) string { return fmt.Sprintf("a/%02d", i) }, func(_ context.Context, _ *txn, missing []int) ([]Invoice, error) {
			made := make([]Invoice, len(missing))
			for i := range made {
				made[i].Customer = missing[i]
			}
			return made, nil
		}); err != nil {
			t.Fatal(err)
		}
		other := duly.WithGrant(t.Context(), duly.Grant{Occurrence: "other@1", Attempt: 2, Token: 3, Resource: "queue/other"})
		for _, key := range []string{"b ", "b", "b/é", "c%_", "B", strings.Repeat("long", 60), strings.Repeat("long", 60) + "x"} {
			if _, _, err := r.do(other, key, func(context.Context, *txn) (Invoice, error) { return Invoice{Note: key}, nil }); err != nil {
				t.Fatal(err)
			}
		}
		var p provider
		_, _, _ = r.external(other, "z", effect.Call[Invoice]{Call: p.lost})

		page, cursor, err := r.list(t.Context(), effect.Filter{Limit: 30})
		if err != nil || len(page) != 30 || page[0].Key != "B" || page[1].Key != "a/00" || cursor == "" {
			t.Fatalf("first page: %d entries from %q, error %v", len(page), page[0].Key, err)
		}
		for _, e := range page[1:] {
			if want := fmt.Sprintf(`{"customer":%s,"period":""}`, trimZero(e.Key[2:])); string(e.Result) != want || e.Occurrence != "invoices@2027-01" || e.Attempt != 1 || e.Token != 1 || e.Resource != "schedule/invoices" || e.CreatedAt.IsZero() {
				t.Fatalf("%s: %+v with result %s", e.Key, e, e.Result)
			}
		}
		rest, end, err := r.list(t.Context(), effect.Filter{Limit: 30, Cursor: cursor})
		if err != nil || len(rest) != 18 || end != "" || rest[17].Key != "z" {
			t.Errorf("second page: %d entries, error %v", len(rest), err)
		}
		for _, test := range []struct {
			f    effect.Filter
			want int
		}{
			{effect.Filter{Prefix: "a/1"}, 10},
			{effect.Filter{Prefix: "b"}, 3},
			{effect.Filter{Prefix: "b "}, 1},
			{effect.Filter{Prefix: "a"}, 40},
			{effect.Filter{Prefix: strings.Repeat("long", 60)}, 2},
			{effect.Filter{Prefix: strings.Repeat("long", 60) + "x"}, 1},
			{effect.Filter{Prefix: "b/é"}, 1},
			{effect.Filter{Prefix: "c%"}, 1},
			{effect.Filter{Prefix: "_"}, 0},
			{effect.Filter{Occurrence: "other@1"}, 8},
			{effect.Filter{Occurrence: "invoices@2027-01"}, 40},
			{effect.Filter{Occurrence: "invoices@2027-01", Prefix: "a/0"}, 10},
			{effect.Filter{State: effect.Uncertain}, 1},
			{effect.Filter{State: effect.Started}, 0},
		} {
			got, _, err := r.list(t.Context(), test.f)
			if err != nil || len(got) != test.want {
				t.Errorf("%+v: %d entries, want %d, error %v", test.f, len(got), test.want, err)
			}
		}
		_, _, err = r.list(t.Context(), effect.Filter{Limit: 1001})
		errorHas(t, err, duly.CodeInvalid, "limit")
	})
}

func trimZero(s string) string {
	if s[0] == '0' {
		return s[1:]
	}
	return s
}
