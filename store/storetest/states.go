package storetest

import (
	"fmt"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// states drives every step at an occurrence in every state, towards every
// state, and holds the store to duly's table: what the table has happens, what
// it does not have changes nothing.
func states(g *group) {
	for _, from := range duly.States {
		for _, d := range drivers() {
			for _, to := range d.towards {
				g.claim(fmt.Sprintf("%s/%s/%s", from, d.step, to), func(e *env) {
					x := bring(e, from, d.step)
					before := e.wantState(x.id, from)
					d.drive(e, x, to)
					after := e.occ(x.id)
					want := from
					if duly.CanMove(from, d.step, to) {
						want = to
					}
					if after.State != want {
						e.Fatalf("%s led from %s to %s, want %s (%s)", d.step, from, after.State, want, after.Reason)
					}
					if want != from || d.step == duly.StepFinish { // a late report may add what an attempt said
						return
					}
					if after.Reason != before.Reason || after.Waiting != before.Waiting || !after.FinishedAt.Equal(before.FinishedAt) || len(after.Attempts) != len(before.Attempts) {
						e.Fatalf("%s may not touch what is %s, but made %+v of %+v", d.step, from, after, before)
					}
				})
			}
		}
	}
	for _, to := range duly.States {
		g.claim(fmt.Sprintf("none/%s/%s", duly.StepFire, to), func(e *env) {
			s := sched{id: "a"}
			e.apply(s)
			e.pass(time.Minute)
			_, _ = e.st.Fire(e.ctx, store.FireRequest{Now: e.now, Node: e.node, Plan: func(now time.Time, due []store.DueSchedule) []store.Firing {
				f := e.plan(now, due)
				f[0].Occurrences[0].State = to
				return f
			}})
			exists(e, s.at(e.now), duly.CanMove("", duly.StepFire, to), to)
		})
		g.claim(fmt.Sprintf("none/%s/%s", duly.StepInsert, to), func(e *env) {
			s := sched{id: "a"}
			e.apply(s)
			o := s.occurrence(e.now, store.Revision{})
			o.State = to
			_, _ = e.st.Insert(e.ctx, store.InsertRequest{Now: e.now, Schedule: "a", By: "ann", Occurrences: []store.NewOccurrence{o}})
			exists(e, s.at(e.now), duly.CanMove("", duly.StepInsert, to), to)
		})
	}
}

func exists(e *env, id string, want bool, state duly.State) {
	e.Helper()
	if want {
		e.wantState(id, state)
		return
	}
	_, err := e.st.Occurrence(e.ctx, id)
	e.wantCode(err, duly.CodeNotFound)
}

// subject is an occurrence in some state, with the newest claim on it if there
// was one.
type subject struct {
	id    string
	seq   int64
	claim store.Claim
	s     sched
}

// bring makes an occurrence in a state from which the table lets a step start,
// if from any: a report is taken from pending and failed only where the last
// attempt was lost, and only what never started expires.
func bring(e *env, state duly.State, step duly.Step) subject {
	e.Helper()
	s := sched{id: "a", overlap: duly.OverlapCombine}
	if step == duly.StepExpire {
		s.startBy = 30 * time.Second
	}
	claimed := func() subject {
		c := e.started(s)
		return subject{id: id(c), seq: c.Seq, claim: c, s: s}
	}
	ended := func(outcome duly.Outcome, next store.Next) subject {
		x := claimed()
		e.finish(x.claim, outcome, next)
		return x
	}
	lost := func(next store.Next) subject {
		x := claimed()
		e.lose(x.claim, next)
		return x
	}
	recorded := func(state duly.State) subject {
		e.apply(s)
		e.pass(time.Minute)
		res := e.fireWith(store.FireRequest{Plan: func(now time.Time, due []store.DueSchedule) []store.Firing {
			f := e.plan(now, due)
			f[0].Occurrences[0].State, f[0].Occurrences[0].Reason = state, "for the test"
			return f
		}})
		return subject{id: s.at(e.now), seq: res.Fired[0].Seq, s: s}
	}
	switch state {
	case duly.Pending:
		if step == duly.StepFinish {
			return lost(toPending)
		}
		return recorded(duly.Pending)
	case duly.Running:
		return claimed()
	case duly.Succeeded:
		return ended(duly.AttemptSucceeded, toSucceeded)
	case duly.Failed:
		if step == duly.StepFinish {
			return lost(toFailed)
		}
		return ended(duly.AttemptFailed, toFailed)
	case duly.Uncertain:
		return ended(duly.AttemptUncertain, toUncertain)
	case duly.Cancelled:
		return ended(duly.AttemptCancelled, toCancelled)
	case duly.Merged:
		x := recorded(duly.Pending)
		mergeInto(e, x)
		return x
	}
	return recorded(state)
}

// mergeInto has a later occurrence take x over, whatever x is.
func mergeInto(e *env, x subject) {
	e.Helper()
	e.pass(time.Minute)
	e.fireWith(store.FireRequest{Plan: func(now time.Time, due []store.DueSchedule) []store.Firing {
		f := e.plan(now, due)
		f[0].Merge = []int64{x.seq}
		return f
	}})
}

// driver takes a step at an occurrence. One that may not be taken may be
// refused with an error or by doing nothing: what counts is where the
// occurrence is.
type driver struct {
	step    duly.Step
	towards []duly.State // where the step could be meant to lead
	drive   func(e *env, x subject, to duly.State)
}

func drivers() []driver {
	outcomes := map[duly.State]duly.Outcome{
		duly.Succeeded: duly.AttemptSucceeded, duly.Uncertain: duly.AttemptUncertain, duly.Cancelled: duly.AttemptCancelled,
	}
	same := func(e *env, x subject) store.NewOccurrence { return x.s.occurrence(e.occ(x.id).Due, store.Revision{}) }
	return []driver{
		{duly.StepFire, []duly.State{duly.Pending, duly.Skipped, duly.Missed}, func(e *env, x subject, to duly.State) {
			e.pass(time.Minute)
			was := e.occ(x.id).Due
			e.fireWith(store.FireRequest{Plan: func(now time.Time, due []store.DueSchedule) []store.Firing {
				f := e.plan(now, due)
				again := x.s.occurrence(was, due[0].Revisions[0])
				again.State, again.Reason = to, "again"
				f[0].Occurrences = []store.NewOccurrence{again}
				return f
			}})
		}},
		{duly.StepInsert, []duly.State{duly.Pending}, func(e *env, x subject, _ duly.State) {
			_, err := e.st.Insert(e.ctx, store.InsertRequest{Now: e.now, Schedule: "a", By: "ann", Occurrences: []store.NewOccurrence{same(e, x)}})
			e.must(err)
		}},
		{duly.StepClaim, []duly.State{duly.Running}, func(e *env, _ subject, _ duly.State) { e.claim(10) }},
		{duly.StepFinish, duly.States, func(e *env, x subject, to duly.State) {
			outcome := outcomes[to]
			if outcome == "" {
				outcome = duly.AttemptFailed
			}
			_, err := e.st.Finish(e.ctx, e.node, []store.Report{{Seq: x.seq, Token: x.claim.Token, Outcome: outcome, Next: store.Next{State: to}}})
			e.must(err)
		}},
		{duly.StepReap, duly.States, func(e *env, _ subject, to duly.State) {
			e.pass(5 * time.Minute)
			_, _ = e.st.Reap(e.ctx, store.ReapRequest{Now: e.now, Decide: func(store.Expired) store.Next { return store.Next{State: to} }})
		}},
		{duly.StepExpire, []duly.State{duly.Missed}, func(e *env, _ subject, _ duly.State) {
			e.pass(50 * time.Second) // while the lease of one that runs holds
			e.claimFor(1, "handler:nobody")
		}},
		{duly.StepMerge, []duly.State{duly.Merged}, func(e *env, x subject, _ duly.State) { mergeInto(e, x) }},
		{duly.StepCancel, []duly.State{duly.Cancelled}, func(e *env, x subject, _ duly.State) { _ = e.st.Cancel(e.ctx, x.id, "ann", "") }},
		{duly.StepRetry, []duly.State{duly.Pending}, func(e *env, x subject, _ duly.State) {
			_, err := e.st.Insert(e.ctx, store.InsertRequest{Now: e.now, Schedule: "a", By: "ann", Occurrences: []store.NewOccurrence{same(e, x)}, Retry: duly.States})
			e.must(err)
		}},
		{duly.StepResolve, duly.States, func(e *env, x subject, to duly.State) { _ = e.st.Resolve(e.ctx, x.id, to, "ann", "") }},
	}
}
