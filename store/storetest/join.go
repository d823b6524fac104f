package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// App is an application whose database is the store's own.
type App struct {
	// Begin begins a transaction. Native is what the application's driver
	// calls it.
	Begin func(ctx context.Context) (native any, tx AppTx, err error)
	// Elsewhere begins one in another database of the same kind.
	Elsewhere func(ctx context.Context) (native any, tx AppTx, err error)
	// OneWriter: while a transaction is open, the store's own steps wait.
	OneWriter bool
}

// AppTx is an application's transaction.
type AppTx struct {
	// Note writes a row of the application's, Notes counts those committed.
	Note             func(ctx context.Context) error
	Notes            func(ctx context.Context) (int, error)
	Commit, Rollback func() error
}

// RunJoin proves that a store which is a store.Joiner keeps that part of the
// contract, in transactions that open makes for the store of a URL.
func RunJoin(t *testing.T, fresh Fresh, open func(t *testing.T, url string) App) {
	g := &group{t, fresh}
	claim := func(name string, test func(e *env, j *joiner)) {
		g.claim(name, func(e *env) {
			st, ok := e.st.(store.Joiner)
			if !ok {
				e.Fatal("the store is no store.Joiner")
			}
			test(e, &joiner{e, st, open(e.T, e.url)})
		})
	}

	claim("ASuccessIsPartOfTheApplicationsCommit", func(e *env, j *joiner) {
		c := e.started(sched{id: "a"})
		tx := j.begin()
		r := success(c)
		r.Result = []byte(`{"made":2}`)
		r.Effects = []store.EffectReport{{Key: "k", Result: []byte(`{"no":"\\7\""}`)}, {Key: "other"}, {Key: "third", Reused: true}}
		e.must(tx.Note(e.ctx))
		f := tx.join(r)
		if f.Schedule != "a" || f.Period != c.Period || f.State != duly.Succeeded || f.Late {
			e.Fatalf("answered %+v", f)
		}
		e.wantState(id(c), duly.Running) // for everybody else
		e.must(tx.Commit())
		o := e.wantState(id(c), duly.Succeeded)
		a := o.Attempts[0]
		if len(o.Attempts) != 1 || a.Outcome != duly.AttemptSucceeded || a.Effects != (duly.EffectCounts{Created: 2, Reused: 1}) || !sameJSON(a.Result, r.Result) {
			e.Fatalf("attempt %+v", a)
		}
		if k := o.Effects[0]; len(o.Effects) != 3 || k.Key != "k" || k.Attempt != 1 || k.Token != c.Token || !sameJSON(k.Result, r.Effects[0].Result) {
			e.Fatalf("effects %+v", o.Effects)
		}
		wantEqual(e, "notes", j.notes(), 1)
		if e.schedule("a").LastSuccess.IsZero() {
			e.Fatal("a success is not noted")
		}
		stats, err := e.st.Stats(e.ctx)
		e.must(err)
		wantEqual(e, "succeeded", stats.Occurrences[duly.Succeeded], 1)
		wantEqual(e, "running", stats.Occurrences[duly.Running], 0)
	})

	claim("ARollbackLeavesNoTrace", func(e *env, j *joiner) {
		c := e.started(sched{id: "a"})
		before := e.occ(id(c))
		tx := j.begin()
		e.must(tx.Note(e.ctx))
		r := success(c)
		r.Effects = []store.EffectReport{{Key: "k"}}
		tx.join(r)
		e.must(tx.Rollback())
		if o := e.wantState(id(c), duly.Running); len(o.Effects) != 0 || o.Attempts[0].Token != before.Attempts[0].Token || o.Attempts[0].Outcome != duly.AttemptRunning {
			e.Fatalf("after the rollback %+v", o)
		}
		wantEqual(e, "notes", j.notes(), 0)
		// It goes on being owned, and may still end in any way.
		renewed, err := e.st.Renew(e.ctx, e.node, []store.Renewal{{Seq: c.Seq, Token: c.Token, Lease: time.Minute}})
		e.must(err)
		wantEqual(e, "lost", renewed[0].Lost, false)
		e.fail(c)
		stats, err := e.st.Stats(e.ctx)
		e.must(err)
		wantEqual(e, "succeeded", stats.Occurrences[duly.Succeeded], 0)
	})

	for _, how := range []string{"Finish", "FinishIn"} {
		claim("TheSameReportAfterwardsBy"+how+"IsAnsweredAlike", func(e *env, j *joiner) {
			c := e.started(sched{id: "a"})
			r := success(c)
			r.Effects = []store.EffectReport{{Key: "k"}, {Key: "l", Reused: true}}
			first := j.joined(r)
			before := e.occ(id(c))
			var again store.Finished
			if how == "Finish" {
				again = e.send(r)
			} else {
				again = j.joined(r)
			}
			if again != first {
				e.Fatalf("answered %+v, then %+v", first, again)
			}
			if after := e.occ(id(c)); after.Attempts[0].Effects != before.Attempts[0].Effects || !after.FinishedAt.Equal(before.FinishedAt) || len(after.Effects) != len(before.Effects) {
				e.Fatalf("was %+v, is %+v", before, after)
			}
		})
	}

	claim("WhatTheHandlerSaysAfterACommittedSuccessChangesNothing", func(e *env, j *joiner) {
		c := e.started(sched{id: "a"})
		j.joined(success(c))
		f := e.send(report(c, duly.AttemptFailed, toPending))
		if f.Err != nil || f.State != duly.Succeeded {
			e.Fatalf("answered %+v", f)
		}
		if o := e.wantState(id(c), duly.Succeeded); len(o.Attempts) != 1 || o.Attempts[0].Outcome != duly.AttemptSucceeded {
			e.Fatalf("attempts %+v", o.Attempts)
		}
	})

	claim("ASupersededTokenIsRefusedAndChangesNothing", func(e *env, j *joiner) {
		c := e.started(sched{id: "a"})
		e.lose(c, toPending)
		second := e.claimOne()
		tx := j.begin()
		e.must(tx.Note(e.ctx))
		e.wantCode(tx.refused(success(c)), duly.CodeStaleToken)
		e.must(tx.Rollback())
		if o := e.wantState(id(c), duly.Running); o.Attempts[0].Stale != nil {
			e.Fatalf("attempts %+v", o.Attempts)
		}
		// That it was refused is recorded once the worker reports it.
		e.wantCode(e.send(report(c, duly.AttemptFailed, toPending)).Err, duly.CodeStaleToken)
		j.joined(success(second))
		e.wantState(id(c), duly.Succeeded)
	})

	claim("AnUnknownTokenOrOccurrenceIsRefused", func(e *env, j *joiner) {
		c := e.started(sched{id: "a"})
		forged, unknown := success(c), success(c)
		forged.Token, unknown.Seq = c.Token+1000, c.Seq+1000
		for _, r := range []store.Report{forged, unknown} {
			tx := j.begin()
			e.wantCode(tx.refused(r), duly.CodeNotFound)
			e.must(tx.Rollback())
		}
		e.wantState(id(c), duly.Running)
	})

	claim("ALateSuccessThatNobodySupersededIsAcceptedAndMarked", func(e *env, j *joiner) {
		c := e.started(sched{id: "a"})
		e.lose(c, toPending)
		f := j.joined(success(c))
		wantEqual(e, "late", f.Late, true)
		o := e.wantState(id(c), duly.Succeeded)
		wantEqual(e, "marked late", o.Attempts[0].Late, true)
		e.pass(24 * time.Hour)
		wantEqual(e, "claimed", len(e.claim(10)), 0)
	})

	claim("AnAttemptThatHasEndedOtherwiseCannotSucceed", func(e *env, j *joiner) {
		for name, end := range map[string]store.Report{"b": {Outcome: duly.AttemptFailed, Next: toPending}, "c": {Outcome: duly.AttemptFailed, Next: toFailed}, "d": {Outcome: duly.AttemptUncertain, Next: toUncertain}} {
			e.apply(sched{id: name, handler: name})
			e.fireAfter(time.Minute)
			c := e.claimFor(1, "handler:"+name)[0]
			end.Seq, end.Token = c.Seq, c.Token
			e.must(e.send(end).Err)
			tx := j.begin()
			e.wantCode(tx.refused(success(c)), duly.CodeStaleToken)
			e.must(tx.Rollback())
			e.wantState(id(c), end.Next.State)
		}
	})

	claim("OnlyASuccessIsTaken", func(e *env, j *joiner) {
		c := e.started(sched{id: "a"})
		for _, r := range []store.Report{report(c, duly.AttemptFailed, toFailed), report(c, duly.AttemptFailed, toPending), report(c, duly.AttemptSucceeded, toPending), report(c, "", toSucceeded)} {
			tx := j.begin()
			e.wantCode(tx.refused(r), duly.CodeInvalid)
			e.must(tx.Rollback())
		}
		e.wantState(id(c), duly.Running)
	})

	claim("ATransactionOfAnotherDatabaseIsRefused", func(e *env, j *joiner) {
		c := e.started(sched{id: "a"})
		native, other, err := j.app.Elsewhere(e.ctx)
		e.must(err)
		tx := &joinTx{other, j, native}
		e.wantCode(tx.refused(success(c)), duly.CodeInvalid)
		e.must(tx.Note(e.ctx)) // it is refused before anything is done that could doom it
		e.must(tx.Commit())
		e.wantState(id(c), duly.Running)
	})

	claim("WhatIsNoTransactionIsRefused", func(e *env, j *joiner) {
		c := e.started(sched{id: "a"})
		for _, no := range []any{nil, "tx", struct{}{}} {
			_, err := j.st.FinishIn(e.ctx, no, success(c))
			e.wantCode(err, duly.CodeInvalid)
		}
		e.wantState(id(c), duly.Running)
	})

	claim("TheNextOfAQueueThatRunsOneStartsAfterTheCommitOnly", func(e *env, j *joiner) {
		e.applyQueues(duly.Queue{Name: "q", Concurrency: 1})
		e.apply(sched{id: "a", queue: "q"}, sched{id: "b", queue: "q"})
		e.fireAfter(time.Minute)
		c := e.claimOne()
		wantEqual(e, "claimed beside it", len(e.claim(1)), 0)
		tx := j.begin()
		tx.join(success(c))
		j.whileOpen(func() { wantEqual(e, "claimed before the commit", len(e.claim(1)), 0) })
		e.must(tx.Commit())
		if next := e.claimOne(); next.Schedule == c.Schedule || next.Token <= c.Token {
			e.Fatalf("claimed %+v after %+v", next, c)
		}
	})

	claim("TheNextOfASerialScheduleStartsAfterTheCommitOnly", func(e *env, j *joiner) {
		s := sched{id: "a"}
		c := e.started(s)
		e.fireAfter(time.Minute)
		second := s.at(e.now)
		e.wantWaiting(second, duly.WaitingEarlier)
		tx := j.begin()
		tx.join(success(c))
		e.wantWaiting(second, duly.WaitingEarlier)
		e.must(tx.Commit())
		wantEqual(e, "claimed", id(e.claimOne()), second)
	})

	claim("WhatRunsOutMeanwhileIsNotReapedUnderACommit", func(e *env, j *joiner) {
		c := e.started(sched{id: "a"})
		tx := j.begin()
		tx.join(success(c))
		e.pass(time.Hour)
		j.whileOpen(func() { wantEqual(e, "reaped", len(e.reap(toPending).Lost), 0) })
		e.must(tx.Commit())
		e.wantState(id(c), duly.Succeeded)
		wantEqual(e, "reaped after", len(e.reap(toPending).Lost), 0)
	})

	claim("ATransactionThatDiesAfterItJoinedLeavesNoTrace", func(e *env, j *joiner) {
		c := e.started(sched{id: "a"})
		ctx, cancel := context.WithCancel(e.ctx)
		native, appTx, err := j.app.Begin(ctx)
		e.must(err)
		tx := &joinTx{appTx, j, native}
		e.must(tx.Note(ctx))
		tx.join(success(c))
		cancel() // database/sql ends the transaction
		_ = tx.Rollback()
		e.wantState(id(c), duly.Running)
		wantEqual(e, "notes", j.notes(), 0)
		e.pass(2 * time.Minute)
		for len(e.reap(toPending).Lost) == 0 { // until the server has seen that it died
			e.must(e.ctx.Err())
		}
		wantEqual(e, "attempt", e.claimOne().Attempt, 2)
	})

	claim("WhatStaysOpenKeepsNothingButItsOwnSchedule", func(e *env, j *joiner) {
		e.apply(sched{id: "a", parallel: true}, sched{id: "b", every: 30 * time.Second}, sched{id: "c", parallel: true})
		e.fireAfter(time.Minute)
		e.fireAfter(time.Minute)
		held := e.claim(10)
		of := func(schedule string) (all []store.Claim) {
			for _, c := range held {
				if c.Schedule == schedule {
					all = append(all, c)
				}
			}
			return all
		}
		a, b, c := of("a"), of("b"), of("c")
		tx := j.begin()
		tx.join(success(a[0]))
		j.whileOpen(func() {
			// Those that share a call with what is held, and those that come after.
			answers, err := e.st.Finish(e.ctx, e.node, []store.Report{success(c[0]), success(a[1]), success(b[0])})
			e.must(err)
			if answers[0].Err != nil || answers[2].Err != nil {
				e.Fatalf("answered %+v", answers)
			}
			e.wantCode(answers[1].Err, duly.CodeUnavailable)
			e.wantState(id(c[0]), duly.Succeeded)
			e.wantState(id(a[1]), duly.Running)
			e.must(e.send(success(c[1])).Err)
			// The same, given once more, and something new of another schedule.
			e.fireAfter(time.Minute)
			for _, claim := range e.claim(10) {
				if claim.Schedule == "a" {
					e.Fatalf("%s was fired under the application's transaction", id(claim))
				}
				e.must(e.send(success(claim)).Err)
			}
			e.must(e.send(success(c[1])).Err)
			renewed, err := e.st.Renew(e.ctx, e.node, []store.Renewal{{Seq: a[1].Seq, Token: a[1].Token, Lease: time.Hour}})
			e.must(err)
			wantEqual(e, "lost", renewed[0].Lost, false)
			// A change of it is refused in time for those of others.
			_, err = e.applyRequest(store.ApplyRequest{Schedules: []store.Definition{sched{id: "a", every: time.Hour}.definition()}})
			e.wantCode(err, duly.CodeUnavailable)
			_, err = e.applyRequest(store.ApplyRequest{Schedules: []store.Definition{sched{id: "c", every: time.Hour}.definition()}})
			e.must(err)
			_, err = e.st.Renew(e.ctx, e.node, []store.Renewal{{Seq: a[0].Seq, Token: a[0].Token, Lease: time.Hour}})
			e.wantCode(err, duly.CodeUnavailable)
		})
		e.must(tx.Commit())
		e.must(e.send(success(a[1])).Err)
		e.wantState(id(a[0]), duly.Succeeded)
		e.wantState(id(a[1]), duly.Succeeded)
		wantEqual(e, "fired after it", len(e.fireAfter(time.Second).Fired) > 0, !j.app.OneWriter)
		stats, err := e.st.Stats(e.ctx)
		e.must(err)
		done, _, err := e.st.Occurrences(e.ctx, store.OccurrenceFilter{States: []duly.State{duly.Succeeded}}, store.Page{Limit: 100})
		e.must(err)
		wantEqual(e, "succeeded", stats.Occurrences[duly.Succeeded], int64(len(done)))
	})
}

// joiner is a store and an application on one database.
type joiner struct {
	e   *env
	st  store.Joiner
	app App
}

type joinTx struct {
	AppTx
	j      *joiner
	native any
}

func success(c store.Claim) store.Report { return report(c, duly.AttemptSucceeded, toSucceeded) }

func (j *joiner) begin() *joinTx {
	j.e.Helper()
	native, tx, err := j.app.Begin(j.e.ctx)
	j.e.must(err)
	j.e.Cleanup(func() { _ = tx.Rollback() }) // after a failure; nothing else may wait for it
	return &joinTx{tx, j, native}
}

func (tx *joinTx) join(r store.Report) store.Finished {
	tx.j.e.Helper()
	f, err := tx.j.st.FinishIn(tx.j.e.ctx, tx.native, r)
	tx.j.e.must(err)
	return f
}

func (tx *joinTx) refused(r store.Report) error {
	_, err := tx.j.st.FinishIn(tx.j.e.ctx, tx.native, r)
	return err
}

// whileOpen does something beside a transaction that has joined, where that is
// possible.
func (j *joiner) whileOpen(do func()) {
	if !j.app.OneWriter {
		do()
	}
}

// joined joins a report in a transaction of its own.
func (j *joiner) joined(r store.Report) store.Finished {
	j.e.Helper()
	tx := j.begin()
	f := tx.join(r)
	j.e.must(tx.Commit())
	return f
}

func (j *joiner) notes() int {
	j.e.Helper()
	tx := j.begin()
	n, err := tx.Notes(j.e.ctx)
	j.e.must(err)
	j.e.must(tx.Rollback())
	return n
}
