package storetest

import (
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

func renew(g *group) {
	extend := func(e *env, c store.Claim, lease time.Duration) store.Renewed {
		e.Helper()
		all, err := e.st.Renew(e.ctx, e.node, []store.Renewal{{Seq: c.Seq, Token: c.Token, Lease: lease}})
		e.must(err)
		if len(all) != 1 {
			e.Fatalf("%d answers to one renewal", len(all))
		}
		return all[0]
	}

	g.claim("RenewingExtendsTheLease", func(e *env) {
		c := e.started(sched{id: "a"})
		before := time.Now()
		got := extend(e, c, 3*time.Hour)
		if got.Lost || got.Cancelled || got.Until.Before(before.Add(3*time.Hour-time.Minute)) || got.Until.After(time.Now().Add(3*time.Hour+time.Minute)) {
			e.Fatalf("renewed %+v", got)
		}
		e.wantTime("lease", e.occ(id(c)).Attempts[0].LeaseUntil, got.Until)
		e.pass(time.Hour)
		wantEqual(e, "lost", len(e.reap(toPending).Lost), 0)
	})

	g.claim("ARunOutLeaseThatNobodyTookMayBeRenewed", func(e *env) {
		e.now = e.now.Add(-time.Hour)
		c := e.started(sched{id: "a"})
		if got := extend(e, c, time.Hour); got.Lost {
			e.Fatalf("renewed %+v", got)
		}
	})

	g.claim("ARenewalOfAnEndedAttemptIsLost", func(e *env) {
		c := e.started(sched{id: "a"})
		e.succeed(c)
		if got := extend(e, c, time.Minute); !got.Lost || got.Reason == "" {
			e.Fatalf("renewed %+v", got)
		}
		e.wantState(id(c), duly.Succeeded)
	})

	g.claim("ARenewalAfterTheReapIsLost", func(e *env) {
		c := e.started(sched{id: "a"})
		e.lose(c, toPending)
		if got := extend(e, c, time.Minute); !got.Lost {
			e.Fatalf("renewed %+v", got)
		}
		e.wantState(id(c), duly.Pending)
	})

	g.claim("ARenewalByAnOldTokenIsLostAndChangesNothing", func(e *env) {
		c := e.started(sched{id: "a"})
		e.lose(c, toPending)
		next := e.claimOne()
		if got := extend(e, c, 24*time.Hour); !got.Lost {
			e.Fatalf("renewed %+v", got)
		}
		e.wantTime("lease", e.occ(id(c)).Attempts[1].LeaseUntil, next.LeaseUntil)
	})

	g.claim("ACancellationIsToldAndTheLeaseHoldsOn", func(e *env) {
		c := e.started(sched{id: "a"})
		e.must(e.st.Cancel(e.ctx, id(c), "ann", "wrong month"))
		got := extend(e, c, 24*time.Hour)
		if !got.Cancelled || got.Lost || got.Reason == "" || got.Until.IsZero() {
			e.Fatalf("renewed %+v", got)
		}
		e.pass(time.Hour)
		wantEqual(e, "lost", len(e.reap(toCancelled).Lost), 0)
	})

	g.claim("AnswersAreInOrder", func(e *env) {
		e.apply(sched{id: "a"}, sched{id: "b"}, sched{id: "c"})
		e.fireAfter(time.Minute)
		claims := e.claim(3)
		e.succeed(claims[1])
		all, err := e.st.Renew(e.ctx, e.node, []store.Renewal{
			{Seq: claims[2].Seq, Token: claims[2].Token, Lease: time.Minute},
			{Seq: claims[1].Seq, Token: claims[1].Token, Lease: time.Minute},
			{Seq: 1 << 40, Token: 1, Lease: time.Minute},
			{Seq: claims[0].Seq, Token: claims[0].Token, Lease: time.Minute},
		})
		e.must(err)
		for i, want := range []bool{false, true, true, false} {
			if all[i].Lost != want {
				e.Errorf("answer %d: %+v", i, all[i])
			}
		}
	})

	g.claim("NothingToRenewIsNoError", func(e *env) {
		all, err := e.st.Renew(e.ctx, e.node, nil)
		e.must(err)
		wantEqual(e, "answers", len(all), 0)
	})
}
