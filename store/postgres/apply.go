package postgres

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// Apply implements store.Definer. It first compares without a lock: declaring
// what is already in force, from however many nodes and however often, writes
// nothing and waits for nobody.
func (s *Store) Apply(ctx context.Context, req store.ApplyRequest) (store.ApplyResult, error) {
	defs, err := encodeAll(req.Schedules)
	if err != nil {
		return store.ApplyResult{}, err
	}
	a, err := read(ctx, s, func(c *conn) (*applying, error) { return compare(c, &req, defs, "") })
	if err != nil {
		return store.ApplyResult{}, err
	}
	if req.DryRun || a.nothing() {
		return a.result(), nil
	}
	return write(ctx, s, func(t *tx) (store.ApplyResult, error) {
		t.changing()
		a, err := compare(t.conn, &req, defs, lockSched) // again: somebody may have been faster
		if err != nil {
			return store.ApplyResult{}, err
		}
		if err := a.carryOut(t); err != nil {
			return store.ApplyResult{}, err
		}
		return a.result(), nil
	})
}

// applying is an Apply under way: what there is to change.
type applying struct {
	req     *store.ApplyRequest
	now     int64
	found   map[string]*sched
	changes []*change
}

// change is a Change with what carrying it out needs.
type change struct {
	store.Change
	def   *definition
	was   *sched
	queue *duly.Queue
	id    int64 // of the queue
}

func (a *applying) nothing() bool {
	for _, c := range a.changes {
		if c.Action != store.ActionKeep {
			return false
		}
	}
	return true
}

func (a *applying) result() store.ApplyResult {
	var res store.ApplyResult
	for _, c := range a.changes {
		res.Changes = append(res.Changes, c.Change)
	}
	return res
}

// compare finds what a request would change.
func compare(c *conn, req *store.ApplyRequest, defs []*definition, lock string) (*applying, error) {
	if err := c.send(); err != nil { // locks come before what they guard is seen
		return nil, err
	}
	now, err := c.clock(req.Now)
	if err != nil {
		return nil, err
	}
	a := &applying{req: req, now: now}
	ids := make([]string, 0, len(defs)+len(req.Remove))
	for _, d := range defs {
		ids = append(ids, d.Schedule.ID)
	}
	ids = append(ids, req.Remove...)
	if a.found, err = c.scheds(ids, lock); err != nil {
		return nil, err
	}
	for _, d := range defs {
		if err := a.schedule(d); err != nil {
			return nil, err
		}
	}
	for i := range req.Queues {
		if err := a.queue(c, &req.Queues[i]); err != nil {
			return nil, err
		}
	}
	for _, id := range req.Remove {
		if err := a.remove(id); err != nil {
			return nil, err
		}
	}
	if req.Prune {
		return a, a.prune(c, lock)
	}
	return a, nil
}

func (a *applying) schedule(d *definition) error {
	id := d.Schedule.ID
	was := a.found[id]
	ch := &change{Change: store.Change{Kind: "schedule", ID: id, After: d.content}, def: d, was: was}
	a.changes = append(a.changes, ch)
	if was == nil || was.removed {
		ch.Action, ch.Revision = store.ActionCreate, 1
		if was != nil {
			ch.Revision = was.revision + 1
		}
		ch.NextDue = d.Next(instant(a.now-a.now%1_000_000), instant(a.now))
		return nil
	}
	if was.owner != a.req.Owner && !a.req.Force {
		return duly.Errorf(duly.CodeConflict, "schedule %s belongs to %s; remove it there, or take it over with force", id, was.owner)
	}
	ch.Before, ch.Revision, ch.NextDue = was.content, was.revision, instant(was.nextDue)
	switch {
	case !bytes.Equal(was.hash, d.hash):
		ch.Action, ch.Revision = store.ActionUpdate, was.revision+1
		if !was.paused && (was.nextDue == 0 || was.nextDue > a.now) {
			ch.NextDue = d.Next(instant(was.anchor), instant(max(a.now, was.cursor)))
		}
	case was.owner != a.req.Owner:
		ch.Action, ch.Reason = store.ActionUpdate, "taken over from "+was.owner
	default:
		ch.Action, ch.After = store.ActionKeep, ch.Before
	}
	return nil
}

func (a *applying) queue(c *conn, q *duly.Queue) error {
	want := *q
	if want.Concurrency == 0 {
		want.Concurrency = 1
	}
	after, err := json.Marshal(want)
	if err != nil {
		return err
	}
	ch := &change{Change: store.Change{Kind: "queue", ID: q.Name, Action: store.ActionCreate, After: after}, queue: &want}
	a.changes = append(a.changes, ch)
	var owner string
	var is duly.Queue
	found, err := c.one("SELECT queue, owner, concurrency, rate_count, rate_per FROM duly.queues WHERE name = ? AND owner IS NOT NULL", []any{q.Name}, func(r row) {
		ch.id, owner = r.int(0), r.str(1)
		is = queueOf(q.Name, int(r.int(2)), r.int(3), r.int(4))
	})
	if err != nil || !found {
		return err
	}
	if owner != a.req.Owner && !a.req.Force {
		return duly.Errorf(duly.CodeConflict, "queue %s belongs to %s; remove it there, or take it over with force", q.Name, owner)
	}
	if ch.Before, err = json.Marshal(is); err != nil {
		return err
	}
	switch {
	case is != want:
		ch.Action = store.ActionUpdate
	case owner != a.req.Owner:
		ch.Action, ch.Reason = store.ActionUpdate, "taken over from "+owner
	default:
		ch.Action = store.ActionKeep
	}
	return nil
}

func queueOf(name string, concurrency int, rateCount, ratePer int64) duly.Queue {
	return duly.Queue{Name: name, Concurrency: concurrency, Rate: duly.Rate{Count: int(rateCount), Per: duly.Duration(span(ratePer))}}
}

func (a *applying) remove(id string) error {
	was := a.found[id]
	ch := &change{Change: store.Change{Kind: "schedule", ID: id, Action: store.ActionKeep, Reason: "does not exist"}}
	a.changes = append(a.changes, ch)
	if was == nil || was.removed {
		return nil
	}
	if was.owner != a.req.Owner && !a.req.Force {
		return duly.Errorf(duly.CodeConflict, "schedule %s belongs to %s; remove it there, or use force", id, was.owner)
	}
	ch.removes(was)
	return nil
}

func (ch *change) removes(was *sched) {
	ch.Action, ch.Reason, ch.Revision, ch.was, ch.Before = store.ActionRemove, "", was.revision, was, was.content
}

// prune finds what the owner holds and the request does not name.
func (a *applying) prune(c *conn, lock string) error {
	named := map[string]bool{}
	for _, ch := range a.changes {
		named[ch.Kind+"/"+ch.ID] = true
	}
	var gone []*sched
	// In the order of sid, as locks are taken; the answer is in that of IDs.
	err := c.query(selectSched+"WHERE s.owner = ? AND s.removed_at IS NULL ORDER BY t.sid"+lock, []any{a.req.Owner}, func(r row) error {
		if s := readSched(r); !named["schedule/"+s.id] {
			gone = append(gone, s)
		}
		return nil
	})
	if err != nil {
		return err
	}
	sortBy(gone, func(s *sched) string { return s.id })
	for _, was := range gone {
		ch := &change{Change: store.Change{Kind: "schedule", ID: was.id}}
		ch.removes(was)
		a.changes = append(a.changes, ch)
	}
	return c.query("SELECT queue, name, concurrency, rate_count, rate_per FROM duly.queues WHERE owner = ? ORDER BY name", []any{a.req.Owner}, func(r row) error {
		if named["queue/"+r.str(1)] {
			return nil
		}
		before, err := json.Marshal(queueOf(r.str(1), int(r.int(2)), r.int(3), r.int(4)))
		a.changes = append(a.changes, &change{Change: store.Change{Kind: "queue", ID: r.str(1), Action: store.ActionRemove, Before: before}, id: r.int(0)})
		return err
	})
}
