package storetest

import (
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// horizon has no clock to move: what it answers is by the store's own, and so
// the suite's schedules are in the far future or the past.
func horizon(g *group) {
	look := func(e *env) store.Horizon {
		e.Helper()
		h, err := e.st.Horizon(e.ctx)
		e.must(err)
		if d := time.Since(h.Now); d < -time.Minute || d > time.Minute {
			e.Fatalf("the store's clock says %v", h.Now)
		}
		return h
	}
	past := func(h store.Horizon, t time.Time) bool { return !t.IsZero() && !t.After(h.Now) }

	g.claim("AnEmptyStoreHasNothingToDo", func(e *env) {
		if h := look(e); !h.Due.IsZero() || !h.Ready.IsZero() {
			e.Fatalf("horizon %+v", h)
		}
	})

	g.claim("DueIsTheEarliestSchedule", func(e *env) {
		e.apply(sched{id: "a", every: 1000 * time.Hour}, sched{id: "b", every: 23 * time.Hour}, sched{id: "c", every: 3001 * time.Hour})
		due := map[string]time.Time{}
		earliest := "a"
		for _, id := range []string{"a", "b", "c"} {
			due[id] = e.schedule(id).NextDue
			if due[id].Before(due[earliest]) {
				earliest = id
			}
		}
		e.wantTime("due", look(e).Due, due[earliest])
		e.must(e.st.Pause(e.ctx, store.PauseRequest{Now: e.now, Schedule: earliest, By: "ann"}))
		if look(e).Due.Equal(due[earliest]) {
			e.Fatal("a paused schedule is on the horizon")
		}
	})

	g.claim("ReadyIsAtOnceForWhatWaitsForASlot", func(e *env) {
		e.now = e.now.Add(-time.Hour)
		e.apply(sched{id: "a"})
		e.fireAfter(time.Minute)
		if h := look(e); !past(h, h.Ready) {
			e.Fatalf("horizon %+v", h)
		}
		e.claimOne()
		if h := look(e); !h.Ready.IsZero() {
			e.Fatalf("horizon %+v with nothing left to claim", h)
		}
	})

	g.claim("ReadyIsWhenADelayEnds", func(e *env) {
		c := e.started(sched{id: "a"})
		e.finish(c, duly.AttemptFailed, store.Next{State: duly.Pending, Delay: 2 * time.Hour})
		e.wantTime("ready", look(e).Ready, e.occ(id(c)).NotBefore)
	})

	g.claim("WhatWaitsForAnEarlierOneOrAFullQueueIsNotReady", func(e *env) {
		e.apply(sched{id: "a", queue: "q"}, sched{id: "b", queue: "q"})
		e.fireAfter(time.Minute)
		e.fireAfter(time.Minute)
		c := e.claimOne()
		if h := look(e); !h.Ready.IsZero() {
			e.Fatalf("horizon %+v beside a full queue", h)
		}
		e.succeed(c)
		if h := look(e); h.Ready.IsZero() {
			e.Fatalf("horizon %+v with room in the queue", h)
		}
	})

	g.claim("AQueueAtItsRateIsReadyWhenTheRateSays", func(e *env) {
		e.now = e.now.Add(-10 * time.Minute)
		e.applyQueues(duly.Queue{Name: "q", Concurrency: 10, Rate: duly.Rate{Count: 1, Per: duly.Duration(time.Hour)}})
		e.apply(sched{id: "a", queue: "q", parallel: true})
		e.fireAfter(time.Minute)
		e.fireAfter(time.Minute)
		e.claimOne()
		h := look(e)
		if d := h.Ready.Sub(e.now); d < 50*time.Minute || d > 70*time.Minute {
			e.Fatalf("ready in %v", d)
		}
		e.now = h.Ready
		wantEqual(e, "claimed then", len(e.claim(1)), 1)
	})

	g.claim("LeaseIsTheEarliestEnd", func(e *env) {
		c := e.started(sched{id: "a", lease: 10 * time.Minute})
		e.wantTime("lease", look(e).Lease, c.LeaseUntil)
		e.succeed(c)
		if h := look(e); h.Lease.Equal(c.LeaseUntil) {
			e.Fatalf("horizon %+v after the end", h)
		}
	})

	g.claim("LeaseIsAStartDeadlineToo", func(e *env) {
		e.apply(sched{id: "a", startBy: 10 * time.Minute})
		e.fireAfter(time.Minute)
		h := look(e)
		by := e.occ(e.defs["a"].at(e.now)).StartBy
		if h.Lease.Before(by) || h.Lease.After(by.Add(time.Second)) {
			e.Fatalf("lease %v, deadline %v", h.Lease, by)
		}
		e.now = h.Lease
		wantEqual(e, "missed then", len(e.reap(toPending).Missed), 1)
	})

	g.claim("AClockSetBackIsDueAtOnce", func(e *env) {
		e.apply(sched{id: "a", every: 24000 * time.Hour})
		e.pass(5 * time.Hour)
		e.apply(sched{id: "b"})
		e.fireAfter(time.Minute) // hours ahead of the store's clock
		if h := look(e); !past(h, h.Due) {
			e.Fatalf("horizon %+v", h)
		}
		res, err := e.st.Fire(e.ctx, store.FireRequest{Node: e.node, Plan: e.plan})
		e.must(err)
		if res.ClockSetBack < 4*time.Hour {
			e.Fatalf("set back by %v", res.ClockSetBack)
		}
		if h := look(e); past(h, h.Due) {
			e.Fatalf("horizon %+v after it was noticed", h)
		}
	})
}
