package storetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// sameJSON compares values, not spelling: a store may keep JSON in a form of
// its own.
func sameJSON(a, b json.RawMessage) bool {
	var x, y any
	if len(a) == 0 || len(b) == 0 {
		return len(a) == len(b)
	}
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return bytes.Equal(a, b)
	}
	return fmt.Sprint(x) == fmt.Sprint(y)
}

func (e *env) applyRequest(req store.ApplyRequest) (store.ApplyResult, error) {
	req.Now, req.By = e.now, "tester"
	if req.Owner == "" {
		req.Owner = "test"
	}
	return e.st.Apply(e.ctx, req)
}

func definitions(g *group) {
	g.claim("ANewScheduleStandsAtItsCreation", func(e *env) {
		e.now = e.now.Add(12345 * time.Millisecond)
		s := sched{id: "a", payload: `{"x":1}`}
		res := e.apply(s)
		ch := res.Changes[0]
		if len(res.Changes) != 1 || ch.Kind != "schedule" || ch.ID != "a" || ch.Action != store.ActionCreate || ch.Revision != 1 || ch.Before != nil || ch.After == nil {
			e.Fatalf("changes %+v", res.Changes)
		}
		got := e.schedule("a")
		e.wantTime("anchor", got.Anchor, e.now.Truncate(time.Second))
		e.wantTime("cursor", got.Cursor, e.now)
		e.wantTime("next due", got.NextDue, s.next(e.now, e.now))
		e.wantTime("next due told", ch.NextDue, got.NextDue)
		if got.ID != "a" || got.Owner != "test" || got.Revision != 1 || !got.CreatedAt.Equal(e.now) || got.Fired != 0 || got.Paused != nil || got.Last != nil || got.Orphaned {
			e.Fatalf("status %+v", got)
		}
		if !sameJSON(got.Payload, json.RawMessage(s.payload)) || got.Target.Handler != "h" || got.Every.Std() != time.Minute {
			e.Fatalf("definition %+v", got.Schedule)
		}
		wantEqual(e, "audit", fmt.Sprint(e.audited("schedule/a")), "[create]")
	})

	g.claim("FieldCase_B26_ApplyingWhatIsInForceChangesNothing", func(e *env) {
		s := sched{id: "a"}
		e.apply(s)
		status := func() string {
			st := e.schedule("a")
			st.Now = time.Time{}
			return fmt.Sprint(st)
		}
		before := status()
		for range 50 {
			e.pass(700 * time.Millisecond)
			ch := e.apply(s).Changes[0]
			if ch.Action != store.ActionKeep || ch.Revision != 1 {
				e.Fatalf("changed %+v", ch)
			}
		}
		wantEqual(e, "status", status(), before)
		wantEqual(e, "audit", len(e.audited("schedule/a")), 1)
	})

	g.claim("FieldCase_B29_ApplyingAgainBetweenOccurrencesAddsNone", func(e *env) {
		s := sched{id: "a", parallel: true}
		e.apply(s)
		for range 5 {
			e.fireAfter(time.Minute)
			e.apply(s)
		}
		wantEqual(e, "occurrences", len(e.all("a")), 5)
		all, _, err := e.st.Schedules(e.ctx, store.ScheduleFilter{}, store.Page{})
		e.must(err)
		wantEqual(e, "schedules", len(all), 1)
	})

	g.claim("FieldCase_B71_AChangedDefinitionReplacesTheOldOne", func(e *env) {
		e.now = e.now.Truncate(25 * time.Minute).Add(25 * time.Minute) // nothing is due in the next minute
		e.apply(sched{id: "a", every: 25 * time.Minute})
		e.pass(time.Minute)
		changed := sched{id: "a", every: 15 * time.Minute}
		ch := e.apply(changed).Changes[0]
		if ch.Action != store.ActionUpdate || ch.Revision != 2 || ch.Before == nil || ch.After == nil || bytes.Equal(ch.Before, ch.After) {
			e.Fatalf("changed %+v", ch)
		}
		got := e.schedule("a")
		e.wantTime("next due", got.NextDue, changed.next(e.now, e.now))
		e.wantTime("next due told", ch.NextDue, got.NextDue)
		wantEqual(e, "revision", got.Revision, 2)
		wantEqual(e, "every", got.Every.Std(), 15*time.Minute)
		all, _, err := e.st.Schedules(e.ctx, store.ScheduleFilter{}, store.Page{})
		e.must(err)
		wantEqual(e, "schedules", len(all), 1)
		wantEqual(e, "audit", fmt.Sprint(e.audited("schedule/a")), "[create update]")
	})

	g.claim("FieldCase_B69_AChangeInventsNothingInThePast", func(e *env) {
		weekly := 7 * 24 * time.Hour
		e.apply(sched{id: "a", every: weekly})
		next := e.schedule("a").NextDue
		e.now = next
		e.fire()
		e.pass(weekly - time.Hour)
		changed := sched{id: "a", every: time.Hour * 24} // would have had instants since the last occurrence
		e.apply(changed)
		wantEqual(e, "fired", len(e.fire().Fired), 0)
		e.now = changed.next(e.now, e.now)
		wantEqual(e, "fired", len(e.fire().Fired), 1)
	})

	g.claim("WhatIsOwedUnderTheOldDefinitionStaysOwed", func(e *env) {
		e.apply(sched{id: "a"})
		before := e.schedule("a")
		e.pass(3 * time.Minute) // nothing fired: three are owed
		e.apply(sched{id: "a", every: time.Hour})
		got := e.schedule("a")
		e.wantTime("cursor", got.Cursor, before.Cursor)
		e.wantTime("next due", got.NextDue, before.NextDue)
	})

	g.claim("AScheduleThatIsNeverDueHasNoNextDue", func(e *env) {
		d := sched{id: "a"}.definition()
		d.Next = func(time.Time, time.Time) time.Time { return time.Time{} }
		_, err := e.applyRequest(store.ApplyRequest{Schedules: []store.Definition{d}})
		e.must(err)
		wantEqual(e, "next due", e.schedule("a").NextDue.IsZero(), true)
		e.pass(time.Hour)
		wantEqual(e, "due", e.fire().Schedules, 0)
	})

	g.claim("AScheduleThatIsOverIsNotDueAgain", func(e *env) {
		e.apply(sched{id: "a"})
		e.pass(time.Minute)
		e.fireWith(store.FireRequest{Plan: func(now time.Time, due []store.DueSchedule) []store.Firing {
			f := e.plan(now, due)
			f[0].NextDue = time.Time{}
			return f
		}})
		wantEqual(e, "next due", e.schedule("a").NextDue.IsZero(), true)
		e.pass(time.Hour)
		wantEqual(e, "due", e.fire().Schedules, 0)
		e.apply(sched{id: "a", every: 2 * time.Minute}) // a change brings it back
		e.pass(2 * time.Minute)
		wantEqual(e, "due", e.fire().Schedules, 1)
	})

	g.claim("EqualContentsAreOneDefinition", func(e *env) {
		e.apply(sched{id: "a", payload: `{"x":1,"y":[1,2]}`}, sched{id: "b", payload: `{"y":[1,2],"x":1}`}, sched{id: "c", payload: `{"x":2}`})
		numbers := map[string]int64{}
		for _, id := range []string{"a", "b", "c"} {
			all, err := e.st.Revisions(e.ctx, id)
			e.must(err)
			numbers[id] = all[0].Definition
		}
		if numbers["a"] != numbers["b"] || numbers["a"] == numbers["c"] {
			e.Fatalf("definitions %v", numbers)
		}
		def, err := e.st.Definition(e.ctx, numbers["a"])
		e.must(err)
		wantEqual(e, "its ID", def.ID, "")
		defs, err := e.st.Definitions(e.ctx, []int64{numbers["c"], numbers["a"], 123456, numbers["a"]})
		e.must(err)
		if len(defs) != 2 || defs[numbers["a"]].Target.Handler != def.Target.Handler || !sameJSON(defs[numbers["c"]].Payload, []byte(`{"x":2}`)) {
			e.Fatalf("definitions %+v", defs)
		}
	})

	g.claim("TheOrderOfPayloadKeysIsNoChange", func(e *env) {
		e.apply(sched{id: "a", payload: `{"x":1,"y":{"b":1.50,"a":12345678901234567890}}`})
		wantEqual(e, "action", e.apply(sched{id: "a", payload: `{"y":{"a":12345678901234567890,"b":1.50},"x":1}`}).Changes[0].Action, store.ActionKeep)
		wantEqual(e, "action", e.apply(sched{id: "a", payload: `{"y":{"a":12345678901234567891,"b":1.50},"x":1}`}).Changes[0].Action, store.ActionUpdate)
	})

	g.claim("AnUnknownDefinitionIsNotFound", func(e *env) {
		_, err := e.st.Definition(e.ctx, 123456)
		e.wantCode(err, duly.CodeNotFound)
		_, err = e.st.Schedule(e.ctx, "nobody")
		e.wantCode(err, duly.CodeNotFound)
		_, err = e.st.Revisions(e.ctx, "nobody")
		e.wantCode(err, duly.CodeNotFound)
	})

	g.claim("FieldCase_B100_ConcurrentAppliesLeaveExactlyTheDefinitions", func(e *env) {
		const schedules, appliers, rounds = 20, 8, 10
		all := make([]store.Definition, schedules)
		for i := range all {
			s := sched{id: fmt.Sprintf("s%02d", i), parallel: true}
			e.defs[s.id] = s
			all[i] = s.definition()
		}
		stores := []store.Store{e.st, e.open(), e.open()}
		var wg sync.WaitGroup
		created := make(chan int, appliers*rounds)
		for i := range appliers {
			st := stores[i%len(stores)]
			wg.Go(func() {
				for range rounds {
					mine := append([]store.Definition(nil), all...)
					rand.Shuffle(len(mine), func(i, j int) { mine[i], mine[j] = mine[j], mine[i] })
					res, err := st.Apply(e.ctx, store.ApplyRequest{Now: e.now, Owner: "test", By: "tester", Schedules: mine})
					if err != nil {
						e.Error(err)
						return
					}
					for _, ch := range res.Changes {
						if ch.Action == store.ActionCreate {
							created <- 1
						} else if ch.Action != store.ActionKeep {
							e.Errorf("changed %+v", ch)
						}
					}
					if _, err := st.Fire(e.ctx, store.FireRequest{Now: e.now.Add(time.Minute), Node: e.node, Plan: e.plan}); err != nil {
						e.Error(err)
					}
				}
			})
		}
		wg.Wait()
		close(created)
		wantEqual(e, "created", len(created), schedules)
		list, _, err := e.st.Schedules(e.ctx, store.ScheduleFilter{}, store.Page{})
		e.must(err)
		wantEqual(e, "schedules", len(list), schedules)
		for _, s := range list {
			if s.Revision != 1 || s.Fired != 1 || !s.NextDue.After(e.now.Add(time.Minute)) {
				e.Errorf("status %+v", s)
			}
		}
	})
}
