package memstore

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// Retry implements store.Operator.
func (s *Store) Retry(ctx context.Context, id, by, why string) error {
	return s.operate(ctx, id, func(o *occurrence, now time.Time) error {
		if o.State == duly.Succeeded || !duly.CanMove(o.State, duly.StepRetry, duly.Pending) {
			return refused(o, "tried again")
		}
		return s.again(o, now, "retry", because("retried by", by, why), by, why)
	})
}

// Cancel implements store.Operator.
func (s *Store) Cancel(ctx context.Context, id, by, why string) error {
	return s.operate(ctx, id, func(o *occurrence, now time.Time) error {
		reason, was := because("cancelled by", by, why), o.State
		switch {
		case o.State == duly.Running && o.cancelled != "":
			return nil
		case o.State == duly.Running:
			o.cancelled = reason
			s.wanted(o.Schedule)
		case !duly.CanMove(o.State, duly.StepCancel, duly.Cancelled):
			return refused(o, "cancelled")
		default:
			s.end(o, duly.Cancelled, now, reason)
			s.letGo(o)
		}
		s.note(now, by, "cancel", "occurrence/"+o.ID, why, stateJSON(was), stateJSON(o.State))
		return nil
	})
}

// Resolve implements store.Operator.
func (s *Store) Resolve(ctx context.Context, id string, to duly.State, by, why string) error {
	return s.operate(ctx, id, func(o *occurrence, now time.Time) error {
		if !duly.CanMove(o.State, duly.StepResolve, to) {
			return refused(o, "resolved as "+string(to))
		}
		reason := because("resolved by", by, why)
		if to == duly.Pending {
			return s.again(o, now, "resolve", reason, by, why)
		}
		s.note(now, by, "resolve", "occurrence/"+o.ID, why, stateJSON(o.State), stateJSON(to))
		s.end(o, to, now, reason)
		s.letGo(o)
		o.sched.succeeded = later(o.sched.succeeded, now)
		return nil
	})
}

// operate carries out what a person asks of one occurrence.
func (s *Store) operate(ctx context.Context, id string, change func(*occurrence, time.Time) error) error {
	return do(ctx, s, func() error {
		o, err := s.find(id)
		if err != nil {
			return err
		}
		return change(o, s.now(time.Time{}))
	})
}

// again sends an ended occurrence back to pending, at a person's wish.
func (s *Store) again(o *occurrence, now time.Time, action, reason, by, why string) error {
	if !o.sched.removed.IsZero() {
		return duly.Errorf(duly.CodeConflict, "%s cannot be tried again: its schedule was removed", o.ID)
	}
	s.note(now, by, action, "occurrence/"+o.ID, why, stateJSON(o.State), stateJSON(duly.Pending))
	s.sendBack(o, reason)
	return nil
}

// sendBack makes an occurrence as good as new, but for its history.
func (s *Store) sendBack(o *occurrence, reason string) {
	s.end(o, duly.Pending, time.Time{}, reason)
	o.tries, o.StartBy, o.MergedInto = 0, time.Time{}, ""
	s.letGo(o)
}

func refused(o *occurrence, what string) error {
	return duly.Errorf(duly.CodeConflict, "%s is %s and cannot be %s", o.ID, o.State, what)
}

func because(verb, by, why string) string {
	text := verb + " " + by
	if why != "" {
		text += ": " + why
	}
	return strings.TrimSpace(text)
}

func stateJSON(state duly.State) []byte { return mustJSON(map[string]duly.State{"state": state}) }

// Pause implements store.Operator.
func (s *Store) Pause(ctx context.Context, req store.PauseRequest) error {
	return do(ctx, s, func() error {
		sc, err := s.existing(req.Schedule)
		if err != nil {
			return err
		}
		now := s.now(req.Now)
		since := now
		if sc.paused != nil {
			since = sc.paused.At
		}
		sc.paused = &store.PauseStatus{At: since, By: req.By, Why: req.Why, Until: req.Until, Policy: req.Policy}
		sc.next, sc.updated = req.Until, now
		s.event(store.TopicSchedules, sc.id)
		s.note(now, req.By, "pause", "schedule/"+sc.id, req.Why, nil, mustJSON(sc.paused))
		return nil
	})
}

// Resume implements store.Operator. The schedule is due at once, so that the
// planner decides on what came due meanwhile.
func (s *Store) Resume(ctx context.Context, req store.ResumeRequest) error {
	return do(ctx, s, func() error {
		sc, err := s.existing(req.Schedule)
		if err != nil {
			return err
		}
		if sc.paused == nil {
			return duly.Errorf(duly.CodeConflict, "schedule %s is not paused", req.Schedule)
		}
		now := s.now(req.Now)
		from := sc.paused.At
		if sc.resume != nil {
			from = sc.resume.From
		}
		sc.resume = &store.Resume{From: from, To: now, By: req.By, Policy: req.Policy}
		sc.paused, sc.next, sc.updated = nil, now, now
		s.event(store.TopicSchedules, sc.id)
		s.note(now, req.By, "resume", "schedule/"+sc.id, "", nil, mustJSON(map[string]duly.CatchUpPolicy{"policy": req.Policy}))
		return nil
	})
}

// Trim implements store.Operator.
func (s *Store) Trim(ctx context.Context, before time.Time, limit int) (int, error) {
	if limit <= 0 {
		limit = defaultLimit
	}
	return step(ctx, s, func() (int, error) {
		gone := map[*occurrence]bool{}
		for _, o := range s.all {
			if len(gone) < limit && !o.State.Open() && o.State != duly.Uncertain && o.FinishedAt.Before(before) && o.sched.held != o {
				gone[o] = true
			}
		}
		isGone := func(o *occurrence) bool { return gone[o] }
		for _, o := range s.all {
			if !gone[o] {
				continue
			}
			delete(s.bySeq, o.Seq)
			delete(o.sched.occurrences, o.Period)
			s.counts[trimmed(o.State)]++
		}
		s.all = slices.DeleteFunc(s.all, isGone)
		for _, sc := range s.schedules {
			sc.chain = slices.DeleteFunc(sc.chain, isGone)
			sc.unowned = slices.DeleteFunc(sc.unowned, func(u duly.Unowned) bool { return u.RecordedAt.Before(before) })
			for key, o := range sc.once {
				if o.at.Before(before) {
					delete(sc.once, key)
				}
			}
		}
		s.audit = slices.DeleteFunc(s.audit, func(r store.AuditRow) bool { return r.At.Before(before) })
		s.nodes = slices.DeleteFunc(s.nodes, func(n *node) bool { return n.ended && n.SeenAt.Before(before) })
		for name, l := range s.leases {
			if l.until.Before(before) && len(l.waiters) == 0 {
				delete(s.leases, name)
			}
		}
		return len(gone), nil
	})
}

// trimmed is the count of those of a state that are no more.
func trimmed(state duly.State) duly.State { return "trimmed/" + state }
