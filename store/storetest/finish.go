package storetest

import (
	"fmt"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

func finish(g *group) {
	for _, c := range []struct {
		name    string
		outcome duly.Outcome
		next    store.Next
	}{
		{"ASuccess", duly.AttemptSucceeded, toSucceeded},
		{"AFailureForGood", duly.AttemptFailed, toFailed},
		{"ATimeoutForGood", duly.AttemptTimedOut, toFailed},
		{"AnUnknownOutcome", duly.AttemptUncertain, toUncertain},
		{"ACancellation", duly.AttemptCancelled, toCancelled},
		{"AFailureToBeRetried", duly.AttemptFailed, toPending},
		{"ATimeoutToBeRetried", duly.AttemptTimedOut, toPending},
		{"ARelease", duly.AttemptReleased, store.Next{State: duly.Pending, Reason: "drained", Uncounted: true}},
	} {
		g.claim(c.name+"IsRecorded", func(e *env) {
			claim := e.started(sched{id: "a"})
			f := e.finish(claim, c.outcome, c.next)
			if f.Schedule != "a" || f.Period != claim.Period || f.State != c.next.State || f.Late {
				e.Fatalf("answered %+v", f)
			}
			o := e.wantState(id(claim), c.next.State)
			wantEqual(e, "reason", o.Reason, c.next.Reason)
			wantEqual(e, "ended", !o.FinishedAt.IsZero(), c.next.State != duly.Pending)
			a := o.Attempts[0]
			if len(o.Attempts) != 1 || a.Outcome != c.outcome || a.FinishedAt.IsZero() || a.Late || a.Stale != nil || !a.LeaseUntil.IsZero() {
				e.Fatalf("attempt %+v", a)
			}
		})
	}

	g.claim("ADelayIsWaitedFor", func(e *env) {
		c := e.started(sched{id: "a"})
		before := time.Now()
		e.finish(c, duly.AttemptFailed, store.Next{State: duly.Pending, Delay: time.Hour})
		o := e.wantState(id(c), duly.Pending)
		wantEqual(e, "waiting", o.Waiting, duly.WaitingTime)
		if d := o.NotBefore.Sub(before); d < 59*time.Minute || d > 61*time.Minute {
			e.Fatalf("not before %v", o.NotBefore)
		}
		wantEqual(e, "claimed too early", len(e.claim(1)), 0)
		e.pass(2 * time.Hour)
		wantEqual(e, "attempt", e.claimOne().Attempt, 2)
	})

	g.claim("WhatAnAttemptSaidIsKept", func(e *env) {
		c := e.started(sched{id: "a"})
		code := 3
		r := report(c, duly.AttemptFailed, toPending)
		r.Error, r.ExitCode, r.Output, r.Result = "boom", &code, "line 1\nline 2", []byte(`{"a": 1}`)
		e.must(e.send(r).Err)
		second := e.claimOne()
		e.succeed(second)
		o := e.occ(id(c))
		a := o.Attempts[0]
		if a.Error != "boom" || a.ExitCode == nil || *a.ExitCode != 3 || a.Output != r.Output || !sameJSON(a.Result, r.Result) {
			e.Fatalf("kept %+v", a)
		}
		if b := o.Attempts[1]; b.Error != "" || b.ExitCode != nil || b.Output != "" || b.Result != nil {
			e.Fatalf("the second attempt said %+v", b)
		}
		list, _, err := e.st.Occurrences(e.ctx, store.OccurrenceFilter{Schedule: "a"}, store.Page{})
		e.must(err)
		if got := list[0].Attempts[0]; got.Output != "" || got.Error != "boom" {
			e.Fatalf("listed %+v", got)
		}
	})

	g.claim("ExitCodeZeroIsNotNone", func(e *env) {
		c := e.started(sched{id: "a"})
		r := report(c, duly.AttemptSucceeded, toSucceeded)
		r.ExitCode = new(int)
		e.must(e.send(r).Err)
		if a := e.occ(id(c)).Attempts[0]; a.ExitCode == nil || *a.ExitCode != 0 {
			e.Fatalf("kept %+v", a)
		}
	})

	for _, c := range []struct {
		name    string
		outcome duly.Outcome
		next    store.Next
	}{{"Success", duly.AttemptSucceeded, toSucceeded}, {"Retry", duly.AttemptFailed, toPending}, {"Failure", duly.AttemptFailed, toFailed}} {
		g.claim("A"+c.name+"ReportedTwiceIsAnsweredAlike", func(e *env) {
			claim := e.started(sched{id: "a"})
			r := report(claim, c.outcome, c.next)
			r.Effects = []store.EffectReport{{Key: "k"}}
			first := e.send(r)
			before := fmt.Sprint(e.occ(id(claim)))
			second := e.send(r)
			if first != second || first.Err != nil {
				e.Fatalf("answered %+v, then %+v", first, second)
			}
			wantEqual(e, "occurrence", fmt.Sprint(e.occ(id(claim))), before)
		})
	}

	g.claim("TheSameReportTwiceInOneBatchIsAnsweredAlike", func(e *env) {
		c := e.started(sched{id: "a"})
		r := report(c, duly.AttemptFailed, toPending)
		all, err := e.st.Finish(e.ctx, e.node, []store.Report{r, r})
		e.must(err)
		if all[0] != all[1] || all[0].Err != nil {
			e.Fatalf("answered %+v", all)
		}
	})

	g.claim("AReportIsAnsweredAlikeAlsoAfterTheNextClaim", func(e *env) {
		c := e.started(sched{id: "a"})
		e.finish(c, duly.AttemptFailed, toPending)
		second := e.claimOne()
		f := e.finish(c, duly.AttemptFailed, toPending) // its answer was lost
		if f.Late {
			e.Fatalf("answered %+v", f)
		}
		o := e.wantState(id(c), duly.Running)
		if o.Attempts[0].Stale != nil || o.Attempts[1].Token != second.Token {
			e.Fatalf("attempts %+v", o.Attempts)
		}
	})

	g.claim("OneRefusedReportNeverFailsTheRest", func(e *env) {
		e.apply(sched{id: "a"}, sched{id: "b"}, sched{id: "c"})
		e.fireAfter(time.Minute)
		claims := e.claim(3)
		forged := report(claims[1], duly.AttemptSucceeded, toSucceeded)
		forged.Token += 1000
		nonsense := report(claims[1], duly.AttemptSucceeded, store.Next{State: duly.Missed})
		unknown := report(claims[1], duly.AttemptSucceeded, toSucceeded)
		unknown.Seq += 1000
		all, err := e.st.Finish(e.ctx, e.node, []store.Report{
			report(claims[0], duly.AttemptSucceeded, toSucceeded), forged, nonsense, unknown, report(claims[2], duly.AttemptFailed, toFailed),
		})
		e.must(err)
		for i, want := range []duly.Code{"", duly.CodeNotFound, duly.CodeInvalid, duly.CodeNotFound, ""} {
			if got := duly.CodeOf(all[i].Err); got != want {
				e.Errorf("answer %d: %q (%v), want %q", i, got, all[i].Err, want)
			}
		}
		e.wantState(id(claims[0]), duly.Succeeded)
		e.wantState(id(claims[1]), duly.Running)
		e.wantState(id(claims[2]), duly.Failed)
	})

	g.claim("AnInventedOutcomeIsRefused", func(e *env) {
		c := e.started(sched{id: "a"})
		for _, outcome := range []duly.Outcome{"", "done", duly.AttemptRunning, duly.AttemptLost} {
			e.wantCode(e.send(report(c, outcome, toSucceeded)).Err, duly.CodeInvalid)
		}
		e.wantState(id(c), duly.Running)
	})

	g.claim("NothingToReportIsNoError", func(e *env) {
		all, err := e.st.Finish(e.ctx, e.node, nil)
		e.must(err)
		wantEqual(e, "answers", len(all), 0)
	})

	g.claim("WhatAPersonWantsEndedIsNotTriedAgain", func(e *env) {
		c := e.started(sched{id: "a"})
		e.must(e.st.Cancel(e.ctx, id(c), "ann", "wrong month"))
		f := e.finish(c, duly.AttemptFailed, toPending)
		wantEqual(e, "state", f.State, duly.Cancelled)
		o := e.wantState(id(c), duly.Cancelled)
		if o.Reason == "" || o.Attempts[0].Outcome != duly.AttemptFailed {
			e.Fatalf("recorded %+v", o)
		}
	})

	g.claim("WhatAPersonWantsEndedMaySucceedBefore", func(e *env) {
		c := e.started(sched{id: "a"})
		e.must(e.st.Cancel(e.ctx, id(c), "ann", "wrong month"))
		e.succeed(c)
		e.wantState(id(c), duly.Succeeded)
	})

	g.claim("FieldCase_B102_OnlySuccessIsLastSuccess", func(e *env) {
		c := e.started(sched{id: "a"})
		if s := e.schedule("a"); !s.LastSuccess.IsZero() || s.Last.State != duly.Running {
			e.Fatalf("status %+v", s)
		}
		e.fail(c)
		if s := e.schedule("a"); !s.LastSuccess.IsZero() || s.Last.State != duly.Failed {
			e.Fatalf("status %+v", s)
		}
		e.fireAfter(time.Minute)
		e.succeed(e.claimOne())
		at := e.schedule("a").LastSuccess
		if at.IsZero() {
			e.Fatal("a success is not noted")
		}
		e.fireAfter(time.Minute)
		e.fail(e.claimOne())
		e.wantTime("last success", e.schedule("a").LastSuccess, at)
	})

	hold(g)
}

func hold(g *group) {
	for _, end := range []struct {
		name string
		want duly.State
		step func(e *env, c store.Claim)
	}{
		{"Retried", duly.Pending, func(e *env, c store.Claim) { e.must(e.st.Retry(e.ctx, id(c), "ann", "")) }},
		{"Cancelled", duly.Cancelled, func(e *env, c store.Claim) { e.must(e.st.Cancel(e.ctx, id(c), "ann", "")) }},
		{"Resolved", duly.Succeeded, func(e *env, c store.Claim) { e.must(e.st.Resolve(e.ctx, id(c), duly.Succeeded, "ann", "")) }},
	} {
		g.claim("AHeldScheduleWaitsUntilTheHoldingOneIs"+end.name, func(e *env) {
			s := sched{id: "a"}
			c := e.started(s)
			e.fireAfter(time.Minute)
			first := s.at(e.now)
			if end.name == "Resolved" {
				e.finish(c, duly.AttemptUncertain, store.Next{State: duly.Uncertain, Hold: true})
			} else {
				e.finish(c, duly.AttemptFailed, store.Next{State: duly.Failed, Hold: true})
			}
			e.fireAfter(time.Minute)
			second := s.at(e.now)
			e.wantWaiting(first, duly.WaitingEarlier)
			e.wantWaiting(second, duly.WaitingEarlier)
			wantEqual(e, "claimed while held", len(e.claim(10)), 0)
			end.step(e, c)
			e.wantState(id(c), end.want)
			if end.want == duly.Pending {
				again := e.claimOne()
				wantEqual(e, "claimed first", id(again), id(c))
				e.succeed(again)
			}
			next := e.claimOne()
			wantEqual(e, "claimed", id(next), first)
			e.succeed(next)
			wantEqual(e, "claimed", id(e.claimOne()), second)
		})
	}

	g.claim("WithoutHoldAFailureIsNotWaitedFor", func(e *env) {
		s := sched{id: "a"}
		c := e.started(s)
		e.fail(c)
		e.fireAfter(time.Minute)
		wantEqual(e, "claimed", id(e.claimOne()), s.at(e.now))
	})

	g.claim("ALostOneCanHoldToo", func(e *env) {
		s := sched{id: "a"}
		c := e.started(s)
		e.lose(c, store.Next{State: duly.Failed, Hold: true})
		e.fire()
		wantEqual(e, "claimed while held", len(e.claim(10)), 0)
		e.succeed(c) // the late report of the holding one
		if len(e.claim(10)) != 1 {
			e.Fatal("a late success does not free its schedule")
		}
	})
}
