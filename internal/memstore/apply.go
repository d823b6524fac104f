package memstore

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// ids are the schedules' in order.
func (s *Store) ids() []string { return slices.Sorted(maps.Keys(s.schedules)) }

// Apply implements store.Definer.
func (s *Store) Apply(ctx context.Context, req store.ApplyRequest) (store.ApplyResult, error) {
	defs, err := encodeAll(req.Schedules)
	if err != nil {
		return store.ApplyResult{}, err
	}
	return step(ctx, s, func() (store.ApplyResult, error) {
		a := &applying{Store: s, req: &req, at: s.now(req.Now)}
		if err := a.compare(defs); err != nil {
			return store.ApplyResult{}, err
		}
		var res store.ApplyResult
		for _, ch := range a.changes {
			res.Changes = append(res.Changes, ch.Change)
			if req.DryRun || ch.Action == store.ActionKeep {
				continue
			}
			if err := ch.do(); err != nil {
				return store.ApplyResult{}, err
			}
			s.event(store.TopicSchedules, ch.ID)
			s.note(a.at, req.By, string(ch.Action), ch.Kind+"/"+ch.ID, ch.Reason, ch.Before, ch.After)
		}
		return res, nil
	})
}

// applying is an Apply under way: what there is to change, and how.
type applying struct {
	*Store
	req     *store.ApplyRequest
	at      time.Time
	changes []*change
}

type change struct {
	store.Change
	do func() error
}

func (a *applying) compare(defs []*encoded) error {
	for _, d := range defs {
		if err := a.schedule(d); err != nil {
			return err
		}
	}
	for _, q := range a.req.Queues {
		if err := a.queueChange(q); err != nil {
			return err
		}
	}
	for _, id := range a.req.Remove {
		if err := a.removal(id); err != nil {
			return err
		}
	}
	if a.req.Prune {
		a.prune()
	}
	return nil
}

func (a *applying) add(kind, id string) *change {
	ch := &change{Change: store.Change{Kind: kind, ID: id}}
	a.changes = append(a.changes, ch)
	return ch
}

func (a *applying) schedule(d *encoded) error {
	id := d.Schedule.ID
	ch := a.add("schedule", id)
	ch.After = d.content
	was := a.schedules[id]
	if was == nil || !was.removed.IsZero() {
		ch.Action, ch.Revision = store.ActionCreate, 1
		if was != nil {
			ch.Revision = was.revision().Number + 1
		}
		ch.NextDue = d.Next(a.at.Truncate(time.Second), a.at)
		ch.do = func() error { _, err := a.create(was, d, a.req.Owner, a.at); return err }
		return nil
	}
	if was.owner != a.req.Owner && !a.req.Force {
		return duly.Errorf(duly.CodeConflict, "schedule %s belongs to %s; remove it there, or take it over with force", id, was.owner)
	}
	ch.Before, ch.Revision, ch.NextDue = d.content, was.revision().Number, was.next
	ch.do = func() error { return a.update(was, d) }
	switch {
	case was.hash != d.hash:
		ch.Before = a.defs.content(was.revision().Definition)
		ch.Action = store.ActionUpdate
		ch.Revision++
		if was.paused == nil && !a.owes(was, a.at) {
			ch.NextDue = d.Next(was.anchor, later(a.at, was.cursor))
		}
	case was.owner != a.req.Owner:
		ch.Action, ch.Reason = store.ActionUpdate, "taken over from "+was.owner
	default:
		ch.Action = store.ActionKeep
	}
	return nil
}

// owes reports whether something came due that was not planned yet.
func (s *Store) owes(sc *schedule, at time.Time) bool {
	return !sc.next.IsZero() && !sc.next.After(at) || sc.resume != nil
}

// create makes a schedule, or brings back one that was removed, with its
// history.
func (s *Store) create(sc *schedule, d *encoded, owner string, at time.Time) (*schedule, error) {
	n, err := s.defs.number(d)
	if err != nil {
		return nil, err
	}
	if sc == nil {
		sc = &schedule{id: d.Schedule.ID, occurrences: map[string]*occurrence{}, once: map[string]once{}, skips: map[string]int64{}}
		s.schedules[sc.id] = sc
	}
	sc.owner, sc.anchor, sc.cursor, sc.fired = owner, at.Truncate(time.Second), at, 0
	sc.created, sc.updated, sc.removed, sc.orphaned = at, at, time.Time{}, time.Time{}
	s.define(sc, d.hash, n, at)
	sc.next = s.nextOf(d, sc.anchor, at)
	s.turns[sc.def.Queue]++
	sc.turn = s.turns[sc.def.Queue]
	return sc, nil
}

func (s *Store) nextOf(d *encoded, anchor, after time.Time) time.Time {
	return s.kept(d.Next(anchor, after))
}

// define makes a revision.
func (s *Store) define(sc *schedule, hash string, definition int64, at time.Time) {
	number := int64(1)
	if len(sc.revisions) > 0 {
		number = sc.revision().Number + 1
	}
	sc.hash = hash
	sc.def, _ = s.defs.get(definition)
	sc.revisions = append(sc.revisions, store.Revision{Number: number, Definition: definition, From: at})
	sc.updated = at
	if sc.def.Queue != "" {
		s.queue(sc.def.Queue)
	}
}

// revise puts another definition in force from now. What came due before is
// still owed under the old one. next answers when the new one is first due.
func (s *Store) revise(sc *schedule, hash string, definition int64, next func(anchor, after time.Time) time.Time, at time.Time) {
	s.define(sc, hash, definition, at)
	if sc.paused == nil && !s.owes(sc, at) {
		sc.cursor = later(sc.cursor, at)
		sc.next = next(sc.anchor, sc.cursor)
	}
}

func (a *applying) update(was *schedule, d *encoded) error {
	if was.owner != a.req.Owner {
		was.owner, was.orphaned, was.updated = a.req.Owner, time.Time{}, a.at
	}
	if was.hash == d.hash {
		return nil
	}
	n, err := a.defs.number(d)
	if err != nil {
		return err
	}
	a.revise(was, d.hash, n, func(anchor, after time.Time) time.Time { return a.nextOf(d, anchor, after) }, a.at)
	return nil
}

func (a *applying) removal(id string) error {
	ch := a.add("schedule", id)
	was := a.schedules[id]
	if was == nil || !was.removed.IsZero() {
		ch.Action, ch.Reason = store.ActionKeep, "does not exist"
		return nil
	}
	if was.owner != a.req.Owner && !a.req.Force {
		return duly.Errorf(duly.CodeConflict, "schedule %s belongs to %s; remove it there, or use force", id, was.owner)
	}
	a.removes(ch, was)
	return nil
}

func (a *applying) removes(ch *change, was *schedule) {
	ch.Action, ch.Revision, ch.Before = store.ActionRemove, was.revision().Number, a.defs.content(was.revision().Definition)
	ch.do = func() error { a.remove(was, a.at); return nil }
}

// remove ends a schedule. What is open of it is cancelled; history stays.
func (s *Store) remove(sc *schedule, at time.Time) {
	const reason = "the schedule was removed"
	sc.removed, sc.updated, sc.next, sc.held, sc.orphaned = at, at, time.Time{}, nil, time.Time{}
	sc.paused, sc.resume = nil, nil
	for _, o := range slices.Clone(s.open) {
		switch {
		case o.sched != sc:
		case o.State == duly.Pending:
			s.end(o, duly.Cancelled, at, reason)
		case o.cancelled == "":
			o.cancelled = reason
			s.wanted(sc.id)
		}
	}
}

// prune removes what the owner holds and the request does not name.
func (a *applying) prune() {
	named := map[string]bool{}
	for _, ch := range a.changes {
		named[ch.Kind+"/"+ch.ID] = true
	}
	for _, id := range a.ids() {
		if sc := a.schedules[id]; sc.owner == a.req.Owner && sc.removed.IsZero() && !named["schedule/"+id] {
			a.removes(a.add("schedule", id), sc)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(a.queues)) {
		q := a.queues[name]
		if q.owner != a.req.Owner || named["queue/"+name] {
			continue
		}
		ch := a.add("queue", name)
		ch.Action, ch.Before = store.ActionRemove, mustJSON(q.Queue)
		ch.do = func() error { // what still names it finds the default
			q.owner, q.Queue, q.starts = "", duly.Queue{Name: name, Concurrency: 1}, nil
			return nil
		}
	}
}

func (a *applying) queueChange(want duly.Queue) error {
	if want.Concurrency == 0 {
		want.Concurrency = 1
	}
	ch := a.add("queue", want.Name)
	ch.Action, ch.After = store.ActionCreate, mustJSON(want)
	ch.do = func() error {
		q := a.queue(want.Name)
		if q.Rate.Per != want.Rate.Per {
			q.starts = nil
		}
		q.Queue, q.owner = want, a.req.Owner
		a.event(store.TopicOccurrences, "")
		return nil
	}
	is := a.queues[want.Name]
	if is == nil || is.owner == "" {
		return nil
	}
	if is.owner != a.req.Owner && !a.req.Force {
		return duly.Errorf(duly.CodeConflict, "queue %s belongs to %s; remove it there, or take it over with force", want.Name, is.owner)
	}
	ch.Before = mustJSON(is.Queue)
	switch {
	case is.Queue != want:
		ch.Action = store.ActionUpdate
	case is.owner != a.req.Owner:
		ch.Action, ch.Reason = store.ActionUpdate, "taken over from "+is.owner
	default:
		ch.Action = store.ActionKeep
	}
	return nil
}

// mustJSON is for values of our own types, which always have a JSON form.
func mustJSON(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
