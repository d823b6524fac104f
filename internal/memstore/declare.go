package memstore

import (
	"context"
	"slices"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// Declare implements store.Definer.
func (s *Store) Declare(ctx context.Context, req store.DeclareRequest) (store.ApplyResult, error) {
	defs, err := encodeAll(req.Schedules)
	if err != nil {
		return store.ApplyResult{}, err
	}
	return step(ctx, s, func() (store.ApplyResult, error) {
		at := s.now(req.Now)
		n := s.node(req.Node)
		if n == nil || !n.live(at) {
			return store.ApplyResult{}, sessionEnded(req.Node)
		}
		before := n.declared[req.Owner]
		mine := map[string]int64{}
		res := store.ApplyResult{Changes: make([]store.Change, len(defs))}
		for i, d := range defs {
			if res.Changes[i], err = s.meet(d, req.Owner, mine, at); err != nil {
				return res, err
			}
		}
		n.declared[req.Owner] = mine
		for i, d := range defs {
			if res.Changes[i].Action != store.ActionIgnore {
				s.enforce(&res.Changes[i], d, mine[d.Schedule.ID], at)
			}
		}
		for id := range before { // no longer among this node's
			if _, still := mine[id]; !still {
				s.recompute(s.schedules[id], nil, at)
			}
		}
		return res, nil
	})
}

// meet finds or makes the schedule of a declared definition.
func (s *Store) meet(d *encoded, owner string, mine map[string]int64, at time.Time) (ch store.Change, err error) {
	ch = store.Change{Kind: "schedule", ID: d.Schedule.ID, After: d.content}
	sc := s.schedules[ch.ID]
	switch {
	case sc == nil || !sc.removed.IsZero():
		if sc, err = s.create(sc, d, owner, at); err != nil {
			return ch, err
		}
		s.note(at, owner, "create", "schedule/"+sc.id, "", nil, d.content)
		s.event(store.TopicSchedules, sc.id)
		ch.Action = store.ActionCreate
	case sc.owner != owner:
		ch.Action, ch.Reason, ch.Revision, ch.NextDue = store.ActionIgnore, "it belongs to "+sc.owner, sc.revision().Number, sc.next
		ch.Before = s.defs.content(sc.revision().Definition)
		return ch, nil
	}
	n, err := s.defs.number(d)
	if err != nil {
		return ch, err
	}
	mine[sc.id] = n
	if !slices.Contains(sc.met, n) {
		sc.met = append(sc.met, n)
	}
	return ch, nil
}

// enforce puts the newest live definition in force and says in ch whether it
// is the declared one.
func (s *Store) enforce(ch *store.Change, d *encoded, declared int64, at time.Time) {
	sc := s.schedules[ch.ID]
	before := sc.revision().Definition
	if ch.Action != store.ActionCreate {
		ch.Before = s.defs.content(before)
	}
	s.recompute(sc, func(inForce int64) *encoded {
		if inForce == declared {
			return d
		}
		return nil
	}, at)
	ch.Revision, ch.NextDue = sc.revision().Number, sc.next
	switch {
	case ch.Action == store.ActionCreate:
	case sc.revision().Definition != declared:
		ch.Action, ch.Reason = store.ActionIgnore, "a newer definition is declared by a live node"
	case before != declared:
		ch.Action = store.ActionUpdate
	default:
		ch.Action = store.ActionKeep
	}
}

// recompute puts in force, for a schedule owned by code, the newest definition
// that a live node declares, or marks the schedule orphaned where none does.
// known answers the definition with its timing, if the caller has it; otherwise
// the planner finds out, at once.
func (s *Store) recompute(sc *schedule, known func(int64) *encoded, at time.Time) {
	if !sc.removed.IsZero() {
		return
	}
	newest := -1
	for _, n := range s.nodes {
		if declared, ok := n.declared[sc.owner][sc.id]; ok && n.live(at) {
			newest = max(newest, slices.Index(sc.met, declared))
		}
	}
	if orphan := newest < 0; orphan != !sc.orphaned.IsZero() {
		sc.orphaned = time.Time{}
		if orphan {
			sc.orphaned = at
		}
		s.event(store.TopicSchedules, sc.id)
	}
	if newest < 0 || sc.met[newest] == sc.revision().Definition {
		return
	}
	inForce, was := sc.met[newest], sc.revision().Definition
	def, _ := s.defs.get(inForce)
	var d *encoded
	if known != nil {
		d = known(inForce)
	}
	e, err := encode(store.Definition{Schedule: def})
	if err != nil {
		panic(err) // it was encoded before
	}
	s.revise(sc, e.hash, inForce, func(anchor, after time.Time) time.Time {
		if d != nil {
			return s.nextOf(d, anchor, after)
		}
		return at
	}, at)
	s.event(store.TopicSchedules, sc.id)
	s.note(at, sc.owner, "update", "schedule/"+sc.id, "the newest definition that a live node declares", s.defs.content(was), s.defs.content(inForce))
}

// undeclare recomputes what a node declared that has ended.
func (s *Store) undeclare(n *node, at time.Time) {
	for _, id := range s.ids() {
		sc := s.schedules[id]
		if _, declared := n.declared[sc.owner][id]; declared {
			s.recompute(sc, nil, at)
		}
	}
}

// node is a session.
type node struct {
	store.NodeStatus
	ended    bool
	declared map[string]map[string]int64 // by owner and schedule, the definition
}

func (n *node) live(at time.Time) bool { return !n.ended && n.Until.After(at) }

func (s *Store) node(id int64) *node {
	for _, n := range s.nodes {
		if n.ID == id {
			return n
		}
	}
	return nil
}

func sessionEnded(node int64) error {
	return duly.Errorf(duly.CodeNotFound, "session %d has ended: join again", node)
}
