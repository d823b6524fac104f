package storetest

import (
	"fmt"
	"slices"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

func operator(g *group) {
	g.claim("ARetryStartsAnewWithItsHistory", func(e *env) {
		c := e.started(sched{id: "a"})
		e.finish(c, duly.AttemptFailed, toPending)
		e.fail(e.claimOne())
		e.must(e.st.Retry(e.ctx, id(c), "ann", "fixed"))
		o := e.wantState(id(c), duly.Pending)
		if !o.FinishedAt.IsZero() || o.Reason == "" || o.Waiting != duly.WaitingSlot || len(o.Attempts) != 2 {
			e.Fatalf("retried %+v", o)
		}
		third := e.claimOne()
		if third.Attempt != 3 || third.Tries != 1 {
			e.Fatalf("claimed %+v", third)
		}
		e.succeed(third)
		wantEqual(e, "audit", fmt.Sprint(e.audited("occurrence/"+id(c))), "[retry]")
	})

	g.claim("ARetryTakesItsPlaceByDue", func(e *env) {
		s := sched{id: "a"}
		c := e.started(s)
		e.fail(c)
		e.fireAfter(time.Minute) // ready, not started
		later := s.at(e.now)
		e.wantWaiting(later, duly.WaitingSlot)
		e.must(e.st.Retry(e.ctx, id(c), "ann", ""))
		e.wantWaiting(later, duly.WaitingEarlier)
		wantEqual(e, "claimed", id(e.claimOne()), id(c))
	})

	g.claim("ARetryWaitsForTheOneThatRuns", func(e *env) {
		s := sched{id: "a"}
		c := e.started(s)
		e.fail(c)
		e.fireAfter(time.Minute)
		next := e.claimOne()
		e.must(e.st.Retry(e.ctx, id(c), "ann", ""))
		e.wantWaiting(id(c), duly.WaitingEarlier)
		e.succeed(next)
		wantEqual(e, "claimed", id(e.claimOne()), id(c))
	})

	g.claim("AMissedOneThatIsRetriedHasNoDeadline", func(e *env) {
		s := sched{id: "a", startBy: 30 * time.Second}
		e.apply(s)
		e.fireAfter(time.Minute)
		missed := s.at(e.now)
		e.pass(40 * time.Second)
		e.reap(toPending)
		e.wantState(missed, duly.Missed)
		e.must(e.st.Retry(e.ctx, missed, "ann", ""))
		e.pass(time.Hour)
		wantEqual(e, "claimed", id(e.claimOne()), missed)
	})

	g.claim("ASuccessIsNotRetriedByAPerson", func(e *env) {
		c := e.started(sched{id: "a"})
		e.succeed(c)
		e.wantCode(e.st.Retry(e.ctx, id(c), "ann", ""), duly.CodeConflict)
		e.wantState(id(c), duly.Succeeded)
	})

	g.claim("CancellingWhatWaitsEndsItAtOnce", func(e *env) {
		s := sched{id: "a"}
		e.apply(s)
		e.fireAfter(time.Minute)
		e.must(e.st.Cancel(e.ctx, s.at(e.now), "ann", "wrong month"))
		o := e.wantState(s.at(e.now), duly.Cancelled)
		if o.Reason == "" || o.FinishedAt.IsZero() || o.Waiting != "" {
			e.Fatalf("cancelled %+v", o)
		}
		wantEqual(e, "claimed", len(e.claim(10)), 0)
		rows, _, err := e.st.Audit(e.ctx, "occurrence/"+o.ID, store.Page{})
		e.must(err)
		if len(rows) != 1 || rows[0].Action != "cancel" || rows[0].By != "ann" || rows[0].Why != "wrong month" {
			e.Fatalf("audit %+v", rows)
		}
	})

	g.claim("CancellingWhatRunsAsksItsOwner", func(e *env) {
		c := e.started(sched{id: "a"})
		e.must(e.st.Cancel(e.ctx, id(c), "ann", ""))
		e.must(e.st.Cancel(e.ctx, id(c), "ann", "")) // twice is once
		e.wantState(id(c), duly.Running)
		e.finish(c, duly.AttemptCancelled, toCancelled)
		e.wantState(id(c), duly.Cancelled)
	})

	g.claim("CancellingDismissesWhatNeedsAttention", func(e *env) {
		c := e.started(sched{id: "a"})
		e.fail(c)
		stats, err := e.st.Stats(e.ctx)
		e.must(err)
		wantEqual(e, "attention", stats.Attention, 1)
		e.must(e.st.Cancel(e.ctx, id(c), "ann", "known"))
		stats, err = e.st.Stats(e.ctx)
		e.must(err)
		wantEqual(e, "attention", stats.Attention, 0)
	})

	g.claim("ResolvingSaysWhatHappened", func(e *env) {
		s := sched{id: "a"}
		c := e.started(s)
		e.finish(c, duly.AttemptUncertain, toUncertain)
		e.must(e.st.Resolve(e.ctx, id(c), duly.Succeeded, "ann", "the bank says so"))
		o := e.wantState(id(c), duly.Succeeded)
		if o.Reason == "" || o.Attempts[0].Outcome != duly.AttemptUncertain || e.schedule("a").LastSuccess.IsZero() {
			e.Fatalf("resolved %+v", o)
		}
		e.fireAfter(time.Minute)
		c = e.claimOne()
		e.finish(c, duly.AttemptUncertain, toUncertain)
		e.must(e.st.Resolve(e.ctx, id(c), duly.Pending, "ann", "it did not happen"))
		if again := e.claimOne(); again.Seq != c.Seq || again.Tries != 1 {
			e.Fatalf("claimed %+v", again)
		}
		wantEqual(e, "audit", fmt.Sprint(e.audited("occurrence/"+id(c))), "[resolve]")
	})

	g.claim("WhatDoesNotExistIsNotFound", func(e *env) {
		e.apply(sched{id: "a"})
		for _, id := range []string{"a@2000-01-01", "nobody@2000-01-01"} {
			e.wantCode(e.st.Retry(e.ctx, id, "ann", ""), duly.CodeNotFound)
			e.wantCode(e.st.Cancel(e.ctx, id, "ann", ""), duly.CodeNotFound)
			e.wantCode(e.st.Resolve(e.ctx, id, duly.Succeeded, "ann", ""), duly.CodeNotFound)
			_, err := e.st.Occurrence(e.ctx, id)
			e.wantCode(err, duly.CodeNotFound)
		}
		e.wantCode(e.st.Retry(e.ctx, "nonsense", "ann", ""), duly.CodeInvalid)
	})
}

func insert(g *group) {
	asked := func(e *env, s sched, due time.Time) store.NewOccurrence {
		o := s.occurrence(due, store.Revision{})
		o.Origin = duly.OriginTrigger
		return o
	}
	insert := func(e *env, req store.InsertRequest) []store.Inserted {
		e.Helper()
		req.Now, req.By = e.now, "ann"
		if req.Schedule == "" {
			req.Schedule = "a"
		}
		res, err := e.st.Insert(e.ctx, req)
		e.must(err)
		return res
	}
	s := sched{id: "a"}

	g.claim("APersonsOccurrenceIsMadeAndRuns", func(e *env) {
		e.apply(s)
		res := insert(e, store.InsertRequest{Occurrences: []store.NewOccurrence{asked(e, s, e.now)}, Payload: []byte(`{"x":2}`), Why: "now"})
		if len(res) != 1 || res[0].ID != s.at(e.now) || res[0].State != duly.Pending || res[0].Existing || res[0].Retried || res[0].Seq == 0 {
			e.Fatalf("inserted %+v", res)
		}
		c := e.claimOne()
		if c.Origin != duly.OriginTrigger || !sameJSON(c.Payload, []byte(`{"x":2}`)) || c.Revision != 1 || c.Definition == 0 {
			e.Fatalf("claimed %+v", c)
		}
		wantEqual(e, "audit", fmt.Sprint(e.audited("occurrence/"+res[0].ID)), "[trigger]")
		wantEqual(e, "fired", e.schedule("a").Fired, 0)
		wantEqual(e, "last", e.schedule("a").Last.ID, res[0].ID)
	})

	g.claim("FieldCase_B35_AskingTwiceIsAnsweredWithTheSame", func(e *env) {
		e.apply(s)
		first := insert(e, store.InsertRequest{Occurrences: []store.NewOccurrence{asked(e, s, e.now)}})
		e.succeed(e.claimOne())
		second := insert(e, store.InsertRequest{Occurrences: []store.NewOccurrence{asked(e, s, e.now)}})
		if second[0].Seq != first[0].Seq || !second[0].Existing || second[0].State != duly.Succeeded || second[0].Retried {
			e.Fatalf("inserted %+v, then %+v", first, second)
		}
		wantEqual(e, "audit", len(e.audited("occurrence/"+first[0].ID)), 1)
	})

	g.claim("AKeySeenBeforeIsAnsweredWithWhatItMade", func(e *env) {
		e.apply(s, sched{id: "b"})
		first := insert(e, store.InsertRequest{Occurrences: []store.NewOccurrence{asked(e, s, e.now)}, Once: "k"})
		second := insert(e, store.InsertRequest{Occurrences: []store.NewOccurrence{asked(e, s, e.now.Add(time.Second))}, Once: "k"})
		if len(second) != 1 || second[0].ID != first[0].ID || !second[0].Existing {
			e.Fatalf("inserted %+v, then %+v", first, second)
		}
		other := insert(e, store.InsertRequest{Schedule: "b", Occurrences: []store.NewOccurrence{asked(e, sched{id: "b"}, e.now)}, Once: "k"})
		if other[0].Existing {
			e.Fatal("a key of one schedule counts for another")
		}
		wantEqual(e, "occurrences", len(e.all("a")), 1)
	})

	g.claim("ABackfillRetriesWhatItSays", func(e *env) {
		c := e.started(s)
		e.fail(c)
		e.fireAfter(time.Minute)
		done := e.claimOne()
		e.succeed(done)
		all := []store.NewOccurrence{asked(e, s, c.Due), asked(e, s, done.Due), asked(e, s, c.Due.Add(-time.Minute))}
		dry := insert(e, store.InsertRequest{Occurrences: all, Retry: []duly.State{duly.Failed}, DryRun: true})
		e.wantState(id(c), duly.Failed)
		wet := insert(e, store.InsertRequest{Occurrences: all, Retry: []duly.State{duly.Failed}})
		for i, want := range []store.Inserted{{State: duly.Failed, Existing: true, Retried: true}, {State: duly.Succeeded, Existing: true}, {State: duly.Pending}} {
			for _, got := range []store.Inserted{dry[i], wet[i]} {
				if got.State != want.State || got.Existing != want.Existing || got.Retried != want.Retried {
					e.Fatalf("item %d: %+v, want %+v", i, got, want)
				}
			}
		}
		e.wantState(id(c), duly.Pending)
		e.wantState(id(done), duly.Succeeded)
		wantEqual(e, "occurrences", len(e.all("a")), 3)
		insert(e, store.InsertRequest{Occurrences: all[1:2], Retry: []duly.State{duly.Succeeded}}) // `all` means it
		e.wantState(id(done), duly.Pending)
	})

	g.claim("APeriodThatAnotherOneCoversIsNotMadeBesideIt", func(e *env) {
		s := sched{id: "a", overlap: duly.OverlapCombine}
		e.apply(s, sched{id: "b"})
		base := e.now
		at := func(minute int) time.Time { return base.Add(time.Duration(minute) * time.Minute) }
		cover := func(name int, merge []int64, minutes ...int) int64 {
			e.Helper()
			e.now = at(name)
			res := e.fireWith(store.FireRequest{Plan: func(now time.Time, due []store.DueSchedule) []store.Firing {
				all := e.plan(now, due)
				for i := range all {
					f := &all[i]
					if f.Schedule != "a" {
						continue
					}
					f.Occurrences = f.Occurrences[len(f.Occurrences)-1:]
					f.Occurrences[0].Covers, f.Merge = nil, merge
					for _, m := range minutes {
						f.Occurrences[0].Covers = append(f.Occurrences[0].Covers, period(at(m)))
					}
				}
				return all
			}})
			i := slices.IndexFunc(res.Fired, func(f store.Fired) bool { return f.Schedule == "a" })
			return res.Fired[i].Seq
		}
		first := cover(3, nil, 1, 2, 3)
		taker := cover(5, []int64{first}, 1, 2, 3, 5)
		cover(6, nil, 6)
		ask := func(dry bool, retry ...duly.State) (said string) {
			e.Helper()
			var all []store.NewOccurrence
			for m := range 7 {
				all = append(all, asked(e, s, at(m)))
			}
			for m, r := range insert(e, store.InsertRequest{Occurrences: all, Retry: retry, DryRun: dry}) {
				switch {
				case !r.Existing:
					said += "made "
				case r.Seq == taker && r.ID == s.at(at(5)):
					said += "taker "
				case r.ID == s.at(at(m)):
					said += "own "
				default:
					e.Fatalf("minute %d: %+v", m, r)
				}
				if r.Retried {
					said += "retried "
				}
			}
			return said
		}
		wantEqual(e, "said", ask(true), "made taker taker own made taker own ")
		wantEqual(e, "done", ask(false), "made taker taker own made taker own ")
		wantEqual(e, "done again", ask(false), "own taker taker own own taker own ")
		c := e.claimFor(1, "handler:h")
		for len(c) > 0 && c[0].Seq != taker {
			e.succeed(c[0])
			c = e.claimFor(1, "handler:h")
		}
		e.fail(c[0])
		for _, dry := range []bool{true, false} {
			wantEqual(e, "said", ask(dry, duly.Failed), "own taker retried taker retried own own taker retried own ")
		}
		e.wantState(s.at(at(5)), duly.Pending)
		made := insert(e, store.InsertRequest{Schedule: "b", Occurrences: []store.NewOccurrence{asked(e, sched{id: "b"}, at(0))}})
		wantEqual(e, "of another schedule", made[0].Existing, false)
	})

	g.claim("AnEarlierOneGoesFirst", func(e *env) {
		e.apply(s)
		e.fireAfter(time.Minute)
		later := s.at(e.now)
		e.wantWaiting(later, duly.WaitingSlot)
		past := e.now.Add(-time.Hour)
		insert(e, store.InsertRequest{Occurrences: []store.NewOccurrence{asked(e, s, past)}})
		e.wantWaiting(later, duly.WaitingEarlier)
		first := e.claimOne()
		wantEqual(e, "claimed", id(first), s.at(past))
		e.succeed(first)
		wantEqual(e, "claimed", id(e.claimOne()), later)
	})

	g.claim("AParallelOneWaitsForNobody", func(e *env) {
		e.started(s)
		o := asked(e, s, e.now.Add(time.Second))
		o.Serial = false
		insert(e, store.InsertRequest{Occurrences: []store.NewOccurrence{o}})
		wantEqual(e, "claimed", len(e.claim(10)), 1)
	})

	ask := func(e *env) *store.ClaimRequest {
		return &store.ClaimRequest{Node: e.node, Max: 1, Capabilities: []string{"handler:h"}}
	}

	g.claim("WhatTheAskerCanRunIsHandedOutAtOnce", func(e *env) {
		e.apply(s)
		res := insert(e, store.InsertRequest{Occurrences: []store.NewOccurrence{asked(e, s, e.now)}, Payload: []byte(`{"x":2}`), Claim: ask(e)})
		c := res[0].Claim
		if c == nil || res[0].State != duly.Running || res[0].Seq != c.Seq || res[0].Existing {
			e.Fatalf("inserted %+v", res)
		}
		if c.Token == 0 || c.Attempt != 1 || c.Tries != 1 || c.Definition == 0 || c.Revision != 1 || !sameJSON(c.Payload, []byte(`{"x":2}`)) || !c.Exclusive || id(*c) != res[0].ID {
			e.Fatalf("claimed %+v", c)
		}
		e.wantTime("lease", c.LeaseUntil, e.now.Add(time.Minute))
		o := e.wantState(id(*c), duly.Running)
		if len(o.Attempts) != 1 || o.Attempts[0].Node != nodeName || o.Attempts[0].Token != c.Token {
			e.Fatalf("running as %+v", o.Attempts)
		}
		wantEqual(e, "claimed again", len(e.claim(10)), 0)
		e.fireAfter(time.Minute)
		e.wantWaiting(s.at(e.now), duly.WaitingEarlier)
		e.succeed(*c)
		next := e.claimOne()
		if next.Token <= c.Token {
			e.Fatalf("token %d after %d", next.Token, c.Token)
		}
		wantEqual(e, "audit", fmt.Sprint(e.audited("occurrence/"+id(*c))), "[trigger]")
		stats, err := e.st.Stats(e.ctx)
		e.must(err)
		wantEqual(e, "running", stats.Running, 1)
		wantEqual(e, "succeeded", stats.Occurrences[duly.Succeeded], 1)
	})

	g.claim("NothingIsHandedOutPastWhatStandsBeforeIt", func(e *env) {
		q := sched{id: "q", parallel: true, queue: "one"}
		other := sched{id: "o", handler: "other"}
		ready := sched{id: "r"}
		closed := sched{id: "c", parallel: true, queue: "closed"}
		e.apply(s, q, other, ready, closed)
		e.must(e.st.PauseQueue(e.ctx, store.PauseQueueRequest{Now: e.now, Queue: "closed", By: "ann"}))
		running := insert(e, store.InsertRequest{Occurrences: []store.NewOccurrence{asked(e, s, e.now)}, Claim: ask(e)})[0]
		inQueue := insert(e, store.InsertRequest{Schedule: "q", Occurrences: []store.NewOccurrence{asked(e, q, e.now)}, Claim: ask(e)})[0]
		if running.Claim == nil || inQueue.Claim == nil || !inQueue.Claim.Exclusive || inQueue.Claim.Queue != "one" {
			e.Fatalf("inserted %+v and %+v", running, inQueue)
		}
		later := e.now.Add(time.Second)
		notBefore := asked(e, ready, later)
		notBefore.NotBefore = later.Add(time.Hour)
		for _, c := range []struct {
			why string
			s   sched
			occ store.NewOccurrence
		}{
			{"another of its schedule runs", s, asked(e, s, later)},
			{"its queue is full", q, asked(e, q, later)},
			{"its queue is paused", closed, asked(e, closed, later)},
			{"the asker cannot run it", other, asked(e, other, later)},
			{"its time has not come", ready, notBefore},
		} {
			res := insert(e, store.InsertRequest{Schedule: c.s.id, Occurrences: []store.NewOccurrence{c.occ}, Claim: ask(e)})
			if res[0].Claim != nil || res[0].State != duly.Pending || res[0].Seq == 0 {
				e.Fatalf("although %s: %+v", c.why, res[0])
			}
		}
		// What is there already is handed out by nobody but Claim.
		again := insert(e, store.InsertRequest{Occurrences: []store.NewOccurrence{asked(e, s, later)}, Claim: ask(e)})
		if again[0].Claim != nil || !again[0].Existing {
			e.Fatalf("again %+v", again)
		}
		e.succeed(*running.Claim)
		wantEqual(e, "claimed", id(e.claimOne()), s.at(later))
	})

	g.claim("WhatIsReadyAndComesFirstIsNotOvertaken", func(e *env) {
		first := sched{id: "first", priority: 5}
		e.apply(s, first)
		e.fireAfter(time.Minute)
		e.must(e.st.Cancel(e.ctx, s.at(e.now), "ann", ""))
		res := insert(e, store.InsertRequest{Occurrences: []store.NewOccurrence{asked(e, s, e.now.Add(time.Second))}, Claim: ask(e)})
		if res[0].Claim != nil {
			e.Fatalf("inserted %+v", res)
		}
		wantEqual(e, "claimed", id(e.claimOne()), first.at(e.now))
		wantEqual(e, "claimed", id(e.claimOne()), res[0].ID)
	})

	g.claim("APausedScheduleTakesOccurrencesOfPeople", func(e *env) {
		e.apply(s)
		e.must(e.st.Pause(e.ctx, store.PauseRequest{Now: e.now, Schedule: "a", By: "ann"}))
		insert(e, store.InsertRequest{Occurrences: []store.NewOccurrence{asked(e, s, e.now)}})
		wantEqual(e, "claimed", len(e.claim(10)), 1)
	})

	g.claim("NobodyInsertsWhatIsNotPending", func(e *env) {
		e.apply(s)
		o := asked(e, s, e.now)
		for _, state := range []duly.State{duly.Running, duly.Succeeded, duly.Skipped, ""} {
			o.State = state
			_, err := e.st.Insert(e.ctx, store.InsertRequest{Now: e.now, Schedule: "a", By: "ann", Occurrences: []store.NewOccurrence{o}})
			e.wantCode(err, duly.CodeInvalid)
		}
		_, err := e.st.Insert(e.ctx, store.InsertRequest{Now: e.now, Schedule: "nobody", By: "ann"})
		e.wantCode(err, duly.CodeNotFound)
		wantEqual(e, "occurrences", len(e.all("a")), 0)
	})
}
