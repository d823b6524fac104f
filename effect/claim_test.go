//go:build unix

package effect_test

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/effect"
	"github.com/duly-dev/duly/internal/sqldb"
)

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
