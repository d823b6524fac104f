package storetest

import (
	"fmt"
	"slices"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

func pause(g *group) {
	doPause := func(e *env, until time.Time, policy duly.CatchUpPolicy) {
		e.Helper()
		e.must(e.st.Pause(e.ctx, store.PauseRequest{Now: e.now, Schedule: "a", By: "ann", Why: "month end", Until: until, Policy: policy}))
	}
	// told fires and answers what the planner was told; the last time, since a
	// store may ask it again.
	told := func(e *env) (all []store.DueSchedule) {
		e.Helper()
		e.fireWith(store.FireRequest{Plan: func(now time.Time, due []store.DueSchedule) []store.Firing {
			all = slices.Clone(due)
			return e.plan(now, due)
		}})
		return all
	}

	g.claim("APausedScheduleDoesNotFire", func(e *env) {
		e.apply(sched{id: "a"}, sched{id: "b"})
		doPause(e, time.Time{}, "")
		s := e.schedule("a")
		if p := s.Paused; p == nil || p.By != "ann" || p.Why != "month end" || !p.At.Equal(e.now) || !p.Until.IsZero() || !s.NextDue.IsZero() {
			e.Fatalf("status %+v", s)
		}
		e.pass(time.Hour)
		if all := told(e); len(all) != 1 || all[0].Schedule != "b" {
			e.Fatalf("fired %+v", all)
		}
		wantEqual(e, "audit", fmt.Sprint(e.audited("schedule/a")), "[create pause]")
		stats, err := e.st.Stats(e.ctx)
		e.must(err)
		wantEqual(e, "paused", stats.Paused, 1)
	})

	g.claim("FieldCase_B76_ResumeTellsThePlannerAboutThePause", func(e *env) {
		e.apply(sched{id: "a"})
		paused := e.now
		doPause(e, time.Time{}, "")
		e.pass(7 * time.Minute)
		e.must(e.st.Resume(e.ctx, store.ResumeRequest{Now: e.now, Schedule: "a", By: "bob", Policy: duly.CatchUpNone}))
		resumed := e.now
		wantEqual(e, "paused", e.schedule("a").Paused, nil)
		e.pass(time.Second)
		all := told(e)
		if len(all) != 1 || all[0].Resume == nil {
			e.Fatalf("told %+v", all)
		}
		r := all[0].Resume
		if !r.From.Equal(paused) || !r.To.Equal(resumed) || r.By != "bob" || r.Policy != duly.CatchUpNone {
			e.Fatalf("resume %+v", r)
		}
		e.pass(time.Minute)
		if all := told(e); len(all) != 1 || all[0].Resume != nil {
			e.Fatalf("told again %+v", all)
		}
		wantEqual(e, "audit", fmt.Sprint(e.audited("schedule/a")), "[create pause resume]")
	})

	g.claim("AResumeIsToldUntilItIsDone", func(e *env) {
		e.apply(sched{id: "a"})
		doPause(e, time.Time{}, "")
		e.pass(5 * time.Minute)
		e.must(e.st.Resume(e.ctx, store.ResumeRequest{Now: e.now, Schedule: "a", By: "bob", Policy: duly.CatchUpAll}))
		for i := range 3 {
			var r *store.Resume
			e.fireWith(store.FireRequest{Plan: func(now time.Time, due []store.DueSchedule) []store.Firing {
				r = due[0].Resume
				f := e.plan(now, due)
				f[0].ResumeDone = i == 1
				f[0].NextDue = now // there is more
				return f
			}})
			if (r != nil) != (i < 2) {
				e.Fatalf("firing %d was told %+v", i, r)
			}
		}
	})

	g.claim("APauseEndsByItself", func(e *env) {
		e.apply(sched{id: "a"})
		paused, until := e.now, e.now.Add(90*time.Second)
		doPause(e, until, duly.CatchUpLatest)
		e.wantTime("next due", e.schedule("a").NextDue, until)
		e.pass(89 * time.Second)
		wantEqual(e, "fired too early", len(told(e)), 0)
		e.pass(2 * time.Second)
		all := told(e)
		if len(all) != 1 || all[0].Resume == nil {
			e.Fatalf("told %+v", all)
		}
		r := all[0].Resume
		if !r.From.Equal(paused) || !r.To.Equal(until) || r.By != "ann" || r.Policy != duly.CatchUpLatest {
			e.Fatalf("resume %+v", r)
		}
		wantEqual(e, "paused", e.schedule("a").Paused, nil)
		stats, err := e.st.Stats(e.ctx)
		e.must(err)
		wantEqual(e, "paused", stats.Paused, 0)
	})

	g.claim("PausingAgainReplacesWhoWhyAndUntil", func(e *env) {
		e.apply(sched{id: "a"})
		paused := e.now
		doPause(e, e.now.Add(time.Minute), duly.CatchUpAll)
		e.pass(30 * time.Second)
		e.must(e.st.Pause(e.ctx, store.PauseRequest{Now: e.now, Schedule: "a", By: "bob"}))
		p := e.schedule("a").Paused
		if p.By != "bob" || p.Why != "" || !p.Until.IsZero() || p.Policy != "" || !p.At.Equal(paused) {
			e.Fatalf("paused %+v", p)
		}
		e.pass(time.Hour)
		wantEqual(e, "fired", len(told(e)), 0)
		stats, err := e.st.Stats(e.ctx)
		e.must(err)
		wantEqual(e, "paused", stats.Paused, 1)
	})

	g.claim("WhatWasOwedBeforeThePauseStaysOwed", func(e *env) {
		e.apply(sched{id: "a"})
		cursor := e.now
		e.pass(2 * time.Minute)
		doPause(e, time.Time{}, "")
		e.pass(time.Minute)
		e.must(e.st.Resume(e.ctx, store.ResumeRequest{Now: e.now, Schedule: "a", By: "bob"}))
		all := told(e)
		e.wantTime("cursor", all[0].Cursor, cursor)
		e.wantTime("resume from", all[0].Resume.From, cursor.Add(2*time.Minute))
	})

	g.claim("ChangingAPausedScheduleLeavesItPaused", func(e *env) {
		e.apply(sched{id: "a"})
		doPause(e, time.Time{}, "")
		e.pass(10 * time.Minute)
		e.apply(sched{id: "a", every: 2 * time.Minute})
		e.pass(10 * time.Minute)
		wantEqual(e, "fired", len(told(e)), 0)
		e.must(e.st.Resume(e.ctx, store.ResumeRequest{Now: e.now, Schedule: "a", By: "bob", Policy: duly.CatchUpAll}))
		if all := told(e); len(all) != 1 || len(all[0].Revisions) != 2 {
			e.Fatalf("told %+v", all)
		}
	})

	g.claim("OpenOccurrencesOfAPausedScheduleGoOn", func(e *env) {
		e.apply(sched{id: "a"})
		e.fireAfter(time.Minute)
		doPause(e, time.Time{}, "")
		e.succeed(e.claimOne())
	})

	g.claim("ResumingWhatIsNotPausedIsAConflict", func(e *env) {
		e.apply(sched{id: "a"})
		e.wantCode(e.st.Resume(e.ctx, store.ResumeRequest{Now: e.now, Schedule: "a", By: "bob"}), duly.CodeConflict)
		e.wantCode(e.st.Resume(e.ctx, store.ResumeRequest{Now: e.now, Schedule: "nobody", By: "bob"}), duly.CodeNotFound)
		e.wantCode(e.st.Pause(e.ctx, store.PauseRequest{Now: e.now, Schedule: "nobody", By: "bob"}), duly.CodeNotFound)
	})
}
