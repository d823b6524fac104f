package storetest

import (
	"errors"
	"fmt"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

func fire(g *group) {
	g.claim("NothingIsFiredBeforeItIsDue", func(e *env) {
		e.apply(sched{id: "a"})
		e.pass(59 * time.Second)
		asked := false
		res := e.fireWith(store.FireRequest{Plan: func(now time.Time, due []store.DueSchedule) []store.Firing {
			asked = true
			return e.plan(now, due)
		}})
		if asked || len(res.Fired) != 0 || res.Schedules != 0 {
			e.Fatalf("fired %+v before it was due", res)
		}
		if res = e.fireAfter(time.Second); len(res.Fired) != 1 || res.Schedules != 1 {
			e.Fatalf("fired %+v when it was due", res)
		}
	})

	g.claim("FiringMovesTheScheduleInTheSameStep", func(e *env) {
		s := sched{id: "a"}
		e.apply(s)
		e.fireAfter(time.Minute + time.Second)
		got := e.schedule("a")
		e.wantTime("cursor", got.Cursor, e.now)
		e.wantTime("next due", got.NextDue, e.now.Truncate(time.Minute).Add(time.Minute))
		wantEqual(e, "fired", got.Fired, 1)
		o := e.wantState(s.at(e.now.Truncate(time.Minute)), duly.Pending)
		wantEqual(e, "last", got.Last.ID, o.ID)
		wantEqual(e, "fired by", o.FiredBy, nodeName)
		wantEqual(e, "tzdata", o.TZData, "2026a")
		wantEqual(e, "waiting", o.Waiting, duly.WaitingSlot)
		if res := e.fire(); len(res.Fired) != 0 {
			e.Fatalf("fired again: %+v", res.Fired)
		}
	})

	g.claim("FiringTwiceMakesOneOccurrence", func(e *env) {
		e.apply(sched{id: "a"})
		e.pass(time.Minute)
		again := func(now time.Time, due []store.DueSchedule) []store.Firing {
			f := e.plan(now, due)
			f[0].NextDue, f[0].Cursor = now, now.Add(-time.Minute) // as if nothing had been planned
			return f
		}
		first := e.fireWith(store.FireRequest{Plan: again})
		second := e.fireWith(store.FireRequest{Plan: again})
		if len(first.Fired) != 1 || len(second.Fired) != 0 {
			e.Fatalf("fired %d, then %d", len(first.Fired), len(second.Fired))
		}
		wantEqual(e, "fired", e.schedule("a").Fired, 1)
		wantEqual(e, "occurrences", len(e.all("a")), 1)
	})

	g.claim("AnOccurrenceThatExistsKeepsWhatItIs", func(e *env) {
		s := sched{id: "a"}
		c := e.started(s)
		e.succeed(c)
		before := e.occ(id(c))
		e.pass(time.Minute)
		e.fireWith(store.FireRequest{Plan: func(now time.Time, due []store.DueSchedule) []store.Firing {
			f := e.plan(now, due)
			again := s.occurrence(c.Due, due[0].Revisions[0])
			again.Priority, again.Reason = 50, "again"
			f[0].Occurrences = append([]store.NewOccurrence{again}, f[0].Occurrences...)
			return f
		}})
		after := e.occ(id(c))
		if after.State != duly.Succeeded || after.Priority != before.Priority || after.Seq != before.Seq || after.Reason != before.Reason {
			e.Fatalf("was %+v, is %+v", before, after)
		}
		wantEqual(e, "occurrences", len(e.all("a")), 2)
		e.wantWaiting(s.at(e.now), duly.WaitingSlot) // and nothing waits for the one that was there
	})

	g.claim("ManyFirersMakeEachOccurrenceOnce", func(e *env) {
		const schedules, instants = 20, 6
		for i := range schedules {
			e.apply(sched{id: fmt.Sprintf("s%02d", i), parallel: true})
		}
		e.pass(instants * time.Minute)
		var wg sync.WaitGroup
		var mu sync.Mutex
		made := map[string]int{}
		for _, st := range []store.Store{e.st, e.st, e.st, e.open(), e.open()} {
			wg.Go(func() {
				for range schedules {
					res, err := st.Fire(e.ctx, store.FireRequest{Now: e.now, Node: e.node, Limit: 3, Plan: e.plan})
					if err != nil {
						e.Error(err)
						return
					}
					mu.Lock()
					for _, f := range res.Fired {
						made[duly.OccurrenceID(f.Schedule, f.Period)]++
					}
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		for id, n := range made {
			if n != 1 {
				e.Errorf("%s was made %d times", id, n)
			}
		}
		wantEqual(e, "occurrences", len(made), schedules*instants)
	})

	g.claim("LimitBoundsTheSchedulesOfOneFiring", func(e *env) {
		for i := range 5 {
			e.apply(sched{id: fmt.Sprint("s", i)})
		}
		e.pass(time.Minute)
		var seen []int
		for range 3 {
			res := e.fireWith(store.FireRequest{Plan: e.plan, Limit: 2})
			seen = append(seen, res.Schedules)
			wantEqual(e, "more", res.More, len(seen) < 3)
		}
		if fmt.Sprint(seen) != "[2 2 1]" {
			e.Fatalf("took %v schedules with a limit of 2", seen)
		}
	})

	g.claim("QueuesTakeTurnsInWhatIsDueAtOneInstant", func(e *env) {
		var all []sched
		for i := range 20 {
			all = append(all, sched{id: fmt.Sprintf("crowd%02d", i), queue: "crowd"})
		}
		e.apply(all...)
		e.apply(append(all, sched{id: "few1", queue: "few"}, sched{id: "few2", queue: "few"}, sched{id: "own1"}, sched{id: "own2"}, sched{id: "own3"})...)
		e.pass(time.Minute)
		for _, c := range []struct {
			limit int
			want  map[string]int // by the beginning of their names
		}{{3, map[string]int{"cro": 1, "few": 1, "own": 1}}, {3, map[string]int{"cro": 1, "few": 1, "own": 1}}, {2, map[string]int{"cro": 1, "own": 1}}, {5, map[string]int{"cro": 5}}} {
			res := e.fireWith(store.FireRequest{Plan: e.plan, Limit: c.limit})
			fired := map[string]int{}
			for _, f := range res.Fired {
				fired[f.Schedule[:3]]++
			}
			if !maps.Equal(fired, c.want) {
				e.Fatalf("fired %v, want %v", fired, c.want)
			}
		}
	})

	g.claim("ThePlannerMayAnswerForTheFirstOnesOnly", func(e *env) {
		for i := range 4 {
			e.apply(sched{id: fmt.Sprint("s", i)})
		}
		e.pass(time.Minute)
		some := func(now time.Time, due []store.DueSchedule) []store.Firing {
			return e.plan(now, due[:min(3, len(due))])
		}
		first := e.fireWith(store.FireRequest{Plan: some})
		second := e.fireWith(store.FireRequest{Plan: some})
		if len(first.Fired) != 3 || !first.More || len(second.Fired) != 1 || second.More {
			e.Fatalf("fired %d (more: %v), then %d (more: %v)", len(first.Fired), first.More, len(second.Fired), second.More)
		}
	})

	g.claim("AScheduleWithMoreToPlanIsMore", func(e *env) {
		e.apply(sched{id: "a"})
		e.pass(3 * time.Minute)
		page := func(now time.Time, due []store.DueSchedule) []store.Firing {
			f := e.plan(now, due)
			if len(f[0].Occurrences) > 1 {
				f[0].Occurrences = f[0].Occurrences[:1]
				f[0].Cursor, f[0].NextDue = f[0].Occurrences[0].Due, now
			}
			return f
		}
		for i := range 3 {
			res := e.fireWith(store.FireRequest{Plan: page})
			if len(res.Fired) != 1 || res.More != (i < 2) {
				e.Fatalf("page %d: fired %d, more %v", i, len(res.Fired), res.More)
			}
		}
	})

	g.claim("ThePlannerIsToldWhereAScheduleStands", func(e *env) {
		start := e.now.Add(300 * time.Millisecond)
		e.now = start
		e.apply(sched{id: "a", parallel: true})
		e.pass(2 * time.Minute)
		e.fire()
		e.claim(1)
		e.pass(time.Minute)
		var got store.DueSchedule
		e.fireWith(store.FireRequest{Plan: func(now time.Time, due []store.DueSchedule) []store.Firing {
			got = due[0]
			return e.plan(now, due)
		}})
		e.wantTime("cursor", got.Cursor, e.now.Add(-time.Minute))
		e.wantTime("anchor", got.Anchor, start.Truncate(time.Second))
		if got.Schedule != "a" || got.Fired != 2 || got.Open != 2 || got.Running != 1 || len(got.Revisions) != 1 || got.Resume != nil || got.Waiting != nil || got.Active != nil {
			e.Fatalf("the planner was told %+v", got)
		}
		def, err := e.st.Definition(e.ctx, got.Revisions[0].Definition)
		e.must(err)
		wantEqual(e, "handler", def.Target.Handler, "h")
	})

	g.claim("WhatIsNotRunIsRecordedWithItsReason", func(e *env) {
		s := sched{id: "a"}
		e.apply(s)
		e.pass(3 * time.Minute)
		e.fireWith(store.FireRequest{Plan: func(now time.Time, due []store.DueSchedule) []store.Firing {
			f := e.plan(now, due)
			f[0].Occurrences[0].State, f[0].Occurrences[0].Reason = duly.Missed, "too late"
			f[0].Occurrences[1].State, f[0].Occurrences[1].Reason = duly.Skipped, "holiday"
			return f
		}})
		all := e.all("a")
		if all[0].State != duly.Missed || all[0].Reason != "too late" || all[1].State != duly.Skipped || all[1].Reason != "holiday" || all[2].State != duly.Pending {
			e.Fatalf("recorded %+v", all)
		}
		if all[0].FinishedAt.IsZero() || len(e.claim(10)) != 1 {
			e.Fatal("what is not run is neither ended nor out of the way")
		}
		wantEqual(e, "fired", e.schedule("a").Fired, 1)
		stats, err := e.st.Stats(e.ctx)
		e.must(err)
		if fmt.Sprint(stats.Skips) != "[{a holiday 1} {a too late 1}]" {
			e.Fatalf("skips: %v", stats.Skips)
		}
	})

	g.claim("ARunOfMissedPeriodsGrowsInOneRow", func(e *env) {
		s := sched{id: "a"}
		e.apply(s)
		run := func(minutes int) {
			e.pass(time.Duration(minutes) * time.Minute)
			e.fireWith(store.FireRequest{Plan: func(now time.Time, due []store.DueSchedule) []store.Firing {
				f := e.plan(now, due)
				all := f[0].Occurrences
				o := all[len(all)-1]
				o.Period, o.State, o.Reason, o.Count, o.Extend = all[0].Period+".."+o.Period, duly.Missed, "outage", len(all), true
				f[0].Occurrences = []store.NewOccurrence{o}
				return f
			}})
		}
		first := e.now.Add(time.Minute)
		run(30)
		run(12)
		all := e.all("a")
		if len(all) != 1 || all[0].Count != 42 || all[0].Period != period(first)+".."+period(e.now) || !all[0].Due.Equal(e.now) {
			e.Fatalf("recorded %+v", all)
		}
		stats, err := e.st.Stats(e.ctx)
		e.must(err)
		if fmt.Sprint(stats.Skips) != "[{a outage 42}]" || stats.Occurrences[duly.Missed] != 1 {
			e.Fatalf("skips %v, missed %d", stats.Skips, stats.Occurrences[duly.Missed])
		}
	})

	g.claim("ARunGoesOnNoSingleOneAndNoOtherKind", func(e *env) {
		s := sched{id: "a"}
		e.apply(s)
		record := func(count int, reason string, state duly.State) {
			e.pass(time.Minute)
			e.fireWith(store.FireRequest{Plan: func(now time.Time, due []store.DueSchedule) []store.Firing {
				f := e.plan(now, due)
				o := &f[0].Occurrences[0]
				o.State, o.Reason, o.Count, o.Extend = state, reason, count, true
				return f
			}})
		}
		record(1, "outage", duly.Missed)
		record(30, "outage", duly.Missed)
		record(30, "pause", duly.Missed)
		record(30, "pause", duly.Skipped)
		record(5, "pause", duly.Skipped)
		var counts []int
		for _, o := range e.all("a") {
			counts = append(counts, o.Count)
		}
		wantEqual(e, "counts", fmt.Sprint(counts), "[1 30 30 35]")
	})

	g.claim("APlannerThatPanicsBreaksNothing", func(e *env) {
		e.apply(sched{id: "a"})
		e.pass(time.Minute)
		err := func() (err error) {
			defer func() {
				if p := recover(); p != nil {
					err = errors.New("it panicked") // as good as an error
				}
			}()
			_, err = e.st.Fire(e.ctx, store.FireRequest{Now: e.now, Node: e.node, Plan: func(time.Time, []store.DueSchedule) []store.Firing { panic("no plan") }})
			return err
		}()
		if err == nil {
			e.Fatal("a panic passed as success")
		}
		if res := e.fire(); len(res.Fired) != 1 {
			e.Fatalf("fired %d after a panic", len(res.Fired))
		}
	})

	g.claim("FiringAndClaimingIsOneStep", func(e *env) {
		s := sched{id: "a"}
		e.apply(s, sched{id: "b", handler: "elsewhere"})
		e.pass(time.Minute)
		res := e.fireWith(store.FireRequest{Plan: e.plan, Claim: &store.ClaimRequest{Node: e.node, Max: 10, Capabilities: []string{"handler:h"}}})
		if len(res.Fired) != 2 || len(res.Claims) != 1 {
			e.Fatalf("fired %d, claimed %d", len(res.Fired), len(res.Claims))
		}
		c := res.Claims[0]
		o := e.wantState(s.at(e.now), duly.Running)
		if c.Seq != o.Seq || c.Token == 0 || c.Attempt != 1 || len(o.Attempts) != 1 || o.Attempts[0].Token != c.Token || o.Attempts[0].Node != nodeName {
			e.Fatalf("claim %+v, attempts %+v", c, o.Attempts)
		}
		e.wantTime("lease", c.LeaseUntil, e.now.Add(time.Minute))
		e.wantTime("lease kept", o.Attempts[0].LeaseUntil, c.LeaseUntil)
		e.succeed(c)
	})

	g.claim("FiringAndClaimingKeepsToTheOrderOfClaims", func(e *env) {
		waits, now := sched{id: "waits", priority: 1}, []sched{{id: "low"}, {id: "high", priority: 9}, {id: "middle", priority: 5}}
		e.apply(waits)
		e.fireAfter(time.Minute)
		e.apply(now...)
		e.defs["waits"] = sched{id: "waits", every: 24000 * time.Hour}
		e.pass(time.Minute)
		res := e.fireWith(store.FireRequest{Plan: e.plan, Claim: &store.ClaimRequest{Node: e.node, Max: 3, Capabilities: []string{"handler:h"}}})
		var got []string
		for i, c := range res.Claims {
			got = append(got, c.Schedule)
			if i > 0 && c.Token <= res.Claims[i-1].Token {
				e.Fatal("tokens do not grow within a batch")
			}
		}
		if fmt.Sprint(got) != "[high middle waits]" {
			e.Fatalf("claimed %v", got)
		}
	})

	g.claim("FiringAndClaimingKeepsTheOrderOfASchedule", func(e *env) {
		s := sched{id: "a"}
		e.apply(s)
		e.fireAfter(time.Minute) // ready, not started
		waits := s.at(e.now)
		past := e.now.Add(-time.Hour)
		e.pass(time.Minute)
		res := e.fireWith(store.FireRequest{
			Claim: &store.ClaimRequest{Node: e.node, Max: 10, Capabilities: []string{"handler:h"}},
			Plan: func(now time.Time, due []store.DueSchedule) []store.Firing {
				f := e.plan(now, due)
				f[0].Occurrences = append([]store.NewOccurrence{s.occurrence(past, due[0].Revisions[0])}, f[0].Occurrences...)
				return f
			},
		})
		if len(res.Claims) != 1 || id(res.Claims[0]) != s.at(past) {
			e.Fatalf("claimed %+v", res.Claims)
		}
		e.wantWaiting(waits, duly.WaitingEarlier)
		e.wantWaiting(s.at(e.now), duly.WaitingEarlier)
	})

	g.claim("FiringAndClaimingWeighsWhatIsNewAgainstWhatWaits", func(e *env) {
		e.apply(sched{id: "old", parallel: true})
		e.pass(3 * time.Minute)
		e.fire()
		e.apply(sched{id: "new", parallel: true, priority: 1}, sched{id: "last", parallel: true, priority: -1})
		e.defs["old"] = sched{id: "old", every: 24000 * time.Hour}
		e.pass(2 * time.Minute)
		res := e.fireWith(store.FireRequest{Plan: e.plan, Claim: &store.ClaimRequest{Node: e.node, Max: 6, Capabilities: []string{"handler:h"}}})
		var got []string
		for _, c := range res.Claims {
			got = append(got, c.Schedule)
		}
		if fmt.Sprint(got) != "[new new old old old last]" {
			e.Fatalf("claimed %v", got)
		}
	})

	g.claim("FiringAndClaimingAloneTakesTheBest", func(e *env) {
		e.apply(sched{id: "low", priority: -5}, sched{id: "high", priority: 9}, sched{id: "middle"})
		e.pass(time.Minute)
		res := e.fireWith(store.FireRequest{Plan: e.plan, Claim: &store.ClaimRequest{Node: e.node, Max: 2, Capabilities: []string{"handler:h"}}})
		if len(res.Claims) != 2 || res.Claims[0].Schedule != "high" || res.Claims[1].Schedule != "middle" {
			e.Fatalf("claimed %+v", res.Claims)
		}
		e.wantWaiting(e.defs["low"].at(e.now), duly.WaitingSlot)
	})

	g.claim("FiringAndClaimingClaimsWhatWaitedBefore", func(e *env) {
		e.apply(sched{id: "a"})
		e.fireAfter(time.Minute)
		res := e.fireWith(store.FireRequest{Plan: e.plan, Claim: &store.ClaimRequest{Node: e.node, Max: 2, Capabilities: []string{"handler:h"}}})
		if len(res.Fired) != 0 || len(res.Claims) != 1 {
			e.Fatalf("fired %d, claimed %d", len(res.Fired), len(res.Claims))
		}
	})
}

// mustFail is for steps that may only be refused.
func mustFail(t testing.TB, err error) {
	t.Helper()
	if err == nil {
		t.Fatal("not refused")
	}
}
