package node

import (
	"context"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/internal/plans"
	"github.com/duly-dev/duly/plan"
	"github.com/duly-dev/duly/store"
)

const (
	// maxSleep bounds every sleep of the dispatcher: a clock that was set, or
	// a wake-up that was lost, costs no more than this. One look at the
	// horizon is a handful of index look-ups.
	maxSleep = time.Second
	// maxMade bounds the occurrences that one transaction makes, give or take
	// a page of one schedule: a long outage is caught up in steps between
	// which others fire and claim.
	maxMade = 2000
	// heldPause is how long a node leaves alone what another one is at, at
	// first. An application's transaction may have hold of it for long: each
	// time it has been in vain the pause doubles, up to heldPauseMax.
	heldPause    = 5 * time.Millisecond
	heldPauseMax = 100 * time.Millisecond
	// badPlanDelay is when a schedule is looked at again whose definition this
	// program cannot read (written by a newer one, or a zone it lacks).
	badPlanDelay = time.Minute
)

// dispatch fires, claims and reaps until ctx ends.
func (n *Node) dispatch(ctx context.Context) {
	if !n.awaitSession(ctx) {
		return
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	expected := false // something is due now, as was known when the sleep began
	for ctx.Err() == nil {
		sleep, forDue, err := n.pass(ctx, expected)
		expected = false
		if err != nil {
			if ctx.Err() != nil {
				return
			}
			// Nothing cuts this short: what wakes a node as a rule does so to
			// all, and a store that comes back is not to be met by all at once.
			rest(ctx, n.available.down(n.log, err))
			continue
		}
		n.available.up(n.log)
		if sleep <= 0 {
			continue
		}
		timer.Reset(min(sleep, maxSleep))
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			expected = forDue
		case <-n.wake:
		case <-n.freed:
		}
	}
}

func rest(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// pass does what the horizon calls for once, and answers how long there is
// nothing more to do, and whether something is due then. What is expected to be
// due is fired without looking first.
func (n *Node) pass(ctx context.Context, expected bool) (sleep time.Duration, forDue bool, err error) {
	if expected {
		if _, held, err := n.fire(ctx); err != nil || !held {
			return 0, false, err
		}
	}
	h, err := n.look(ctx)
	if err != nil {
		return 0, false, err
	}
	n.reportAgain(ctx, came(h.Lease, h.Now))
	sated := false // what is ready is not for this node, or not now
	more, held := false, false
	switch {
	case came(h.Due, h.Now):
		if more, held, err = n.fire(ctx); err != nil {
			return 0, false, err
		}
	case came(h.Ready, h.Now):
		if sated, err = n.claim(ctx); err != nil {
			return 0, false, err
		}
		more = !sated
	}
	// However much there is to catch up, those whose owners are gone do not
	// wait for the end of it.
	if came(h.Lease, h.Now) {
		left, none, err := n.reap(ctx)
		if err != nil {
			return 0, false, err
		}
		more, held = more || left, held || none
	}
	if held && !more {
		n.heldFor = min(max(heldPause, 2*n.heldFor), heldPauseMax)
		return n.heldFor, false, nil
	}
	n.heldFor = 0
	if more || came(h.Due, h.Now) {
		return 0, false, nil // the horizon has moved
	}
	next := h.Now.Add(maxSleep)
	for _, t := range []time.Time{h.Due, h.Lease} {
		if !t.IsZero() && t.Before(next) {
			next = t
		}
	}
	if !sated && !h.Ready.IsZero() && h.Ready.Before(next) {
		next = h.Ready
	}
	return n.clock.until(next), next.Equal(h.Due), nil
}

func came(t, now time.Time) bool { return !t.IsZero() && !t.After(now) }

// look reads the horizon, and the store's clock with it.
func (n *Node) look(ctx context.Context) (store.Horizon, error) {
	asked := time.Now()
	h, err := n.store.Horizon(ctx)
	if err != nil {
		return h, err
	}
	if jump := n.clock.observe(asked, time.Now(), h.Now); jump.Abs() > time.Second {
		n.log.Warn("the clocks of this node and of the store moved apart; the store's decides", "by", jump.Round(time.Millisecond))
	}
	return h, nil
}

// fire makes the occurrences of due schedules and, in the same transaction,
// claims those that this node has room for: one commit before a handler
// starts, not two. held means that another node had hold of all that is due.
func (n *Node) fire(ctx context.Context) (more, held bool, err error) {
	view := n.plans.View()
	for again := true; again; {
		asked := time.Now()
		req := store.FireRequest{Node: n.sessionID(), Limit: n.opt.FireLimit, Plan: n.planner(view), Claim: n.offer()}
		res, err := n.store.Fire(ctx, req)
		if err != nil {
			return false, false, err
		}
		if res.ClockSetBack > 0 {
			n.log.Warn("the store's clock was set back; schedules go on from its new time, and what was made stays made", "by", res.ClockSetBack)
		}
		n.stats.fired(res.Fired)
		n.start(asked, res.Claims)
		more, held = res.More, res.Schedules == 0
		if again, err = view.Load(ctx); err != nil {
			return false, false, err
		}
	}
	return more, held, nil
}

// planner binds package plan to this node's definitions. It decides about due
// schedules up to the first whose definition is not at hand, and notes all that
// are not.
func (n *Node) planner(view *plans.View) store.PlanFunc {
	return func(now time.Time, due []store.DueSchedule) []store.Firing {
		firings := make([]store.Firing, 0, len(due))
		made, lacks := 0, false
		for _, d := range due {
			if made >= maxMade {
				break
			}
			for _, r := range d.Revisions {
				_, ok, _ := view.Plan(r.Definition)
				lacks = lacks || !ok
			}
			if lacks {
				continue
			}
			f := n.decide(view, now, d)
			made += len(f.Occurrences)
			firings = append(firings, f)
		}
		return firings
	}
}

func (n *Node) decide(view *plans.View, now time.Time, due store.DueSchedule) store.Firing {
	var bad error
	firing := plan.Decide(now, due, func(definition int64) *plan.Plan {
		p, _, err := view.Plan(definition)
		if err != nil {
			bad = err
		}
		return p
	})
	if bad == nil {
		return firing
	}
	// One schedule that cannot be read must not stop the others, and must not
	// lose what it owes: its cursor stays.
	n.log.Error("schedule cannot be planned by this program; trying again in a minute", "schedule", due.Schedule, "error", bad)
	return store.Firing{Schedule: due.Schedule, Cursor: due.Cursor, NextDue: now.Add(badPlanDelay)}
}

// offer is a claim for the slots that are free now, nil for none.
func (n *Node) offer() *store.ClaimRequest {
	free := n.opt.Slots - n.active.used()
	if free <= 0 {
		return nil
	}
	return &store.ClaimRequest{Node: n.sessionID(), Max: free, Capabilities: n.capabilities()}
}

// claim takes work for the free slots. It is sated when there was less than it
// asked for, or no slot.
func (n *Node) claim(ctx context.Context) (sated bool, err error) {
	offer := n.offer()
	if offer == nil {
		n.active.wantSlots()
		return true, nil
	}
	asked := time.Now()
	res, err := n.store.Claim(ctx, *offer)
	if err != nil {
		return false, err
	}
	n.stats.fired(res.Missed)
	n.start(asked, res.Claims)
	return len(res.Claims) < offer.Max, nil
}

// reap ends attempts whose owners are gone. held means that another node had
// hold of them all.
func (n *Node) reap(ctx context.Context) (more, held bool, err error) {
	view := n.plans.View()
	req := store.ReapRequest{Limit: n.opt.FireLimit, Decide: func(e store.Expired) store.Next {
		p, ok, err := view.Plan(e.Definition)
		switch {
		case err != nil:
			return store.Next{State: duly.Pending, Reason: "attempt lost", Delay: badPlanDelay}
		case !ok:
			return store.Next{}
		}
		return plan.Expired(p, e, random())
	}}
	held = true
	for again := true; again; {
		res, err := n.store.Reap(ctx, req)
		if err != nil {
			return false, false, err
		}
		for _, lost := range res.Lost {
			n.log.Warn("attempt lost: its lease ran out", "occurrence", duly.OccurrenceID(lost.Schedule, lost.Period),
				"attempt", lost.Attempt, "owner", lost.Node, "now", lost.State)
		}
		n.stats.reaped(res)
		more, held = res.More, held && len(res.Lost) == 0 && len(res.Missed) == 0
		if again, err = view.Load(ctx); err != nil {
			return false, false, err
		}
	}
	return more, held, nil
}
