package storetest

import (
	"fmt"
	"slices"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

func reader(g *group) {
	g.claim("CountsFollowEveryTransition", func(e *env) {
		e.apply(sched{id: "a", parallel: true})
		e.pass(8 * time.Minute)
		e.fire()
		claims := e.claim(7)
		e.succeed(claims[0])
		e.fail(claims[1])
		e.finish(claims[2], duly.AttemptUncertain, toUncertain)
		e.finish(claims[3], duly.AttemptCancelled, toCancelled)
		e.finish(claims[4], duly.AttemptFailed, toPending)
		e.must(e.st.Retry(e.ctx, id(claims[1]), "ann", ""))
		stats, err := e.st.Stats(e.ctx)
		e.must(err)
		want := map[duly.State]int64{duly.Pending: 3, duly.Running: 2, duly.Succeeded: 1, duly.Uncertain: 1, duly.Cancelled: 1}
		for _, s := range duly.States {
			if stats.Occurrences[s] != want[s] {
				e.Errorf("%s: %d, want %d", s, stats.Occurrences[s], want[s])
			}
		}
		if stats.Pending != 3 || stats.Running != 2 || stats.Attention != 1 || stats.Schedules != 1 || stats.Paused != 0 || stats.Nodes != 1 {
			e.Fatalf("stats %+v", stats)
		}
		if d := time.Since(stats.Now); d < -time.Minute || d > time.Minute {
			e.Fatalf("the store's clock says %v", stats.Now)
		}
	})

	g.claim("CountsOfSchedulesFollowTheirLife", func(e *env) {
		count := func(schedules, paused int) {
			e.Helper()
			stats, err := e.st.Stats(e.ctx)
			e.must(err)
			wantEqual(e, "schedules", stats.Schedules, schedules)
			wantEqual(e, "paused", stats.Paused, paused)
		}
		count(0, 0)
		e.apply(sched{id: "a"}, sched{id: "b"})
		count(2, 0)
		e.must(e.st.Pause(e.ctx, store.PauseRequest{Now: e.now, Schedule: "a", By: "ann"}))
		count(2, 1)
		_, err := e.applyRequest(store.ApplyRequest{Remove: []string{"a"}})
		e.must(err)
		count(1, 0)
		e.apply(sched{id: "a"})
		count(2, 0)
	})

	g.claim("AttemptsAreAnsweredAsTheirClaimsSaid", func(e *env) {
		c := e.started(sched{id: "a"})
		e.finish(c, duly.AttemptFailed, toPending)
		second := e.claimOne()
		facts, err := e.st.Attempts(e.ctx, []store.AttemptKey{
			{Seq: second.Seq, Token: second.Token}, {Seq: c.Seq, Token: 1 << 40}, {Seq: c.Seq, Token: c.Token}, {Seq: 1 << 40, Token: c.Token},
		})
		e.must(err)
		want := []store.AttemptFacts{
			{Seq: c.Seq, Schedule: "a", Period: c.Period, Definition: c.Definition, Attempt: 2, Tries: 2},
			{},
			{Seq: c.Seq, Schedule: "a", Period: c.Period, Definition: c.Definition, Attempt: 1, Tries: 1},
			{},
		}
		if !slices.Equal(facts, want) {
			e.Fatalf("facts\n%+v, want\n%+v", facts, want)
		}
	})

	g.claim("EverythingIsThereAfterReopening", func(e *env) {
		s := sched{id: "a", payload: `{"x":1}`}
		c := e.started(s)
		r := report(c, duly.AttemptSucceeded, toSucceeded)
		r.Effects = []store.EffectReport{{Key: "k"}}
		e.must(e.send(r).Err)
		e.fireAfter(time.Minute)
		before := fmt.Sprint(e.schedule("a").Schedule, e.occ(id(c)), e.occ(s.at(e.now)))
		e.reopen()
		wantEqual(e, "after reopening", fmt.Sprint(e.schedule("a").Schedule, e.occ(id(c)), e.occ(s.at(e.now))), before)
		e.succeed(e.claimOne())
	})
}

func lists(g *group) {
	// pages reads a list in small pages and checks their bounds.
	ids := func(e *env, filter store.ScheduleFilter, limit int) []string {
		e.Helper()
		var all []string
		page := store.Page{Limit: limit}
		for {
			some, next, err := e.st.Schedules(e.ctx, filter, page)
			e.must(err)
			if len(some) > limit {
				e.Fatalf("a page of %d with a limit of %d", len(some), limit)
			}
			for _, s := range some {
				all = append(all, s.ID)
			}
			if next == "" {
				return all
			}
			page.Cursor = next
		}
	}

	g.claim("SchedulesAreListedInPagesAndFiltered", func(e *env) {
		for i := range 7 {
			e.apply(sched{id: fmt.Sprintf("billing/%d", i)})
		}
		e.apply(sched{id: "billing2", queue: "q"}, sched{id: "zz", queue: "q"})
		_, err := e.applyRequest(store.ApplyRequest{Owner: "other", Schedules: []store.Definition{sched{id: "mm"}.definition()}})
		e.must(err)
		e.must(e.st.Pause(e.ctx, store.PauseRequest{Now: e.now, Schedule: "billing/3", By: "ann"}))
		yes, no := true, false
		for _, c := range []struct {
			name   string
			filter store.ScheduleFilter
			want   int
		}{
			{"all", store.ScheduleFilter{}, 10},
			{"prefix", store.ScheduleFilter{Prefix: "billing/"}, 7},
			{"owner", store.ScheduleFilter{Owner: "other"}, 1},
			{"queue", store.ScheduleFilter{Queue: "q"}, 2},
			{"unknown queue", store.ScheduleFilter{Queue: "nobody"}, 0},
			{"paused", store.ScheduleFilter{Paused: &yes}, 1},
			{"not paused", store.ScheduleFilter{Paused: &no, Prefix: "billing/"}, 6},
			{"orphaned", store.ScheduleFilter{Orphaned: &yes}, 0},
			{"not orphaned", store.ScheduleFilter{Orphaned: &no}, 10},
		} {
			for _, limit := range []int{1, 3, 1000} {
				got := ids(e, c.filter, limit)
				if len(got) != c.want || !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != len(got) {
					e.Errorf("%s by %d: %v, want %d", c.name, limit, got, c.want)
				}
			}
		}
	})

	g.claim("OccurrencesAreListedNewestFirstAndFiltered", func(e *env) {
		start := e.now
		e.apply(sched{id: "a", parallel: true}, sched{id: "b", parallel: true})
		for range 5 {
			e.fireAfter(time.Minute)
		}
		claims := e.claim(6)
		e.fail(claims[0])
		e.succeed(claims[1])
		e.finish(claims[2], duly.AttemptUncertain, toUncertain)
		for _, c := range []struct {
			name   string
			filter store.OccurrenceFilter
			want   int
		}{
			{"all", store.OccurrenceFilter{}, 10},
			{"schedule", store.OccurrenceFilter{Schedule: "a"}, 5},
			{"unknown schedule", store.OccurrenceFilter{Schedule: "nobody"}, 0},
			{"pending", store.OccurrenceFilter{States: []duly.State{duly.Pending}}, 4},
			{"running", store.OccurrenceFilter{States: []duly.State{duly.Running}}, 3},
			{"open", store.OccurrenceFilter{States: []duly.State{duly.Pending, duly.Running}}, 7},
			{"succeeded or failed", store.OccurrenceFilter{States: []duly.State{duly.Succeeded, duly.Failed}}, 2},
			{"attention", store.OccurrenceFilter{Attention: true}, 2},
			{"attention and failed", store.OccurrenceFilter{Attention: true, States: []duly.State{duly.Failed, duly.Succeeded}}, 1},
			{"attention and succeeded", store.OccurrenceFilter{Attention: true, States: []duly.State{duly.Succeeded}}, 0},
			{"from", store.OccurrenceFilter{From: start.Add(3 * time.Minute)}, 6},
			{"to", store.OccurrenceFilter{To: start.Add(3 * time.Minute)}, 4},
			{"span of a schedule", store.OccurrenceFilter{Schedule: "b", From: start.Add(2 * time.Minute), To: start.Add(4 * time.Minute)}, 2},
		} {
			for _, limit := range []int{1, 3, 1000} {
				var got []duly.Occurrence
				for page := (store.Page{Limit: limit}); ; {
					some, next, err := e.st.Occurrences(e.ctx, c.filter, page)
					e.must(err)
					got = append(got, some...)
					if page.Cursor = next; next == "" {
						break
					}
				}
				if len(got) != c.want || !slices.IsSortedFunc(got, func(a, b duly.Occurrence) int { return int(b.Seq - a.Seq) }) {
					e.Errorf("%s by %d: %d items, want %d, newest first", c.name, limit, len(got), c.want)
				}
				for _, o := range got {
					if one := e.occ(o.ID); fmt.Sprint(one.Attempts, one.State, one.Seq) != fmt.Sprint(o.Attempts, o.State, o.Seq) || o.Attempts == nil || o.Effects == nil {
						e.Errorf("listed %+v, is %+v", o, one)
					}
				}
			}
		}
	})

	g.claim("EffectsAreListedByKeyPrefixAndOccurrence", func(e *env) {
		c := e.started(sched{id: "a"})
		r := report(c, duly.AttemptSucceeded, toSucceeded)
		for i := range 5 {
			r.Effects = append(r.Effects, store.EffectReport{Key: fmt.Sprintf("invoice/%d", i)}, store.EffectReport{Key: fmt.Sprintf("mail/%d", i)})
		}
		e.must(e.send(r).Err)
		for _, f := range []struct {
			filter store.EffectFilter
			want   int
		}{
			{store.EffectFilter{}, 10},
			{store.EffectFilter{Key: "mail/3"}, 1},
			{store.EffectFilter{Key: "mail"}, 0},
			{store.EffectFilter{Prefix: "mail/"}, 5},
			{store.EffectFilter{Occurrence: id(c)}, 10},
			{store.EffectFilter{Occurrence: "a@2000-01-01"}, 0},
		} {
			for _, limit := range []int{1, 3, 100} {
				seen := map[string]bool{}
				for page := (store.Page{Limit: limit}); ; {
					some, next, err := e.st.Effects(e.ctx, f.filter, page)
					e.must(err)
					for _, x := range some {
						seen[x.Key] = true
					}
					if page.Cursor = next; next == "" {
						break
					}
				}
				wantEqual(e, fmt.Sprintf("effects by %+v in pages of %d", f.filter, limit), len(seen), f.want)
			}
		}
	})

	g.claim("TheAuditIsListedNewestFirst", func(e *env) {
		for i := range 5 {
			e.apply(sched{id: fmt.Sprint("s", i)})
		}
		var got []string
		for page := (store.Page{Limit: 2}); ; {
			some, next, err := e.st.Audit(e.ctx, "", page)
			e.must(err)
			for _, r := range some {
				got = append(got, r.Object)
			}
			if page.Cursor = next; next == "" {
				break
			}
		}
		wantEqual(e, "audit", fmt.Sprint(got), "[schedule/s4 schedule/s3 schedule/s2 schedule/s1 schedule/s0]")
	})

	g.claim("AnInventedCursorIsInvalid", func(e *env) {
		_, _, err := e.st.Occurrences(e.ctx, store.OccurrenceFilter{}, store.Page{Cursor: "nonsense"})
		e.wantCode(err, duly.CodeInvalid)
	})
	g.claim("WhatNobodyCanBeCalledIsNoFaultOfTheStore", func(e *env) {
		e.apply(sched{id: "a"})
		for _, name := range []string{"a\x00b", "\xff", "a\xed\xa0\x80"} {
			asked := map[string]error{}
			_, asked["schedule"] = e.st.Schedule(e.ctx, name)
			_, _, asked["schedules"] = e.st.Schedules(e.ctx, store.ScheduleFilter{Prefix: name, Queue: name, Owner: name}, store.Page{Limit: 1})
			_, asked["occurrence"] = e.st.Occurrence(e.ctx, name)
			_, _, asked["occurrences"] = e.st.Occurrences(e.ctx, store.OccurrenceFilter{Schedule: name}, store.Page{Limit: 1})
			_, _, asked["effects"] = e.st.Effects(e.ctx, store.EffectFilter{Prefix: name}, store.Page{Limit: 1})
			_, _, asked["effect"] = e.st.Effects(e.ctx, store.EffectFilter{Key: name}, store.Page{Limit: 1})
			_, _, asked["audit"] = e.st.Audit(e.ctx, name, store.Page{Limit: 1})
			_, asked["claim"] = e.st.Claim(e.ctx, store.ClaimRequest{Max: 1, Capabilities: []string{name}})
			_, asked["insert"] = e.st.Insert(e.ctx, store.InsertRequest{Schedule: name, Occurrences: []store.NewOccurrence{{Period: "p", State: duly.Pending}}})
			asked["pause"] = e.st.Pause(e.ctx, store.PauseRequest{Schedule: name})
			asked["retry"] = e.st.Retry(e.ctx, name, name, name)
			asked["release"] = e.st.ReleaseLease(e.ctx, "l", name)
			_, asked["renew"] = e.st.RenewLease(e.ctx, name, "o", time.Second)
			for step, err := range asked {
				if code := duly.CodeOf(err); code == duly.CodeInternal || code == duly.CodeUnavailable {
					e.Errorf("%s of %q: %v", step, name, err)
				}
			}
		}
	})
}
