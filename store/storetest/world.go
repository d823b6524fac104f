package storetest

import (
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// sched is a schedule of the suite: due every so often, with what its
// occurrences are like.
type sched struct {
	id       string
	every    time.Duration // default one minute
	parallel bool          // its occurrences do not wait for each other
	overlap  duly.Overlap
	queue    string
	handler  string // default h
	priority int
	lease    time.Duration // default one minute
	payload  string
	// notBefore and startBy are counted from due; 0 for none.
	notBefore, startBy time.Duration
}

func (s sched) interval() time.Duration {
	if s.every == 0 {
		return time.Minute
	}
	return s.every
}

// next is the first due instant after a time.
func (s sched) next(_, after time.Time) time.Time {
	return after.UTC().Truncate(s.interval()).Add(s.interval())
}

func (s sched) definition() store.Definition {
	d := duly.Schedule{
		ID: s.id, Timing: duly.Timing{Every: duly.Duration(s.interval())}, Overlap: s.overlap, Queue: s.queue, Priority: s.priority, Target: duly.Target{Handler: s.target()},
	}
	if s.payload != "" {
		d.Payload = []byte(s.payload)
	}
	return store.Definition{Schedule: d, Next: s.next}
}

func (s sched) target() string {
	if s.handler == "" {
		return "h"
	}
	return s.handler
}

func (s sched) place() store.Placement {
	lease := s.lease
	if lease == 0 {
		lease = time.Minute
	}
	return store.Placement{Capability: "handler:" + s.target(), Queue: s.queue, Serial: !s.parallel, Priority: s.priority, Lease: lease}
}

// occurrence is what is owed for an instant.
func (s sched) occurrence(due time.Time, r store.Revision) store.NewOccurrence {
	o := store.NewOccurrence{
		Period: period(due), Due: due, IntervalStart: due.Add(-s.interval()), State: duly.Pending, Origin: duly.OriginSchedule,
		Revision: r.Number, Definition: r.Definition, Placement: s.place(),
	}
	if s.notBefore != 0 {
		o.NotBefore = due.Add(s.notBefore)
	}
	if s.startBy != 0 {
		o.StartBy = due.Add(s.startBy)
	}
	return o
}

func period(due time.Time) string { return due.UTC().Format("2006-01-02T15:04:05Z") }

func (s sched) at(due time.Time) string { return duly.OccurrenceID(s.id, period(due)) }

// apply makes schedules the ones that the owner "test" holds, as of e.now.
func (e *env) apply(all ...sched) store.ApplyResult {
	e.Helper()
	req := store.ApplyRequest{Now: e.now, Owner: "test", By: "tester"}
	for _, s := range all {
		req.Schedules = append(req.Schedules, s.definition())
		e.defs[s.id] = s
	}
	res, err := e.st.Apply(e.ctx, req)
	e.must(err)
	return res
}

// applyQueues defines shared queues.
func (e *env) applyQueues(all ...duly.Queue) {
	e.Helper()
	_, err := e.st.Apply(e.ctx, store.ApplyRequest{Now: e.now, Owner: "test", By: "tester", Queues: all})
	e.must(err)
}

// pass moves the suite's clock.
func (e *env) pass(d time.Duration) { e.now = e.now.Add(d) }

// plan owes one occurrence for each instant of each schedule, as the suite's
// schedules say.
func (e *env) plan(now time.Time, due []store.DueSchedule) []store.Firing {
	all := make([]store.Firing, len(due))
	for i, d := range due {
		all[i] = e.owed(now, d)
	}
	return all
}

func (e *env) owed(now time.Time, d store.DueSchedule) store.Firing {
	s := e.defs[d.Schedule]
	f := store.Firing{Schedule: d.Schedule, Cursor: now, NextDue: s.next(d.Anchor, now), ResumeDone: d.Resume != nil}
	for at := s.next(d.Anchor, d.Cursor); !at.After(now); at = s.next(d.Anchor, at) {
		f.Occurrences = append(f.Occurrences, s.occurrence(at, d.Revisions[len(d.Revisions)-1]))
	}
	return f
}

// fire fires what is due at e.now.
func (e *env) fire() store.FireResult {
	e.Helper()
	return e.fireWith(store.FireRequest{Plan: e.plan})
}

func (e *env) fireWith(req store.FireRequest) store.FireResult {
	e.Helper()
	req.Now, req.Node = e.now, e.node
	res, err := e.st.Fire(e.ctx, req)
	e.must(err)
	return res
}

// fireAfter lets time pass and fires.
func (e *env) fireAfter(d time.Duration) store.FireResult {
	e.Helper()
	e.pass(d)
	return e.fire()
}

// claim takes up to max occurrences for the handler h.
func (e *env) claim(max int) []store.Claim {
	e.Helper()
	return e.claimFor(max, "handler:h")
}

func (e *env) claimFor(max int, capabilities ...string) []store.Claim {
	e.Helper()
	res, err := e.st.Claim(e.ctx, store.ClaimRequest{Now: e.now, Node: e.node, Max: max, Capabilities: capabilities})
	e.must(err)
	return res.Claims
}

// claimOne takes exactly one.
func (e *env) claimOne() store.Claim {
	e.Helper()
	claims := e.claim(1)
	if len(claims) != 1 {
		e.Fatalf("claimed %d, want one", len(claims))
	}
	return claims[0]
}

// started applies a schedule, fires it once and claims its occurrence.
func (e *env) started(s sched) store.Claim {
	e.Helper()
	e.apply(s)
	e.fireAfter(s.interval())
	return e.claimOne()
}

var (
	toSucceeded = store.Next{State: duly.Succeeded}
	toPending   = store.Next{State: duly.Pending, Reason: "again"}
	toFailed    = store.Next{State: duly.Failed, Reason: "for good"}
	toUncertain = store.Next{State: duly.Uncertain, Reason: "nobody knows"}
	toCancelled = store.Next{State: duly.Cancelled, Reason: "not wanted"}
)

func report(c store.Claim, outcome duly.Outcome, next store.Next) store.Report {
	return store.Report{Seq: c.Seq, Token: c.Token, Outcome: outcome, Next: next}
}

// finish sends one report, which must be accepted.
func (e *env) finish(c store.Claim, outcome duly.Outcome, next store.Next) store.Finished {
	e.Helper()
	f := e.send(report(c, outcome, next))
	e.must(f.Err)
	return f
}

func (e *env) send(r store.Report) store.Finished {
	e.Helper()
	all, err := e.st.Finish(e.ctx, e.node, []store.Report{r})
	e.must(err)
	if len(all) != 1 {
		e.Fatalf("%d answers to one report", len(all))
	}
	return all[0]
}

func (e *env) succeed(c store.Claim) { e.Helper(); e.finish(c, duly.AttemptSucceeded, toSucceeded) }
func (e *env) fail(c store.Claim)    { e.Helper(); e.finish(c, duly.AttemptFailed, toFailed) }

// reap ends what has run out at e.now, by one decision for all.
func (e *env) reap(next store.Next) store.ReapResult {
	e.Helper()
	res, err := e.st.Reap(e.ctx, store.ReapRequest{Now: e.now, Decide: func(store.Expired) store.Next { return next }})
	e.must(err)
	return res
}

// lose lets a claim's lease run out and reaps it.
func (e *env) lose(c store.Claim, next store.Next) {
	e.Helper()
	e.pass(c.LeaseUntil.Sub(e.now) + time.Second)
	res := e.reap(next)
	if len(res.Lost) != 1 || res.Lost[0].Seq != c.Seq {
		e.Fatalf("reaped %+v, want %s@%s", res.Lost, c.Schedule, c.Period)
	}
}

func id(c store.Claim) string { return duly.OccurrenceID(c.Schedule, c.Period) }

// occ reads an occurrence.
func (e *env) occ(id string) duly.Occurrence {
	e.Helper()
	o, err := e.st.Occurrence(e.ctx, id)
	e.must(err)
	return o
}

func (e *env) wantState(id string, want duly.State) duly.Occurrence {
	e.Helper()
	o := e.occ(id)
	if o.State != want {
		e.Fatalf("%s is %s (%s), want %s", id, o.State, o.Reason, want)
	}
	return o
}

func (e *env) wantWaiting(id string, want duly.Waiting) {
	e.Helper()
	if o := e.wantState(id, duly.Pending); o.Waiting != want {
		e.Fatalf("%s waits for %q, want %q", id, o.Waiting, want)
	}
}

func (e *env) schedule(id string) store.ScheduleStatus {
	e.Helper()
	s, err := e.st.Schedule(e.ctx, id)
	e.must(err)
	return s
}

// all lists a schedule's occurrences, oldest first.
func (e *env) all(schedule string) []duly.Occurrence {
	e.Helper()
	var all []duly.Occurrence
	page := store.Page{Limit: 1000}
	for {
		some, next, err := e.st.Occurrences(e.ctx, store.OccurrenceFilter{Schedule: schedule}, page)
		e.must(err)
		for _, o := range some {
			all = append([]duly.Occurrence{o}, all...)
		}
		if next == "" {
			return all
		}
		page.Cursor = next
	}
}

// wantTime compares instants.
func (e *env) wantTime(what string, got, want time.Time) {
	e.Helper()
	if !got.Equal(want) {
		e.Fatalf("%s: got %v, want %v", what, got, want)
	}
}

// audited lists the actions that the audit has for an object, oldest first.
func (e *env) audited(object string) []string {
	e.Helper()
	rows, _, err := e.st.Audit(e.ctx, object, store.Page{Limit: 1000})
	e.must(err)
	var actions []string
	for _, r := range rows {
		actions = append([]string{r.Action}, actions...)
	}
	return actions
}
