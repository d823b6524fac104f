package postgres

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
		d := &declaring{tx: t, req: &req}
		return d.run(defs)
	})
}

type declaring struct {
	*tx
	req     *store.DeclareRequest
	now     int64
	changes []store.Change
	mine    []*member
}

// member is a definition of a set.
type member struct {
	sid, definition int64
	change          int
	def             *definition
	was             *sched
}

func (d *declaring) run(defs []*definition) (res store.ApplyResult, err error) {
	d.changing()
	if err := d.send(); err != nil { // the lock comes before what it guards is seen
		return res, err
	}
	if d.now, err = d.clock(d.req.Now); err != nil {
		return res, err
	}
	live, err := d.number("SELECT count(*) FROM duly.nodes WHERE node = ? AND ended IS NULL AND until > ?", d.req.Node, d.now)
	if err != nil {
		return res, err
	}
	if live == 0 {
		return res, sessionEnded(d.req.Node)
	}
	if err := d.meet(defs); err != nil {
		return res, err
	}
	left, known, err := d.replaceSet()
	if err != nil {
		return res, err
	}
	if err := d.enforce(known); err != nil {
		return res, err
	}
	for _, m := range d.mine {
		delete(left, m.sid)
	}
	sids := make([]int64, 0, len(left))
	for sid := range left { // no longer among this node's
		sids = append(sids, sid)
	}
	_, err = d.recompute(sids, nil, d.now)
	return store.ApplyResult{Changes: d.changes}, err
}

// meet finds or makes the schedules of the declared definitions.
func (d *declaring) meet(defs []*definition) error {
	ids := make([]string, len(defs))
	for i, def := range defs {
		ids[i] = def.Schedule.ID
	}
	// No locks: a thousand nodes declare what is in force, and change nothing.
	found, err := d.scheds(ids, "")
	if err != nil {
		return err
	}
	var created []*creation
	for _, def := range defs {
		if was := found[def.Schedule.ID]; was == nil || was.removed {
			created = append(created, &creation{was: was, def: def})
		}
	}
	if err := d.create(created, d.req.Owner, d.req.Owner, d.now); err != nil {
		return err
	}
	if err := d.define(defs); err != nil {
		return err
	}
	var sids, definitions []int64
	for i, def := range defs {
		ch := store.Change{Kind: "schedule", ID: def.Schedule.ID, After: def.content}
		was := found[ch.ID]
		if len(created) > 0 && created[0].def == def {
			was = created[0].sched
			created = created[1:]
			ch.Action = store.ActionCreate
			d.event(store.TopicSchedules, ch.ID)
		} else {
			ch.Before = was.content
		}
		ch.Revision, ch.NextDue = was.revision, instant(was.nextDue)
		if was.owner != d.req.Owner {
			ch.Action, ch.Reason = store.ActionIgnore, "it belongs to "+was.owner
		} else {
			d.mine = append(d.mine, &member{sid: was.sid, definition: def.number, change: i, def: def, was: was})
			sids, definitions = append(sids, was.sid), append(definitions, def.number)
		}
		d.changes = append(d.changes, ch)
	}
	d.later(`INSERT INTO duly.met (sid, definition) SELECT sid, definition FROM unnest(?::bigint[], ?::bigint[]) u (sid, definition)
		WHERE NOT EXISTS (SELECT 1 FROM duly.met m WHERE m.sid = u.sid AND m.definition = u.definition)`, sids, definitions)
	return nil
}

// replaceSet makes a set of definitions the one that the node declares. It
// answers the schedules of the set that it declared before, and whether another
// live node carries the new one, so that nothing changes but that.
func (d *declaring) replaceSet() (left map[int64]bool, known bool, err error) {
	slices.SortFunc(d.mine, func(a, b *member) int { return cmp.Compare(a.sid, b.sid) })
	h := sha256.New()
	fmt.Fprintf(h, "%s\n", d.req.Owner)
	var sids, definitions []int64
	for _, m := range d.mine {
		fmt.Fprintf(h, "%d %d\n", m.sid, m.definition)
		sids, definitions = append(sids, m.sid), append(definitions, m.definition)
	}
	hash := h.Sum(nil)
	left = map[int64]bool{}
	var set, before int64
	d.ask("SELECT declared FROM duly.node_sets WHERE node = ? AND owner = ?", []any{d.req.Node, d.req.Owner}, func(r row) error {
		before = r.int(0)
		return nil
	})
	if set, err = d.number("SELECT declared FROM duly.sets WHERE hash = ?", hash); err != nil {
		return nil, false, err
	}
	if set == 0 {
		if set, err = d.number("INSERT INTO duly.sets (owner, hash) VALUES (?, ?) RETURNING declared", d.req.Owner, hash); err != nil {
			return nil, false, err
		}
		d.later("INSERT INTO duly.set_members (sid, declared, definition) SELECT sid, ?, definition FROM unnest(?::bigint[], ?::bigint[]) u (sid, definition)", set, sids, definitions)
	}
	if before != set {
		d.ask("SELECT sid FROM duly.set_members WHERE declared = ?", []any{before}, func(r row) error {
			left[r.int(0)] = true
			return nil
		})
		d.later("INSERT INTO duly.node_sets (node, owner, declared) VALUES (?, ?, ?) ON CONFLICT (node, owner) DO UPDATE SET declared = excluded.declared", d.req.Node, d.req.Owner, set)
	}
	carriers, err := d.number(`SELECT count(*) FROM duly.node_sets ns JOIN duly.nodes n ON n.node = ns.node
		WHERE ns.declared = ? AND ns.node <> ? AND n.ended IS NULL AND n.until > ?`, set, d.req.Node, d.now)
	return left, carriers > 0 || before == set, err
}

// enforce puts the newest live definitions in force and says of each schedule
// whether it is the declared one.
func (d *declaring) enforce(known bool) error {
	first := map[int64]*definition{}
	sids := make([]int64, 0, len(d.mine))
	for _, m := range d.mine {
		first[m.definition] = m.def
		sids = append(sids, m.sid)
	}
	after := map[int64]*sched{}
	if !known {
		var err error
		if after, err = d.recompute(sids, first, d.now); err != nil {
			return err
		}
	}
	for _, m := range d.mine {
		ch, is := &d.changes[m.change], after[m.sid]
		if is == nil {
			is = m.was
		}
		ch.Revision, ch.NextDue = is.revision, instant(is.nextDue)
		switch {
		case ch.Action == store.ActionCreate:
		case is.definition != m.definition:
			ch.Action, ch.Reason = store.ActionIgnore, "a newer definition is declared by a live node"
		case m.was.definition != m.definition:
			ch.Action = store.ActionUpdate
		default:
			ch.Action = store.ActionKeep
		}
	}
	return nil
}

// recompute puts in force, for schedules owned by code, the newest definition
// that a live node declares, or marks the schedule orphaned where none does.
// first has the definitions that can say when they are first due. It answers
// the schedules as they are now.
func (t *tx) recompute(sids []int64, first map[int64]*definition, now int64) (map[int64]*sched, error) {
	all := map[int64]*sched{}
	if len(sids) == 0 {
		return all, nil
	}
	slices.Sort(sids)
	t.ask(selectSched+"WHERE t.sid = ANY(?) AND s.removed_at IS NULL ORDER BY t.sid"+lockSched, []any{sids}, func(r row) error {
		s := readSched(r)
		all[s.sid] = s
		return nil
	})
	inForce := map[int64]int64{}
	err := t.query(`SELECT DISTINCT ON (m.sid) m.sid, m.definition FROM duly.set_members m JOIN duly.sets z ON z.declared = m.declared
			JOIN duly.schedules s ON s.sid = m.sid AND s.owner = z.owner JOIN duly.met ON met.sid = m.sid AND met.definition = m.definition
		WHERE m.sid = ANY(?) AND EXISTS (SELECT 1 FROM duly.node_sets ns JOIN duly.nodes n ON n.node = ns.node WHERE ns.declared = m.declared AND n.ended IS NULL AND n.until > ?)
		ORDER BY m.sid, met.met DESC`, []any{sids, now}, func(r row) error {
		inForce[r.int(0)] = r.int(1)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, sid := range sids {
		s := all[sid]
		if s == nil {
			continue
		}
		def, live := inForce[sid]
		if live == s.orphaned {
			s.orphaned = !live
			t.later("UPDATE duly.schedules SET orphaned_at = ? WHERE sid = ?", opt(now*flag(!live)), sid)
			t.event(store.TopicSchedules, s.id)
		}
		if live && def != s.definition {
			if err := t.enforceOne(s, def, first[def], now); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

func (t *tx) enforceOne(s *sched, number int64, def *definition, now int64) error {
	after, err := t.content(number)
	if err != nil {
		return err
	}
	var schedule duly.Schedule
	if err := json.Unmarshal(after, &schedule); err != nil {
		return err
	}
	first := func(anchor, after int64) int64 {
		if def != nil {
			return micros(def.Next(instant(anchor), instant(after)))
		}
		return now // the planner knows
	}
	queues, err := t.queues([]*definition{{Definition: store.Definition{Schedule: schedule}}})
	if err != nil {
		return err
	}
	t.audit(now, s.owner, "update", "schedule/"+s.id, "the newest definition that a live node declares", s.content, after)
	t.revise(s, number, &schedule, queues[schedule.Queue], first, s.owner, now)
	t.event(store.TopicSchedules, s.id)
	return nil
}

// undeclare recomputes what nodes declared that have ended.
func (t *tx) undeclare(nodes []int64, now int64) error {
	var sids []int64
	// A set that another live node carries leaves everything as it is.
	err := t.query(`SELECT DISTINCT m.sid FROM duly.node_sets ns JOIN duly.set_members m ON m.declared = ns.declared
		WHERE ns.node = ANY(?1) AND NOT EXISTS (SELECT 1 FROM duly.node_sets o JOIN duly.nodes n ON n.node = o.node
			WHERE o.declared = ns.declared AND n.ended IS NULL AND n.until > ?2)`, []any{nodes, now}, func(r row) error {
		sids = append(sids, r.int(0))
		return nil
	})
	if err != nil {
		return err
	}
	_, err = t.recompute(sids, nil, now)
	return err
}
