package dulytest

import (
	"context"
	"maps"
	"runtime"
	"slices"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/plan"
	"github.com/duly-dev/duly/store"
	"github.com/duly-dev/duly/target"
)

// crash says where in an attempt its process dies: at its nth effect, or, with
// 0, when the handler has returned.
type crash struct{ at int }

// CrashAfterEffect has the process die in the next attempt of a handler after
// the handler has done its work, committed and returned, and before anybody has
// heard of that. The lease runs out and the next attempt comes: the handler has
// to find what the first one did. Called twice, it happens to two attempts.
func (d *Duly) CrashAfterEffect(handler string) {
	d.crashes[handler] = append(d.crashes[handler], crash{})
}

// CrashAtEffect has the process die in the middle of the next attempt of a
// handler: when its nth effect is recorded. With effect.Do that is right after
// the effect's commit, with effect.Once right before the handler's own commit.
// What the handler has deferred is done, as a database would take back what was
// not committed. In an attempt with fewer effects it dies in the end.
func (d *Duly) CrashAtEffect(handler string, n int) {
	d.crashes[handler] = append(d.crashes[handler], crash{at: n})
}

// attempt is one whose end is not reported yet.
type attempt struct {
	claim   store.Claim
	plan    *plan.Plan
	until   time.Time // when it is over
	renewAt time.Time
	result  target.Result
}

// claim takes one occurrence and calls its handler. It answers false where
// there was none that a handler is there for.
func (d *Duly) claim() bool {
	d.t.Helper()
	var capabilities []string
	for _, name := range slices.Sorted(maps.Keys(d.handlers)) {
		capabilities = append(capabilities, duly.Target{Handler: name}.Capability())
	}
	res, err := d.st.Claim(context.Background(), store.ClaimRequest{Node: d.session, Max: 1, Capabilities: capabilities})
	d.must(err)
	for _, c := range res.Claims {
		d.start(c)
	}
	return len(res.Claims)+len(res.Missed) > 0
}

func (d *Duly) start(c store.Claim) {
	d.t.Helper()
	a := &attempt{claim: c, plan: d.compiled(c.Definition), renewAt: d.now.Add(c.Lease / 3)}
	handler := a.plan.Def.Target.Handler
	takes := d.takes[handler]
	a.until = d.now.Add(takes)
	var survived bool
	if a.result, survived = d.call(handler, a); !survived {
		return // nobody hears of it; its lease runs out
	}
	if limit := a.plan.Def.Timeout.Std(); limit > 0 && takes > limit {
		a.until = d.now.Add(limit)
		a.result = target.Result{Outcome: duly.AttemptTimedOut, Error: target.ErrTimeout.Error(), Effects: a.result.Effects}
	}
	d.running = append(d.running, a)
}

// call calls the handler on a goroutine of its own, which a crash can end.
func (d *Duly) call(handler string, a *attempt) (res target.Result, survived bool) {
	var dies *crash
	if all := d.crashes[handler]; len(all) > 0 {
		dies = &all[0]
		d.crashes[handler] = all[1:]
	}
	d.inside = true
	defer func() { d.inside = false }()
	effects := 0
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		res = d.handlers[handler].Call(context.Background(), d.assignment(a), func(e duly.EffectReport) {
			if effects++; dies != nil && effects == dies.at && !e.Open {
				runtime.Goexit()
			}
		})
		survived = dies == nil
	}()
	<-ended
	return res, survived
}

func (d *Duly) assignment(a *attempt) target.Assignment {
	c := a.claim
	payload := a.plan.Def.Payload
	if c.Payload != nil {
		payload = c.Payload
	}
	id := duly.OccurrenceID(c.Schedule, c.Period)
	return target.Assignment{
		Schedule: c.Schedule, Occurrence: id, Period: c.Period, Covers: c.Covers, Due: c.Due, IntervalStart: c.IntervalStart, Origin: c.Origin,
		Attempt: c.Attempt, Token: c.Token, Resource: c.Resource(), IdempotencyKey: id, Payload: payload, Target: a.plan.Def.Target,
		LeaseUntil: func() time.Time { return c.LeaseUntil },
	}
}

// report ends attempts whose time has come and renews the leases of others. It
// answers whether it did anything.
func (d *Duly) report() (did bool) {
	d.t.Helper()
	for _, a := range slices.Clone(d.running) {
		switch {
		case !a.until.After(d.now):
			d.finish(a)
			did = true
		case !a.renewAt.After(d.now):
			d.renew(a)
			did = true
		}
	}
	return did
}

func (d *Duly) renew(a *attempt) {
	d.t.Helper()
	answers, err := d.st.Renew(context.Background(), d.session, []store.Renewal{{Seq: a.claim.Seq, Token: a.claim.Token, Lease: a.claim.Lease}})
	d.must(err)
	a.renewAt = d.now.Add(a.claim.Lease / 3)
	switch answer := answers[0]; {
	case answer.Lost:
		d.drop(a)
	case answer.Cancelled:
		a.until = d.now
		a.result = target.Result{Outcome: duly.AttemptCancelled, Error: answer.Reason, Effects: a.result.Effects}
	}
}

func (d *Duly) drop(a *attempt) {
	d.running = slices.DeleteFunc(d.running, func(x *attempt) bool { return x == a })
}

func (d *Duly) finish(a *attempt) {
	d.t.Helper()
	d.drop(a)
	r := a.result
	next := plan.After(a.plan, plan.Attempt{
		Number: a.claim.Attempt, Tries: a.claim.Tries, Outcome: r.Outcome, Error: r.Error, Permanent: r.Permanent, RetryAfter: r.RetryAfter, Random: noJitter,
	})
	_, err := d.st.Finish(context.Background(), d.session, []store.Report{{
		Seq: a.claim.Seq, Token: a.claim.Token, Outcome: r.Outcome, Error: r.Error, Output: r.Output, Result: r.Result, Effects: r.Effects, Next: next,
	}})
	d.must(err)
}
