package storetest

import (
	"fmt"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// owners has whose definitions are whose, removal, queues and dry runs.
func owners(g *group) {
	g.claim("AnotherOwnersScheduleIsAConflictThatFailsAll", func(e *env) {
		e.apply(sched{id: "mine"})
		_, err := e.applyRequest(store.ApplyRequest{Owner: "other", Schedules: []store.Definition{sched{id: "new"}.definition(), sched{id: "mine", every: time.Hour}.definition()}})
		e.wantCode(err, duly.CodeConflict)
		_, err = e.st.Schedule(e.ctx, "new")
		e.wantCode(err, duly.CodeNotFound)
		wantEqual(e, "revision", e.schedule("mine").Revision, 1)
		_, err = e.applyRequest(store.ApplyRequest{Owner: "other", Remove: []string{"mine"}})
		e.wantCode(err, duly.CodeConflict)
	})

	g.claim("ForceTakesOver", func(e *env) {
		s := sched{id: "a"}
		e.apply(s)
		res, err := e.applyRequest(store.ApplyRequest{Owner: "other", Schedules: []store.Definition{s.definition()}, Force: true})
		e.must(err)
		if ch := res.Changes[0]; ch.Action != store.ActionUpdate || ch.Revision != 1 {
			e.Fatalf("changed %+v", ch)
		}
		if got := e.schedule("a"); got.Owner != "other" || got.Revision != 1 {
			e.Fatalf("status %+v", got)
		}
	})

	g.claim("ChangesAreInTheOrderOfTheRequest", func(e *env) {
		e.apply(sched{id: "b"}, sched{id: "old"})
		res, err := e.applyRequest(store.ApplyRequest{
			Schedules: []store.Definition{sched{id: "c"}.definition(), sched{id: "b", every: time.Hour}.definition(), sched{id: "a"}.definition()},
			Queues:    []duly.Queue{{Name: "q"}}, Remove: []string{"old", "nobody"},
		})
		e.must(err)
		var got []string
		for _, ch := range res.Changes {
			got = append(got, fmt.Sprint(ch.Kind, "/", ch.ID, " ", ch.Action))
		}
		want := "[schedule/c create schedule/b update schedule/a create queue/q create schedule/old remove schedule/nobody keep]"
		if fmt.Sprint(got) != want {
			e.Fatalf("changes %v, want %s", got, want)
		}
	})

	g.claim("ADryRunAnswersAndDoesNothing", func(e *env) {
		e.apply(sched{id: "a"}, sched{id: "old"})
		req := store.ApplyRequest{
			Schedules: []store.Definition{sched{id: "a", every: time.Hour}.definition(), sched{id: "new"}.definition()}, Queues: []duly.Queue{{Name: "q"}}, Prune: true, DryRun: true,
		}
		dry, err := e.applyRequest(req)
		e.must(err)
		if e.schedule("a").Revision != 1 || len(e.audited("")) != 2 {
			e.Fatal("a dry run did something")
		}
		_, err = e.st.Schedule(e.ctx, "new")
		e.wantCode(err, duly.CodeNotFound)
		req.DryRun = false
		wet, err := e.applyRequest(req)
		e.must(err)
		wantEqual(e, "changes", fmt.Sprint(wet), fmt.Sprint(dry))
	})

	g.claim("FieldCase_B72_PruneRemovesWhatItsOwnerNoLongerNames", func(e *env) {
		e.apply(sched{id: "a"}, sched{id: "b"})
		e.applyQueues(duly.Queue{Name: "q1"}, duly.Queue{Name: "q2"})
		_, err := e.applyRequest(store.ApplyRequest{Owner: "other", Schedules: []store.Definition{sched{id: "z"}.definition()}})
		e.must(err)
		res, err := e.applyRequest(store.ApplyRequest{
			Schedules: []store.Definition{sched{id: "a"}.definition(), sched{id: "c"}.definition()}, Queues: []duly.Queue{{Name: "q2"}}, Prune: true,
		})
		e.must(err)
		actions := map[string]store.Action{}
		for _, ch := range res.Changes {
			actions[ch.ID] = ch.Action
		}
		want := map[string]store.Action{"a": store.ActionKeep, "c": store.ActionCreate, "q2": store.ActionKeep, "b": store.ActionRemove, "q1": store.ActionRemove}
		if fmt.Sprint(actions) != fmt.Sprint(want) {
			e.Fatalf("changes %v, want %v", actions, want)
		}
		_, err = e.st.Schedule(e.ctx, "b")
		e.wantCode(err, duly.CodeNotFound)
		wantEqual(e, "z stays", e.schedule("z").Owner, "other")
		wantEqual(e, "audit", fmt.Sprint(e.audited("schedule/b")), "[create remove]")
	})

	g.claim("RemovingCancelsWhatIsOpenAndKeepsHistory", func(e *env) {
		s := sched{id: "a"}
		c := e.started(s)
		e.succeed(c)
		e.fireAfter(time.Minute)
		second := e.claimOne()
		e.fireAfter(time.Minute)
		waiting := s.at(e.now)
		_, err := e.applyRequest(store.ApplyRequest{Remove: []string{"a"}})
		e.must(err)
		e.wantState(id(c), duly.Succeeded)
		if o := e.wantState(waiting, duly.Cancelled); o.Reason == "" || o.FinishedAt.IsZero() {
			e.Fatalf("cancelled %+v", o)
		}
		answers, err := e.st.Renew(e.ctx, e.node, []store.Renewal{{Seq: second.Seq, Token: second.Token, Lease: time.Minute}})
		e.must(err)
		wantEqual(e, "told to end", answers[0].Cancelled, true)
		e.finish(second, duly.AttemptCancelled, toCancelled)
		e.pass(time.Hour)
		wantEqual(e, "due", e.fire().Schedules, 0)
		wantEqual(e, "history", len(e.all("a")), 3)
		e.wantCode(e.st.Retry(e.ctx, waiting, "ann", ""), duly.CodeConflict)
		_, err = e.st.Insert(e.ctx, store.InsertRequest{Now: e.now, Schedule: "a"})
		e.wantCode(err, duly.CodeNotFound)
		e.wantCode(e.st.Pause(e.ctx, store.PauseRequest{Now: e.now, Schedule: "a"}), duly.CodeNotFound)
	})

	g.claim("WhatComesBackUnderItsOldNameRepeatsNoPeriod", func(e *env) {
		s := sched{id: "a"}
		c := e.started(s)
		e.succeed(c)
		_, err := e.applyRequest(store.ApplyRequest{Remove: []string{"a"}})
		e.must(err)
		wantEqual(e, "action", e.apply(s).Changes[0].Action, store.ActionCreate)
		wantEqual(e, "fired", e.schedule("a").Fired, 0)
		e.pass(time.Minute)
		res := e.fireWith(store.FireRequest{Plan: func(now time.Time, due []store.DueSchedule) []store.Firing {
			f := e.plan(now, due)
			f[0].Occurrences = append([]store.NewOccurrence{s.occurrence(c.Due, due[0].Revisions[0])}, f[0].Occurrences...)
			return f
		}})
		if len(res.Fired) != 1 || res.Fired[0].Period != period(e.now) {
			e.Fatalf("fired %+v", res.Fired)
		}
		wantEqual(e, "history", len(e.all("a")), 2)
	})

	g.claim("AQueueIsDefinedChangedAndKept", func(e *env) {
		apply := func(q duly.Queue) store.Action {
			res, err := e.applyRequest(store.ApplyRequest{Queues: []duly.Queue{q}})
			e.must(err)
			return res.Changes[0].Action
		}
		wantEqual(e, "action", apply(duly.Queue{Name: "q"}), store.ActionCreate)
		wantEqual(e, "action", apply(duly.Queue{Name: "q", Concurrency: 1}), store.ActionKeep)
		wantEqual(e, "action", apply(duly.Queue{Name: "q", Concurrency: 4}), store.ActionUpdate)
		wantEqual(e, "action", apply(duly.Queue{Name: "q", Concurrency: 4, Rate: duly.Rate{Count: 1, Per: duly.Duration(time.Second)}}), store.ActionUpdate)
		_, err := e.applyRequest(store.ApplyRequest{Owner: "other", Queues: []duly.Queue{{Name: "q"}}})
		e.wantCode(err, duly.CodeConflict)
		wantEqual(e, "audit", fmt.Sprint(e.audited("queue/q")), "[create update update]")
	})

	g.claim("OneScheduleTwiceInARequestIsInvalid", func(e *env) {
		_, err := e.applyRequest(store.ApplyRequest{Schedules: []store.Definition{sched{id: "a"}.definition(), sched{id: "a", every: time.Hour}.definition()}})
		e.wantCode(err, duly.CodeInvalid)
	})

	g.claim("TheAuditSaysWhoAndWhat", func(e *env) {
		e.apply(sched{id: "a"})
		e.apply(sched{id: "a", every: time.Hour})
		rows, _, err := e.st.Audit(e.ctx, "schedule/a", store.Page{})
		e.must(err)
		if len(rows) != 2 || rows[0].Action != "update" || rows[0].By != "tester" || rows[0].Before == nil || rows[0].After == nil || !rows[0].At.Equal(e.now) || rows[1].Before != nil {
			e.Fatalf("audit %+v", rows)
		}
	})
}
