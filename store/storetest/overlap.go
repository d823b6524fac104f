package storetest

import (
	"fmt"
	"slices"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// fireOverlap has what firing does for the overlap policies, and for changed
// definitions.
func fireOverlap(g *group) {
	g.claim("CombineIsToldWhatWaitsAndMergesIt", func(e *env) {
		s := sched{id: "a", overlap: duly.OverlapCombine}
		c := e.started(s)
		first := e.now
		e.fireAfter(time.Minute)
		e.fireAfter(time.Minute)
		e.pass(time.Minute)
		var told store.DueSchedule
		res := e.fireWith(store.FireRequest{Plan: func(now time.Time, due []store.DueSchedule) []store.Firing {
			told = due[0]
			f := e.plan(now, due)
			o := &f[0].Occurrences[0]
			for _, w := range due[0].Waiting {
				f[0].Merge = append(f[0].Merge, w.Seq)
				o.Covers = append(o.Covers, w.Covers...)
			}
			o.Covers = append(o.Covers, o.Period)
			return f
		}})
		if len(told.Waiting) != 2 || told.Open != 3 || told.Running != 1 || told.Waiting[0].Period != period(first.Add(time.Minute)) {
			e.Fatalf("the planner was told %+v", told)
		}
		if !slices.Equal(told.Waiting[0].Covers, []string{told.Waiting[0].Period}) {
			e.Fatalf("covers %v", told.Waiting[0].Covers)
		}
		wantEqual(e, "fired", len(res.Fired), 1)
		last := s.at(e.now)
		for i := 1; i <= 2; i++ {
			o := e.wantState(s.at(first.Add(time.Duration(i)*time.Minute)), duly.Merged)
			wantEqual(e, "merged into", o.MergedInto, last)
		}
		e.wantWaiting(last, duly.WaitingEarlier)
		e.succeed(c)
		got := e.claimOne()
		if len(got.Covers) != 3 || id(got) != last {
			e.Fatalf("claimed %+v", got)
		}
		wantEqual(e, "covers", fmt.Sprint(e.occ(last).Covers), fmt.Sprint(got.Covers))
	})

	g.claim("WhatIsMergedLetsTheOneThatTakesOverGoFirst", func(e *env) {
		s := sched{id: "a", overlap: duly.OverlapCombine}
		e.apply(s)
		e.fireAfter(time.Minute) // waits for a slot
		e.pass(time.Minute)
		e.fireWith(store.FireRequest{Plan: func(now time.Time, due []store.DueSchedule) []store.Firing {
			f := e.plan(now, due)
			f[0].Merge = []int64{due[0].Waiting[0].Seq}
			return f
		}})
		wantEqual(e, "claimed", id(e.claimOne()), s.at(e.now))
	})

	g.claim("OnlyWhatNeverStartedIsToldAsWaiting", func(e *env) {
		s := sched{id: "a", overlap: duly.OverlapCombine}
		c := e.started(s)
		e.finish(c, duly.AttemptFailed, toPending)
		e.pass(time.Minute)
		var told store.DueSchedule
		e.fireWith(store.FireRequest{Plan: func(now time.Time, due []store.DueSchedule) []store.Firing {
			told = due[0]
			f := e.plan(now, due)
			f[0].Merge = []int64{c.Seq} // must not happen to one that has started
			return f
		}})
		wantEqual(e, "waiting", len(told.Waiting), 0)
		wantEqual(e, "open", told.Open, 1)
		e.wantState(id(c), duly.Pending)
	})

	g.claim("ReplaceIsToldWhatRunsAndCancelsIt", func(e *env) {
		s := sched{id: "a", overlap: duly.OverlapReplace}
		c := e.started(s)
		e.pass(30 * time.Second)
		e.pass(30 * time.Second)
		var told store.DueSchedule
		e.fireWith(store.FireRequest{Plan: func(now time.Time, due []store.DueSchedule) []store.Firing {
			told = due[0]
			f := e.plan(now, due)
			f[0].Cancel = due[0].Active
			return f
		}})
		if !slices.Equal(told.Active, []int64{c.Seq}) {
			e.Fatalf("active: %v, want %d", told.Active, c.Seq)
		}
		e.wantWaiting(s.at(e.now), duly.WaitingEarlier)
		answers, err := e.st.Renew(e.ctx, e.node, []store.Renewal{{Seq: c.Seq, Token: c.Token, Lease: time.Minute}})
		e.must(err)
		if !answers[0].Cancelled || answers[0].Lost || answers[0].Reason == "" {
			e.Fatalf("renewed %+v", answers[0])
		}
		wantEqual(e, "claimed while it runs", len(e.claim(1)), 0)
		e.finish(c, duly.AttemptCancelled, toCancelled)
		e.wantState(id(c), duly.Cancelled)
		wantEqual(e, "claimed", id(e.claimOne()), s.at(e.now))
	})

	g.claim("RevisionsInForceSinceTheCursorAreTold", func(e *env) {
		s := sched{id: "a"}
		e.apply(s)
		start := e.now
		e.pass(5*time.Minute + time.Second) // five are owed under the first revision
		s.payload = `{"v":2}`
		e.apply(s)
		changed := e.now
		e.pass(5 * time.Minute)
		var told store.DueSchedule
		tell := func(now time.Time, due []store.DueSchedule) []store.Firing {
			told = due[0]
			return e.plan(now, due)
		}
		e.fireWith(store.FireRequest{Plan: tell})
		if len(told.Revisions) != 2 || told.Revisions[0].Number != 1 || told.Revisions[1].Number != 2 {
			e.Fatalf("revisions %+v", told.Revisions)
		}
		e.wantTime("cursor", told.Cursor, start)
		e.wantTime("second from", told.Revisions[1].From, changed)
		if told.Revisions[0].Definition == told.Revisions[1].Definition {
			e.Fatal("two contents have one number")
		}
		e.pass(time.Minute)
		e.fireWith(store.FireRequest{Plan: tell})
		if len(told.Revisions) != 1 || told.Revisions[0].Number != 2 {
			e.Fatalf("revisions after the cursor has passed: %+v", told.Revisions)
		}
		all, err := e.st.Revisions(e.ctx, "a")
		e.must(err)
		if len(all) != 2 || all[0].Number != 1 || all[1].Number != 2 || !all[1].From.Equal(changed) {
			e.Fatalf("all revisions: %+v", all)
		}
	})

	g.claim("FieldCase_B75_WhatWasMadeKeepsItsDefinition", func(e *env) {
		s := sched{id: "a", payload: `{"tenant":7}`}
		e.apply(s)
		e.fireAfter(time.Minute)
		s.payload = `{"tenant":8}`
		e.apply(s)
		e.fireAfter(time.Minute)
		for _, want := range []string{`{"tenant":7}`, `{"tenant":8}`} {
			c := e.claimOne()
			def, err := e.st.Definition(e.ctx, c.Definition)
			e.must(err)
			wantEqual(e, "payload", string(def.Payload), want)
			e.succeed(c)
		}
	})
}

func clockSetBack(g *group) {
	g.claim("FieldCase_B78_AClockThatWasSetBackSilencesNothingAndRepeatsNothing", func(e *env) {
		s := sched{id: "a", parallel: true}
		e.apply(s)
		e.fireAfter(2 * time.Hour)
		made := len(e.all("a"))
		wantEqual(e, "made", made, 120)
		e.pass(-119 * time.Minute) // back to one minute after the beginning
		res := e.fire()
		wantEqual(e, "set back by", res.ClockSetBack, 119*time.Minute)
		got := e.schedule("a")
		if got.Paused != nil || got.NextDue.IsZero() || got.NextDue.After(e.now.Add(time.Minute)) {
			e.Fatalf("next due %v (paused: %+v), and it is %v", got.NextDue, got.Paused, e.now)
		}
		e.pass(10 * time.Minute)
		res = e.fire()
		if res.ClockSetBack != 0 || len(res.Fired) != 0 || len(e.all("a")) != made {
			e.Fatalf("set back %v again, made %d again", res.ClockSetBack, len(res.Fired))
		}
		e.pass(110 * time.Minute) // beyond where it was
		wantEqual(e, "made later", len(e.fire().Fired), 1)
	})

	g.claim("WhatIsDueAfterAClockWasSetBackIsMadeAtOnce", func(e *env) {
		e.apply(sched{id: "a", every: time.Hour})
		e.fireAfter(3 * time.Hour)
		e.pass(-90 * time.Minute)
		var told []store.DueSchedule
		res := e.fireWith(store.FireRequest{Plan: func(now time.Time, due []store.DueSchedule) []store.Firing {
			told = due
			return e.plan(now, due)
		}})
		if len(told) != 1 || !told[0].Cursor.Equal(e.now) || res.Schedules != 1 {
			e.Fatalf("told %+v", told)
		}
		if got := e.schedule("a"); got.Paused != nil || !got.NextDue.After(e.now) || got.NextDue.After(e.now.Add(time.Hour)) {
			e.Fatalf("next due %v, paused %+v", got.NextDue, got.Paused)
		}
	})

	g.claim("APauseBeginsNoLaterThanTheClockAndNobodyElseIsPaused", func(e *env) {
		e.apply(sched{id: "a"}, sched{id: "b"})
		e.fireAfter(time.Hour)
		e.must(e.st.Pause(e.ctx, store.PauseRequest{Now: e.now, Schedule: "a", By: "ann"}))
		e.pass(-30 * time.Minute)
		e.fire()
		if p := e.schedule("a").Paused; p == nil || !p.At.Equal(e.now) || p.By != "ann" {
			e.Fatalf("paused %+v", p)
		}
		if p := e.schedule("b").Paused; p != nil {
			e.Fatalf("paused %+v", p)
		}
		stats, err := e.st.Stats(e.ctx)
		e.must(err)
		wantEqual(e, "paused", stats.Paused, 1)
	})

	g.claim("ASmallStepBackIsNotNoticed", func(e *env) {
		e.apply(sched{id: "a"})
		e.fireAfter(time.Minute)
		before := e.schedule("a")
		e.pass(-store.ClockTolerance)
		wantEqual(e, "set back by", e.fire().ClockSetBack, 0)
		e.wantTime("cursor", e.schedule("a").Cursor, before.Cursor)
	})

	g.claim("LeasesAreCutToTheirLength", func(e *env) {
		e.pass(2 * time.Hour)
		c := e.started(sched{id: "a"})
		e.pass(-90 * time.Minute)
		e.fire()
		until := e.occ(id(c)).Attempts[0].LeaseUntil
		if until.After(e.now.Add(time.Minute)) {
			e.Fatalf("the lease ends at %v, and it is %v", until, e.now)
		}
		e.pass(time.Minute + time.Second)
		wantEqual(e, "lost", len(e.reap(toPending).Lost), 1)
	})

	g.claim("LeasesThatWereRenewedForLongerAreCutToThat", func(e *env) {
		e.pass(2 * time.Hour)
		c := e.started(sched{id: "a"})
		renewed, err := e.st.Renew(e.ctx, e.node, []store.Renewal{{Seq: c.Seq, Token: c.Token, Lease: 4 * time.Hour}})
		e.must(err)
		e.pass(-90 * time.Minute)
		if e.fire().ClockSetBack == 0 {
			e.Fatal("not noticed")
		}
		e.wantTime("lease", e.occ(id(c)).Attempts[0].LeaseUntil, renewed[0].Until)
		e.pass(-90 * time.Minute)
		e.fire()
		e.wantTime("lease", e.occ(id(c)).Attempts[0].LeaseUntil, e.now.Add(4*time.Hour))
		// The next attempt has that of the definition again.
		e.pass(4*time.Hour + time.Second)
		wantEqual(e, "lost", len(e.reap(toPending).Lost), 1)
		second := e.claimOne()
		wantEqual(e, "lease", second.Lease, time.Minute)
		e.fire()
		e.pass(-time.Hour)
		e.fire()
		e.wantTime("lease", e.occ(id(c)).Attempts[1].LeaseUntil, e.now.Add(time.Minute))
	})

	g.claim("ARetryWaitsNoLongerThanItWouldHave", func(e *env) {
		e.pass(2 * time.Hour)
		c := e.started(sched{id: "a", parallel: true})
		e.lose(c, store.Next{State: duly.Pending, Delay: 10 * time.Minute})
		e.defs["a"] = sched{id: "a", every: 24000 * time.Hour}
		e.pass(time.Minute)
		e.fire()
		e.pass(-90 * time.Minute)
		if res := e.fire(); res.ClockSetBack == 0 {
			e.Fatalf("not noticed: %+v", res)
		}
		if by := e.occ(id(c)).NotBefore.Sub(e.now); by < 8*time.Minute || by > 11*time.Minute {
			e.Fatalf("it waits for %v", by)
		}
		e.pass(11 * time.Minute)
		wantEqual(e, "claimed", id(e.claimOne()), id(c))
	})

	g.claim("SchedulesThatLieBehindStayAsTheyAre", func(e *env) {
		daily := sched{id: "daily", every: 24000 * time.Hour}
		e.apply(daily, sched{id: "a"})
		before := e.schedule("daily")
		e.fireAfter(time.Hour)
		e.pass(-30 * time.Minute)
		e.fire()
		after := e.schedule("daily")
		e.wantTime("next due", after.NextDue, before.NextDue)
		e.wantTime("cursor", after.Cursor, before.Cursor)
	})
}
