package storetest

import (
	"fmt"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

func trim(g *group) {
	// future is after everything that a test has done, by whichever clock.
	future := func(e *env) time.Time { return time.Now().Add(1000 * time.Hour) }
	doTrim := func(e *env, before time.Time, limit int) int {
		e.Helper()
		n, err := e.st.Trim(e.ctx, before, limit)
		e.must(err)
		return n
	}

	g.claim("OldEndedOccurrencesGoAndOpenOnesStay", func(e *env) {
		e.apply(sched{id: "a", parallel: true})
		e.pass(6 * time.Minute)
		e.fire()
		claims := e.claim(4)
		e.succeed(claims[0])
		e.fail(claims[1])
		r := report(claims[2], duly.AttemptFailed, toPending)
		r.Error = "boom"
		e.must(e.send(r).Err)
		again := e.claim(1)[0]
		wantEqual(e, "claimed again", again.Seq, claims[2].Seq)
		e.succeed(again)
		wantEqual(e, "trimmed", doTrim(e, future(e), 100), 3)
		all := e.all("a")
		if len(all) != 3 || all[0].State != duly.Running || all[1].State != duly.Pending {
			e.Fatalf("left %+v", all)
		}
		for _, c := range claims[:3] {
			_, err := e.st.Occurrence(e.ctx, id(c))
			e.wantCode(err, duly.CodeNotFound)
		}
		wantEqual(e, "trimmed again", doTrim(e, future(e), 100), 0)
		e.succeed(claims[3])
	})

	g.claim("NewerOnesStay", func(e *env) {
		c := e.started(sched{id: "a"})
		e.succeed(c)
		wantEqual(e, "trimmed", doTrim(e, time.Now().Add(-time.Hour), 100), 0)
		e.wantState(id(c), duly.Succeeded)
	})

	g.claim("WhatWaitsForAPersonStays", func(e *env) {
		c := e.started(sched{id: "a"})
		e.finish(c, duly.AttemptUncertain, toUncertain)
		wantEqual(e, "trimmed", doTrim(e, future(e), 100), 0)
		e.wantState(id(c), duly.Uncertain)
		e.must(e.st.Resolve(e.ctx, id(c), duly.Succeeded, "ann", "asked"))
		wantEqual(e, "trimmed once it was resolved", doTrim(e, future(e), 100), 1)
	})

	g.claim("LimitBoundsATrim", func(e *env) {
		e.apply(sched{id: "a", parallel: true})
		e.pass(5 * time.Minute)
		e.fire()
		for _, c := range e.claim(5) {
			e.succeed(c)
		}
		for _, want := range []int{2, 2, 1, 0} {
			wantEqual(e, "trimmed", doTrim(e, future(e), 2), want)
		}
	})

	g.claim("CountsOfWhatWasStayAndAttentionGoes", func(e *env) {
		c := e.started(sched{id: "a"})
		e.fail(c)
		e.fireAfter(time.Minute)
		e.succeed(e.claimOne())
		success := e.schedule("a").LastSuccess
		doTrim(e, future(e), 100)
		stats, err := e.st.Stats(e.ctx)
		e.must(err)
		if stats.Occurrences[duly.Failed] != 1 || stats.Occurrences[duly.Succeeded] != 1 || stats.Attention != 0 {
			e.Fatalf("stats %+v", stats)
		}
		s := e.schedule("a")
		e.wantTime("last success", s.LastSuccess, success)
		wantEqual(e, "fired", s.Fired, 2)
		wantEqual(e, "last", s.Last, nil)
	})

	g.claim("EffectsOutliveTheirOccurrence", func(e *env) {
		c := e.started(sched{id: "a"})
		r := report(c, duly.AttemptSucceeded, toSucceeded)
		r.Effects = []store.EffectReport{{Key: "k"}}
		e.must(e.send(r).Err)
		wantEqual(e, "trimmed", doTrim(e, future(e), 100), 1)
		for _, f := range []store.EffectFilter{{Key: "k"}, {Occurrence: id(c)}} {
			all, _, err := e.st.Effects(e.ctx, f, store.Page{})
			e.must(err)
			if len(all) != 1 || all[0].Occurrence != id(c) || all[0].Token != c.Token {
				e.Fatalf("effects %+v", all)
			}
		}
	})

	g.claim("ASchedulesListSkipsWhatWasTrimmedInBetween", func(e *env) {
		e.apply(sched{id: "a", parallel: true})
		e.pass(7 * time.Minute)
		e.fire()
		claims := e.claim(7)
		for _, i := range []int{1, 2, 4, 6} {
			e.succeed(claims[i])
		}
		doTrim(e, future(e), 100)
		wantEqual(e, "left", len(e.all("a")), 3)
		wantEqual(e, "last", e.schedule("a").Last.ID, id(claims[5]))
		e.succeed(claims[3])
		doTrim(e, future(e), 100)
		wantEqual(e, "left", len(e.all("a")), 2)
		e.succeed(claims[0])
		doTrim(e, future(e), 100)
		e.fireAfter(time.Minute)
		wantEqual(e, "left", len(e.all("a")), 2)
	})

	g.claim("NumbersAreNotUsedAgain", func(e *env) {
		c := e.started(sched{id: "a"})
		e.succeed(c)
		doTrim(e, future(e), 100)
		e.reopen()
		e.fireAfter(time.Minute)
		next := e.claimOne()
		if next.Seq <= c.Seq || next.Token <= c.Token {
			e.Fatalf("seq %d and token %d after %d and %d", next.Seq, next.Token, c.Seq, c.Token)
		}
		// A report of the trimmed one must not meet another.
		f := e.send(report(c, duly.AttemptSucceeded, toSucceeded))
		e.wantCode(f.Err, duly.CodeNotFound)
	})

	g.claim("WhatHoldsItsScheduleStays", func(e *env) {
		c := e.started(sched{id: "a"})
		e.finish(c, duly.AttemptFailed, store.Next{State: duly.Failed, Hold: true})
		wantEqual(e, "trimmed", doTrim(e, future(e), 100), 0)
		e.must(e.st.Cancel(e.ctx, id(c), "ann", ""))
		wantEqual(e, "trimmed", doTrim(e, future(e), 100), 1)
	})

	g.claim("TheAuditAndEndedSessionsGoToo", func(e *env) {
		e.apply(sched{id: "a"})
		n := e.join("n")
		e.must(e.st.Leave(e.ctx, n))
		doTrim(e, future(e), 100)
		wantEqual(e, "audit", fmt.Sprint(e.audited("")), "[]")
		all, err := e.st.NodeList(e.ctx)
		e.must(err)
		if len(all) != 1 || all[0].Name != nodeName {
			e.Fatalf("nodes %+v", all)
		}
	})
}
