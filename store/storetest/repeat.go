package storetest

import (
	"fmt"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// repeat has steps whose reply was lost: the caller cannot know whether they
// happened, and does them again.
func repeat(g *group) {
	// lose makes a step whose reply is lost and then heals the line.
	lose := func(e *env, step func(st store.Store) error) store.Store {
		e.Helper()
		f := NewFaulty(e.st)
		f.Set(Faults{LoseReply: func(string) bool { return true }})
		e.wantCode(step(f), duly.CodeUnavailable)
		f.Set(Faults{})
		return f
	}

	g.claim("FiringAgainMakesNothingTwice", func(e *env) {
		e.apply(sched{id: "a"})
		e.pass(time.Minute)
		fire := func(st store.Store) error {
			_, err := st.Fire(e.ctx, store.FireRequest{Now: e.now, Node: e.node, Plan: e.plan})
			return err
		}
		e.must(fire(lose(e, fire)))
		wantEqual(e, "occurrences", len(e.all("a")), 1)
		wantEqual(e, "fired", e.schedule("a").Fired, 1)
	})

	g.claim("AClaimThatWasNotHeardOfRunsOut", func(e *env) {
		e.apply(sched{id: "a"})
		e.fireAfter(time.Minute)
		req := store.ClaimRequest{Now: e.now, Node: e.node, Max: 1, Capabilities: []string{"handler:h"}}
		st := lose(e, func(st store.Store) error {
			_, err := st.Claim(e.ctx, req)
			return err
		})
		res, err := st.Claim(e.ctx, req)
		e.must(err)
		wantEqual(e, "claimed while the first holds", len(res.Claims), 0)
		e.pass(2 * time.Minute)
		wantEqual(e, "lost", len(e.reap(toPending).Lost), 1)
		wantEqual(e, "attempt", e.claimOne().Attempt, 2)
	})

	for _, end := range []struct {
		outcome duly.Outcome
		next    store.Next
	}{{duly.AttemptSucceeded, toSucceeded}, {duly.AttemptFailed, toPending}, {duly.AttemptUncertain, toUncertain}} {
		g.claim(fmt.Sprintf("FinishingAgainIsAnsweredAsIfForTheFirstTime/%s", end.next.State), func(e *env) {
			c := e.started(sched{id: "a"})
			r := report(c, end.outcome, end.next)
			r.Effects = []store.EffectReport{{Key: "k"}, {Key: "other", Reused: true}}
			var first store.Finished
			finish := func(st store.Store) error {
				all, err := st.Finish(e.ctx, e.node, []store.Report{r})
				if err == nil {
					first = all[0]
				}
				return err
			}
			e.must(finish(lose(e, finish)))
			if first.Err != nil || first.State != end.next.State || first.Late {
				e.Fatalf("answered %+v", first)
			}
			o := e.wantState(id(c), end.next.State)
			if len(o.Attempts) != 1 || o.Attempts[0].Effects != (duly.EffectCounts{Created: 1, Reused: 1}) {
				e.Fatalf("attempts %+v", o.Attempts)
			}
			all, _, err := e.st.Effects(e.ctx, store.EffectFilter{Key: "other"}, store.Page{})
			e.must(err)
			wantEqual(e, "reused", all[0].Reused, 1)
		})
	}

	g.claim("ApplyingAgainChangesNothing", func(e *env) {
		var res store.ApplyResult
		apply := func(st store.Store) (err error) {
			res, err = st.Apply(e.ctx, store.ApplyRequest{Now: e.now, Owner: "test", By: "tester", Schedules: []store.Definition{sched{id: "a"}.definition()}, Remove: []string{"b"}})
			return err
		}
		e.apply(sched{id: "b"})
		e.must(apply(lose(e, apply)))
		for _, ch := range res.Changes {
			wantEqual(e, "action", ch.Action, store.ActionKeep)
		}
		wantEqual(e, "revision", e.schedule("a").Revision, 1)
	})

	g.claim("DeclaringAgainChangesNothing", func(e *env) {
		declare := func(st store.Store) error {
			_, err := st.Declare(e.ctx, store.DeclareRequest{Now: e.now, Node: e.node, Owner: "code:app", Schedules: []store.Definition{sched{id: "a"}.definition()}})
			return err
		}
		e.must(declare(lose(e, declare)))
		wantEqual(e, "revision", e.schedule("a").Revision, 1)
	})

	g.claim("AcquiringAgainIsTheSameLease", func(e *env) {
		acquire := func(st store.Store) error {
			_, err := st.Acquire(e.ctx, store.AcquireRequest{Now: e.now, Name: "l", Owner: "a", TTL: time.Hour})
			return err
		}
		e.must(acquire(lose(e, acquire)))
		list, err := e.st.LeaseList(e.ctx)
		e.must(err)
		wantEqual(e, "leases", len(list), 1)
	})

	g.claim("AnOutageChangesNothing", func(e *env) {
		e.apply(sched{id: "a"})
		e.pass(time.Minute)
		f := NewFaulty(e.st)
		f.Set(Faults{Outage: true})
		_, err := f.Fire(e.ctx, store.FireRequest{Now: e.now, Node: e.node, Plan: e.plan})
		e.wantCode(err, duly.CodeUnavailable)
		wantEqual(e, "occurrences", len(e.all("a")), 0)
	})
}
