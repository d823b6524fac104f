package storetest

import (
	"fmt"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

func claim(g *group) {
	g.claim("HigherPriorityFirstThenEarlierDue", func(e *env) {
		e.now = e.now.Truncate(2 * time.Minute).Add(2 * time.Minute)
		e.apply(sched{id: "late", every: 2 * time.Minute}, sched{id: "low", priority: -1}, sched{id: "early"}, sched{id: "high", priority: 1})
		e.fireAfter(2*time.Minute - time.Second) // the first minute's
		e.fireAfter(time.Second)
		var got []string
		for _, c := range e.claim(10) {
			got = append(got, c.Schedule)
		}
		if fmt.Sprint(got) != "[high early late low]" {
			e.Fatalf("claimed %v", got)
		}
	})

	g.claim("OnlyWhatTheClaimerCanRunIsHandedOut", func(e *env) {
		e.apply(sched{id: "a", handler: "x"}, sched{id: "b", handler: "y"}, sched{id: "c", handler: "z"})
		e.fireAfter(time.Minute)
		wantEqual(e, "claimed without capabilities", len(e.claimFor(10)), 0)
		wantEqual(e, "claimed for nobody", len(e.claimFor(10, "handler:nobody")), 0)
		claims := e.claimFor(10, "handler:z", "handler:x", "handler:other")
		if len(claims) != 2 {
			e.Fatalf("claimed %+v", claims)
		}
		wantEqual(e, "claimed for y", e.claimFor(10, "handler:y")[0].Schedule, "b")
	})

	g.claim("NothingIsHandedOutTwice", func(e *env) {
		for i := range 30 {
			e.apply(sched{id: fmt.Sprint("s", i)})
		}
		e.fireAfter(time.Minute)
		seen := map[int64]int{}
		for _, c := range concurrently(e, 6, 30, 3) {
			seen[c.Seq]++
		}
		for seq, n := range seen {
			if n != 1 {
				e.Errorf("occurrence %d was handed out %d times", seq, n)
			}
		}
		wantEqual(e, "handed out", len(seen), 30)
	})

	g.claim("TokensGrow", func(e *env) {
		for i := range 5 {
			e.apply(sched{id: fmt.Sprint("s", i)})
		}
		last := int64(0)
		for range 4 {
			e.fireAfter(time.Minute)
			for _, c := range e.claim(3) {
				if c.Token <= last {
					e.Fatalf("token %d after %d", c.Token, last)
				}
				last = c.Token
				e.succeed(c)
			}
		}
	})

	g.claim("TokenNeverRestartsAfterReopen", func(e *env) {
		s := sched{id: "a"}
		before := e.started(s)
		e.succeed(before)
		e.reopen()
		e.fireAfter(time.Minute)
		after := e.claimOne()
		if after.Token <= before.Token || after.Seq <= before.Seq {
			e.Fatalf("token %d and seq %d after %d and %d", after.Token, after.Seq, before.Token, before.Seq)
		}
	})

	g.claim("AttemptsAreNumberedAndTriesCounted", func(e *env) {
		c := e.started(sched{id: "a"})
		e.finish(c, duly.AttemptReleased, store.Next{State: duly.Pending, Uncounted: true})
		second := e.claimOne()
		if second.Attempt != 2 || second.Tries != 1 || second.Token <= c.Token || second.Seq != c.Seq {
			e.Fatalf("after a release: %+v", second)
		}
		e.finish(second, duly.AttemptFailed, toPending)
		third := e.claimOne()
		if third.Attempt != 3 || third.Tries != 2 {
			e.Fatalf("after a failure: %+v", third)
		}
		e.succeed(third)
		o := e.occ(id(c))
		if len(o.Attempts) != 3 || o.Attempts[0].Outcome != duly.AttemptReleased || o.Attempts[1].Outcome != duly.AttemptFailed || o.Attempts[2].Outcome != duly.AttemptSucceeded {
			e.Fatalf("attempts %+v", o.Attempts)
		}
		for i, a := range o.Attempts {
			if a.Number != i+1 || a.Node != nodeName || a.StartedAt.IsZero() || a.FinishedAt.IsZero() || !a.LeaseUntil.IsZero() {
				e.Fatalf("attempt %+v", a)
			}
		}
	})

	g.claim("AClaimTellsEverythingThatWorkNeeds", func(e *env) {
		s := sched{id: "a", queue: "q", lease: 90 * time.Second}
		c := e.started(s)
		o := e.occ(id(c))
		want := store.Claim{
			Seq: o.Seq, Schedule: "a", Period: period(e.now), Due: e.now, IntervalStart: e.now.Add(-time.Minute), Origin: duly.OriginSchedule, Queue: "q",
			Revision: 1, Definition: c.Definition, Attempt: 1, Tries: 1, Token: c.Token, Lease: 90 * time.Second, LeaseUntil: e.now.Add(90 * time.Second), Exclusive: true,
		}
		got := c
		got.Covers, want.Covers = nil, nil
		if fmt.Sprint(got) != fmt.Sprint(want) || len(c.Covers) != 1 || c.Covers[0] != c.Period || c.Payload != nil {
			e.Fatalf("claimed\n%+v, want\n%+v", c, want)
		}
	})

	g.claim("AClaimIsExclusiveWhereItsQueueRunsOneAtATime", func(e *env) {
		e.applyQueues(duly.Queue{Name: "wide", Concurrency: 2}, duly.Queue{Name: "narrow", Concurrency: 1})
		e.apply(sched{id: "serial"}, sched{id: "parallel", parallel: true}, sched{id: "wide", queue: "wide"}, sched{id: "narrow", queue: "narrow", parallel: true})
		e.fireAfter(time.Minute)
		for _, c := range e.claim(10) {
			want := c.Schedule == "serial" || c.Schedule == "narrow"
			if c.Exclusive != want {
				e.Errorf("%s: exclusive %v", c.Schedule, c.Exclusive)
			}
		}
	})

	g.claim("MaxBoundsAClaim", func(e *env) {
		e.apply(sched{id: "a", parallel: true})
		e.pass(5 * time.Minute)
		e.fire()
		for _, want := range []int{2, 2, 1, 0} {
			wantEqual(e, "claimed", len(e.claim(2)), want)
		}
	})

	g.claim("FieldCase_B57_WhatIsDoneStaysDone", func(e *env) {
		c := e.started(sched{id: "a", every: 24000 * time.Hour, lease: 10 * time.Minute})
		e.succeed(c)
		for range 12 {
			e.pass(10 * time.Minute)
			e.reap(toPending)
			wantEqual(e, "claimed", len(e.claim(10)), 0)
		}
		wantEqual(e, "attempts", len(e.wantState(id(c), duly.Succeeded).Attempts), 1)
	})

	g.claim("ANodeThatIsNotKnownMayClaim", func(e *env) {
		e.apply(sched{id: "a"})
		e.fireAfter(time.Minute)
		res, err := e.st.Claim(e.ctx, store.ClaimRequest{Now: e.now, Node: 999999, Max: 1, Capabilities: []string{"handler:h"}})
		e.must(err)
		wantEqual(e, "claimed", len(res.Claims), 1)
	})
}

// concurrently claims from several goroutines and two openings of the store
// until nothing has come three times in a row.
func concurrently(e *env, claimers, expect, batch int) []store.Claim {
	e.Helper()
	other := e.open()
	results := make(chan []store.Claim, claimers)
	for i := range claimers {
		st := e.st
		if i%2 == 1 {
			st = other
		}
		go func() {
			var mine []store.Claim
			for empty := 0; empty < 3; {
				res, err := st.Claim(e.ctx, store.ClaimRequest{Now: e.now, Node: e.node, Max: batch, Capabilities: []string{"handler:h"}})
				if err != nil {
					e.Error(err)
					break
				}
				if len(res.Claims) == 0 {
					empty++
				}
				mine = append(mine, res.Claims...)
			}
			results <- mine
		}()
	}
	var all []store.Claim
	for range claimers {
		all = append(all, <-results...)
	}
	if len(all) < expect {
		e.Errorf("only %d of %d were handed out", len(all), expect)
	}
	return all
}

func order(g *group) {
	g.claim("SerialOccurrencesRunInOrderOfDue", func(e *env) {
		s := sched{id: "a"}
		e.apply(s)
		e.pass(4 * time.Minute)
		e.fire()
		for i := 4; i > 0; i-- {
			claims := e.claim(10)
			if len(claims) != 1 || !claims[0].Due.Equal(e.now.Add(time.Duration(1-i)*time.Minute)) {
				e.Fatalf("claimed %+v with %d left", claims, i)
			}
			if i > 1 {
				e.wantWaiting(s.at(e.now), duly.WaitingEarlier)
			}
			e.succeed(claims[0])
		}
		wantEqual(e, "claimed in the end", len(e.claim(10)), 0)
	})

	for _, end := range []struct {
		name string
		step func(e *env, c store.Claim)
	}{
		{"Succeeds", func(e *env, c store.Claim) { e.succeed(c) }},
		{"Fails", func(e *env, c store.Claim) { e.fail(c) }},
		{"IsUncertain", func(e *env, c store.Claim) { e.finish(c, duly.AttemptUncertain, toUncertain) }},
		{"IsLostForGood", func(e *env, c store.Claim) { e.lose(c, toFailed) }},
		{"IsCancelledWhileItRuns", func(e *env, c store.Claim) {
			e.must(e.st.Cancel(e.ctx, id(c), "ann", ""))
			e.finish(c, duly.AttemptCancelled, toCancelled)
		}},
		{"IsCancelledWhileItWaits", func(e *env, c store.Claim) {
			e.finish(c, duly.AttemptFailed, toPending)
			e.must(e.st.Cancel(e.ctx, id(c), "ann", ""))
		}},
		{"SucceedsLate", func(e *env, c store.Claim) {
			e.lose(c, toPending)
			e.succeed(c)
		}},
	} {
		g.claim("TheNextMayRunWhenTheFirst"+end.name, func(e *env) {
			s := sched{id: "a"}
			c := e.started(s)
			e.fireAfter(time.Minute)
			next := s.at(e.now)
			e.wantWaiting(next, duly.WaitingEarlier)
			end.step(e, c)
			e.wantWaiting(next, duly.WaitingSlot)
			wantEqual(e, "claimed", id(e.claimOne()), next)
		})
	}

	g.claim("ARetryKeepsItsPlace", func(e *env) {
		s := sched{id: "a"}
		c := e.started(s)
		e.fireAfter(time.Minute)
		e.finish(c, duly.AttemptFailed, store.Next{State: duly.Pending, Delay: time.Hour})
		e.wantWaiting(id(c), duly.WaitingTime)
		e.wantWaiting(s.at(e.now), duly.WaitingEarlier)
		wantEqual(e, "claimed before the retry", len(e.claim(10)), 0)
		e.pass(2 * time.Hour)
		wantEqual(e, "claimed", id(e.claimOne()), id(c))
	})

	g.claim("ParallelOccurrencesWaitForNobody", func(e *env) {
		e.apply(sched{id: "a", parallel: true})
		e.pass(3 * time.Minute)
		e.fire()
		wantEqual(e, "claimed", len(e.claim(10)), 3)
	})

	g.claim("SchedulesDoNotWaitForEachOther", func(e *env) {
		e.apply(sched{id: "a"}, sched{id: "b"})
		e.fireAfter(time.Minute)
		wantEqual(e, "claimed", len(e.claim(10)), 2)
	})

	g.claim("NotBeforeIsWaitedFor", func(e *env) {
		s := sched{id: "a", notBefore: 20 * time.Second}
		e.apply(s)
		e.fireAfter(time.Minute)
		o := e.wantState(s.at(e.now), duly.Pending)
		wantEqual(e, "waiting", o.Waiting, duly.WaitingTime)
		e.wantTime("not before", o.NotBefore, e.now.Add(20*time.Second))
		e.pass(19 * time.Second)
		wantEqual(e, "claimed too early", len(e.claim(1)), 0)
		e.pass(time.Second)
		wantEqual(e, "claimed", len(e.claim(1)), 1)
	})

	g.claim("NotBeforeHoldsForTheNextOneToo", func(e *env) {
		s := sched{id: "a", notBefore: 90 * time.Second}
		e.apply(s)
		e.fireAfter(time.Minute)
		first := s.at(e.now)
		e.fireAfter(time.Minute)
		second := s.at(e.now)
		e.wantWaiting(second, duly.WaitingEarlier)
		e.pass(30 * time.Second)
		c := e.claimOne()
		wantEqual(e, "claimed", id(c), first)
		e.succeed(c)
		wantEqual(e, "claimed at once", len(e.claim(1)), 0)
		e.pass(time.Minute)
		wantEqual(e, "claimed", id(e.claimOne()), second)
	})

	startDeadline(g)
}

func startDeadline(g *group) {
	missed := func(e *env, all []store.Fired, id string) {
		e.Helper()
		if len(all) != 1 || duly.OccurrenceID(all[0].Schedule, all[0].Period) != id || all[0].State != duly.Missed || all[0].Reason == "" {
			e.Fatalf("missed %+v, want %s", all, id)
		}
		o := e.wantState(id, duly.Missed)
		if o.Reason == "" || o.FinishedAt.IsZero() {
			e.Fatalf("missed without a reason or an end: %+v", o)
		}
	}

	g.claim("PastItsStartDeadlineAnOccurrenceIsMissedByClaim", func(e *env) {
		s := sched{id: "a", startBy: 30 * time.Second}
		e.apply(s)
		e.fireAfter(time.Minute)
		id := s.at(e.now)
		e.pass(30*time.Second + time.Millisecond)
		res, err := e.st.Claim(e.ctx, store.ClaimRequest{Now: e.now, Node: e.node, Max: 10, Capabilities: []string{"handler:h"}})
		e.must(err)
		wantEqual(e, "claimed", len(res.Claims), 0)
		missed(e, res.Missed, id)
		stats, err := e.st.Stats(e.ctx)
		e.must(err)
		if len(stats.Skips) != 1 || stats.Skips[0].Count != 1 {
			e.Fatalf("skips %v", stats.Skips)
		}
	})

	g.claim("PastItsStartDeadlineAnOccurrenceIsMissedByReap", func(e *env) {
		s := sched{id: "a", startBy: 30 * time.Second}
		e.apply(s)
		e.fireAfter(time.Minute)
		id := s.at(e.now)
		e.pass(time.Minute)
		missed(e, e.reap(toPending).Missed, id)
		wantEqual(e, "missed twice", len(e.reap(toPending).Missed), 0)
	})

	g.claim("AtItsStartDeadlineAnOccurrenceStillStarts", func(e *env) {
		e.apply(sched{id: "a", startBy: 30 * time.Second})
		e.fireAfter(time.Minute)
		e.pass(30 * time.Second)
		wantEqual(e, "claimed", len(e.claim(1)), 1)
	})

	g.claim("WhatHasStartedIsNotMissed", func(e *env) {
		c := e.started(sched{id: "a", startBy: 30 * time.Second})
		e.finish(c, duly.AttemptFailed, toPending)
		e.pass(time.Hour)
		wantEqual(e, "missed", len(e.reap(toPending).Missed), 0)
		wantEqual(e, "claimed", e.claimOne().Attempt, 2)
	})

	g.claim("WhatIsMissedLetsTheNextGo", func(e *env) {
		s := sched{id: "a", startBy: 90 * time.Second}
		e.apply(s)
		e.fireAfter(time.Minute)
		e.fireAfter(time.Minute)
		next := s.at(e.now)
		e.pass(31 * time.Second)
		e.reap(toPending)
		e.wantWaiting(next, duly.WaitingSlot)
	})

	g.claim("AFiringThatClaimsMissesWhatIsTooLate", func(e *env) {
		s := sched{id: "a", startBy: 30 * time.Second, parallel: true}
		e.apply(s)
		e.pass(2 * time.Minute)
		late := e.now.Add(-time.Minute)
		res := e.fireWith(store.FireRequest{Plan: e.plan, Claim: &store.ClaimRequest{Node: e.node, Max: 10, Capabilities: []string{"handler:h"}}})
		if len(res.Claims) != 1 || !res.Claims[0].Due.Equal(e.now) {
			e.Fatalf("claimed %+v", res.Claims)
		}
		e.reap(toPending)
		e.wantState(s.at(late), duly.Missed)
	})
}
