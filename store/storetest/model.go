package storetest

import (
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// model runs random steps against the store and a few lines of Go that say
// what should come of them.
func model(g *group) {
	g.claim("RandomStepsLeadWhereTheModelSays", func(e *env) {
		n := 0
		rapid.Check(e, func(t *rapid.T) {
			n++
			m := newMachine(e, t, fmt.Sprintf("m%d", n))
			t.Repeat(map[string]func(*rapid.T){
				"fire": m.fire, "claim": m.claim, "finish": m.finish, "late": m.late, "reap": m.reap, "cancel": m.cancel, "retry": m.retry, "": m.check,
			})
		})
	})
}

// machine is one run: schedules of its own in a store that others have used.
type machine struct {
	e       *env
	prefix  string
	handler string
	queue   string
	scheds  []sched
	now     time.Time
	occs    []*modelOcc // in the order of creation
	last    int64       // the highest token seen
}

// modelOcc is what the model knows of an occurrence.
type modelOcc struct {
	id        string
	s         sched
	due       time.Time
	seq       int64
	state     duly.State
	attempts  int
	token     int64
	until     time.Time
	lost      bool // the newest attempt was
	cancelled bool // while running
}

const modelConcurrency = 2

func newMachine(e *env, t *rapid.T, prefix string) *machine {
	m := &machine{e: e, prefix: prefix, handler: prefix, queue: prefix + "-q", now: e.now}
	for i, s := range []sched{{}, {}, {parallel: true, queue: m.queue}, {queue: m.queue, priority: 3}} {
		s.id, s.handler = fmt.Sprintf("%s/%d", prefix, i), m.handler
		m.scheds = append(m.scheds, s)
		e.defs[s.id] = s
	}
	req := store.ApplyRequest{Now: m.now, Owner: "test", By: "model", Queues: []duly.Queue{{Name: m.queue, Concurrency: modelConcurrency}}}
	for _, s := range m.scheds {
		req.Schedules = append(req.Schedules, s.definition())
	}
	if _, err := e.st.Apply(e.ctx, req); err != nil {
		t.Fatal(err)
	}
	return m
}

func (m *machine) ok(t *rapid.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// fire lets minutes pass and fires, claiming at once or not. Schedules of
// machines before this one owe nothing to anybody.
func (m *machine) fire(t *rapid.T) {
	m.now = m.now.Add(time.Duration(rapid.IntRange(1, 2).Draw(t, "minutes")) * time.Minute)
	m.e.now = m.now // the next machine begins where this one ends
	req := store.FireRequest{Now: m.now, Node: m.e.node, Limit: 100_000, Plan: func(now time.Time, due []store.DueSchedule) []store.Firing {
		all := m.e.plan(now, due)
		for i, d := range due {
			if !slices.ContainsFunc(m.scheds, func(s sched) bool { return s.id == d.Schedule }) {
				all[i].Occurrences, all[i].NextDue = nil, time.Time{}
			}
		}
		return all
	}}
	if rapid.Bool().Draw(t, "claim too") {
		req.Claim = &store.ClaimRequest{Node: m.e.node, Max: rapid.IntRange(1, 4).Draw(t, "max"), Capabilities: []string{"handler:" + m.handler}}
	}
	res, err := m.e.st.Fire(m.e.ctx, req)
	m.ok(t, err)
	for _, f := range res.Fired {
		i := slices.IndexFunc(m.scheds, func(s sched) bool { return s.id == f.Schedule })
		m.occs = append(m.occs, &modelOcc{id: duly.OccurrenceID(f.Schedule, f.Period), s: m.scheds[i], due: f.Due, seq: f.Seq, state: duly.Pending})
	}
	if req.Claim != nil {
		m.claimed(t, req.Claim.Max, res.Claims)
	}
}

func (m *machine) claim(t *rapid.T) {
	max := rapid.IntRange(1, 4).Draw(t, "max")
	res, err := m.e.st.Claim(m.e.ctx, store.ClaimRequest{Now: m.now, Node: m.e.node, Max: max, Capabilities: []string{"handler:" + m.handler}})
	m.ok(t, err)
	m.claimed(t, max, res.Claims)
}

// claimed checks claims one by one: each must be one that may run, and when
// there were fewer than asked for, none may be left.
func (m *machine) claimed(t *rapid.T, max int, claims []store.Claim) {
	t.Helper()
	for _, c := range claims {
		o := m.bySeq(c.Seq)
		if o == nil || !m.mayRun(o) {
			t.Fatalf("%s@%s was handed out, but the model has %+v", c.Schedule, c.Period, o)
		}
		o.state, o.attempts, o.token, o.until, o.lost, o.cancelled = duly.Running, o.attempts+1, c.Token, c.LeaseUntil, false, false
		if c.Attempt != o.attempts || c.Token <= m.last {
			t.Fatalf("claim %+v after %d attempts and token %d", c, o.attempts-1, m.last)
		}
		m.last = c.Token
	}
	if len(claims) == max {
		return
	}
	for _, o := range m.occs {
		if m.mayRun(o) {
			t.Fatalf("%s may run and was not handed out: %d of %d", o.id, len(claims), max)
		}
	}
}

// mayRun: pending, its queue has room, and where it is serial no other of its
// schedule runs or comes before it.
func (m *machine) mayRun(o *modelOcc) bool {
	if o.state != duly.Pending {
		return false
	}
	inQueue := 0
	for _, x := range m.occs {
		if x.state == duly.Running && x.s.queue != "" {
			inQueue++
		}
		if o.s.parallel || x == o || x.s.id != o.s.id {
			continue
		}
		if x.state == duly.Running || x.state == duly.Pending && (x.due.Before(o.due) || x.due.Equal(o.due) && x.seq < o.seq) {
			return false
		}
	}
	return o.s.queue == "" || inQueue < modelConcurrency
}

func (m *machine) bySeq(seq int64) *modelOcc {
	for _, o := range m.occs {
		if o.seq == seq {
			return o
		}
	}
	return nil
}

// pick draws one occurrence that a condition holds for, nil where there is
// none.
func (m *machine) pick(t *rapid.T, what string, ok func(*modelOcc) bool) *modelOcc {
	var some []*modelOcc
	for _, o := range m.occs {
		if ok(o) {
			some = append(some, o)
		}
	}
	if len(some) == 0 {
		t.Skip("none is " + what)
	}
	return some[rapid.IntRange(0, len(some)-1).Draw(t, what)]
}

func (m *machine) report(t *rapid.T, o *modelOcc, token int64, outcome duly.Outcome, next store.Next) store.Finished {
	all, err := m.e.st.Finish(m.e.ctx, m.e.node, []store.Report{{Seq: o.seq, Token: token, Outcome: outcome, Next: next}})
	m.ok(t, err)
	return all[0]
}

var modelEnds = []struct {
	outcome duly.Outcome
	next    store.Next
}{
	{duly.AttemptSucceeded, toSucceeded}, {duly.AttemptFailed, toPending}, {duly.AttemptFailed, toFailed}, {duly.AttemptUncertain, toUncertain},
}

func (m *machine) finish(t *rapid.T) {
	o := m.pick(t, "running", func(o *modelOcc) bool { return o.state == duly.Running })
	end := rapid.SampledFrom(modelEnds).Draw(t, "end")
	f := m.report(t, o, o.token, end.outcome, end.next)
	o.state = end.next.State
	if o.cancelled && o.state == duly.Pending {
		o.state = duly.Cancelled
	}
	if f.Err != nil || f.State != o.state {
		t.Fatalf("%s: answered %+v, want %s", o.id, f, o.state)
	}
}

// late sends a report for an attempt that was reaped.
func (m *machine) late(t *rapid.T) {
	o := m.pick(t, "lost", func(o *modelOcc) bool { return o.lost && o.state != duly.Running })
	end := rapid.SampledFrom(modelEnds).Draw(t, "end")
	f := m.report(t, o, o.token, end.outcome, end.next)
	if duly.CanMove(o.state, duly.StepFinish, end.next.State) {
		o.state, o.lost = end.next.State, false
	} else if o.state == duly.Failed && end.next.State == duly.Failed {
		o.lost = false
	}
	if f.Err != nil || f.State != o.state || !f.Late {
		t.Fatalf("%s: answered %+v, want %s", o.id, f, o.state)
	}
}

func (m *machine) reap(t *rapid.T) {
	m.now = m.now.Add(2 * time.Minute) // every lease is over
	m.e.now = m.now
	next := rapid.SampledFrom([]store.Next{toPending, toFailed}).Draw(t, "next")
	res, err := m.e.st.Reap(m.e.ctx, store.ReapRequest{Now: m.now, Limit: 100_000, Decide: func(store.Expired) store.Next { return next }})
	m.ok(t, err)
	lost := map[int64]duly.State{}
	for _, r := range res.Lost {
		lost[r.Seq] = r.State
	}
	for _, o := range m.occs {
		if o.state != duly.Running {
			continue
		}
		o.state, o.lost = next.State, true
		if o.cancelled && o.state == duly.Pending {
			o.state = duly.Cancelled
		}
		if lost[o.seq] != o.state {
			t.Fatalf("%s: reaped to %q, want %s", o.id, lost[o.seq], o.state)
		}
	}
}

func (m *machine) cancel(t *rapid.T) {
	o := m.pick(t, "any", func(*modelOcc) bool { return true })
	err := m.e.st.Cancel(m.e.ctx, o.id, "model", "")
	switch {
	case o.state == duly.Running:
		m.ok(t, err)
		o.cancelled = true
	case duly.CanMove(o.state, duly.StepCancel, duly.Cancelled):
		m.ok(t, err)
		o.state = duly.Cancelled
	case duly.CodeOf(err) != duly.CodeConflict:
		t.Fatalf("%s is %s and was cancelled: %v", o.id, o.state, err)
	}
}

func (m *machine) retry(t *rapid.T) {
	o := m.pick(t, "any", func(*modelOcc) bool { return true })
	err := m.e.st.Retry(m.e.ctx, o.id, "model", "")
	if o.state != duly.Succeeded && duly.CanMove(o.state, duly.StepRetry, duly.Pending) {
		m.ok(t, err)
		o.state = duly.Pending
		return
	}
	if duly.CodeOf(err) != duly.CodeConflict {
		t.Fatalf("%s is %s and was retried: %v", o.id, o.state, err)
	}
}

// check compares all that the store and the model say.
func (m *machine) check(t *rapid.T) {
	for _, s := range m.scheds {
		all, _, err := m.e.st.Occurrences(m.e.ctx, store.OccurrenceFilter{Schedule: s.id}, store.Page{Limit: 1000})
		m.ok(t, err)
		n := 0
		for _, got := range all {
			o := m.bySeq(got.Seq)
			if o == nil || got.State != o.state || len(got.Attempts) != o.attempts {
				t.Fatalf("%s is %s with %d attempts, the model has %+v", got.ID, got.State, len(got.Attempts), o)
			}
			if (got.Waiting != "") != (got.State == duly.Pending) {
				t.Fatalf("%s is %s and waits for %q", got.ID, got.State, got.Waiting)
			}
			n++
		}
		for _, o := range m.occs {
			if o.s.id == s.id {
				n--
			}
		}
		if n != 0 {
			t.Fatalf("%s has %d occurrences more than the model", s.id, n)
		}
	}
}
