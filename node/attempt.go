package node

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/plan"
	"github.com/duly-dev/duly/store"
	"github.com/duly-dev/duly/target"
)

// start begins work on what was claimed. asked is when the store was asked,
// from which the lease is counted.
func (n *Node) start(asked time.Time, claims []store.Claim) {
	for _, c := range claims {
		a := &attempt{claim: c}
		a.trust(asked, c.Lease, c.LeaseUntil)
		ctx, cancel := context.WithCancelCause(context.Background())
		a.cancel = cancel
		n.active.add(a)
		go n.work(ctx, a)
	}
}

// work does one attempt from claim to report.
func (n *Node) work(ctx context.Context, a *attempt) {
	defer func() {
		if n.active.remove(a) {
			signal(n.freed)
		}
		a.cancel(nil)
	}()
	p, err := n.plans.Get(ctx, a.claim.Definition)
	if err != nil {
		// Not this occurrence's fault: it goes back, to be tried where the
		// definition can be read, and is not counted.
		n.finish(a, target.Result{Outcome: duly.AttemptReleased, Error: "definition unreadable: " + err.Error()},
			store.Next{State: duly.Pending, Reason: "definition unreadable on " + n.opt.Name, Delay: unreadable(err), Uncounted: true})
		return
	}
	a.mu.Lock()
	a.plan = p
	a.mu.Unlock()

	n.stats.started(n.clock.now().Sub(a.claim.Due))
	stopTimers := n.arm(ctx, a, p)
	defer stopTimers()
	n.conclude(a, n.perform(ctx, a, p))
}

// unreadable is how long an occurrence waits whose definition could not be read:
// another program may be needed for that, or only the store to be back.
func unreadable(err error) time.Duration {
	if duly.CodeOf(err) == duly.CodeUnavailable {
		return time.Second
	}
	return badPlanDelay
}

// arm sets the timers that end an attempt from outside: its timeout, and, once
// it was cancelled for whatever reason, the grace after which it is reported
// although its code has not returned.
func (n *Node) arm(ctx context.Context, a *attempt, p *plan.Plan) (stop func()) {
	var timeout *time.Timer
	if d := p.Def.Timeout.Std(); d > 0 {
		timeout = time.AfterFunc(d, func() { a.cancel(target.ErrTimeout) })
	}
	stopGrace := context.AfterFunc(ctx, func() {
		time.AfterFunc(n.grace(p), func() { n.abandon(ctx, a, n.grace(p)) })
	})
	return func() {
		if timeout != nil {
			timeout.Stop()
		}
		stopGrace()
	}
}

// grace is how long an attempt that was cancelled may take to return. A command
// that is given longer between its signals gets that, or the next attempt would
// begin while it still tidies up.
func (n *Node) grace(p *plan.Plan) time.Duration {
	if exec := p.Def.Target.Exec; exec != nil {
		return max(n.opt.CancelGrace, exec.KillAfter.Std()+killTime)
	}
	return n.opt.CancelGrace
}

// killTime is how long a killed command may take to be gone.
const killTime = 5 * time.Second

// abandon reports an attempt whose code ignores its cancellation. It keeps its
// slot until it returns; what it still does is refused by its token.
func (n *Node) abandon(ctx context.Context, a *attempt, grace time.Duration) {
	a.mu.Lock()
	over, joined := a.over, a.joined
	a.mu.Unlock()
	if over {
		return
	}
	n.stats.abandoned.Add(1)
	n.log.Error("handler ignores its cancellation; its attempt ends without it", "occurrence", a.id(), "attempt", a.claim.Attempt, "why", context.Cause(ctx))
	if joined {
		// Whether it has completed is known once its transaction has ended, and
		// a report would wait for that. Its lease runs out, or it succeeds.
		a.end()
		return
	}
	res := endedBy(ctx, errors.New("the handler did not return within "+grace.String()+" of its cancellation"))
	n.conclude(a, res)
}

// perform calls the target, turning a panic into a failure.
func (n *Node) perform(ctx context.Context, a *attempt, p *plan.Plan) (res target.Result) {
	defer func() {
		if r := recover(); r != nil {
			res = panicked(r)
		}
	}()
	asg := n.assignment(a, p)
	kind := p.Def.Target.Capability()
	if runner := n.opt.Targets[kind]; runner != nil {
		return runner.Run(ctx, asg)
	}
	n.mu.Lock()
	fn := n.handlers[p.Def.Target.Handler]
	n.mu.Unlock()
	if fn == nil {
		return target.Failed("node " + n.opt.Name + " has no " + kind)
	}
	occ := &Occurrence{Assignment: asg}
	grant := occ.grant()
	grant.Complete = n.completer(a, occ)
	return fn.attempt(ctx, occ, grant)
}

func (n *Node) assignment(a *attempt, p *plan.Plan) target.Assignment {
	c := a.claim
	payload := []byte(p.Def.Payload)
	if c.Payload != nil {
		payload = c.Payload
	}
	id := a.id()
	if a.unowned != nil {
		return target.Assignment{
			Schedule: c.Schedule, Occurrence: id, Period: c.Period, Covers: c.Covers, Due: c.Due, IntervalStart: c.IntervalStart,
			Origin: c.Origin, Unowned: true, Resource: c.Resource(), IdempotencyKey: id, Payload: payload, Target: p.Def.Target,
		}
	}
	return target.Assignment{
		Schedule: c.Schedule, Occurrence: id, Period: c.Period, Covers: c.Covers, Due: c.Due, IntervalStart: c.IntervalStart,
		Origin: c.Origin, Attempt: c.Attempt, Token: c.Token, Resource: c.Resource(), IdempotencyKey: id,
		LeaseUntil: a.until, Payload: payload, Target: p.Def.Target, CallbackURL: n.callbackURL(c),
	}
}

// callbackURL is where a target that answered 202 reports the end.
func (n *Node) callbackURL(c store.Claim) string {
	if n.opt.CallbackURL == "" {
		return ""
	}
	return fmt.Sprintf("%s/api/v1/callbacks/%d/%d", strings.TrimSuffix(n.opt.CallbackURL, "/"), c.Seq, c.Token)
}

// handlerResult reads a handler's error in the light of why its context ended.
func handlerResult(ctx context.Context, err error) target.Result {
	switch {
	case err == nil: // it did finish, however late
		return target.Result{Outcome: duly.AttemptSucceeded}
	case errors.Is(err, duly.ErrUncertain):
		return target.Result{Outcome: duly.AttemptUncertain, Error: err.Error()}
	case ctx.Err() != nil:
		return endedBy(ctx, err)
	}
	return target.Result{
		Outcome: duly.AttemptFailed, Error: err.Error(),
		Permanent: duly.IsPermanent(err), RetryAfter: duly.RetryDelay(err),
	}
}

// endedBy is the result of an attempt that was ended from outside, with what
// the code said about it.
func endedBy(ctx context.Context, err error) target.Result {
	res := target.Stopped(ctx)
	if err != nil && !errors.Is(err, context.Canceled) && !strings.Contains(err.Error(), res.Error) {
		res.Error += ": " + err.Error()
	}
	return res
}

// conclude decides what follows and reports it.
func (n *Node) conclude(a *attempt, res target.Result) {
	if res.Detached {
		n.detach(a)
		return
	}
	if res.Outcome == duly.AttemptLost {
		// Only the store can say that an attempt was lost. What the node knows
		// is that it stopped; the store refuses or takes that by the token.
		res.Outcome = duly.AttemptFailed
	}
	n.finish(a, res, a.next(res))
}

// next is what follows from a result.
func (a *attempt) next(res target.Result) store.Next {
	return plan.After(a.compiled(), plan.Attempt{
		Number: a.claim.Attempt, Tries: a.claim.Tries, Outcome: res.Outcome, Error: res.Error,
		Permanent: res.Permanent, RetryAfter: res.RetryAfter, Random: random(),
	})
}

func (a *attempt) report(res target.Result, next store.Next) store.Report {
	return store.Report{
		Seq: a.claim.Seq, Token: a.claim.Token, Outcome: res.Outcome, Error: res.Error, ExitCode: res.ExitCode,
		Output: res.Output, Result: res.Result, Effects: res.Effects, Next: next,
	}
}

func (n *Node) finish(a *attempt, res target.Result, next store.Next) {
	if !a.end() {
		n.log.Warn("an abandoned handler returned", "occurrence", a.id(), "attempt", a.claim.Attempt, "outcome", res.Outcome)
		return
	}
	if a.hasJoined() && res.Outcome != duly.AttemptSucceeded {
		n.unheard.note(a.claim.Token)
	}
	if a.unowned != nil {
		n.alone.ended(a, res, n.clock.now())
		return
	}
	n.reports.put(a.report(res, next))
}

// detach leaves an attempt to a target that answered 202: its lease is
// extended once to the schedule's timeout, and it ends by a report through the
// API, or as lost. The keeper is done with it first: a renewal that overtook
// would shorten the lease again.
func (n *Node) detach(a *attempt) {
	a.end()
	a.renewing.Wait()
	a.mu.Lock()
	wait := a.plan.Def.Timeout.Std()
	a.mu.Unlock()
	if wait <= 0 {
		wait = defaultDetached
	}
	item := store.Renewal{Seq: a.claim.Seq, Token: a.claim.Token, Lease: wait}
	ctx, cancel := context.WithDeadline(context.Background(), a.trustedUntil())
	defer cancel()
	for ctx.Err() == nil {
		if _, err := n.store.Renew(ctx, n.sessionID(), []store.Renewal{item}); err == nil {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// defaultDetached is how long a target that answered 202 has to report where
// its schedule sets no timeout.
const defaultDetached = time.Hour

func (a *attempt) trustedUntil() time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.trusted
}
