package node

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
	"github.com/duly-dev/duly/target"
)

// keep renews the leases of running attempts. This loop never waits for the
// store: renewals are sent by a goroutine of their own, and what comes due
// while they are on their way is guarded all the same, so that a store that
// hangs cannot keep a handler from being cancelled in time.
func (n *Node) keep(ctx context.Context) {
	var sending sync.WaitGroup
	defer sending.Wait()
	answered := make(chan struct{}, 1)
	inFlight := false

	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		due, next := n.active.scan(time.Now())
		for _, a := range due {
			a.guard()
		}
		due = n.renewApart(ctx, due, &sending)
		if !inFlight {
			due = slices.DeleteFunc(due, func(a *attempt) bool { return !a.renews() })
		}
		if len(due) > 0 && !inFlight {
			inFlight = true
			sending.Add(1)
			go func() {
				defer sending.Done()
				n.renew(ctx, due)
				for _, a := range due {
					a.renewing.Done()
				}
				signal(answered)
			}()
		}
		timer.Reset(time.Until(next))
		select {
		case <-ctx.Done():
			return
		case <-answered:
			inFlight = false
		case <-n.active.sooner:
		case <-timer.C:
		}
	}
}

// renew extends leases in one batch. An error is waited out here: the guards
// cancel what runs out meanwhile.
func (n *Node) renew(ctx context.Context, due []*attempt) {
	items := make([]store.Renewal, len(due))
	shortest := due[0].claim.Lease
	for i, a := range due {
		items[i] = store.Renewal{Seq: a.claim.Seq, Token: a.claim.Token, Lease: a.claim.Lease}
		shortest = min(shortest, a.claim.Lease)
	}
	// An answer that takes longer than the rest of the lease is worth nothing.
	asking, cancel := context.WithTimeout(ctx, shortest/2)
	defer cancel()
	asked := time.Now()
	answers, err := n.store.Renew(asking, n.sessionID(), items)
	if err != nil {
		n.stats.renewFailures.Add(1)
		select { // not at once again, but several times within a lease
		case <-ctx.Done():
		case <-time.After(min(shortest/12, time.Second)):
		}
		return
	}
	n.available.answered()
	for i, answer := range answers {
		a := due[i]
		switch {
		case answer.Lost && a.hasJoined():
			// Most likely it has succeeded, and its handler is about to return.
			// If not, it is cancelled when the lease is not to be trusted any
			// more.
			a.mu.Lock()
			a.renewAt = asked.Add(time.Hour)
			a.mu.Unlock()
		case answer.Lost && a.isOver():
			// Its report overtook the renewal: nothing was lost.
		case answer.Lost:
			n.log.Warn("lease lost: the handler is cancelled", "occurrence", a.id(), "attempt", a.claim.Attempt, "token", a.claim.Token, "why", answer.Reason)
			a.cancel(target.ErrLeaseLost)
			a.mu.Lock()
			a.renewAt = asked.Add(time.Hour) // nothing is left to renew
			a.mu.Unlock()
		case answer.Cancelled:
			a.trust(asked, a.claim.Lease, answer.Until)
			a.cancel(target.ErrCancelled)
		default:
			a.trust(asked, a.claim.Lease, answer.Until)
		}
	}
}

func (a *attempt) id() string { return duly.OccurrenceID(a.claim.Schedule, a.claim.Period) }
