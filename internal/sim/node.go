package sim

import (
	"context"
	"slices"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/lease"
	"github.com/duly-dev/duly/plan"
	"github.com/duly-dev/duly/store"
)

const (
	slots       = 10
	patience    = 20 * time.Second // with the store
	maxSleep    = 20 * time.Second // wake-ups are not imitated
	sessionTTL  = time.Minute
	capability  = "handler:work"
	reapAtOnce  = 100
	reportDelay = 100 * time.Millisecond // in which reports gather
)

var bg = context.Background()

// node takes the steps that package node's loops take.
type node struct {
	w           *world
	number      int
	name        string
	life        int // ends with a crash
	up          bool
	pausedUntil time.Duration
	cut         int
	skew        time.Duration

	draining bool
	session  int64
	failures int
	active   []*work
	reports  []store.Report
	sending  bool
}

// crash ends a life, with all that only this process knew.
func (n *node) crash() {
	n.life++
	n.up, n.draining, n.session, n.failures, n.sending = false, false, 0, 0, false
	n.active, n.reports = nil, nil
}

// drain gives back what the node works on, and takes nothing new.
func (n *node) drain() {
	n.draining = true
	for _, k := range slices.Clone(n.active) {
		k.end(duly.AttemptReleased, "the node is draining")
	}
}

func (n *node) boot() {
	if n.up {
		return
	}
	n.up = true
	n.join(n.poll)
	n.beat()
}

func (n *node) join(then func()) {
	call(n, patience, func() (int64, error) {
		return n.w.st.Join(bg, store.NodeInfo{Name: n.name, TTL: sessionTTL})
	}, func(id int64, err error) {
		if err != nil {
			n.w.after(n.backoff(), n, func() { n.join(then) })
			return
		}
		n.session = id
		then()
	})
}

func (n *node) beat() {
	n.w.after(sessionTTL/3, n, n.beat)
	if n.session == 0 {
		return
	}
	call(n, patience, func() (struct{}, error) {
		return struct{}{}, n.w.st.Beat(bg, n.session, sessionTTL, store.NodeLoad{Running: len(n.active)})
	}, func(_ struct{}, err error) {
		if duly.CodeOf(err) == duly.CodeNotFound {
			n.join(func() {})
		}
	})
}

// backoff is how long to leave the store alone that did not answer.
func (n *node) backoff() time.Duration {
	n.failures = min(n.failures+1, 6)
	return 100*time.Millisecond + upTo(n.w.rng, 100*time.Millisecond<<n.failures)
}

// poll does what the horizon calls for, and comes again.
func (n *node) poll() {
	call(n, patience, func() (store.Horizon, error) { return n.w.st.Horizon(bg) }, func(h store.Horizon, err error) {
		if err != nil {
			n.again(n.backoff())
			return
		}
		n.failures = 0
		came := func(t time.Time) bool { return !t.IsZero() && !t.After(h.Now) }
		switch {
		case came(h.Due):
			n.fire(came(h.Lease))
		case came(h.Ready) && len(n.active) < slots && !n.draining:
			n.claim(came(h.Lease))
		case came(h.Lease):
			n.reap()
		default:
			n.again(n.sleep(h))
		}
	})
}

func (n *node) again(d time.Duration) { n.w.after(d, n, n.poll) }

// sleep is until the horizon, by the store's clock.
func (n *node) sleep(h store.Horizon) time.Duration {
	d := maxSleep
	for _, t := range []time.Time{h.Due, h.Ready, h.Lease} {
		if !t.IsZero() && t.After(h.Now) {
			d = min(d, t.Sub(h.Now))
		}
	}
	return d
}

// more goes on after a step: with a reap, or at once where there is more to do,
// or after a pause.
func (n *node) more(err error, reap, more bool) {
	switch {
	case err != nil:
		n.again(n.backoff())
	case reap:
		n.reap()
	case more:
		n.again(0)
	default:
		n.again(time.Second)
	}
}

func (n *node) offer() *store.ClaimRequest {
	if n.draining {
		return nil
	}
	return &store.ClaimRequest{Node: n.session, Max: slots - len(n.active), Capabilities: []string{capability}}
}

func (n *node) fire(reap bool) {
	asked := n.w.now
	req := store.FireRequest{Node: n.session, Claim: n.offer(), Plan: func(now time.Time, due []store.DueSchedule) []store.Firing {
		all := make([]store.Firing, len(due))
		for i, d := range due {
			all[i] = plan.Decide(now, d, n.w.plan)
		}
		return all
	}}
	call(n, patience, func() (store.FireResult, error) {
		res, err := n.w.st.Fire(bg, req)
		n.w.check.fired(res)
		n.w.check.claimed(n, res.Claims)
		return res, err
	}, func(res store.FireResult, err error) {
		n.start(asked, res.Claims)
		n.more(err, reap, res.More)
	})
}

func (n *node) claim(reap bool) {
	asked := n.w.now
	req := n.offer()
	call(n, patience, func() (store.ClaimResult, error) {
		res, err := n.w.st.Claim(bg, *req)
		n.w.check.missed(res.Missed)
		n.w.check.claimed(n, res.Claims)
		return res, err
	}, func(res store.ClaimResult, err error) {
		n.start(asked, res.Claims)
		n.more(err, reap, len(res.Claims) == req.Max)
	})
}

func (n *node) reap() {
	req := store.ReapRequest{Limit: reapAtOnce, Decide: func(e store.Expired) store.Next {
		if n.w.sc.Bug == RetryForEver {
			e.Tries = 1
		}
		return plan.Expired(n.w.plan(e.Definition), e, n.w.rng.Float64())
	}}
	call(n, patience, func() (store.ReapResult, error) {
		if n.w.sc.Bug == LeaseByNodeClock {
			req.Now = began.Add(n.w.now + n.skew)
		}
		res, err := n.w.st.Reap(bg, req)
		n.w.check.reaped(res)
		return res, err
	}, func(res store.ReapResult, err error) { n.more(err, false, res.More) })
}

// start begins work on what was claimed.
func (n *node) start(asked time.Duration, claims []store.Claim) {
	for _, c := range claims {
		k := &work{node: n, claim: c}
		if n.draining {
			k.end(duly.AttemptReleased, "the node is draining")
			continue
		}
		k.trust(asked)
		n.active = append(n.active, k)
		k.begin()
	}
}

// report sends what attempts came to until it is accepted or refused.
func (n *node) report() {
	if n.sending || len(n.reports) == 0 {
		return
	}
	n.sending = true
	batch := n.reports
	n.reports = nil
	call(n, patience, func() ([]store.Finished, error) {
		answers, err := n.w.st.Finish(bg, n.session, batch)
		n.w.check.finished(batch, answers)
		return answers, err
	}, func(_ []store.Finished, err error) {
		n.sending = false
		wait := time.Duration(0)
		if err != nil {
			n.reports = append(batch, n.reports...)
			wait = n.backoff()
		}
		n.w.after(wait, n, n.report)
	})
}

// trustWindow is the real one.
func trustWindow(d time.Duration) time.Duration { return lease.TrustWindow(d) }
