package storetest

import (
	"fmt"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

func (e *env) declare(node int64, all ...sched) store.ApplyResult {
	e.Helper()
	res, err := e.declareAs("code:app", node, all...)
	e.must(err)
	return res
}

func (e *env) declareAs(owner string, node int64, all ...sched) (store.ApplyResult, error) {
	req := store.DeclareRequest{Now: e.now, Node: node, Owner: owner}
	for _, s := range all {
		req.Schedules = append(req.Schedules, s.definition())
		e.defs[s.id] = s
	}
	return e.st.Declare(e.ctx, req)
}

func (e *env) wantEvery(id string, want time.Duration) store.ScheduleStatus {
	e.Helper()
	s := e.schedule(id)
	wantEqual(e, "every", s.Every.Std(), want)
	return s
}

func declare(g *group) {
	v1, v2, v3 := sched{id: "a", every: time.Minute}, sched{id: "a", every: time.Hour}, sched{id: "a", every: 2 * time.Hour}

	g.claim("FieldCase_B28_TheSameFromManyNodesIsOneSchedule", func(e *env) {
		for i := range 5 {
			res := e.declare(e.join(fmt.Sprint("n", i)), v1)
			want := store.ActionKeep
			if i == 0 {
				want = store.ActionCreate
			}
			if len(res.Changes) != 1 || res.Changes[0].Action != want || res.Changes[0].Revision != 1 {
				e.Fatalf("node %d: %+v", i, res.Changes)
			}
		}
		s := e.schedule("a")
		if s.Revision != 1 || s.Owner != "code:app" || s.Orphaned {
			e.Fatalf("status %+v", s)
		}
		e.fireAfter(time.Minute)
		wantEqual(e, "occurrences", len(e.all("a")), 1)
	})

	g.claim("TheNewestDefinitionThatALiveNodeDeclaresIsInForce", func(e *env) {
		old, fresh := e.join("old"), e.join("new")
		e.declare(old, v1)
		res := e.declare(fresh, v2)
		if ch := res.Changes[0]; ch.Action != store.ActionUpdate || ch.Revision != 2 {
			e.Fatalf("changed %+v", ch)
		}
		e.wantTime("next due", e.wantEvery("a", time.Hour).NextDue, v2.next(e.now, e.now))
	})

	g.claim("AnOldNodeThatRestartsBringsNothingBack", func(e *env) {
		old, fresh := e.join("old"), e.join("new")
		e.declare(old, v1)
		e.declare(fresh, v2)
		e.must(e.st.Leave(e.ctx, old))
		res := e.declare(e.join("old again"), v1)
		if ch := res.Changes[0]; ch.Action != store.ActionIgnore || ch.Reason == "" || ch.Revision != 2 {
			e.Fatalf("changed %+v", ch)
		}
		e.wantEvery("a", time.Hour)
	})

	g.claim("ARollBackIsInForceWhenTheLastNewNodeLeaves", func(e *env) {
		old, fresh, other := e.join("old"), e.join("new"), e.join("new too")
		e.declare(old, v1)
		e.declare(fresh, v2)
		e.declare(other, v2)
		e.must(e.st.Leave(e.ctx, fresh))
		e.wantEvery("a", time.Hour)
		e.must(e.st.Leave(e.ctx, other))
		s := e.wantEvery("a", time.Minute)
		wantEqual(e, "revision", s.Revision, 3)
		e.defs["a"] = v1
		e.pass(time.Minute)
		wantEqual(e, "fired", len(e.fire().Fired), 1)
		e.declare(e.join("new again"), v2)
		e.wantEvery("a", time.Hour)
	})

	g.claim("ARollBackIsInForceWhenTheLastNewNodeVanishes", func(e *env) {
		e.declare(e.node, v1)
		fresh, err := e.st.Join(e.ctx, store.NodeInfo{Name: "new", TTL: 30 * time.Minute})
		e.must(err)
		e.declare(fresh, v2)
		e.wantEvery("a", time.Hour)
		e.pass(45 * time.Minute)
		e.reap(toPending) // ends sessions too
		e.wantEvery("a", time.Minute)
	})

	g.claim("WhatNoLiveNodeDeclaresIsOrphanedAndGoesOn", func(e *env) {
		n := e.join("n")
		e.declare(n, v1, sched{id: "b"})
		e.must(e.st.Leave(e.ctx, n))
		s := e.schedule("a")
		if !s.Orphaned || s.OrphanedAt.IsZero() || s.Revision != 1 {
			e.Fatalf("status %+v", s)
		}
		yes := true
		list, _, err := e.st.Schedules(e.ctx, store.ScheduleFilter{Orphaned: &yes}, store.Page{})
		e.must(err)
		wantEqual(e, "orphans", len(list), 2)
		e.fireAfter(time.Minute)
		wantEqual(e, "occurrences", len(e.all("a")), 1)
		ch := e.declare(e.join("again"), v1).Changes[0]
		wantEqual(e, "action", ch.Action, store.ActionKeep)
		wantEqual(e, "orphaned", e.schedule("a").Orphaned, false)
		wantEqual(e, "orphaned", e.schedule("b").Orphaned, true)
	})

	g.claim("ANodeThatDeclaresLessOrphansTheRest", func(e *env) {
		n := e.join("n")
		e.declare(n, v1, sched{id: "b"})
		e.declare(n, v1)
		wantEqual(e, "orphaned", e.schedule("b").Orphaned, true)
		wantEqual(e, "orphaned", e.schedule("a").Orphaned, false)
		e.declare(n, v1, sched{id: "b"})
		wantEqual(e, "orphaned", e.schedule("b").Orphaned, false)
	})

	g.claim("TwoApplicationsDoNotDisturbEachOther", func(e *env) {
		n := e.join("n")
		_, err := e.declareAs("code:one", n, v1)
		e.must(err)
		_, err = e.declareAs("code:two", n, sched{id: "b"})
		e.must(err)
		wantEqual(e, "orphaned", e.schedule("a").Orphaned, false)
		res, err := e.declareAs("code:two", n, v2)
		e.must(err)
		if ch := res.Changes[0]; ch.Action != store.ActionIgnore || ch.Reason == "" {
			e.Fatalf("changed %+v", ch)
		}
		e.wantEvery("a", time.Minute)
	})

	g.claim("WhatAFileOwnsIsLeftAlone", func(e *env) {
		e.apply(v1)
		ch := e.declare(e.node, v2).Changes[0]
		if ch.Action != store.ActionIgnore || ch.Reason == "" || ch.Revision != 1 {
			e.Fatalf("changed %+v", ch)
		}
		s := e.wantEvery("a", time.Minute)
		if s.Owner != "test" || s.Orphaned {
			e.Fatalf("status %+v", s)
		}
	})

	g.claim("AFileMayTakeOverWithForce", func(e *env) {
		e.declare(e.node, v1)
		_, err := e.applyRequest(store.ApplyRequest{Schedules: []store.Definition{v3.definition()}, Force: true})
		e.must(err)
		e.declare(e.join("n"), v2)
		s := e.wantEvery("a", 2*time.Hour)
		wantEqual(e, "owner", s.Owner, "test")
	})

	g.claim("AnEndedSessionMustJoinAgain", func(e *env) {
		n := e.join("n")
		e.must(e.st.Leave(e.ctx, n))
		_, err := e.declareAs("code:app", n, v1)
		e.wantCode(err, duly.CodeNotFound)
		_, err = e.st.Schedule(e.ctx, "a")
		e.wantCode(err, duly.CodeNotFound)
	})

	g.claim("DeclaringAgainChangesNothing", func(e *env) {
		e.declare(e.node, v1)
		status := func() string {
			s := e.schedule("a")
			s.Now = time.Time{} // which goes on
			return fmt.Sprint(s)
		}
		before := status()
		for range 20 {
			e.pass(time.Second)
			wantEqual(e, "action", e.declare(e.node, v1).Changes[0].Action, store.ActionKeep)
		}
		wantEqual(e, "status", status(), before)
	})
}
