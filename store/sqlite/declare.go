package sqlite

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// Declare implements store.Definer.
func (s *Store) Declare(ctx context.Context, req store.DeclareRequest) (store.ApplyResult, error) {
	defs, err := encodeAll(req.Schedules)
	if err != nil {
		return store.ApplyResult{}, err
	}
	return write(ctx, s, func(t *tx) (store.ApplyResult, error) {
		d := &declaring{tx: t, req: &req, now: at(req.Now)}
		return d.run(defs)
	})
}

type declaring struct {
	*tx
	req *store.DeclareRequest
	now int64
}

// member is a definition of a set.
type member struct{ sid, definition int64 }

func (d *declaring) run(defs []*definition) (res store.ApplyResult, err error) {
	live, err := d.number(bg, "SELECT count(*) FROM nodes WHERE node = ? AND ended IS NULL AND until > ?", d.req.Node, d.now)
	if err != nil {
		return res, err
	}
	if live == 0 {
		return res, duly.Errorf(duly.CodeNotFound, "session %d has ended: join again", d.req.Node)
	}
	var members []member
	type met struct {
		change int
		def    *definition
		member
	}
	var mine []met
	for i, def := range defs {
		ch, m, err := d.meet(def)
		if err != nil {
			return res, err
		}
		res.Changes = append(res.Changes, ch)
		if ch.Action != store.ActionIgnore {
			members = append(members, m)
			mine = append(mine, met{i, def, m})
		}
	}
	affected, err := d.replaceSet(members)
	if err != nil {
		return res, err
	}
	for _, m := range mine {
		delete(affected, m.sid)
		if err := d.enforce(&res.Changes[m.change], m.def, m.member); err != nil {
			return res, err
		}
	}
	for sid := range affected { // no longer among this node's
		if _, err := d.recompute(sid, nil, d.now); err != nil {
			return res, err
		}
	}
	return res, nil
}

// meet finds or makes the schedule of a declared definition.
func (d *declaring) meet(def *definition) (ch store.Change, m member, err error) {
	ch = store.Change{Kind: "schedule", ID: def.Schedule.ID, After: def.content}
	was, err := d.sched(bg, def.Schedule.ID)
	if err != nil {
		return ch, m, err
	}
	switch {
	case was == nil || was.removed:
		if was, err = d.create(was, def, d.req.Owner, d.req.Owner, d.now); err != nil {
			return ch, m, err
		}
		ch.Action, ch.Revision, ch.NextDue = store.ActionCreate, was.revision, instant(was.nextDue)
		d.event(store.TopicSchedules, ch.ID)
		m = member{was.sid, was.definition}
	case was.owner != d.req.Owner:
		ch.Action, ch.Reason, ch.Revision, ch.NextDue = store.ActionIgnore, "it belongs to "+was.owner, was.revision, instant(was.nextDue)
		ch.Before, err = d.content(bg, was.definition)
		return ch, m, err
	default:
		id, err := d.define(def)
		if err != nil {
			return ch, m, err
		}
		m = member{was.sid, id}
	}
	known, err := d.number(bg, "SELECT count(*) FROM met WHERE sid = ? AND definition = ?", m.sid, m.definition)
	if err == nil && known == 0 {
		_, err = d.exec("INSERT INTO met (sid, definition) VALUES (?, ?)", m.sid, m.definition)
	}
	return ch, m, err
}

// replaceSet makes a set of definitions the one that the node declares, and
// answers the schedules of the set that it declared before.
func (d *declaring) replaceSet(members []member) (affected map[int64]bool, err error) {
	slices.SortFunc(members, func(a, b member) int { return cmp.Compare(a.sid, b.sid) })
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%v", d.req.Owner, members)
	hash := h.Sum(nil)
	affected = map[int64]bool{}
	var set, before int64
	if _, err := d.one(bg, "SELECT declared FROM sets WHERE hash = ?", []any{hash}, func(r row) { set = r.int(0) }); err != nil {
		return nil, err
	}
	if set == 0 {
		err := d.returning("INSERT INTO sets (owner, hash) VALUES (?, ?) RETURNING declared", []any{d.req.Owner, hash}, func(r row) error {
			set = r.int(0)
			return nil
		})
		if err != nil {
			return nil, err
		}
		for _, m := range members {
			if _, err := d.exec("INSERT INTO set_members (sid, declared, definition) VALUES (?, ?, ?)", m.sid, set, m.definition); err != nil {
				return nil, err
			}
		}
	}
	if _, err := d.one(bg, "SELECT declared FROM node_sets WHERE node = ? AND owner = ?", []any{d.req.Node, d.req.Owner}, func(r row) { before = r.int(0) }); err != nil {
		return nil, err
	}
	if before == set {
		return affected, nil
	}
	err = d.query(bg, "SELECT sid FROM set_members INDEXED BY set_members_declared WHERE declared = ?", []any{before}, func(r row) error {
		affected[r.int(0)] = true
		return nil
	})
	if err != nil {
		return nil, err
	}
	_, err = d.exec("INSERT INTO node_sets (node, owner, declared) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET declared = excluded.declared", d.req.Node, d.req.Owner, set)
	return affected, err
}

// enforce puts the newest live definition in force and says in ch whether it
// is the declared one.
func (d *declaring) enforce(ch *store.Change, def *definition, m member) error {
	before, err := d.schedBySID(m.sid)
	if err != nil {
		return err
	}
	if ch.Action != store.ActionCreate {
		if ch.Before, err = d.content(bg, before.definition); err != nil {
			return err
		}
	}
	after, err := d.recompute(m.sid, func(inForce int64, anchor, after int64) (int64, bool) {
		if inForce != m.definition {
			return 0, false
		}
		return micros(def.Next(instant(anchor), instant(after))), true
	}, d.now)
	if err != nil {
		return err
	}
	ch.Revision, ch.NextDue = after.revision, instant(after.nextDue)
	switch {
	case ch.Action == store.ActionCreate:
	case after.definition != m.definition:
		ch.Action, ch.Reason = store.ActionIgnore, "a newer definition is declared by a live node"
	case before.definition != m.definition:
		ch.Action = store.ActionUpdate
	default:
		ch.Action = store.ActionKeep
	}
	return nil
}

func (t *tx) schedBySID(sid int64) (s *sched, err error) {
	found, err := t.one(bg, selectSched+"WHERE s.sid = ?", []any{sid}, func(r row) { s = readSched(r) })
	if err == nil && !found {
		err = fmt.Errorf("schedule number %d is missing", sid)
	}
	return s, err
}

// recompute puts in force, for a schedule owned by code, the newest definition
// that a live node declares, or marks the schedule orphaned where none does.
// next answers when a definition is first due, if it knows.
func (t *tx) recompute(sid int64, next func(definition, anchor, after int64) (int64, bool), now int64) (*sched, error) {
	s, err := t.schedBySID(sid)
	if err != nil || s.removed {
		return s, err
	}
	var inForce int64
	found, err := t.one(bg, `SELECT m.definition FROM set_members m JOIN sets USING (declared) JOIN met ON met.sid = m.sid AND met.definition = m.definition
		WHERE m.sid = ? AND sets.owner = ? AND EXISTS (
			SELECT 1 FROM node_sets ns INDEXED BY node_sets_declared JOIN nodes n ON n.node = ns.node WHERE ns.declared = m.declared AND n.ended IS NULL AND n.until > ?
		) ORDER BY met.met DESC LIMIT 1`, []any{sid, s.owner, now}, func(r row) { inForce = r.int(0) })
	if err != nil {
		return nil, err
	}
	if found == s.orphaned {
		if _, err := t.exec("UPDATE schedules SET orphaned_at = ? WHERE sid = ?", opt(now*flag(!found)), sid); err != nil {
			return nil, err
		}
		s.orphaned = !found
		t.event(store.TopicSchedules, s.id)
	}
	if !found || inForce == s.definition {
		return s, nil
	}
	before, err := t.content(bg, s.definition)
	if err != nil {
		return nil, err
	}
	after, err := t.content(bg, inForce)
	if err != nil {
		return nil, err
	}
	var schedule duly.Schedule
	if err := json.Unmarshal(after, &schedule); err != nil {
		return nil, err
	}
	first := func(anchor, after int64) int64 {
		if next != nil {
			if due, ok := next(inForce, anchor, after); ok {
				return due
			}
		}
		return now // the planner knows
	}
	if err := t.revise(s, inForce, &schedule, first, s.owner, now); err != nil {
		return nil, err
	}
	t.event(store.TopicSchedules, s.id)
	return s, t.audit(now, s.owner, "update", "schedule/"+s.id, "the newest definition that a live node declares", before, after)
}

// undeclare recomputes what a node declared that has ended.
func (t *tx) undeclare(node, now int64) error {
	var sids []int64
	// A set that another live node carries leaves everything as it is.
	err := t.query(bg, `SELECT DISTINCT m.sid FROM node_sets ns JOIN set_members m INDEXED BY set_members_declared ON m.declared = ns.declared
		WHERE ns.node = ?1 AND NOT EXISTS (SELECT 1 FROM node_sets o INDEXED BY node_sets_declared JOIN nodes n ON n.node = o.node
			WHERE o.declared = ns.declared AND o.node <> ?1 AND n.ended IS NULL AND n.until > ?2)`, []any{node, now}, func(r row) error {
		sids = append(sids, r.int(0))
		return nil
	})
	if err != nil {
		return err
	}
	for _, sid := range sids {
		if _, err := t.recompute(sid, nil, now); err != nil {
			return err
		}
	}
	return nil
}
