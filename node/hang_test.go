package node_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/control"
	"github.com/duly-dev/duly/node"
	"github.com/duly-dev/duly/store"
	"github.com/duly-dev/duly/target"
)

// hanging is a store of which some calls do not return while they may not.
type hanging struct {
	store.Store
	renew    atomic.Bool // renewals hang
	declares atomic.Int32
	failNext atomic.Bool // the next declaration fails, and to leave after it
	failed   atomic.Bool
	forget   atomic.Bool // the session of the next beat has expired
	gone     atomic.Int64
	renewed  chan struct{}
	overtake atomic.Bool // the next renewal comes after the one behind it
	slow     atomic.Bool // the next renewal arrives when the attempt has been reported
}

func (h *hanging) Renew(ctx context.Context, session int64, items []store.Renewal) ([]store.Renewed, error) {
	if h.renew.Load() {
		<-ctx.Done()
		return nil, duly.Errorf(duly.CodeUnavailable, "the store hangs")
	}
	if h.slow.CompareAndSwap(true, false) {
		close(h.renewed)
		time.Sleep(2 * time.Second)
	}
	if h.overtake.CompareAndSwap(true, false) {
		close(h.renewed)
		time.Sleep(2 * time.Second)
	}
	return h.Store.Renew(ctx, session, items)
}

func (h *hanging) Declare(ctx context.Context, r store.DeclareRequest) (store.ApplyResult, error) {
	if h.failNext.CompareAndSwap(true, false) {
		h.failed.Store(true)
		return store.ApplyResult{}, duly.Errorf(duly.CodeUnavailable, "the store hangs")
	}
	h.declares.Add(1)
	return h.Store.Declare(ctx, r)
}

func (h *hanging) Leave(ctx context.Context, session int64) error {
	if h.failed.CompareAndSwap(true, false) {
		return duly.Errorf(duly.CodeUnavailable, "the store hangs")
	}
	return h.Store.Leave(ctx, session)
}

func (h *hanging) Beat(ctx context.Context, session int64, ttl time.Duration, load store.NodeLoad) error {
	if h.forget.CompareAndSwap(true, false) {
		h.gone.Store(session)
	}
	if h.gone.Load() == session {
		return duly.Errorf(duly.CodeNotFound, "session %d does not exist", session)
	}
	return h.Store.Beat(ctx, session, ttl, load)
}

func TestARenewalThatHangsDoesNotKeepOthersFromBeingCancelledInTime(t *testing.T) {
	inBubble(t, func(w *world) {
		long, short := handled("long", "0 * * * *"), handled("short", "0 0 1 1 *")
		long.Lease = duly.Duration(10 * time.Minute)
		short.Lease = duly.Duration(15 * time.Second)
		short.Target.Handler = "short"
		w.apply(long, short)
		st := &hanging{Store: w.st}
		began := make(chan struct{})
		var lasted atomic.Int64
		w.start(st, node.Options{}, func(n *node.Node) {
			n.Handle("work", func(ctx context.Context, _ *node.Occurrence) error {
				close(began)
				<-ctx.Done()
				return context.Cause(ctx)
			})
			n.Handle("short", func(ctx context.Context, _ *node.Occurrence) error {
				start := time.Now()
				<-ctx.Done()
				lasted.Store(int64(time.Since(start)))
				return context.Cause(ctx)
			})
		})
		<-began
		time.Sleep(198 * time.Second) // the long lease is renewed at 200 s
		if _, err := w.ctl.Trigger(w.ctx, control.TriggerRequest{Schedule: "short", By: "test"}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		st.renew.Store(true)
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := time.Duration(lasted.Load()); got == 0 || got > 15*time.Second {
			t.Errorf("a handler with a lease of 15s that was not renewed was cancelled after %v", got)
		}
		st.renew.Store(false)
	})
}

func TestDeclarationsThatFailedWhenASessionExpiredAreMadeLater(t *testing.T) {
	inBubble(t, func(w *world) {
		st := &hanging{Store: w.st}
		w.start(st, node.Options{}, func(n *node.Node) {
			handle(done)(n)
			if err := n.Declare(handled("s", "0 * * * *")); err != nil {
				t.Fatal(err)
			}
		})
		time.Sleep(time.Second)
		synctest.Wait()
		st.failNext.Store(true)
		st.forget.Store(true)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if s, err := w.st.Schedule(w.ctx, "s"); err != nil || s.Orphaned || st.declares.Load() < 2 {
			t.Errorf("declared %d times; orphaned %v, %v", st.declares.Load(), s.Orphaned, err)
		}
	})
}

// runner is a target in Go.
type runner func(ctx context.Context, a target.Assignment) target.Result

func (r runner) Run(ctx context.Context, a target.Assignment) target.Result { return r(ctx, a) }

func TestACommandHasItsKillAfterBeforeTheNextAttemptBegins(t *testing.T) {
	inBubble(t, func(w *world) {
		s := duly.Schedule{ID: "s", Timing: duly.Timing{Cron: "0 * * * *"}, Timeout: duly.Duration(2 * time.Second)}
		s.Target.Exec = &duly.ExecTarget{Command: []string{"x"}, KillAfter: duly.Duration(time.Minute)}
		s.Retry = duly.Retry{MaxAttempts: 2, Backoff: duly.Duration(time.Second)}
		w.apply(s)
		var running, most, calls atomic.Int32
		tidies := runner(func(ctx context.Context, _ target.Assignment) target.Result {
			calls.Add(1)
			most.Store(max(most.Load(), running.Add(1)))
			defer running.Add(-1)
			<-ctx.Done()
			time.Sleep(55 * time.Second)
			return target.Stopped(ctx)
		})
		_, stop := w.start(w.st, node.Options{DrainTime: time.Second, Targets: map[string]target.Runner{"exec": tidies}}, func(*node.Node) {})
		toHour()
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if calls.Load() != 2 || most.Load() != 1 {
			t.Errorf("%d attempts, %d at once", calls.Load(), most.Load())
		}
		toHour()
		time.Sleep(time.Second)
		stop()
		if running.Load() != 0 {
			t.Error("a drain left a command behind before its kill_after")
		}
	})
}

func toHour() {
	now := time.Now()
	time.Sleep(now.Truncate(time.Hour).Add(time.Hour).Sub(now))
	synctest.Wait()
}

func TestADetachedAttemptIsNotCutShortByARenewalOnItsWay(t *testing.T) {
	inBubble(t, func(w *world) {
		s := duly.Schedule{ID: "s", Timing: duly.Timing{Cron: "0 * * * *"}, Timeout: duly.Duration(50 * time.Minute), Lease: duly.Duration(30 * time.Second)}
		s.Target.HTTP = &duly.HTTPTarget{URL: "http://example.com"}
		w.apply(s)
		st := &hanging{Store: w.st, renewed: make(chan struct{})}
		st.overtake.Store(true)
		var calls atomic.Int32
		accepts := runner(func(ctx context.Context, _ target.Assignment) target.Result {
			if calls.Add(1) > 1 {
				return target.Failed("begun again")
			}
			select {
			case <-st.renewed: // by the keeper, after a third of the lease
				return target.Result{Outcome: duly.AttemptRunning, Detached: true}
			case <-ctx.Done():
				return target.Failed(errors.Join(ctx.Err()).Error())
			}
		})
		w.start(st, node.Options{Targets: map[string]target.Runner{"http": accepts}}, func(*node.Node) {})
		toHour()
		time.Sleep(45 * time.Minute)
		synctest.Wait()
		if o := w.occurrences("s")[0]; calls.Load() != 1 || o.State != duly.Running {
			t.Errorf("%d attempts; %s with %+v", calls.Load(), o.State, o.Attempts)
		}
	})
}

// endless is a store with always more to fire.
type endless struct{ store.Store }

func (e endless) Horizon(ctx context.Context) (store.Horizon, error) {
	h, err := e.Store.Horizon(ctx)
	h.Due = h.Now
	return h, err
}

func (e endless) Fire(ctx context.Context, r store.FireRequest) (store.FireResult, error) {
	time.Sleep(100 * time.Millisecond)
	res, err := e.Store.Fire(ctx, r)
	res.More = true
	return res, err
}

func TestALongCatchUpDoesNotKeepLostAttemptsWaiting(t *testing.T) {
	inBubble(t, func(w *world) {
		s := handled("s", "0 * * * *")
		s.Lease = duly.Duration(15 * time.Second)
		w.apply(s)
		cut := &gate{Store: w.st}
		w.start(cut, node.Options{Name: "gone"}, handle(func(ctx context.Context, _ *node.Occurrence) error {
			cut.set(true)
			<-ctx.Done()
			return context.Cause(ctx)
		}))
		toHour()
		w.start(endless{w.st}, node.Options{}, handle(done))
		time.Sleep(time.Minute)
		synctest.Wait()
		if o := w.occurrences("s")[0]; o.State != duly.Succeeded || len(o.Attempts) != 2 {
			t.Errorf("%s with %+v", o.State, o.Attempts)
		}
		cut.set(false)
	})
}

// elsewhere is a store of which another node holds what is due.
type elsewhere struct {
	endless
	calls atomic.Int32
}

func (e *elsewhere) Fire(ctx context.Context, r store.FireRequest) (store.FireResult, error) {
	e.calls.Add(1)
	time.Sleep(time.Millisecond)
	return store.FireResult{}, nil
}

func TestWhatAnotherNodeHoldsIsNotAskedForInABusyLoop(t *testing.T) {
	inBubble(t, func(w *world) {
		st := &elsewhere{endless: endless{w.st}}
		w.start(st, node.Options{}, handle(done))
		time.Sleep(time.Second)
		if calls := st.calls.Load(); calls < 10 || calls > 250 {
			t.Errorf("asked %d times in a second", calls)
		}
	})
}

func TestACancelIsHeardOfSoonHoweverLongTheLease(t *testing.T) {
	inBubble(t, func(w *world) {
		s := handled("s", "0 * * * *")
		s.Lease = duly.Duration(24 * time.Hour)
		w.apply(s)
		var ended atomic.Int64
		w.start(w.st, node.Options{}, handle(func(ctx context.Context, _ *node.Occurrence) error {
			<-ctx.Done()
			ended.Store(time.Now().UnixNano())
			return context.Cause(ctx)
		}))
		toHour()
		time.Sleep(15 * time.Minute)
		asked := time.Now()
		if err := w.ctl.Cancel(w.ctx, w.occurrences("s")[0].ID, "test", ""); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if after := time.Unix(0, ended.Load()).Sub(asked); after < 0 || after > 15*time.Second {
			t.Errorf("the handler was told after %v", after)
		}
	})
}

func TestAReportThatOvertakesARenewalIsNoLostLease(t *testing.T) {
	inBubble(t, func(w *world) {
		w.apply(handled("a", "0 * * * *"))
		st := &hanging{Store: w.st, renewed: make(chan struct{})}
		st.slow.Store(true)
		var logged bytes.Buffer
		_, stop := w.start(st, node.Options{Logger: slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelWarn}))},
			handle(func(context.Context, *node.Occurrence) error {
				<-st.renewed // a renewal is on its way, and the attempt ends first
				return nil
			}))
		time.Sleep(2 * time.Hour)
		stop()
		if o := w.occurrences("a")[0]; o.State != duly.Succeeded {
			t.Errorf("ended as %+v", o)
		}
		if logged.Len() > 0 {
			t.Errorf("warned of nothing: %s", &logged)
		}
	})
}
