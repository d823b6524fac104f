package storetest

import (
	"fmt"
	"sync"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

func queuePause(g *group) {
	doPause := func(e *env, until time.Time) {
		e.Helper()
		e.must(e.st.PauseQueue(e.ctx, store.PauseQueueRequest{Now: e.now, Queue: "q", By: "ann", Why: "the bank is down", Until: until}))
	}
	resume := func(e *env) {
		e.Helper()
		e.must(e.st.ResumeQueue(e.ctx, store.ResumeQueueRequest{Now: e.now, Queue: "q", By: "bob"}))
	}
	status := func(e *env, name string) *store.QueueStatus {
		e.Helper()
		all, err := e.st.Queues(e.ctx)
		e.must(err)
		for _, q := range all {
			if q.Name == name {
				return &q
			}
		}
		return nil
	}

	g.claim("APausedQueueHandsOutNothing", func(e *env) {
		e.apply(sched{id: "a", queue: "q"}, sched{id: "b", queue: "other"}, sched{id: "c"})
		doPause(e, time.Time{})
		e.fireAfter(time.Minute)
		got := map[string]bool{}
		for _, c := range e.claim(10) {
			got[c.Schedule] = true
		}
		if len(got) != 2 || got["a"] {
			e.Fatalf("claimed of %v", got)
		}
		e.wantState(e.defs["a"].at(e.now), duly.Pending)
		resume(e)
		if c := e.claimOne(); c.Schedule != "a" {
			e.Fatalf("claimed %+v", c)
		}
	})

	g.claim("FiringAndClaimingTakesNothingOfAPausedQueue", func(e *env) {
		e.apply(sched{id: "a", queue: "q"}, sched{id: "b"})
		doPause(e, time.Time{})
		e.pass(time.Minute)
		res := e.fireWith(store.FireRequest{Plan: e.plan, Claim: &store.ClaimRequest{Node: e.node, Max: 10, Capabilities: []string{"handler:h"}}})
		if len(res.Fired) != 2 || len(res.Claims) != 1 || res.Claims[0].Schedule != "b" {
			e.Fatalf("fired %+v, claimed %+v", res.Fired, res.Claims)
		}
	})

	g.claim("InsertingAndClaimingTakesNothingOfAPausedQueue", func(e *env) {
		s := sched{id: "a", queue: "q"}
		e.apply(s)
		doPause(e, time.Time{})
		o := s.occurrence(e.now, store.Revision{})
		o.Origin = duly.OriginTrigger
		made, err := e.st.Insert(e.ctx, store.InsertRequest{
			Now: e.now, Schedule: "a", By: "ann", Occurrences: []store.NewOccurrence{o},
			Claim: &store.ClaimRequest{Node: e.node, Max: 1, Capabilities: []string{"handler:h"}},
		})
		e.must(err)
		if len(made) != 1 || made[0].Claim != nil || made[0].State != duly.Pending {
			e.Fatalf("inserted %+v", made)
		}
		resume(e)
		e.claimOne()
	})

	g.claim("WhatRunsInAPausedQueueGoesOn", func(e *env) {
		e.apply(sched{id: "a", queue: "q"})
		e.fireAfter(time.Minute)
		c := e.claimOne()
		doPause(e, time.Time{})
		renewed, err := e.st.Renew(e.ctx, e.node, []store.Renewal{{Seq: c.Seq, Token: c.Token, Lease: time.Hour}})
		e.must(err)
		if renewed[0].Lost || renewed[0].Cancelled {
			e.Fatalf("renewed %+v", renewed[0])
		}
		e.succeed(c)
		e.fireAfter(time.Minute)
		wantEqual(e, "claimed", len(e.claim(10)), 0)
	})

	g.claim("ThePauseOfAQueueEndsByItself", func(e *env) {
		e.now = e.now.Add(-time.Hour)
		e.apply(sched{id: "a", queue: "q"})
		e.fireAfter(time.Minute)
		e.now = e.now.Add(time.Hour)
		until := e.now.Add(10 * time.Minute).Truncate(time.Millisecond)
		doPause(e, until)
		h, err := e.st.Horizon(e.ctx)
		e.must(err)
		e.wantTime("ready", h.Ready, until)
		e.now = until.Add(-time.Microsecond)
		wantEqual(e, "claimed too early", len(e.claim(10)), 0)
		e.now = until
		e.claimOne()
		e.wantCode(e.st.ResumeQueue(e.ctx, store.ResumeQueueRequest{Now: e.now, Queue: "q", By: "bob"}), duly.CodeConflict)
	})

	g.claim("AQueuePausedUntilResumedIsNotOnTheHorizon", func(e *env) {
		e.now = e.now.Add(-time.Hour)
		e.apply(sched{id: "a", queue: "q"})
		e.fireAfter(time.Minute)
		doPause(e, time.Time{})
		h, err := e.st.Horizon(e.ctx)
		e.must(err)
		if !h.Ready.IsZero() {
			e.Fatalf("horizon %+v", h)
		}
		resume(e)
		if h, err = e.st.Horizon(e.ctx); err != nil || h.Ready.IsZero() || h.Ready.After(h.Now) {
			e.Fatalf("horizon %+v, %v", h, err)
		}
	})

	g.claim("AFullQueueThatIsPausedWaitsForBoth", func(e *env) {
		e.apply(sched{id: "a", queue: "q"}, sched{id: "b", queue: "q"})
		e.fireAfter(time.Minute)
		c := e.claimOne()
		doPause(e, e.now.Add(time.Minute))
		e.pass(2 * time.Minute)
		wantEqual(e, "claimed while full", len(e.claim(10)), 0)
		e.succeed(c)
		e.claimOne()
	})

	g.claim("TheStatusOfAQueueShowsItsPause", func(e *env) {
		e.applyQueues(duly.Queue{Name: "q", Concurrency: 3})
		wantEqual(e, "paused", status(e, "q").Paused, nil)
		since, until := e.now, e.now.Add(1000*time.Hour)
		doPause(e, until)
		if p := status(e, "q").Paused; p == nil || p.By != "ann" || p.Why != "the bank is down" || !p.At.Equal(since) || !p.Until.Equal(until) {
			e.Fatalf("paused %+v", p)
		}
		e.pass(time.Minute)
		e.must(e.st.PauseQueue(e.ctx, store.PauseQueueRequest{Now: e.now, Queue: "q", By: "bob"}))
		if p := status(e, "q").Paused; p == nil || p.By != "bob" || p.Why != "" || !p.At.Equal(since) || !p.Until.IsZero() {
			e.Fatalf("paused again %+v", p)
		}
		resume(e)
		wantEqual(e, "paused", status(e, "q").Paused, nil)
		wantEqual(e, "audit", fmt.Sprint(e.audited("queue/q")), "[create pause pause resume]")
	})

	g.claim("ChangingAPausedQueueLeavesItPaused", func(e *env) {
		e.applyQueues(duly.Queue{Name: "q", Concurrency: 1})
		e.apply(sched{id: "a", queue: "q", parallel: true})
		doPause(e, time.Time{})
		e.applyQueues(duly.Queue{Name: "q", Concurrency: 5, Rate: duly.Rate{Count: 100, Per: duly.Duration(time.Hour)}})
		e.fireAfter(time.Minute)
		wantEqual(e, "claimed", len(e.claim(10)), 0)
		if s := status(e, "q"); s.Concurrency != 5 || s.Paused == nil {
			e.Fatalf("status %+v", s)
		}
		resume(e)
		e.claimOne()
	})

	g.claim("APausedQueueIsShownEvenWhenNothingNamesIt", func(e *env) {
		e.applyQueues(duly.Queue{Name: "q"})
		doPause(e, time.Time{})
		_, err := e.st.Apply(e.ctx, store.ApplyRequest{Now: e.now, Owner: "test", By: "tester", Prune: true})
		e.must(err)
		if s := status(e, "q"); s == nil || s.Paused == nil {
			e.Fatalf("status %+v", s)
		}
		resume(e)
		wantEqual(e, "status", status(e, "q"), nil)
	})

	g.claim("PausingAQueueThatThereIsNotIsRefused", func(e *env) {
		e.apply(sched{id: "a"}, sched{id: "b", queue: "q"})
		for _, name := range []string{"nobody", "a"} {
			e.wantCode(e.st.PauseQueue(e.ctx, store.PauseQueueRequest{Now: e.now, Queue: name, By: "ann"}), duly.CodeNotFound)
			e.wantCode(e.st.ResumeQueue(e.ctx, store.ResumeQueueRequest{Now: e.now, Queue: name, By: "ann"}), duly.CodeNotFound)
		}
		e.wantCode(e.st.ResumeQueue(e.ctx, store.ResumeQueueRequest{Now: e.now, Queue: "q", By: "ann"}), duly.CodeConflict)
	})

	g.claim("NothingStartsAfterThePauseWasAnswered", func(e *env) {
		e.applyQueues(duly.Queue{Name: "q", Concurrency: 1000})
		e.apply(sched{id: "a", queue: "q", parallel: true, lease: time.Hour})
		e.pass(1000 * time.Minute)
		e.fire()
		var wg sync.WaitGroup
		stop := make(chan struct{})
		for _, st := range []store.Store{e.open(), e.open()} {
			wg.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					if _, err := st.Claim(e.ctx, store.ClaimRequest{Now: e.now, Node: e.node, Max: 1, Capabilities: []string{"handler:h"}}); err != nil {
						e.Error(err)
						return
					}
				}
			})
		}
		doPause(e, time.Time{})
		before := status(e, "q").Running
		for range 20 {
			e.claim(1)
		}
		after := status(e, "q")
		close(stop)
		wg.Wait()
		if after.Running != before {
			e.Fatalf("%d ran when the pause was answered, %d later", before, after.Running)
		}
	})
}
