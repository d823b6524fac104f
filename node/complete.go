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

// completer lets a handler finish its attempt as a part of its own transaction;
// nil where the store takes part in none. What became of that transaction is
// never told: it has committed if the store answers the attempt's own report as
// one that was given before.
func (n *Node) completer(a *attempt, occ *Occurrence) func(context.Context, any, []duly.EffectReport) error {
	st, ok := n.store.(store.Joiner)
	if !ok {
		return nil
	}
	return func(ctx context.Context, tx any, also []duly.EffectReport) error {
		if !a.joins() {
			return duly.Errorf(duly.CodeStaleToken, "%s: attempt %d has ended without its handler", a.id(), a.claim.Attempt)
		}
		res := target.Result{Outcome: duly.AttemptSucceeded, Result: occ.result, Effects: slices.Concat(occ.recorded(), also)}
		_, err := st.FinishIn(ctx, tx, a.report(res, a.next(res)))
		return err
	}
}

// joins notes that the attempt is about to become a part of a transaction.
func (a *attempt) joins() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.joined = a.joined || !a.over
	return !a.over
}

func (a *attempt) hasJoined() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.joined
}

// renewApart renews attempts that have joined a transaction, each in a call of
// its own: until that transaction ends it holds the occurrence, and other leases
// must not wait for it. It answers the rest.
func (n *Node) renewApart(ctx context.Context, due []*attempt, sending *sync.WaitGroup) (rest []*attempt) {
	return slices.DeleteFunc(due, func(a *attempt) bool {
		if !a.hasJoined() {
			return false
		}
		if a.renewsInTime() && a.renews() {
			a.mu.Lock()
			a.renewAt = time.Now().Add(renewEvery(a.claim.Lease)) // if this one is not answered
			a.mu.Unlock()
			sending.Go(func() {
				n.renew(ctx, []*attempt{a})
				a.renewing.Done()
				signal(n.active.sooner) // to see when the next one is due
			})
		} else {
			signal(n.active.sooner)
		}
		return true
	})
}

// renewsInTime reports whether an attempt that has joined is to be renewed for
// its lease's sake. Whether somebody wants it ended is not asked any more.
func (a *attempt) renewsInTime() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	every := renewEvery(a.claim.Lease)
	if now := time.Now(); now.Before(a.askedAt.Add(every * 3 / 4)) {
		a.renewAt = a.askedAt.Add(every)
		return false
	}
	return true
}

// unheard are the tokens of attempts that have joined a transaction and ended
// with something else than a success: which of the two holds, the store says.
type unheard struct {
	mu     sync.Mutex
	tokens map[int64]bool
}

func (u *unheard) note(token int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.tokens == nil {
		u.tokens = map[int64]bool{}
	}
	u.tokens[token] = true
}

func (u *unheard) take(token int64) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	was := u.tokens[token]
	delete(u.tokens, token)
	return was
}

// completedBefore reports whether a report came after its attempt was finished
// by a transaction that has committed: the completion stands.
func (n *Node) completedBefore(r store.Report, answer store.Finished) bool {
	if !n.unheard.take(r.Token) || answer.State != duly.Succeeded {
		return false
	}
	n.log.Error("the attempt had completed in the application's transaction; what its handler ended with is not recorded",
		"occurrence", duly.OccurrenceID(answer.Schedule, answer.Period), "token", r.Token, "outcome", r.Outcome, "error", r.Error)
	return true
}
