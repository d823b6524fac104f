package storetest

import (
	"context"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

func events(g *group) {
	// watch collects wake-ups of a store.
	watch := func(e *env, st store.Store) chan store.Event {
		got := make(chan store.Event, 1000)
		ctx, cancel := context.WithCancel(e.ctx)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = st.Watch(ctx, func(ev store.Event) { got <- ev })
		}()
		e.Cleanup(func() { cancel(); <-ended })
		return got
	}
	// woken does something until a wake-up comes: the first may be too early
	// for a watcher that is still on its way.
	woken := func(e *env, got chan store.Event, topic store.Topic, do func()) {
		e.Helper()
		for range 50 {
			do()
			deadline := time.After(200 * time.Millisecond)
			for waiting := true; waiting; {
				select {
				case ev := <-got:
					if ev.Topic == topic || ev.Topic == store.TopicAny {
						return
					}
				case <-deadline:
					waiting = false
				}
			}
		}
		e.Fatalf("nobody woke the watcher for %s", topic)
	}

	g.claim("WhatThisProcessDoesWakesItsWatchers", func(e *env) {
		got := watch(e, e.st)
		woken(e, got, store.TopicNodes, func() { e.join("n") })
		every := time.Minute
		woken(e, got, store.TopicSchedules, func() {
			every += time.Minute
			e.apply(sched{id: "a", every: every})
		})
		e.apply(sched{id: "b", parallel: true})
		woken(e, got, store.TopicOccurrences, func() { e.fireAfter(time.Minute) })
		woken(e, got, store.TopicLeases, func() {
			e.acquired("a", time.Hour, 0)
			e.must(e.st.ReleaseLease(e.ctx, "l", "a"))
		})
	})

	for name, cancel := range map[string]func(e *env){
		"ACancel": func(e *env) {
			e.must(e.st.Cancel(e.ctx, id(e.started(sched{id: "a", parallel: true})), "ann", "wrong month"))
		},
		"AReplacement": func(e *env) {
			e.started(sched{id: "a", parallel: true, overlap: duly.OverlapReplace})
			e.pass(time.Minute)
			e.fireWith(store.FireRequest{Plan: func(now time.Time, due []store.DueSchedule) []store.Firing {
				f := e.plan(now, due)
				f[0].Cancel = due[0].Active
				return f
			}})
		},
		"ARemoval": func(e *env) {
			e.started(sched{id: "a", parallel: true})
			_, err := e.applyRequest(store.ApplyRequest{Remove: []string{"a"}})
			e.must(err)
		},
	} {
		g.claim(name+"WakesTheOwnersOfWhatIsWantedEnded", func(e *env) {
			got := watch(e, e.st)
			woken(e, got, store.TopicCancels, func() { cancel(e) })
		})
	}

	g.claim("WhatAnotherProcessDoesWakesThemToo", func(e *env) {
		other := e.open()
		got := watch(e, other)
		e.apply(sched{id: "a", parallel: true})
		woken(e, got, store.TopicOccurrences, func() { e.fireAfter(time.Minute) })
	})

	g.claim("TwoWatchersAreBothWoken", func(e *env) {
		a, b := watch(e, e.st), watch(e, e.st)
		e.apply(sched{id: "a", parallel: true})
		woken(e, a, store.TopicOccurrences, func() { e.fireAfter(time.Minute) })
		woken(e, b, store.TopicOccurrences, func() { e.fireAfter(time.Minute) })
	})

	g.claim("WatchEndsWithItsContext", func(e *env) {
		ctx, cancel := context.WithCancel(e.ctx)
		ended := make(chan error, 1)
		go func() { ended <- e.st.Watch(ctx, func(store.Event) {}) }()
		cancel()
		select {
		case <-ended:
		case <-e.ctx.Done():
			e.Fatal("it goes on")
		}
	})
}
