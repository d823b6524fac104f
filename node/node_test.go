package node_test

import (
	"context"
	"errors"
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

func TestAScheduleRunsOnceForEachMinute(t *testing.T) {
	inBubble(t, func(w *world) {
		w.apply(handled("s", "* * * * *"))
		var calls atomic.Int32
		w.start(w.st, node.Options{}, handle(func(_ context.Context, o *node.Occurrence) error {
			calls.Add(1)
			if o.Attempt != 1 || o.Due.Second() != 0 || o.Token == 0 || o.Resource != "schedule/s" {
				t.Errorf("a handler was given %+v", o.Assignment)
			}
			if g, ok := duly.GrantFrom(context.Background()); ok {
				t.Errorf("a grant out of nowhere: %v", g)
			}
			return nil
		}))
		toMinute(time.Second)
		time.Sleep(4 * time.Minute)
		synctest.Wait()
		all := w.occurrences("s")
		if len(all) != 5 || calls.Load() != 5 {
			t.Fatalf("%d occurrences and %d calls in five minutes", len(all), calls.Load())
		}
		for i, o := range all {
			if o.State != duly.Succeeded || len(o.Attempts) != 1 || o.Attempts[0].Outcome != duly.AttemptSucceeded {
				t.Errorf("%s is %s with %+v", o.ID, o.State, o.Attempts)
			}
			if late := o.Attempts[0].StartedAt.Sub(o.Due); late < 0 || late > 50*time.Millisecond {
				t.Errorf("%s started %v after it was due", o.ID, late)
			}
			if i > 0 && o.Attempts[0].Token <= all[i-1].Attempts[0].Token {
				t.Errorf("tokens do not grow: %d after %d", o.Attempts[0].Token, all[i-1].Attempts[0].Token)
			}
		}
	})
}

// Nodes whose timers are offset meet finished occurrences, not free locks.
func TestFieldCase_B32_ThreeNodesRunEachOccurrenceOnce(t *testing.T) {
	inBubble(t, func(w *world) {
		var calls atomic.Int32
		work := handle(func(context.Context, *node.Occurrence) error {
			calls.Add(1)
			time.Sleep(10 * time.Millisecond)
			return nil
		})
		w.apply(handled("s", "* * * * *"))
		toMinute(time.Second)
		for range 3 {
			w.start(w.st, node.Options{}, work)
			time.Sleep(20 * time.Second)
		}
		before := calls.Load()
		toMinute(-time.Second)
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if got := calls.Load() - before; got != 10 {
			t.Errorf("%d runs in ten minutes on three nodes", got)
		}
	})
}

func TestAFailedAttemptIsRepeatedWithBackoffAndKeepsItsPlace(t *testing.T) {
	inBubble(t, func(w *world) {
		s := handled("s", "0 * * * *")
		s.Retry = duly.Retry{MaxAttempts: 3, Backoff: duly.Duration(10 * time.Second)}
		w.apply(s)
		w.start(w.st, node.Options{}, handle(func(_ context.Context, o *node.Occurrence) error {
			if o.Attempt < 3 {
				return errors.New("not yet")
			}
			return o.SetResult(map[string]int{"invoices": 3})
		}))
		time.Sleep(time.Hour + 5*time.Minute)
		synctest.Wait()
		o := w.occurrence(w.occurrences("s")[0].ID)
		if o.State != duly.Succeeded || len(o.Attempts) != 3 || o.Attempts[0].Error != "not yet" || string(o.Attempts[2].Result) != `{"invoices":3}` {
			t.Errorf("%s: %s with %+v", o.ID, o.State, o.Attempts)
		}
	})
}

func TestAttemptsAreUsedUpOrPermanentlyFailed(t *testing.T) {
	inBubble(t, func(w *world) {
		used, permanent, uncertain := handled("used", "0 * * * *"), handled("permanent", "0 * * * *"), handled("uncertain", "0 * * * *")
		used.Retry = duly.Retry{MaxAttempts: 2, Backoff: duly.Duration(time.Second)}
		w.apply(used, permanent, uncertain)
		w.start(w.st, node.Options{}, handle(func(_ context.Context, o *node.Occurrence) error {
			switch o.Schedule {
			case "permanent":
				return duly.Permanent(errors.New("no such customer"))
			case "uncertain":
				return errors.Join(errors.New("the bank did not answer"), duly.ErrUncertain)
			}
			panic("a bug")
		}))
		time.Sleep(time.Hour + 5*time.Minute)
		synctest.Wait()
		for schedule, want := range map[string]struct {
			state    duly.State
			attempts int
		}{"used": {duly.Failed, 2}, "permanent": {duly.Failed, 1}, "uncertain": {duly.Uncertain, 1}} {
			o := w.occurrences(schedule)[0]
			if o.State != want.state || len(o.Attempts) != want.attempts || o.Reason == "" {
				t.Errorf("%s: %s after %d attempts, reason %q; want %s after %d", schedule, o.State, len(o.Attempts), o.Reason, want.state, want.attempts)
			}
		}
	})
}

func TestFieldCase_B49_ALeaseIsRenewedForAsLongAsTheHandlerLives(t *testing.T) {
	inBubble(t, func(w *world) {
		s := handled("s", "0 * * * *")
		s.Lease = duly.Duration(90 * time.Second)
		w.apply(s)
		var calls atomic.Int32
		work := handle(func(ctx context.Context, _ *node.Occurrence) error {
			calls.Add(1)
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-time.After(240 * time.Second):
				return nil
			}
		})
		for range 3 {
			w.start(w.st, node.Options{}, work)
		}
		time.Sleep(time.Hour + 10*time.Minute)
		synctest.Wait()
		o := w.occurrences("s")[0]
		if calls.Load() != 1 || o.State != duly.Succeeded || len(o.Attempts) != 1 {
			t.Errorf("%d calls; %s with %+v", calls.Load(), o.State, o.Attempts)
		}
	})
}

func TestFieldCase_B54_ANodeThatIsCutOffStopsBeforeItsLeaseEnds(t *testing.T) {
	inBubble(t, func(w *world) {
		s := handled("s", "0 * * * *")
		s.Lease = duly.Duration(15 * time.Second)
		w.apply(s)
		cut := &gate{Store: w.st}
		var lostAt, tookOverAt atomic.Int64
		first := make(chan struct{})
		w.start(cut, node.Options{Name: "a"}, handle(func(ctx context.Context, _ *node.Occurrence) error {
			close(first)
			<-ctx.Done()
			lostAt.Store(time.Now().UnixNano())
			if !errors.Is(context.Cause(ctx), target.ErrLeaseLost) {
				t.Errorf("the handler was ended by %v", context.Cause(ctx))
			}
			return context.Cause(ctx)
		}))
		<-first
		time.Sleep(5 * time.Second)
		cut.set(true)
		cutAt := time.Now()
		w.start(w.st, node.Options{Name: "b"}, handle(func(context.Context, *node.Occurrence) error {
			tookOverAt.Store(time.Now().UnixNano())
			return nil
		}))
		time.Sleep(time.Minute)
		synctest.Wait()
		if lostAt.Load() == 0 || tookOverAt.Load() == 0 || lostAt.Load() >= tookOverAt.Load() {
			t.Errorf("the first handler was cancelled at %d, the second began at %d", lostAt.Load(), tookOverAt.Load())
		}
		if after := time.Unix(0, lostAt.Load()).Sub(cutAt); after > 15*time.Second {
			t.Errorf("cancelled %v after the cut", after)
		}
		cut.set(false)
		time.Sleep(time.Minute)
		synctest.Wait()
		o := w.occurrences("s")[0]
		if o.State != duly.Succeeded || len(o.Attempts) != 2 || o.Attempts[0].Outcome != duly.AttemptLost || o.Attempts[1].Node != "b" {
			t.Errorf("%s with %+v", o.State, o.Attempts)
		}
		if o.Attempts[0].Stale == nil {
			t.Error("the first node's late report is not recorded as stale")
		}
	})
}

func TestReportsAreHeldThroughAnOutageAndThenAccepted(t *testing.T) {
	inBubble(t, func(w *world) {
		s := handled("s", "0 * * * *")
		s.Lease = duly.Duration(10 * time.Minute)
		w.apply(s)
		cut := &gate{Store: w.st}
		n, _ := w.start(cut, node.Options{}, handle(func(context.Context, *node.Occurrence) error {
			cut.set(true)
			return nil
		}))
		time.Sleep(time.Hour + time.Minute)
		synctest.Wait()
		if n.Available() == nil || n.Counts().Held != 1 {
			t.Errorf("in the outage: %v, %d reports held", n.Available(), n.Counts().Held)
		}
		cut.set(false)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		o := w.occurrences("s")[0]
		if o.State != duly.Succeeded || len(o.Attempts) != 1 || n.Available() != nil || n.Counts().Held != 0 {
			t.Errorf("after the outage: %s with %+v, %v", o.State, o.Attempts, n.Available())
		}
	})
}

func TestFieldCase_B95_NothingStartsWhileTheStoreIsCutOff(t *testing.T) {
	inBubble(t, func(w *world) {
		s := handled("s", "* * * * *")
		s.CatchUp.Policy = duly.CatchUpLatest
		w.apply(s)
		cut := &gate{Store: w.st, shut: true}
		var calls atomic.Int32
		w.start(cut, node.Options{}, handle(func(context.Context, *node.Occurrence) error { calls.Add(1); return nil }))
		time.Sleep(10 * time.Minute) // B94: the store is down at the start, and the node waits
		if calls.Load() != 0 {
			t.Fatalf("%d handlers ran without ownership", calls.Load())
		}
		cut.set(false)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if calls.Load() == 0 {
			t.Error("nothing was caught up when the store was back")
		}
	})
}

func TestATimedOutHandlerIsCancelledAndRepeated(t *testing.T) {
	inBubble(t, func(w *world) {
		s := handled("s", "0 * * * *")
		s.Timeout, s.Retry = duly.Duration(30*time.Second), duly.Retry{MaxAttempts: 2, Backoff: duly.Duration(time.Second)}
		w.apply(s)
		w.start(w.st, node.Options{}, handle(func(ctx context.Context, _ *node.Occurrence) error {
			<-ctx.Done()
			return ctx.Err()
		}))
		time.Sleep(time.Hour + 5*time.Minute)
		synctest.Wait()
		o := w.occurrences("s")[0]
		if o.State != duly.Failed || len(o.Attempts) != 2 || o.Attempts[0].Outcome != duly.AttemptTimedOut {
			t.Errorf("%s with %+v", o.State, o.Attempts)
		}
		if took := o.Attempts[0].FinishedAt.Sub(o.Attempts[0].StartedAt); took < 30*time.Second || took > 31*time.Second {
			t.Errorf("the attempt took %v", took)
		}
	})
}

func TestFieldCase_B52_AHandlerThatIgnoresItsEndKeepsItsSlotAndIsReported(t *testing.T) {
	inBubble(t, func(w *world) {
		s := handled("s", "* * * * *")
		s.Timeout, s.Retry.MaxAttempts = duly.Duration(10*time.Second), 1
		w.apply(s)
		release := make(chan struct{})
		n, stop := w.start(w.st, node.Options{Slots: 2, CancelGrace: 5 * time.Second}, handle(func(context.Context, *node.Occurrence) error {
			<-release
			return nil
		}))
		toMinute(0)
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		c := n.Counts()
		if c.Abandoned != 2 || c.Running != 2 {
			t.Errorf("%d abandoned and %d running with two slots", c.Abandoned, c.Running)
		}
		all := w.occurrences("s")
		if all[0].State != duly.Failed || all[0].Attempts[0].Outcome != duly.AttemptTimedOut {
			t.Errorf("%s with %+v", all[0].State, all[0].Attempts)
		}
		close(release)
		synctest.Wait()
		stop()
		if got := w.occurrence(all[0].ID); got.State != duly.Failed || got.Attempts[0].Outcome != duly.AttemptTimedOut {
			t.Errorf("a handler that returned late changed history: %s with %+v", got.State, got.Attempts)
		}
	})
}

func TestADrainWaitsThenCancelsAndReleases(t *testing.T) {
	inBubble(t, func(w *world) {
		quick, slow := handled("quick", "0 * * * *"), handled("slow", "0 * * * *")
		w.apply(quick, slow)
		started := make(chan struct{}, 2)
		_, stop := w.start(w.st, node.Options{DrainTime: 10 * time.Second}, handle(func(ctx context.Context, o *node.Occurrence) error {
			started <- struct{}{}
			wait := 5 * time.Second
			if o.Schedule == "slow" {
				wait = time.Hour
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(wait):
				return nil
			}
		}))
		<-started
		<-started
		stop()
		q, s := w.occurrences("quick")[0], w.occurrences("slow")[0]
		if q.State != duly.Succeeded {
			t.Errorf("quick: %s with %+v", q.State, q.Attempts)
		}
		if s.State != duly.Pending || len(s.Attempts) != 1 || s.Attempts[0].Outcome != duly.AttemptReleased {
			t.Errorf("slow: %s with %+v", s.State, s.Attempts)
		}
		_, _ = w.start(w.st, node.Options{Name: "next"}, handle(done))
		time.Sleep(time.Second)
		synctest.Wait()
		if s := w.occurrences("slow")[0]; s.State != duly.Succeeded || s.Attempts[1].Node != "next" {
			t.Errorf("slow was not taken up at once: %s with %+v", s.State, s.Attempts)
		}
	})
}

func TestACancelledOccurrenceEndsItsHandler(t *testing.T) {
	inBubble(t, func(w *world) {
		s := handled("s", "0 * * * *")
		s.Lease = duly.Duration(6 * time.Second)
		w.apply(s)
		started := make(chan struct{})
		w.start(w.st, node.Options{}, handle(func(ctx context.Context, _ *node.Occurrence) error {
			close(started)
			<-ctx.Done()
			return context.Cause(ctx)
		}))
		<-started
		id := w.occurrences("s")[0].ID
		if err := w.ctl.Cancel(w.ctx, id, "ann", "wrong month"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if o := w.occurrence(id); o.State != duly.Cancelled || o.Attempts[0].Outcome != duly.AttemptCancelled {
			t.Errorf("%s with %+v", o.State, o.Attempts)
		}
	})
}

func TestATriggerStartsAtOnceAndNeverSwallowsTheScheduledOne(t *testing.T) {
	inBubble(t, func(w *world) {
		w.apply(handled("s", "0 1 * * *"))
		w.start(w.st, node.Options{}, handle(done))
		time.Sleep(59 * time.Minute)
		asked := time.Now()
		made, err := w.ctl.Trigger(w.ctx, control.TriggerRequest{Schedule: "s", By: "ann"})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		o := w.occurrence(made.ID)
		if o.State != duly.Succeeded || o.Origin != duly.OriginTrigger || o.Attempts[0].StartedAt.Sub(asked) > 100*time.Millisecond {
			t.Errorf("%s is %s, asked %v, %+v", o.ID, o.State, asked, o.Attempts)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if all := w.occurrences("s"); len(all) != 2 {
			t.Errorf("%d occurrences after a trigger and a due time", len(all))
		}
	})
}

// One failure of a worker after the other must not go round for ever.
func TestLostAttemptsCount(t *testing.T) {
	inBubble(t, func(w *world) {
		s := handled("s", "0 0 1 1 *")
		s.Lease, s.Retry = duly.Duration(2*time.Second), duly.Retry{MaxAttempts: 3, Backoff: duly.Duration(time.Second)}
		w.apply(s)
		made, err := w.ctl.Trigger(w.ctx, control.TriggerRequest{Schedule: "s", By: "test"})
		if err != nil {
			t.Fatal(err)
		}
		// A worker that claims and is never heard of again.
		session, err := w.st.Join(w.ctx, store.NodeInfo{Name: "crasher", TTL: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		w.start(w.st, node.Options{}, func(*node.Node) {}) // reaps, has no handler
		claimed := 0
		for range 600 {
			res, err := w.st.Claim(w.ctx, store.ClaimRequest{Node: session, Max: 1, Capabilities: []string{"handler:work"}})
			if err != nil {
				t.Fatal(err)
			}
			claimed += len(res.Claims)
			time.Sleep(100 * time.Millisecond)
		}
		o := w.occurrence(made.ID)
		if claimed != 3 || o.State != duly.Failed || len(o.Attempts) != 3 || o.Attempts[2].Outcome != duly.AttemptLost {
			t.Errorf("claimed %d times; %s with %+v", claimed, o.State, o.Attempts)
		}
	})
}

// picky refuses batches with a report it cannot take, as a store may that
// cannot hold some text.
type picky struct{ store.Store }

func (p picky) Finish(ctx context.Context, node int64, reports []store.Report) ([]store.Finished, error) {
	for _, r := range reports {
		if string(r.Result) == `"poison"` {
			return nil, duly.Errorf(duly.CodeInternal, "cannot hold this")
		}
	}
	return p.Store.Finish(ctx, node, reports)
}

func TestAReportThatTheStoreCannotTakeDoesNotKeepTheOthers(t *testing.T) {
	inBubble(t, func(w *world) {
		w.apply(handled("poison", "0 * * * *"), handled("a", "0 * * * *"), handled("b", "0 * * * *"))
		w.start(picky{w.st}, node.Options{}, handle(func(_ context.Context, o *node.Occurrence) error {
			if o.Schedule == "poison" {
				return o.SetResult("poison")
			}
			return nil
		}))
		time.Sleep(time.Hour + 10*time.Second)
		synctest.Wait()
		for _, schedule := range []string{"poison", "a", "b"} {
			o := w.occurrences(schedule)[0]
			if o.State != duly.Succeeded || len(o.Attempts) != 1 {
				t.Errorf("%s: %s with %+v", schedule, o.State, o.Attempts)
			}
		}
	})
}

// With a long lease, the next renewal is far away when the later one comes due.
func TestReplaceEndsTheRunningOneSoonWhateverItsLease(t *testing.T) {
	inBubble(t, func(w *world) {
		s := handled("s", "* * * * *")
		s.Overlap, s.Lease = duly.OverlapReplace, duly.Duration(time.Hour)
		w.apply(s)
		w.start(w.st, node.Options{}, handle(func(ctx context.Context, _ *node.Occurrence) error {
			<-ctx.Done()
			return context.Cause(ctx)
		}))
		toMinute(0)
		time.Sleep(2*time.Minute + 5*time.Second)
		synctest.Wait()
		all := w.occurrences("s")
		for _, o := range all[:2] {
			if o.State != duly.Cancelled || o.FinishedAt.Sub(o.Attempts[0].StartedAt) > 62*time.Second {
				t.Errorf("%s is %s after %v", o.ID, o.State, o.FinishedAt.Sub(o.Attempts[0].StartedAt))
			}
		}
	})
}

func TestAStoreThatCannotBeOpenedIsNone(t *testing.T) {
	st, err := store.Open(t.Context(), "sqlite:"+t.TempDir(), store.Options{}) // a folder
	if err == nil || st != nil {
		t.Errorf("Open of a folder answers %v and the error %v", st, err)
	}
}
