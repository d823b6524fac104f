package storetest

import (
	"fmt"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

func reap(g *group) {
	g.claim("NothingIsReapedBeforeItsLeaseRanOut", func(e *env) {
		c := e.started(sched{id: "a"})
		e.pass(time.Minute - time.Millisecond)
		wantEqual(e, "lost", len(e.reap(toPending).Lost), 0)
		e.wantState(id(c), duly.Running)
		e.pass(time.Millisecond)
		wantEqual(e, "lost", len(e.reap(toPending).Lost), 1)
	})

	for _, next := range []store.Next{toPending, toFailed, toCancelled, {State: duly.Pending, Delay: time.Hour, Reason: "later"}} {
		g.claim(fmt.Sprintf("TheDecisionIsCarriedOut/%s_%v", next.State, next.Delay), func(e *env) {
			c := e.started(sched{id: "a"})
			e.pass(2 * time.Minute)
			var told []store.Expired
			res, err := e.st.Reap(e.ctx, store.ReapRequest{Now: e.now, Decide: func(x store.Expired) store.Next {
				told = append(told, x)
				return next
			}})
			e.must(err)
			want := store.Expired{Seq: c.Seq, Schedule: "a", Period: c.Period, Definition: c.Definition, Attempt: 1, Tries: 1, Node: nodeName}
			if len(told) == 0 || told[len(told)-1] != want {
				e.Fatalf("told %+v, want %+v", told, want)
			}
			if len(res.Lost) != 1 || res.Lost[0] != (store.Reaped{Expired: want, State: next.State}) || res.More {
				e.Fatalf("reaped %+v", res)
			}
			o := e.wantState(id(c), next.State)
			a := o.Attempts[0]
			if o.Reason != next.Reason || a.Outcome != duly.AttemptLost || a.FinishedAt.IsZero() || !a.LeaseUntil.IsZero() {
				e.Fatalf("recorded %+v", o)
			}
			wantEqual(e, "reaped again", len(e.reap(next).Lost), 0)
			if next.Delay > 0 {
				wantEqual(e, "claimed too early", len(e.claim(1)), 0)
			}
		})
	}

	g.claim("WhatIsNotDecidedYetIsLeftAsItIs", func(e *env) {
		c := e.started(sched{id: "a"})
		e.pass(2 * time.Minute)
		wantEqual(e, "lost", len(e.reap(store.Next{}).Lost), 0)
		e.wantState(id(c), duly.Running)
		wantEqual(e, "lost", len(e.reap(toPending).Lost), 1)
	})

	g.claim("LostAttemptsCount", func(e *env) {
		c := e.started(sched{id: "a"})
		for tries := 1; tries < 4; tries++ {
			wantEqual(e, "tries", c.Tries, tries)
			e.lose(c, toPending)
			c = e.claimOne()
		}
		e.lose(c, toFailed)
		wantEqual(e, "attempts", len(e.wantState(id(c), duly.Failed).Attempts), 4)
	})

	g.claim("ACancelledOneIsToldAndNotTriedAgain", func(e *env) {
		c := e.started(sched{id: "a"})
		e.must(e.st.Cancel(e.ctx, id(c), "ann", "wrong month"))
		e.pass(2 * time.Minute)
		told := false
		_, err := e.st.Reap(e.ctx, store.ReapRequest{Now: e.now, Decide: func(x store.Expired) store.Next {
			told = x.Cancelled
			return toPending // even so
		}})
		e.must(err)
		wantEqual(e, "told", told, true)
		e.wantState(id(c), duly.Cancelled)
	})

	g.claim("LimitBoundsAReap", func(e *env) {
		for i := range 5 {
			e.apply(sched{id: fmt.Sprint("s", i)})
		}
		e.fireAfter(time.Minute)
		e.claim(5)
		e.pass(time.Hour)
		for _, want := range []int{2, 2, 1} {
			res, err := e.st.Reap(e.ctx, store.ReapRequest{Now: e.now, Limit: 2, Decide: func(store.Expired) store.Next { return toPending }})
			e.must(err)
			if len(res.Lost) != want || res.More != (want == 2) {
				e.Fatalf("reaped %d, more %v", len(res.Lost), res.More)
			}
		}
	})

	g.claim("FieldCase_B37_ADeadWorkersOccurrenceGoesToTheNext", func(e *env) {
		c := e.started(sched{id: "a", lease: 15 * time.Second})
		e.pass(16 * time.Second)
		e.reap(toPending)
		next := e.claimOne()
		if next.Seq != c.Seq || next.Token <= c.Token || next.Attempt != 2 {
			e.Fatalf("claimed %+v after %+v", next, c)
		}
	})

	g.claim("AnImpossibleDecisionChangesNothing", func(e *env) {
		c := e.started(sched{id: "a"})
		e.pass(time.Hour)
		_, err := e.st.Reap(e.ctx, store.ReapRequest{Now: e.now, Decide: func(store.Expired) store.Next { return toSucceeded }})
		mustFail(e, err)
		e.wantState(id(c), duly.Running)
		wantEqual(e, "lost", len(e.reap(toPending).Lost), 1)
	})
}
