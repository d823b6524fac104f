package memstore

import (
	"context"
	"slices"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// effect is one with the occurrence that made it.
type effect struct {
	store.EffectStatus
	seq int
}

// told records what an attempt told of effects.
func (s *Store) told(r *store.Report, o *occurrence, a *attempt) {
	for _, e := range r.Effects {
		if e.Open {
			s.effect(o.ID, e, a.Number, a.Token, time.Time{}, 0)
		}
	}
	for _, e := range r.Effects {
		if e.Open {
			continue
		}
		s.close(func(x *effect) bool { return x.Key == e.Key && x.Occurrence == o.ID })
		if e.Reused {
			a.Effects.Reused++
			s.found(o, e)
		} else {
			a.Effects.Created++
			s.effect(o.ID, e, a.Number, a.Token, time.Time{}, 0)
		}
	}
}

// close forgets what was open and is known now.
func (s *Store) close(known func(*effect) bool) {
	s.effects = slices.DeleteFunc(s.effects, func(x *effect) bool { return x.Open && known(x) })
}

// found counts that an effect was found again. Where its maker is known it is
// recorded as that one's, whether or not that one told of it.
func (s *Store) found(o *occurrence, e store.EffectReport) {
	if m := e.Maker; m != nil && m.Attempt > 0 {
		schedule, _, ok := duly.SplitOccurrenceID(m.Occurrence)
		if ok && s.schedules[schedule] != nil {
			s.effect(m.Occurrence, e, m.Attempt, m.Token, m.CreatedAt, 1)
			return
		}
	}
	var before *effect
	for _, x := range s.effects {
		if x.Key == e.Key && !x.Open && (before == nil || x.Occurrence == o.ID && before.Occurrence != o.ID) {
			before = x
		}
	}
	if before != nil {
		before.Reused++
		return
	}
	s.effect(o.ID, e, 0, 0, time.Time{}, 1) // made by an attempt that never told of it
}

// effect records one, or how often it was found where it is recorded already.
func (s *Store) effect(occurrence string, r store.EffectReport, attempt int, token int64, at time.Time, reused int) {
	for _, x := range s.effects {
		if x.Key != r.Key || x.Occurrence != occurrence || x.Attempt != attempt && !(x.Open && r.Open) {
			continue
		}
		if reused > 0 {
			x.Reused, x.Open = x.Reused+reused, false
			if x.Result == nil {
				x.Result = r.Result
			}
		}
		return
	}
	s.effectSeq++
	s.effects = append(s.effects, &effect{seq: s.effectSeq, EffectStatus: store.EffectStatus{
		Effect:     duly.Effect{Key: r.Key, Attempt: attempt, Token: token, CreatedAt: s.now(at), Open: r.Open, Result: r.Result},
		Occurrence: occurrence, Reused: reused,
	}})
}

// openEffect is the key of an effect of which nobody knows whether it has
// happened, empty where there is none.
func (s *Store) openEffect(o *occurrence) string {
	for _, x := range s.effects {
		if x.Open && x.Occurrence == o.ID {
			return x.Key
		}
	}
	return ""
}

// ResolveEffect implements store.Operator.
func (s *Store) ResolveEffect(ctx context.Context, req store.ResolveEffectRequest) ([]string, error) {
	return step(ctx, s, func() ([]string, error) {
		now, object := s.now(time.Time{}), "effect/"+req.Key
		waiting := slices.Clone(req.Occurrences)
		for _, x := range s.effects {
			if x.Open && x.Key == req.Key {
				waiting = append(waiting, x.Occurrence)
			}
		}
		sent := []string{}
		for _, id := range waiting {
			o, err := s.find(id)
			if err != nil || o.State != duly.Uncertain {
				continue // history is trimmed, and some ended otherwise
			}
			if err := s.again(o, now, "resolve", because("resolved by", req.By, req.Why), req.By, req.Why); err != nil {
				continue // its schedule was removed
			}
			sent = append(sent, id)
		}
		s.close(func(x *effect) bool { return x.Key == req.Key })
		for _, r := range slices.Backward(s.audit) {
			if r.Object == object {
				if string(r.After) == string(req.After) {
					return sent, nil
				}
				break
			}
		}
		s.note(now, req.By, "resolve", object, req.Why, req.Before, req.After)
		return sent, nil
	})
}
