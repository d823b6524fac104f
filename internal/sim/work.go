package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/plan"
	"github.com/duly-dev/duly/store"
)

// work is an attempt under way on a node: what the real node's keeper, its
// timers and a handler do.
type work struct {
	node    *node
	claim   store.Claim
	trusted time.Duration // until then the node believes in its lease
	over    bool          // reported, or no longer believed in
}

// trust starts or extends the node's belief, counted from before it asked.
func (k *work) trust(asked time.Duration) {
	if k.node.w.sc.Bug == TrustFromAnswer {
		asked = k.node.w.now
	}
	k.trusted = asked + trustWindow(k.claim.Lease)
	k.node.w.at(k.trusted, k.node, k.guard)
}

// guard stops the handler before its lease can have run out.
func (k *work) guard() {
	if !k.over && k.node.w.now >= k.trusted {
		k.end(duly.AttemptFailed, "the lease is lost")
	}
}

func (k *work) spec() *Spec {
	all := k.node.w.sc.Schedules
	i := slices.IndexFunc(all, func(s Spec) bool { return s.ID == k.claim.Schedule })
	return &all[i]
}

// begin lets the handler work: it takes its time, causes its effects, and ends.
func (k *work) begin() {
	w, spec := k.node.w, k.spec()
	w.after(k.claim.Lease/3, k.node, k.renew)
	takes := time.Millisecond + upTo(w.rng, spec.Work)
	fails, early := w.rng.IntN(100) < spec.Fails, w.rng.IntN(2) == 0
	at := upTo(w.rng, takes)
	if fails && early {
		w.after(at, k.node, func() { k.end(duly.AttemptFailed, "it does not feel like it") })
		return
	}
	w.after(at, k.node, func() {
		k.effects(spec)
		w.after(takes-at, k.node, func() {
			if fails {
				k.end(duly.AttemptFailed, "an afterthought")
			} else {
				k.end(duly.AttemptSucceeded, "")
			}
		})
	})
}

// effects causes one for each period that the work is for. Code that is
// stubborn goes on although it was told to stop.
func (k *work) effects(spec *Spec) {
	w := k.node.w
	if k.over && !spec.Stubborn {
		return
	}
	for _, period := range k.claim.Covers {
		key := duly.OccurrenceID(k.claim.Schedule, period)
		reused, stale := w.ledger.effect(k.claim.Resource(), k.claim.Token, key)
		w.logf("%s effect %s, token %d: reused %v, stale %v", k.node.name, key, k.claim.Token, reused, stale)
		if stale {
			w.res.Stale++
			k.end(duly.AttemptFailed, "a newer token was seen")
			return
		}
		if w.losing > 0 && w.rng.IntN(4) == 0 { // committed, but the answer was lost
			k.end(duly.AttemptFailed, "the database did not answer")
			return
		}
	}
}

// renew extends the lease at a third of it.
func (k *work) renew() {
	n := k.node
	if k.over {
		return
	}
	asked := n.w.now
	item := store.Renewal{Seq: k.claim.Seq, Token: k.claim.Token, Lease: k.claim.Lease}
	call(n, k.claim.Lease/2, func() ([]store.Renewed, error) {
		all, err := n.w.st.Renew(bg, n.session, []store.Renewal{item})
		n.w.check.renewed(item, all)
		return all, err
	}, func(all []store.Renewed, err error) {
		switch {
		case k.over:
		case err != nil:
			n.w.after(min(k.claim.Lease/12, time.Second), n, k.renew)
		case all[0].Lost:
			k.end(duly.AttemptFailed, "the lease is lost: "+all[0].Reason)
		case all[0].Cancelled:
			k.end(duly.AttemptCancelled, all[0].Reason)
		default:
			k.trust(asked)
			n.w.at(asked+k.claim.Lease/3, n, k.renew)
		}
	})
}

// end reports what the attempt came to.
func (k *work) end(outcome duly.Outcome, why string) {
	if k.over {
		return
	}
	n := k.node
	k.over = true
	n.active = slices.DeleteFunc(n.active, func(x *work) bool { return x == k })
	tries := k.claim.Tries
	if n.w.sc.Bug == RetryForEver {
		tries = 1
	}
	next := plan.After(n.w.plan(k.claim.Definition), plan.Attempt{Number: k.claim.Attempt, Tries: tries, Outcome: outcome, Error: why, Random: n.w.rng.Float64()})
	n.w.logf("%s ends %s@%s, token %d: %s %s", n.name, k.claim.Schedule, k.claim.Period, k.claim.Token, outcome, why)
	if n.w.sc.Bug == ForgetReports && (n.cut > 0 || n.w.outages > 0 || n.w.losing > 0) {
		k.haunt()
		return
	}
	n.reports = append(n.reports, store.Report{Seq: k.claim.Seq, Token: k.claim.Token, Outcome: outcome, Error: why, Next: next})
	n.w.after(reportDelay, n, n.report)
}

// haunt keeps a lease that nobody works under.
func (k *work) haunt() {
	n := k.node
	item := store.Renewal{Seq: k.claim.Seq, Token: k.claim.Token, Lease: k.claim.Lease}
	call(n, k.claim.Lease/2, func() ([]store.Renewed, error) {
		all, err := n.w.st.Renew(bg, n.session, []store.Renewal{item})
		n.w.check.renewed(item, all)
		return all, err
	}, func([]store.Renewed, error) { n.w.after(k.claim.Lease/3, n, k.haunt) })
}

// person asks for occurrences now and then, and again until there is an answer.
type person struct {
	w     *world
	line  *node
	asked int
}

func (p *person) ask() {
	p.w.after(10*time.Minute+upTo(p.w.rng, 20*time.Minute), p.line, p.ask)
	p.asked++
	spec := p.w.sc.Schedules[p.w.rng.IntN(len(p.w.sc.Schedules))]
	occ := plan.Manual(compiled(spec.schedule(1)), p.w.clock(), fmt.Sprint(p.asked))
	p.insert(spec.ID, fmt.Sprint("request-", p.asked), occ)
}

func (p *person) insert(schedule, request string, occ store.NewOccurrence) {
	once := request
	if p.w.sc.Bug == RenameOnLostReply {
		once = ""
	}
	call(p.line, patience, func() ([]store.Inserted, error) {
		res, err := p.w.st.Insert(bg, store.InsertRequest{Schedule: schedule, By: "ann", Occurrences: []store.NewOccurrence{occ}, Once: once})
		p.w.check.inserted(schedule, request, occ, res)
		return res, err
	}, func(_ []store.Inserted, err error) {
		if err == nil {
			return
		}
		if p.w.sc.Bug == RenameOnLostReply {
			occ.Period += "x"
		}
		p.w.after(time.Second, p.line, func() { p.insert(schedule, request, occ) })
	})
}
