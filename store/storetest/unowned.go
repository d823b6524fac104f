package storetest

import (
	"fmt"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

func unowned(g *group) {
	did := func(s sched, due time.Time, node string, outcome duly.Outcome) store.UnownedReport {
		code := 3
		return store.UnownedReport{Schedule: s.id, Unowned: duly.Unowned{
			Period: period(due), Node: node, Due: due, StartedAt: due.Add(time.Second), FinishedAt: due.Add(2 * time.Second),
			Outcome: outcome, Error: "because", ExitCode: &code,
		}}
	}
	told := func(o duly.Occurrence) string {
		var all []string
		for _, u := range o.Unowned {
			all = append(all, fmt.Sprint(u.Node, " ", u.Outcome, " ", u.Error, " ", *u.ExitCode))
		}
		return fmt.Sprint(all)
	}

	g.claim("WhatWasDoneUnownedStandsBesideTheAttempts", func(e *env) {
		s := sched{id: "a"}
		c := e.started(s)
		e.must(e.st.RecordUnowned(e.ctx, []store.UnownedReport{did(s, c.Due, "n1", duly.AttemptSucceeded), did(s, c.Due, "n2", duly.AttemptFailed)}))
		o := e.wantState(id(c), duly.Running)
		wantEqual(e, "unowned", told(o), "[n1 succeeded because 3 n2 failed because 3]")
		wantEqual(e, "attempts", len(o.Attempts), 1)
		u := o.Unowned[0]
		e.wantTime("due", u.Due, c.Due)
		e.wantTime("started", u.StartedAt, c.Due.Add(time.Second))
		e.wantTime("finished", u.FinishedAt, c.Due.Add(2*time.Second))
		if d := time.Since(u.RecordedAt); d < -time.Minute || d > time.Minute {
			e.Fatalf("recorded at %v", u.RecordedAt)
		}
		wantEqual(e, "audit", fmt.Sprint(e.audited("occurrence/"+id(c))), "[unowned unowned]")
		e.succeed(c) // which nothing of it disturbs
	})

	g.claim("AnUnownedRecordGivenAgainIsKeptOnce", func(e *env) {
		s := sched{id: "a"}
		c := e.started(s)
		for range 3 {
			e.must(e.st.RecordUnowned(e.ctx, []store.UnownedReport{did(s, c.Due, "n1", duly.AttemptSucceeded)}))
		}
		wantEqual(e, "unowned", len(e.occ(id(c)).Unowned), 1)
		wantEqual(e, "audited", len(e.audited("occurrence/"+id(c))), 1)
	})

	g.claim("WhatWasDoneUnownedMayComeBeforeTheOccurrence", func(e *env) {
		s := sched{id: "a"}
		e.apply(s)
		e.pass(time.Minute)
		due := e.now.Truncate(time.Minute)
		e.must(e.st.RecordUnowned(e.ctx, []store.UnownedReport{did(s, due, "n1", duly.AttemptSucceeded)}))
		e.fire()
		o := e.wantState(s.at(due), duly.Pending)
		wantEqual(e, "unowned", told(o), "[n1 succeeded because 3]")
		e.succeed(e.claimOne())
	})

	g.claim("ARunOfPeriodsShowsWhatWasDoneUnownedOfEach", func(e *env) {
		s := sched{id: "a"}
		e.apply(s)
		e.pass(5 * time.Minute)
		last := e.now.Truncate(time.Minute)
		first := last.Add(-4 * time.Minute)
		var all []store.UnownedReport
		for at := first.Add(-time.Minute); !at.After(last.Add(time.Minute)); at = at.Add(time.Minute) {
			all = append(all, did(s, at, "n1", duly.AttemptSucceeded))
		}
		e.must(e.st.RecordUnowned(e.ctx, all))
		name := period(first) + ".." + period(last)
		e.fireWith(store.FireRequest{Plan: func(now time.Time, due []store.DueSchedule) []store.Firing {
			f := e.plan(now, due)
			o := s.occurrence(last, due[0].Revisions[0])
			o.Period, o.Count, o.State, o.Reason, o.IntervalStart = name, 5, duly.Missed, "catch-up", first.Add(-time.Minute)
			f[0].Occurrences = []store.NewOccurrence{o}
			return f
		}})
		wantEqual(e, "unowned", len(e.occ(duly.OccurrenceID("a", name)).Unowned), 5)
	})

	g.claim("WhatIsToldOfAScheduleThatIsNotThereIsDropped", func(e *env) {
		s := sched{id: "a"}
		c := e.started(s)
		e.must(e.st.RecordUnowned(e.ctx, []store.UnownedReport{did(sched{id: "nobody"}, c.Due, "n1", duly.AttemptSucceeded), did(s, c.Due, "n1", duly.AttemptSucceeded)}))
		wantEqual(e, "unowned", len(e.occ(id(c)).Unowned), 1)
	})

	g.claim("WhatWasDoneUnownedIsTrimmed", func(e *env) {
		s := sched{id: "a"}
		c := e.started(s)
		e.must(e.st.RecordUnowned(e.ctx, []store.UnownedReport{did(s, c.Due, "n1", duly.AttemptSucceeded)}))
		_, err := e.st.Trim(e.ctx, time.Now().Add(-time.Hour), 100)
		e.must(err)
		wantEqual(e, "unowned", len(e.occ(id(c)).Unowned), 1)
		_, err = e.st.Trim(e.ctx, time.Now().Add(time.Hour), 100)
		e.must(err)
		wantEqual(e, "unowned", len(e.occ(id(c)).Unowned), 0)
	})

	g.claim("SchedulesThatRunAloneAreFound", func(e *env) {
		alone := func() (ids []string) {
			e.Helper()
			all, _, err := e.st.Schedules(e.ctx, store.ScheduleFilter{Alone: true}, store.Page{})
			e.must(err)
			for _, s := range all {
				ids = append(ids, s.ID)
			}
			return ids
		}
		define := func(id string, when duly.WhenUnavailable) {
			e.Helper()
			s := sched{id: id}
			d := s.definition()
			d.Schedule.WhenUnavailable = when
			_, err := e.st.Apply(e.ctx, store.ApplyRequest{Now: e.now, Owner: "test", By: "tester", Schedules: []store.Definition{d}})
			e.must(err)
		}
		e.apply(sched{id: "a"})
		define("b", duly.UnavailableRun)
		define("c", duly.UnavailableRun)
		wantEqual(e, "alone", fmt.Sprint(alone()), "[b c]")
		define("b", duly.UnavailableWait)
		define("a", duly.UnavailableRun)
		wantEqual(e, "alone", fmt.Sprint(alone()), "[a c]")
		_, err := e.st.Apply(e.ctx, store.ApplyRequest{Now: e.now, Owner: "test", By: "tester", Remove: []string{"c"}})
		e.must(err)
		wantEqual(e, "alone", fmt.Sprint(alone()), "[a]")
		define("c", duly.UnavailableWait)
		wantEqual(e, "alone", fmt.Sprint(alone()), "[a]")
	})
}
