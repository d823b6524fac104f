package memstore

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// Renew implements store.Worker.
func (s *Store) Renew(ctx context.Context, _ int64, items []store.Renewal) ([]store.Renewed, error) {
	return step(ctx, s, func() ([]store.Renewed, error) {
		now := s.now(time.Time{})
		answers := make([]store.Renewed, len(items))
		for i, it := range items {
			o := s.bySeq[it.Seq]
			switch {
			case o == nil:
				answers[i] = store.Renewed{Lost: true, Reason: "the occurrence is gone"}
			case o.tokenOf() != it.Token && !s.opt.Bugs.RenewWithoutToken:
				answers[i] = store.Renewed{Lost: true, Reason: "another attempt was granted a newer token"}
			case o.State != duly.Running:
				answers[i] = store.Renewed{Lost: true, Reason: "the attempt has ended: the occurrence is " + string(o.State)}
			default:
				o.newest().LeaseUntil, o.newest().granted = now.Add(it.Lease), it.Lease
				answers[i] = store.Renewed{Cancelled: o.cancelled != "", Reason: o.cancelled, Until: o.newest().LeaseUntil}
			}
		}
		return answers, nil
	})
}

// Finish implements store.Worker.
func (s *Store) Finish(ctx context.Context, _ int64, reports []store.Report) ([]store.Finished, error) {
	return step(ctx, s, func() ([]store.Finished, error) {
		now := s.now(time.Time{})
		answers := make([]store.Finished, len(reports))
		for i := range reports {
			answers[i] = s.report(&reports[i], now)
		}
		return answers, nil
	})
}

// report takes one report.
func (s *Store) report(r *store.Report, now time.Time) store.Finished {
	o := s.bySeq[r.Seq]
	if o == nil {
		return store.Finished{Err: duly.Errorf(duly.CodeNotFound, "there is no occurrence with seq %d", r.Seq)}
	}
	answer := store.Finished{Schedule: o.Schedule, Period: o.Period}
	i := slices.IndexFunc(o.attempts, func(a *attempt) bool { return a.Token == r.Token })
	if s.opt.Bugs.FinishWithoutToken && i >= 0 {
		i = len(o.attempts) - 1
	}
	switch {
	case !slices.Contains(duly.Outcomes, r.Outcome):
		answer.Err = duly.Invalid("outcome", "is %q, which is no outcome that a worker reports", r.Outcome)
	case i < 0:
		answer.Err = duly.Errorf(duly.CodeNotFound, "%s has no attempt with token %d", o.ID, r.Token)
	case i < len(o.attempts)-1:
		answer.Late, answer.Err = s.superseded(r, o, o.attempts[i], now)
	case o.State == duly.Running && !duly.CanMove(duly.Running, duly.StepFinish, r.Next.State):
		answer.Err = duly.Invalid("next.state", "a report cannot make an occurrence %q", r.Next.State)
	case o.State == duly.Running:
		s.record(r, o)
		a := o.newest()
		a.Late = now.After(a.LeaseUntil)
		s.conclude(o, r.Outcome, r.Next, now)
		answer.Late = a.Late
	default: // reported before, or lost
		if o.newest().Outcome == duly.AttemptLost {
			s.tooLate(r, o, now)
		}
		answer.Late = o.newest().Late
	}
	answer.State = o.State
	return answer
}

// tooLate takes a report after the attempt was ended as lost, before another
// one was claimed. What is final counts. What would only try again changes
// nothing more than what the attempt is known to have said.
func (s *Store) tooLate(r *store.Report, o *occurrence, now time.Time) {
	if a := o.newest(); !a.Late {
		s.record(r, o) // once: a repeat counts no effect twice
		a.Late = true
	}
	next := r.Next
	next.Uncounted = false
	if duly.CanMove(o.State, duly.StepFinish, next.State) || o.State == duly.Failed && next.State == duly.Failed {
		s.conclude(o, r.Outcome, next, now)
	}
}

// superseded answers a report whose token is not the newest. If it says what
// was said before, it is answered as it was then. Otherwise it is kept beside
// its attempt and refused.
func (s *Store) superseded(r *store.Report, o *occurrence, a *attempt, now time.Time) (late bool, refused error) {
	if a.Outcome == r.Outcome {
		return a.Late, nil
	}
	if a.Stale == nil {
		a.Stale = &duly.StaleReport{Outcome: r.Outcome, At: now, Error: r.Error}
		s.event(store.TopicOccurrences, o.Schedule)
	}
	return false, duly.Errorf(duly.CodeStaleToken, "%s: token %d was superseded by %d; the report is kept and changes nothing", o.ID, r.Token, o.tokenOf())
}

// conclude closes the newest attempt and moves its occurrence on.
func (s *Store) conclude(o *occurrence, outcome duly.Outcome, next store.Next, now time.Time) {
	if o.cancelled != "" && next.State == duly.Pending {
		next = store.Next{State: duly.Cancelled, Reason: o.cancelled}
	}
	if next.State == duly.Failed {
		if key := s.openEffect(o); key != "" {
			next.State, next.Reason = duly.Uncertain, "nobody knows whether "+key+" has happened; "+next.Reason
		}
	}
	a := o.newest()
	a.Outcome, a.FinishedAt, a.LeaseUntil = outcome, now, time.Time{}
	if next.Uncounted {
		o.tries--
	}
	o.cancelled = ""
	s.end(o, next.State, now, next.Reason)
	if next.State == duly.Pending {
		o.FinishedAt = time.Time{}
		if next.Delay > 0 {
			o.NotBefore = s.now(now.Add(next.Delay))
		}
	}
	if next.State == duly.Succeeded {
		o.sched.succeeded = later(o.sched.succeeded, now)
	}
	if next.Hold && next.State != duly.Pending && next.State != duly.Succeeded {
		o.sched.held = o
	} else {
		s.letGo(o)
	}
}

// letGo ends that an occurrence holds its schedule.
func (s *Store) letGo(o *occurrence) {
	if o.sched.held == o {
		o.sched.held = nil
	}
}

// record keeps what an attempt said and its effects.
func (s *Store) record(r *store.Report, o *occurrence) {
	a := o.newest()
	a.Error, a.ExitCode, a.Output, a.Result = r.Error, r.ExitCode, r.Output, r.Result
	s.told(r, o, a)
}

// Reap implements store.Worker.
func (s *Store) Reap(ctx context.Context, req store.ReapRequest) (store.ReapResult, error) {
	if req.Limit <= 0 {
		req.Limit = defaultLimit
	}
	return step(ctx, s, func() (store.ReapResult, error) {
		now := s.now(req.Now)
		res := store.ReapResult{Now: now}
		lost := s.runOut(now)
		if len(lost) > req.Limit {
			lost, res.More = lost[:req.Limit], true
		}
		next := make([]store.Next, len(lost))
		for i, o := range lost { // all decisions before the first change
			e := expired(o)
			if next[i] = req.Decide(e); next[i] != (store.Next{}) && !duly.CanMove(duly.Running, duly.StepReap, next[i].State) {
				return res, duly.Errorf(duly.CodeInternal, "it was decided that %s, whose lease ran out, becomes %q", o.ID, next[i].State)
			}
		}
		for i, o := range lost {
			if next[i] == (store.Next{}) {
				continue // for another time
			}
			e := expired(o)
			next[i].Uncounted = s.opt.Bugs.ReapWithoutCounting
			s.conclude(o, duly.AttemptLost, next[i], now)
			res.Lost = append(res.Lost, store.Reaped{Expired: e, State: o.State})
		}
		res.Missed = s.expire(now)
		s.expireNodes(now)
		return res, nil
	})
}

func expired(o *occurrence) store.Expired {
	a := o.newest()
	return store.Expired{
		Seq: o.Seq, Schedule: o.Schedule, Period: o.Period, Definition: o.definition, Attempt: a.Number, Tries: a.tries, Node: a.Node, Cancelled: o.cancelled != "",
	}
}

// runOut lists what is running without a lease, the longest first.
func (s *Store) runOut(now time.Time) (lost []*occurrence) {
	for _, o := range s.open {
		if o.State != duly.Running {
			continue
		}
		until := o.newest().LeaseUntil
		if s.opt.Bugs.ReapTooEarly {
			until = until.Add(-o.place.Lease / 3)
		}
		if !until.After(now) {
			lost = append(lost, o)
		}
	}
	slices.SortFunc(lost, func(a, b *occurrence) int {
		return cmp.Or(a.newest().LeaseUntil.Compare(b.newest().LeaseUntil), cmp.Compare(a.Seq, b.Seq))
	})
	return lost
}
