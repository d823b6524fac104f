package sqlite

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// Apply implements store.Definer. It first compares over a reading connection:
// declaring what is already in force, from however many nodes and however
// often, never waits for the writer.
func (s *Store) Apply(ctx context.Context, req store.ApplyRequest) (store.ApplyResult, error) {
	defs, err := encodeAll(req.Schedules)
	if err != nil {
		return store.ApplyResult{}, err
	}
	a, err := read(ctx, s, func(c *conn) (*applying, error) { return compare(ctx, c, &req, defs) })
	if err != nil {
		return store.ApplyResult{}, err
	}
	if req.DryRun || a.nothing() {
		return a.result(), nil
	}
	return write(ctx, s, func(t *tx) (store.ApplyResult, error) {
		a, err := compare(bg, t.conn, &req, defs) // again: somebody may have been faster
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
func compare(ctx context.Context, c *conn, req *store.ApplyRequest, defs []*definition) (*applying, error) {
	a := &applying{req: req, now: at(req.Now)}
	for _, d := range defs {
		if err := a.schedule(ctx, c, d); err != nil {
			return nil, err
		}
	}
	for i := range req.Queues {
		if err := a.queue(ctx, c, &req.Queues[i]); err != nil {
			return nil, err
		}
	}
	for _, id := range req.Remove {
		if err := a.remove(ctx, c, id); err != nil {
			return nil, err
		}
	}
	if req.Prune {
		return a, a.prune(ctx, c)
	}
	return a, nil
}

func (a *applying) schedule(ctx context.Context, c *conn, d *definition) error {
	id := d.Schedule.ID
	was, err := c.sched(ctx, id)
	if err != nil {
		return err
	}
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
	ch.Before, ch.Revision, ch.NextDue = d.content, was.revision, instant(was.nextDue)
	switch {
	case !bytes.Equal(was.hash, d.hash):
		if ch.Before, err = c.content(ctx, was.definition); err != nil {
			return err
		}
		ch.Action, ch.Revision = store.ActionUpdate, was.revision+1
		if !was.paused && (was.nextDue == 0 || was.nextDue > a.now) {
			ch.NextDue = d.Next(instant(was.anchor), instant(max(a.now, was.cursor)))
		}
	case was.owner != a.req.Owner:
		ch.Action, ch.Reason = store.ActionUpdate, "taken over from "+was.owner
	default:
		ch.Action = store.ActionKeep
	}
	return nil
}

func (a *applying) queue(ctx context.Context, c *conn, q *duly.Queue) error {
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
	found, err := c.one(ctx, "SELECT queue, owner, concurrency, rate_count, rate_per FROM queues WHERE name = ? AND owner IS NOT NULL", []any{q.Name}, func(r row) {
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

func (a *applying) remove(ctx context.Context, c *conn, id string) error {
	was, err := c.sched(ctx, id)
	if err != nil {
		return err
	}
	ch := &change{Change: store.Change{Kind: "schedule", ID: id, Action: store.ActionKeep, Reason: "does not exist"}}
	a.changes = append(a.changes, ch)
	if was == nil || was.removed {
		return nil
	}
	if was.owner != a.req.Owner && !a.req.Force {
		return duly.Errorf(duly.CodeConflict, "schedule %s belongs to %s; remove it there, or use force", id, was.owner)
	}
	return a.removal(ctx, c, ch, was)
}

func (a *applying) removal(ctx context.Context, c *conn, ch *change, was *sched) (err error) {
	ch.Action, ch.Reason, ch.Revision, ch.was = store.ActionRemove, "", was.revision, was
	ch.Before, err = c.content(ctx, was.definition)
	return err
}

// prune finds what the owner holds and the request does not name.
func (a *applying) prune(ctx context.Context, c *conn) error {
	named := map[string]bool{}
	for _, ch := range a.changes {
		named[ch.Kind+"/"+ch.ID] = true
	}
	var gone []*sched
	err := c.query(ctx, selectSched+"WHERE s.owner = ? AND s.removed_at IS NULL ORDER BY s.id", []any{a.req.Owner}, func(r row) error {
		if s := readSched(r); !named["schedule/"+s.id] {
			gone = append(gone, s)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, was := range gone {
		ch := &change{Change: store.Change{Kind: "schedule", ID: was.id}}
		a.changes = append(a.changes, ch)
		if err := a.removal(ctx, c, ch, was); err != nil {
			return err
		}
	}
	return c.query(ctx, "SELECT queue, name, concurrency, rate_count, rate_per FROM queues WHERE owner = ? ORDER BY name", []any{a.req.Owner}, func(r row) error {
		if named["queue/"+r.str(1)] {
			return nil
		}
		before, err := json.Marshal(queueOf(r.str(1), int(r.int(2)), r.int(3), r.int(4)))
		a.changes = append(a.changes, &change{Change: store.Change{Kind: "queue", ID: r.str(1), Action: store.ActionRemove, Before: before}, id: r.int(0)})
		return err
	})
}
