package storetest

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

func queues(g *group) {
	g.claim("ConcurrencyIsExactUnderManyClaimers", func(e *env) { exactConcurrency(e, 3) })
	g.claim("ConcurrencyOfOneIsExactUnderManyClaimers", func(e *env) { exactConcurrency(e, 1) })

	g.claim("AQueueThatNobodyDefinedRunsOneAtATime", func(e *env) {
		e.apply(sched{id: "a", queue: "q"}, sched{id: "b", queue: "q"})
		e.fireAfter(time.Minute)
		c := e.claimOne()
		wantEqual(e, "claimed beside it", len(e.claim(10)), 0)
		e.succeed(c)
		wantEqual(e, "claimed after it", len(e.claim(10)), 1)
	})

	for _, end := range []struct {
		name string
		step func(e *env, c store.Claim)
	}{
		{"Success", func(e *env, c store.Claim) { e.succeed(c) }},
		{"Failure", func(e *env, c store.Claim) { e.fail(c) }},
		{"ARetryThatWaits", func(e *env, c store.Claim) {
			e.finish(c, duly.AttemptFailed, store.Next{State: duly.Pending, Delay: time.Hour})
		}},
		{"Reap", func(e *env, c store.Claim) { e.lose(c, toFailed) }},
	} {
		g.claim("RoomComesBackWith"+end.name, func(e *env) {
			e.apply(sched{id: "a", queue: "q"}, sched{id: "b", queue: "q"})
			e.fireAfter(time.Minute)
			c := e.claimOne()
			wantEqual(e, "claimed", len(e.claim(10)), 0)
			end.step(e, c)
			if next := e.claimOne(); next.Schedule == c.Schedule {
				e.Fatalf("claimed %s again", next.Schedule)
			}
		})
	}

	g.claim("AnEndOfTheLeaseAloneMakesNoRoom", func(e *env) {
		e.apply(sched{id: "a", queue: "q"}, sched{id: "b", queue: "q"})
		e.fireAfter(time.Minute)
		e.claimOne()
		e.pass(time.Hour)
		wantEqual(e, "claimed", len(e.claim(10)), 0) // it may still be at work: a reap decides
	})

	g.claim("AChangedConcurrencyCountsAtOnce", func(e *env) {
		e.applyQueues(duly.Queue{Name: "q", Concurrency: 3})
		for i := range 6 {
			e.apply(sched{id: fmt.Sprint("s", i), queue: "q"})
		}
		e.fireAfter(time.Minute)
		claims := e.claim(10)
		wantEqual(e, "claimed", len(claims), 3)
		e.applyQueues(duly.Queue{Name: "q", Concurrency: 1})
		e.succeed(claims[0])
		wantEqual(e, "claimed above the new limit", len(e.claim(10)), 0)
		e.succeed(claims[1])
		e.succeed(claims[2])
		wantEqual(e, "claimed", len(e.claim(10)), 1)
		e.applyQueues(duly.Queue{Name: "q", Concurrency: 2})
		wantEqual(e, "claimed", len(e.claim(10)), 1)
	})

	g.claim("ClaimsAreFairBetweenQueues", func(e *env) {
		e.applyQueues(duly.Queue{Name: "long", Concurrency: 100}, duly.Queue{Name: "short", Concurrency: 100})
		e.apply(sched{id: "long", queue: "long", parallel: true})
		e.pass(20 * time.Minute)
		e.fire()
		e.apply(sched{id: "short", queue: "short", parallel: true}, sched{id: "own", parallel: true})
		e.defs["long"] = sched{id: "long", every: 24000 * time.Hour}
		e.pass(4 * time.Minute)
		e.fire()
		count := map[string]int{}
		for _, c := range e.claim(9) {
			count[c.Schedule]++
		}
		if count["long"] != 3 || count["short"] != 3 || count["own"] != 3 {
			e.Fatalf("claimed %v", count)
		}
	})

	g.claim("AFullQueueIsInNobodysWay", func(e *env) {
		e.apply(sched{id: "full", queue: "q", parallel: true, priority: 50})
		e.pass(50 * time.Minute)
		e.fire()
		e.claimOne()
		e.apply(sched{id: "own"})
		e.defs["full"] = sched{id: "full", every: 24000 * time.Hour}
		e.pass(time.Minute)
		e.fire()
		claims := e.claim(10)
		if len(claims) != 1 || claims[0].Schedule != "own" {
			e.Fatalf("claimed %+v", claims)
		}
	})

	g.claim("SerialHoldsWithinASharedQueue", func(e *env) {
		e.applyQueues(duly.Queue{Name: "q", Concurrency: 10})
		e.apply(sched{id: "a", queue: "q"}, sched{id: "b", queue: "q"})
		e.pass(3 * time.Minute)
		e.fire()
		claims := e.claim(10)
		if len(claims) != 2 || claims[0].Schedule == claims[1].Schedule {
			e.Fatalf("claimed %+v", claims)
		}
	})

	g.claim("TwoHandlersOfOneQueueKeepItsOrder", func(e *env) {
		e.applyQueues(duly.Queue{Name: "q", Concurrency: 10})
		e.apply(sched{id: "a", queue: "q", handler: "x", priority: 1}, sched{id: "b", queue: "q", handler: "y", priority: 2}, sched{id: "c", queue: "q", handler: "x", priority: 3})
		e.fireAfter(time.Minute)
		var got []string
		for _, c := range e.claimFor(10, "handler:x", "handler:y") {
			got = append(got, c.Schedule)
		}
		if fmt.Sprint(got) != "[c b a]" {
			e.Fatalf("claimed %v", got)
		}
	})

	g.claim("FiringAndClaimingKeepsToTheConcurrency", func(e *env) {
		e.applyQueues(duly.Queue{Name: "q", Concurrency: 2})
		for i := range 5 {
			e.apply(sched{id: fmt.Sprint("s", i), queue: "q"})
		}
		e.pass(time.Minute)
		claim := &store.ClaimRequest{Node: e.node, Max: 10, Capabilities: []string{"handler:h"}}
		wantEqual(e, "claimed", len(e.fireWith(store.FireRequest{Plan: e.plan, Claim: claim}).Claims), 2)
		wantEqual(e, "claimed", len(e.claim(10)), 0)
		e.pass(time.Minute)
		wantEqual(e, "claimed later", len(e.fireWith(store.FireRequest{Plan: e.plan, Claim: claim}).Claims), 0)
	})

	rates(g)

	g.claim("TheStatusOfAQueueCountsItsLoad", func(e *env) {
		e.applyQueues(duly.Queue{Name: "q", Concurrency: 2, Rate: duly.Rate{Count: 100, Per: duly.Duration(time.Hour)}})
		for i := range 5 {
			e.apply(sched{id: fmt.Sprint("s", i), queue: "q"})
		}
		e.apply(sched{id: "other", queue: "undefined"})
		e.fireAfter(time.Minute)
		e.claim(10)
		all, err := e.st.Queues(e.ctx)
		e.must(err)
		want := []store.QueueStatus{
			{Queue: duly.Queue{Name: "q", Concurrency: 2, Rate: duly.Rate{Count: 100, Per: duly.Duration(time.Hour)}}, Running: 2, Pending: 3},
			{Queue: duly.Queue{Name: "undefined", Concurrency: 1}, Running: 1},
		}
		if fmt.Sprint(all) != fmt.Sprint(want) {
			e.Fatalf("queues\n%+v, want\n%+v", all, want)
		}
	})
}

// exactConcurrency has eight claimers over three openings of the store work
// through a queue and counts how many work at once.
func exactConcurrency(e *env, limit int) {
	const total = 40
	e.applyQueues(duly.Queue{Name: "q", Concurrency: limit})
	e.apply(sched{id: "a", queue: "q", parallel: true, lease: time.Hour}, sched{id: "b", queue: "q", parallel: true, lease: time.Hour})
	e.pass(total / 2 * time.Minute)
	e.fire()
	stores := []store.Store{e.st, e.open(), e.open()}
	var active, most, done atomic.Int64
	var wg sync.WaitGroup
	for i := range 8 {
		st := stores[i%len(stores)]
		wg.Go(func() {
			for done.Load() < total && e.ctx.Err() == nil {
				res, err := st.Claim(e.ctx, store.ClaimRequest{Now: e.now, Node: e.node, Max: 2, Capabilities: []string{"handler:h"}})
				if err != nil {
					e.Error(err)
					return
				}
				n := active.Add(int64(len(res.Claims)))
				for seen := most.Load(); n > seen && !most.CompareAndSwap(seen, n); seen = most.Load() {
				}
				for _, c := range res.Claims {
					time.Sleep(time.Millisecond) // the work
					active.Add(-1)
					reports := []store.Report{report(c, duly.AttemptSucceeded, toSucceeded)}
					answers, err := st.Finish(e.ctx, e.node, reports)
					for err == nil && duly.CodeOf(answers[0].Err) == duly.CodeUnavailable { // others hold it
						answers, err = st.Finish(e.ctx, e.node, reports)
					}
					if err != nil || answers[0].Err != nil {
						e.Error(err, answers)
						return
					}
					done.Add(1)
				}
			}
		})
	}
	for done.Load() < total && e.ctx.Err() == nil && !e.Failed() {
		all, err := e.st.Queues(e.ctx)
		e.must(err)
		if len(all) == 1 && all[0].Running > limit {
			e.Errorf("the store counts %d running in a queue of %d", all[0].Running, limit)
		}
	}
	wg.Wait()
	wantEqual(e, "done", done.Load(), int64(total))
	if most.Load() > int64(limit) {
		e.Fatalf("%d at once in a queue of %d", most.Load(), limit)
	}
}

func rates(g *group) {
	g.claim("ARateBoundsTheStartsOfEverySpan", func(e *env) {
		const count, per = 5, 10 * time.Second
		e.applyQueues(duly.Queue{Name: "q", Concurrency: 1000, Rate: duly.Rate{Count: count, Per: duly.Duration(per)}})
		e.apply(sched{id: "a", queue: "q", parallel: true})
		e.pass(60 * time.Minute)
		e.fire()
		var starts []time.Time
		for range 600 {
			for range e.claim(3) {
				starts = append(starts, e.now)
			}
			e.pass(100 * time.Millisecond)
		}
		for i := count; i < len(starts); i++ {
			if span := starts[i].Sub(starts[i-count]); span < per {
				e.Fatalf("%d starts within %v", count+1, span)
			}
		}
		if want := 60 / 10 * count; len(starts) < want*8/10 || len(starts) > want+count {
			e.Fatalf("%d starts in a minute, want about %d", len(starts), want)
		}
		first := 0
		for _, at := range starts {
			if at.Equal(starts[0]) {
				first++
			}
		}
		if first < 3 {
			e.Fatalf("only %d may start at once", first)
		}
	})

	g.claim("ARateOfOneQueueIsNoneOfAnother", func(e *env) {
		e.applyQueues(duly.Queue{Name: "q", Concurrency: 10, Rate: duly.Rate{Count: 1, Per: duly.Duration(time.Hour)}})
		e.apply(sched{id: "a", queue: "q", parallel: true}, sched{id: "b", parallel: true})
		e.pass(5 * time.Minute)
		e.fire()
		count := map[string]int{}
		for _, c := range e.claim(10) {
			count[c.Schedule]++
		}
		if count["a"] != 1 || count["b"] != 5 {
			e.Fatalf("claimed %v", count)
		}
	})

	g.claim("ARateHoldsForFiringAndClaimingToo", func(e *env) {
		e.applyQueues(duly.Queue{Name: "q", Concurrency: 10, Rate: duly.Rate{Count: 2, Per: duly.Duration(time.Hour)}})
		e.apply(sched{id: "a", queue: "q", parallel: true})
		e.pass(5 * time.Minute)
		claim := &store.ClaimRequest{Node: e.node, Max: 10, Capabilities: []string{"handler:h"}}
		wantEqual(e, "claimed", len(e.fireWith(store.FireRequest{Plan: e.plan, Claim: claim}).Claims), 2)
		wantEqual(e, "claimed", len(e.claim(10)), 0)
		e.pass(2 * time.Hour)
		wantEqual(e, "claimed later", len(e.claim(10)), 2)
	})
}
