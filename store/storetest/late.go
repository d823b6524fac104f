package storetest

import (
	"fmt"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// late has reports that come after ownership has ended.
func late(g *group) {
	g.claim("AReportAfterTheLeaseIsLate", func(e *env) {
		e.now = e.now.Add(-time.Hour)
		c := e.started(sched{id: "a"})
		f := e.finish(c, duly.AttemptSucceeded, toSucceeded)
		if !f.Late || f.State != duly.Succeeded {
			e.Fatalf("answered %+v", f)
		}
		if a := e.occ(id(c)).Attempts[0]; !a.Late || a.Outcome != duly.AttemptSucceeded {
			e.Fatalf("attempt %+v", a)
		}
		wantEqual(e, "late again", e.finish(c, duly.AttemptSucceeded, toSucceeded).Late, true)
	})

	for _, from := range []store.Next{toPending, toFailed, {State: duly.Pending, Delay: time.Hour}} {
		for _, c := range []struct {
			outcome duly.Outcome
			next    store.Next
		}{{duly.AttemptSucceeded, toSucceeded}, {duly.AttemptUncertain, toUncertain}, {duly.AttemptFailed, toFailed}} {
			name := fmt.Sprintf("LateReportNobodySupersededIsAccepted/%s_%v_%s", from.State, from.Delay, c.next.State)
			g.claim(name, func(e *env) {
				claim := e.started(sched{id: "a"})
				e.lose(claim, from)
				if a := e.wantState(id(claim), from.State).Attempts[0]; a.Outcome != duly.AttemptLost || a.FinishedAt.IsZero() {
					e.Fatalf("reaped %+v", a)
				}
				r := report(claim, c.outcome, c.next)
				r.Error = "in words"
				f := e.send(r)
				if f.Err != nil || !f.Late || f.State != c.next.State {
					e.Fatalf("answered %+v", f)
				}
				o := e.wantState(id(claim), c.next.State)
				if a := o.Attempts[0]; len(o.Attempts) != 1 || a.Outcome != c.outcome || !a.Late || a.Error != "in words" || a.Stale != nil {
					e.Fatalf("attempts %+v", o.Attempts)
				}
				if again := e.send(r); again != f {
					e.Fatalf("answered %+v, then %+v", f, again)
				}
				e.pass(24 * time.Hour)
				wantEqual(e, "claimed", len(e.claim(10)), 0)
			})
		}
	}

	g.claim("LateFailureThatWouldBeRetriedChangesOnlyItsText", func(e *env) {
		c := e.started(sched{id: "a"})
		e.lose(c, store.Next{State: duly.Pending, Reason: "lost"})
		r := report(c, duly.AttemptFailed, store.Next{State: duly.Pending, Reason: "failed", Delay: time.Hour})
		r.Error = "boom"
		f := e.send(r)
		if f.Err != nil || !f.Late || f.State != duly.Pending {
			e.Fatalf("answered %+v", f)
		}
		o := e.wantState(id(c), duly.Pending)
		if a := o.Attempts[0]; o.Reason != "lost" || o.Waiting != duly.WaitingSlot || a.Outcome != duly.AttemptLost || a.Error != "boom" {
			e.Fatalf("recorded %+v", o)
		}
		wantEqual(e, "tries", e.claimOne().Tries, 2)
	})

	g.claim("LateFailureDoesNotReviveWhatIsUsedUp", func(e *env) {
		c := e.started(sched{id: "a"})
		e.lose(c, toFailed)
		f := e.send(report(c, duly.AttemptFailed, toPending))
		if f.Err != nil || f.State != duly.Failed {
			e.Fatalf("answered %+v", f)
		}
		e.wantState(id(c), duly.Failed)
	})

	g.claim("LateReportOfACancelledOneChangesNothing", func(e *env) {
		c := e.started(sched{id: "a"})
		e.must(e.st.Cancel(e.ctx, id(c), "ann", ""))
		e.lose(c, toCancelled)
		f := e.send(report(c, duly.AttemptSucceeded, toSucceeded))
		if f.Err != nil || f.State != duly.Cancelled {
			e.Fatalf("answered %+v", f)
		}
		e.wantState(id(c), duly.Cancelled)
	})

	g.claim("SupersededReportIsKeptAsStaleAndChangesNothing", func(e *env) {
		c := e.started(sched{id: "a"})
		e.lose(c, toPending)
		second := e.claimOne()
		if second.Token <= c.Token {
			e.Fatalf("token %d after %d", second.Token, c.Token)
		}
		r := report(c, duly.AttemptSucceeded, toSucceeded)
		r.Error, r.Output, r.Effects = "too late", "output", []store.EffectReport{{Key: "k"}}
		for range 2 {
			f := e.send(r)
			e.wantCode(f.Err, duly.CodeStaleToken)
			wantEqual(e, "state", f.State, duly.Running)
			wantEqual(e, "schedule", f.Schedule, "a")
		}
		o := e.wantState(id(c), duly.Running)
		a := o.Attempts[0]
		if a.Outcome != duly.AttemptLost || a.Stale == nil || a.Stale.Outcome != duly.AttemptSucceeded || a.Stale.Error != "too late" || a.Stale.At.IsZero() {
			e.Fatalf("attempt %+v, stale %+v", a, a.Stale)
		}
		if o.Attempts[1].Stale != nil || len(o.Effects) != 0 {
			e.Fatalf("recorded %+v", o)
		}
		e.succeed(second)
		e.wantCode(e.send(r).Err, duly.CodeStaleToken)
		e.wantState(id(c), duly.Succeeded)
	})

	g.claim("FieldCase_B48_APausedWorkerCanNeitherRenewNorFinish", func(e *env) {
		a := e.started(sched{id: "a"})
		e.lose(a, toPending)
		b := e.claimOne()
		e.succeed(b)
		e.wantCode(e.send(report(a, duly.AttemptSucceeded, toSucceeded)).Err, duly.CodeStaleToken)
		got, err := e.st.Renew(e.ctx, e.node, []store.Renewal{{Seq: a.Seq, Token: a.Token, Lease: time.Minute}})
		e.must(err)
		wantEqual(e, "lost", got[0].Lost, true)
		o := e.wantState(id(a), duly.Succeeded)
		if len(o.Attempts) != 2 || o.Attempts[0].Outcome != duly.AttemptLost || o.Attempts[1].Outcome != duly.AttemptSucceeded {
			e.Fatalf("attempts %+v", o.Attempts)
		}
	})

	g.claim("LateReportAfterAPersonsRetryIsAccepted", func(e *env) {
		c := e.started(sched{id: "a"})
		e.lose(c, toFailed)
		e.must(e.st.Retry(e.ctx, id(c), "ann", ""))
		e.succeed(c)
		e.wantState(id(c), duly.Succeeded)
	})
}

func effects(g *group) {
	g.claim("EffectsAreRecordedWithTheirMaker", func(e *env) {
		c := e.started(sched{id: "a"})
		r := report(c, duly.AttemptFailed, toPending)
		r.Effects = []store.EffectReport{{Key: "invoice/1", Result: []byte(`{"no":7}`)}, {Key: "invoice/2"}}
		e.must(e.send(r).Err)
		second := e.claimOne()
		r = report(second, duly.AttemptSucceeded, toSucceeded)
		r.Effects = []store.EffectReport{{Key: "invoice/1", Reused: true}, {Key: "invoice/2", Reused: true}, {Key: "invoice/3"}}
		e.must(e.send(r).Err)
		e.must(e.send(r).Err) // a repeat counts nothing twice
		o := e.occ(id(c))
		if o.Attempts[0].Effects != (duly.EffectCounts{Created: 2}) || o.Attempts[1].Effects != (duly.EffectCounts{Created: 1, Reused: 2}) {
			e.Fatalf("counts %+v", o.Attempts)
		}
		if len(o.Effects) != 3 || o.Effects[0].Key != "invoice/1" || o.Effects[0].Attempt != 1 || o.Effects[0].Token != c.Token ||
			!sameJSON(o.Effects[0].Result, []byte(`{"no":7}`)) || o.Effects[2].Attempt != 2 || o.Effects[2].CreatedAt.IsZero() {
			e.Fatalf("effects %+v", o.Effects)
		}
		all, _, err := e.st.Effects(e.ctx, store.EffectFilter{Key: "invoice/1"}, store.Page{})
		e.must(err)
		if len(all) != 1 || all[0].Reused != 1 || all[0].Occurrence != id(c) {
			e.Fatalf("effect %+v", all)
		}
	})

	g.claim("AnEffectThatNoReportToldOfIsRecordedWhenFound", func(e *env) {
		c := e.started(sched{id: "a"})
		e.lose(c, toPending) // after the effect, before the report
		second := e.claimOne()
		r := report(second, duly.AttemptSucceeded, toSucceeded)
		r.Effects = []store.EffectReport{{Key: "k", Reused: true}}
		e.must(e.send(r).Err)
		o := e.occ(id(c))
		if len(o.Effects) != 1 || o.Effects[0].Attempt != 0 || o.Attempts[1].Effects != (duly.EffectCounts{Reused: 1}) {
			e.Fatalf("recorded %+v", o)
		}
	})

	g.claim("AnotherOccurrenceFindsTheEffectOfTheFirst", func(e *env) {
		c := e.started(sched{id: "a"})
		r := report(c, duly.AttemptSucceeded, toSucceeded)
		r.Effects = []store.EffectReport{{Key: "k"}}
		e.must(e.send(r).Err)
		e.fireAfter(time.Minute)
		r = report(e.claimOne(), duly.AttemptSucceeded, toSucceeded)
		r.Effects = []store.EffectReport{{Key: "k", Reused: true}}
		e.must(e.send(r).Err)
		all, _, err := e.st.Effects(e.ctx, store.EffectFilter{Prefix: "k"}, store.Page{})
		e.must(err)
		if len(all) != 1 || all[0].Reused != 1 || all[0].Occurrence != id(c) {
			e.Fatalf("effects %+v", all)
		}
	})

	g.claim("AnEffectThatWasFoundIsItsMakers", func(e *env) {
		e.apply(sched{id: "a"}, sched{id: "b"})
		e.fireAfter(time.Minute)
		claims := e.claim(2)
		a, b := claims[0], claims[1]
		if a.Schedule != "a" {
			a, b = b, a
		}
		e.finish(b, duly.AttemptFailed, toPending)
		e.lose(a, toPending) // after its effects, before its report
		claims = e.claim(2)
		second := claims[0]
		if b = claims[1]; second.Schedule != "a" {
			second, b = b, second
		}
		made := time.Date(2026, 11, 2, 3, 4, 5, 0, time.UTC)
		by := func(occurrence string, attempt int) *duly.EffectMaker {
			return &duly.EffectMaker{Occurrence: occurrence, Attempt: attempt, Token: a.Token, CreatedAt: made}
		}
		r := report(second, duly.AttemptSucceeded, toSucceeded)
		r.Effects = []store.EffectReport{
			{Key: "mine", Reused: true, Result: []byte("7"), Maker: by(id(a), 1)},
			{Key: "elsewhere", Reused: true, Maker: by("stranger@2026-11-02", 4)},
			{Key: "nobody", Reused: true, Maker: by("nonsense", 1)},
		}
		e.must(e.send(r).Err)
		r = report(b, duly.AttemptSucceeded, toSucceeded)
		r.Effects = []store.EffectReport{{Key: "mine", Reused: true, Maker: by(id(a), 1)}}
		e.must(e.send(r).Err)
		e.must(e.send(r).Err) // a repeat counts nothing twice
		all, _, err := e.st.Effects(e.ctx, store.EffectFilter{Key: "mine"}, store.Page{})
		e.must(err)
		if len(all) != 1 || all[0].Occurrence != id(a) || all[0].Attempt != 1 || all[0].Token != a.Token || all[0].Reused != 2 || !all[0].CreatedAt.Equal(made) || string(all[0].Result) != "7" {
			e.Fatalf("effect %+v", all)
		}
		o := e.occ(id(a))
		attempts := map[string]int{}
		for _, told := range o.Effects {
			attempts[told.Key] = told.Attempt
		}
		wantEqual(e, "attempts", fmt.Sprint(attempts), "map[elsewhere:0 mine:1 nobody:0]")
		wantEqual(e, "reused", o.Attempts[1].Effects.Reused, 3)
		if b := e.occ(id(b)); len(b.Effects) != 0 || b.Attempts[1].Effects.Reused != 1 {
			e.Fatalf("recorded %+v", b)
		}
	})

	g.claim("AnEffectThatWasMadeTwiceIsThereTwice", func(e *env) {
		c := e.started(sched{id: "a"})
		r := report(c, duly.AttemptFailed, toPending)
		r.Effects = []store.EffectReport{{Key: "k"}}
		e.must(e.send(r).Err)
		r = report(e.claimOne(), duly.AttemptSucceeded, toSucceeded)
		r.Effects = []store.EffectReport{{Key: "k"}}
		e.must(e.send(r).Err)
		if o := e.occ(id(c)); len(o.Effects) != 2 { // so that a drill can see it
			e.Fatalf("effects %+v", o.Effects)
		}
	})
}
