package memstore

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// Claim implements store.Worker.
func (s *Store) Claim(ctx context.Context, req store.ClaimRequest) (store.ClaimResult, error) {
	return step(ctx, s, func() (store.ClaimResult, error) { return s.claim(&req, s.now(req.Now)), nil })
}

func (s *Store) claim(req *store.ClaimRequest, now time.Time) store.ClaimResult {
	res := store.ClaimResult{Now: now, Missed: s.expire(now)}
	for _, o := range s.pick(req, now) {
		res.Claims = append(res.Claims, s.start(o, req.Node, now))
	}
	return res
}

// expire makes occurrences missed that never started and may not start any
// more.
func (s *Store) expire(now time.Time) (missed []store.Fired) {
	for _, o := range slices.Clone(s.open) {
		if o.State != duly.Pending || len(o.attempts) > 0 || o.StartBy.IsZero() || !o.StartBy.Before(now) {
			continue
		}
		s.end(o, duly.Missed, now, "start deadline passed")
		o.sched.skips[o.Reason]++
		missed = append(missed, store.Fired{Seq: o.Seq, Schedule: o.Schedule, Period: o.Period, Due: o.Due, State: o.State, Reason: o.Reason, Count: 1})
	}
	return missed
}

// group is a shared queue, or all queues of schedules' own.
type group struct {
	room  int
	ready []*occurrence
}

// inOrder: higher priority first, then earlier due.
func inOrder(a, b *occurrence) int { return cmp.Or(cmp.Compare(b.Priority, a.Priority), byDue(a, b)) }

// pick chooses what a claim takes: in rounds, one of each queue that has room,
// the queue with the best head first.
func (s *Store) pick(req *store.ClaimRequest, now time.Time) (picked []*occurrence) {
	groups := map[string]*group{}
	var list []*group
	for _, o := range s.open {
		if !slices.Contains(req.Capabilities, o.place.Capability) || s.waiting(o, now) != duly.WaitingSlot {
			continue
		}
		g := groups[o.Queue]
		if g == nil {
			g = &group{room: len(s.open)}
			if o.Queue != "" {
				g.room = s.room(s.queue(o.Queue), now)
			}
			groups[o.Queue] = g
			list = append(list, g)
		}
		g.ready = append(g.ready, o)
	}
	for _, g := range list {
		slices.SortFunc(g.ready, inOrder)
		g.ready = g.ready[:min(len(g.ready), g.room)]
	}
	for len(picked) < req.Max {
		list = slices.DeleteFunc(list, func(g *group) bool { return len(g.ready) == 0 })
		if len(list) == 0 {
			break
		}
		slices.SortFunc(list, func(a, b *group) int { return inOrder(a.ready[0], b.ready[0]) })
		for _, g := range list[:min(len(list), req.Max-len(picked))] {
			picked = append(picked, g.ready[0])
			g.ready = g.ready[1:]
		}
	}
	return picked
}

// start opens an attempt.
func (s *Store) start(o *occurrence, node int64, now time.Time) store.Claim {
	before := o.tokenOf()
	if s.token++; s.opt.Bugs.ClaimReusesTokens && before != 0 {
		s.token = before
	}
	o.tries++
	a := &attempt{tries: o.tries, Attempt: duly.Attempt{
		Number: len(o.attempts) + 1, Outcome: duly.AttemptRunning, Token: s.token, StartedAt: now, LeaseUntil: now.Add(o.place.Lease),
	}}
	if by := s.node(node); by != nil {
		a.Node = by.Name
	}
	o.attempts = append(o.attempts, a)
	s.move(o, duly.Running)
	o.cancelled = ""
	c := store.Claim{
		Seq: o.Seq, Schedule: o.Schedule, Period: o.Period, Covers: slices.Clone(o.Covers), Due: o.Due, IntervalStart: o.IntervalStart,
		Origin: o.Origin, Queue: o.Queue, Revision: o.Revision, Definition: o.definition, Payload: o.payload,
		Attempt: a.Number, Tries: a.tries, Token: a.Token, Lease: o.place.Lease, LeaseUntil: a.LeaseUntil, Exclusive: o.place.Serial,
	}
	if o.Queue != "" {
		q := s.queue(o.Queue)
		c.Exclusive = q.Concurrency == 1
		if q.Rate.Count > 0 {
			q.starts = append(q.live(now), now)
		}
	}
	return c
}
