package storetest

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// acquire asks for the lease "l" at e.now.
func (e *env) acquire(owner string, ttl, wait time.Duration) (duly.Lease, error) {
	return e.st.Acquire(e.ctx, store.AcquireRequest{Now: e.now, Name: "l", Owner: owner, Holder: "holder " + owner, TTL: ttl, Wait: wait})
}

func (e *env) acquired(owner string, ttl, wait time.Duration) duly.Lease {
	e.Helper()
	l, err := e.acquire(owner, ttl, wait)
	e.must(err)
	return l
}

func (e *env) refused(owner string, ttl, wait time.Duration) duly.Lease {
	e.Helper()
	l, err := e.acquire(owner, ttl, wait)
	e.wantCode(err, duly.CodeConflict)
	return l
}

func leases(g *group) {
	g.claim("OneHoldsAndOthersAreToldWho", func(e *env) {
		l := e.acquired("a", time.Hour, 0)
		if l.Name != "l" || l.Owner != "a" || l.Holder != "holder a" || l.Token == 0 || !l.AcquiredAt.Equal(e.now) || !l.Until.Equal(e.now.Add(time.Hour)) {
			e.Fatalf("acquired %+v", l)
		}
		other := e.refused("b", time.Hour, 0)
		if other.Holder != "holder a" || other.Owner != "" || other.Token != l.Token || !other.Until.Equal(l.Until) {
			e.Fatalf("refused with %+v", other)
		}
		list, err := e.st.LeaseList(e.ctx)
		e.must(err)
		if len(list) != 1 || list[0].Holder != "holder a" || list[0].Owner != "" {
			e.Fatalf("listed %+v", list)
		}
	})

	g.claim("AcquiringAgainRenewsAndKeepsTheToken", func(e *env) {
		first := e.acquired("a", time.Minute, 0)
		e.pass(30 * time.Second)
		again := e.acquired("a", time.Minute, 0)
		if again.Token != first.Token || !again.Until.Equal(e.now.Add(time.Minute)) || !again.AcquiredAt.Equal(first.AcquiredAt) {
			e.Fatalf("acquired %+v, then %+v", first, again)
		}
	})

	g.claim("FieldCase_B50_ALateReleaseFreesNobodyElsesLease", func(e *env) {
		e.acquired("a", time.Second, 0)
		e.pass(1500 * time.Millisecond)
		b := e.acquired("b", time.Hour, 0)
		e.wantCode(e.st.ReleaseLease(e.ctx, "l", "a"), duly.CodeNotHolder)
		_, err := e.st.RenewLease(e.ctx, "l", "a", time.Hour)
		e.wantCode(err, duly.CodeNotHolder)
		if c := e.refused("c", time.Hour, 0); c.Holder != "holder b" || c.Token != b.Token {
			e.Fatalf("refused with %+v", c)
		}
	})

	g.claim("TokenNeverRestartsAfterRelease", func(e *env) {
		last := int64(0)
		for i := range 5 {
			owner := fmt.Sprint("o", i)
			l := e.acquired(owner, time.Hour, 0)
			if l.Token <= last {
				e.Fatalf("token %d after %d", l.Token, last)
			}
			last = l.Token
			e.must(e.st.ReleaseLease(e.ctx, "l", owner))
		}
		e.reopen()
		if l := e.acquired("z", time.Hour, 0); l.Token <= last {
			e.Fatalf("token %d after %d and a restart", l.Token, last)
		}
	})

	g.claim("TokenGrowsWhenALeaseRunsOut", func(e *env) {
		first := e.acquired("a", time.Second, 0)
		e.pass(time.Minute)
		if again := e.acquired("a", time.Hour, 0); again.Token <= first.Token {
			e.Fatalf("the former holder came back with token %d after %d", again.Token, first.Token)
		}
	})

	g.claim("RenewingExtendsFromTheStoresNow", func(e *env) {
		l := e.acquired("a", time.Hour, 0)
		got, err := e.st.RenewLease(e.ctx, "l", "a", 10*time.Hour)
		e.must(err)
		if got.Token != l.Token || got.Until.Before(time.Now().Add(9*time.Hour)) {
			e.Fatalf("renewed %+v", got)
		}
	})

	g.claim("AReleasedLeaseIsFree", func(e *env) {
		e.acquired("a", time.Hour, 0)
		e.must(e.st.ReleaseLease(e.ctx, "l", "a"))
		e.wantCode(e.st.ReleaseLease(e.ctx, "l", "a"), duly.CodeNotHolder)
		list, err := e.st.LeaseList(e.ctx)
		e.must(err)
		wantEqual(e, "listed", len(list), 0)
		e.acquired("b", time.Hour, 0)
	})

	g.claim("WaitersAreServedInTheirOrder", func(e *env) {
		e.acquired("a", time.Hour, 0)
		for i, owner := range []string{"b", "c", "d"} {
			wantEqual(e, "waiters", e.refused(owner, time.Hour, time.Minute).Waiters, i+1)
		}
		e.refused("c", time.Hour, time.Minute) // asking again keeps its place
		e.must(e.st.ReleaseLease(e.ctx, "l", "a"))
		e.refused("d", time.Hour, time.Minute)
		e.refused("c", time.Hour, time.Minute)
		e.refused("stranger", time.Hour, 0)
		l := e.acquired("b", time.Hour, time.Minute)
		wantEqual(e, "waiters", l.Waiters, 2)
		e.must(e.st.ReleaseLease(e.ctx, "l", "b"))
		e.refused("d", time.Hour, time.Minute)
		e.acquired("c", time.Hour, time.Minute)
	})

	g.claim("AWaiterThatAsksNoMoreLosesItsPlace", func(e *env) {
		e.acquired("a", time.Hour, 0)
		e.refused("b", time.Hour, time.Second)
		e.refused("c", time.Hour, time.Hour)
		e.must(e.st.ReleaseLease(e.ctx, "l", "a"))
		e.pass(2 * time.Second)
		e.acquired("c", time.Hour, time.Hour)
	})

	g.claim("TryingOnceKeepsNoPlace", func(e *env) {
		e.acquired("a", time.Hour, 0)
		e.refused("b", time.Hour, 0)
		e.must(e.st.ReleaseLease(e.ctx, "l", "a"))
		e.acquired("c", time.Hour, 0)
	})

	g.claim("NamesAreApart", func(e *env) {
		e.acquired("a", time.Hour, 0)
		_, err := e.st.Acquire(e.ctx, store.AcquireRequest{Now: e.now, Name: "other", Owner: "b", TTL: time.Hour})
		e.must(err)
	})

	g.claim("ALeaseNeedsANameAnOwnerAndALife", func(e *env) {
		for _, req := range []store.AcquireRequest{{Owner: "a", TTL: time.Hour}, {Name: "l", TTL: time.Hour}, {Name: "l", Owner: "a"}} {
			_, err := e.st.Acquire(e.ctx, req)
			e.wantCode(err, duly.CodeInvalid)
		}
	})

	g.claim("FieldCase_B98_ExclusionHoldsWhereItReallyOverlaps", func(e *env) {
		const goroutines, rounds = 10, 20
		stores := []store.Store{e.st, e.open()}
		var inside, most, entered atomic.Int64
		var wg sync.WaitGroup
		for i := range goroutines {
			st := stores[i%len(stores)]
			owner := fmt.Sprint("o", i)
			wg.Go(func() {
				for done := 0; done < rounds && e.ctx.Err() == nil; {
					_, err := st.Acquire(e.ctx, store.AcquireRequest{Name: "l", Owner: owner, TTL: time.Hour, Wait: time.Minute})
					if duly.CodeOf(err) == duly.CodeConflict {
						continue
					}
					if err != nil {
						e.Error(err)
						return
					}
					n := inside.Add(1)
					for seen := most.Load(); n > seen && !most.CompareAndSwap(seen, n); seen = most.Load() {
					}
					entered.Add(1)
					done++
					inside.Add(-1)
					if err := st.ReleaseLease(e.ctx, "l", owner); err != nil {
						e.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
		wantEqual(e, "at once", most.Load(), 1)
		wantEqual(e, "entered", entered.Load(), goroutines*rounds)
	})
}
