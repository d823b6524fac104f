package storetest

import (
	"fmt"
	"strings"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// openEffects has what follows from effects of which nobody knows whether they
// have happened.
func openEffects(g *group) {
	open := []store.EffectReport{{Key: "charge/1", Open: true}}
	wantUncertain := func(e *env, id string) {
		e.Helper()
		if o := e.wantState(id, duly.Uncertain); !strings.Contains(o.Reason, "charge/1") || o.FinishedAt.IsZero() {
			e.Fatalf("recorded %+v", o)
		}
	}

	g.claim("AFailureWithAnOpenEffectIsUncertain", func(e *env) {
		c := e.started(sched{id: "a"})
		r := report(c, duly.AttemptFailed, store.Next{State: duly.Failed, Reason: "attempt 3 of 3 failed", Hold: true})
		r.Effects = open
		first := e.send(r)
		if first.Err != nil || first.State != duly.Uncertain {
			e.Fatalf("answered %+v", first)
		}
		wantEqual(e, "answer to the repeat", e.send(r), first)
		wantUncertain(e, id(c))
		o := e.occ(id(c))
		if a := o.Attempts[0]; a.Outcome != duly.AttemptFailed || a.Effects != (duly.EffectCounts{}) {
			e.Fatalf("attempt %+v", a)
		}
		if len(o.Effects) != 1 || !o.Effects[0].Open || o.Effects[0].Attempt != 1 || o.Effects[0].Token != c.Token {
			e.Fatalf("effects %+v", o.Effects)
		}
		e.fireAfter(time.Minute)
		wantEqual(e, "claimed while held", len(e.claim(10)), 0)
	})

	g.claim("WhatAnEarlierAttemptLeftOpenKeepsAFailureUncertain", func(e *env) {
		c := e.started(sched{id: "a"})
		r := report(c, duly.AttemptFailed, toPending)
		r.Effects = open
		e.must(e.send(r).Err)
		e.wantState(id(c), duly.Pending)
		e.fail(e.claimOne())
		wantUncertain(e, id(c))
	})

	g.claim("WhatSeveralAttemptsLeftOpenIsThereOnce", func(e *env) {
		c := e.started(sched{id: "a"})
		for range 2 {
			r := report(c, duly.AttemptFailed, toPending)
			r.Effects = open
			e.must(e.send(r).Err)
			c = e.claimOne()
		}
		r := report(c, duly.AttemptFailed, toFailed)
		r.Effects = open
		e.must(e.send(r).Err)
		wantUncertain(e, id(c))
		if o := e.occ(id(c)); len(o.Effects) != 1 || o.Effects[0].Attempt != 1 {
			e.Fatalf("effects %+v", o.Effects)
		}
	})

	g.claim("WhatAnEarlierAttemptLeftOpenKeepsALossUncertain", func(e *env) {
		c := e.started(sched{id: "a"})
		r := report(c, duly.AttemptFailed, toPending)
		r.Effects = open
		e.must(e.send(r).Err)
		e.lose(e.claimOne(), toFailed)
		wantUncertain(e, id(c))
	})

	g.claim("ALateReportOfAnOpenEffectMakesAFailureUncertain", func(e *env) {
		c := e.started(sched{id: "a"})
		e.lose(c, toFailed)
		e.wantState(id(c), duly.Failed)
		r := report(c, duly.AttemptFailed, toFailed)
		r.Effects = open
		e.must(e.send(r).Err)
		wantUncertain(e, id(c))
	})

	for _, c := range []struct {
		name string
		told store.EffectReport
	}{{"Made", store.EffectReport{Key: "charge/1"}}, {"Found", store.EffectReport{Key: "charge/1", Reused: true}}} {
		g.claim("WhatALaterAttempt"+c.name+"IsOpenNoMore", func(e *env) {
			first := e.started(sched{id: "a"})
			r := report(first, duly.AttemptFailed, toPending)
			r.Effects = open
			e.must(e.send(r).Err)
			told := c.told
			if told.Reused {
				told.Maker = &duly.EffectMaker{Occurrence: id(first), Attempt: 1, Token: first.Token}
			}
			r = report(e.claimOne(), duly.AttemptFailed, toFailed)
			r.Effects = []store.EffectReport{told}
			e.must(e.send(r).Err)
			o := e.wantState(id(first), duly.Failed)
			want := 2
			if told.Reused {
				want = 1
			}
			if len(o.Effects) != 1 || o.Effects[0].Open || o.Effects[0].Attempt != want {
				e.Fatalf("effects %+v", o.Effects)
			}
		})
	}

	g.claim("AnOpenEffectOfAnotherOccurrenceChangesNothing", func(e *env) {
		c := e.started(sched{id: "a"})
		r := report(c, duly.AttemptUncertain, toUncertain)
		r.Effects = open
		e.must(e.send(r).Err)
		e.fireAfter(time.Minute)
		next := e.claimOne()
		r = report(next, duly.AttemptFailed, toFailed)
		r.Effects = []store.EffectReport{{Key: "charge/1", Reused: true}}
		e.must(e.send(r).Err)
		e.wantState(id(next), duly.Failed)
		if o := e.wantState(id(c), duly.Uncertain); !o.Effects[0].Open {
			e.Fatalf("effects %+v", o.Effects)
		}
	})

	g.claim("ResolvingAnEffectSendsEveryOneThatWaitsForItBack", func(e *env) {
		var waiting []store.Claim
		e.apply(sched{id: "a"}, sched{id: "b"}, sched{id: "c"}, sched{id: "d"}, sched{id: "e"})
		e.fireAfter(time.Minute)
		for _, c := range e.claim(5) {
			r := report(c, duly.AttemptUncertain, toUncertain)
			switch c.Schedule {
			case "c": // waits for another
				r.Effects = []store.EffectReport{{Key: "charge/2", Open: true}}
			case "d": // known by the ledger alone
			case "e": // told of it and succeeded all the same
				r = report(c, duly.AttemptSucceeded, toSucceeded)
				r.Effects = open
			default:
				r.Effects = open
			}
			e.must(e.send(r).Err)
			waiting = append(waiting, c)
		}
		ids := map[string]string{}
		for _, c := range waiting {
			ids[c.Schedule] = id(c)
		}
		req := store.ResolveEffectRequest{
			Key: "charge/1", By: "ann", Why: "the bank shows it", Before: []byte(`{"state":"uncertain"}`), After: []byte(`{"state":"done"}`),
			Occurrences: []string{ids["d"], ids["d"], ids["a"], "gone@2020-01-01", "nonsense"},
		}
		sent, err := e.st.ResolveEffect(e.ctx, req)
		e.must(err)
		got := map[string]bool{}
		for _, id := range sent {
			got[id] = true
		}
		if len(sent) != 3 || !got[ids["a"]] || !got[ids["b"]] || !got[ids["d"]] {
			e.Fatalf("sent back %v", sent)
		}
		for s, want := range map[string]duly.State{"a": duly.Pending, "b": duly.Pending, "c": duly.Uncertain, "d": duly.Pending, "e": duly.Succeeded} {
			o := e.wantState(ids[s], want)
			if want == duly.Pending && (len(o.Effects) != 0 || fmt.Sprint(e.audited("occurrence/"+o.ID)) != "[resolve]") {
				e.Fatalf("%s: effects %+v, audit %v", s, o.Effects, e.audited("occurrence/"+o.ID))
			}
		}
		again, err := e.st.ResolveEffect(e.ctx, req)
		e.must(err)
		wantEqual(e, "sent back again", len(again), 0)
		rows, _, err := e.st.Audit(e.ctx, "effect/charge/1", store.Page{})
		e.must(err)
		if len(rows) != 1 || rows[0].Action != "resolve" || rows[0].By != "ann" || rows[0].Why != "the bank shows it" ||
			!sameJSON(rows[0].Before, req.Before) || !sameJSON(rows[0].After, req.After) || rows[0].At.IsZero() {
			e.Fatalf("audit %+v", rows)
		}
		req.After = []byte(`{"state":"started"}`)
		_, err = e.st.ResolveEffect(e.ctx, req)
		e.must(err)
		wantEqual(e, "another decision in the audit", len(e.audited("effect/charge/1")), 2)
		for _, c := range e.claim(10) {
			if c.Tries != 1 {
				e.Errorf("%s: tries %d", id(c), c.Tries)
			}
		}
	})
}
