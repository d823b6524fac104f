package sqlite

import (
	"context"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

const reasonDeadline = "start deadline passed"

// Reap implements store.Worker.
func (s *Store) Reap(ctx context.Context, req store.ReapRequest) (store.ReapResult, error) {
	if req.Limit <= 0 {
		req.Limit = defaultLimit
	}
	return write(ctx, s, func(t *tx) (store.ReapResult, error) {
		if err := t.committed(); err != nil {
			return store.ReapResult{}, err
		}
		r := &reaping{endings: newEndings(t, at(req.Now)), req: &req}
		r.res.Now = instant(r.now)
		err := r.run()
		return r.res, err
	})
}

type reaping struct {
	*endings
	req *store.ReapRequest
	res store.ReapResult
}

func (r *reaping) run() error {
	var expired []*occ
	err := r.query(bg, selectOcc+`WHERE o.seq IN (SELECT seq FROM occurrences INDEXED BY occurrences_leased
		WHERE state = 1 AND lease_until <= ? ORDER BY lease_until LIMIT ?) ORDER BY o.lease_until, o.seq`,
		[]any{r.now, r.req.Limit + 1}, func(row row) error {
			expired = append(expired, readOcc(row))
			return nil
		})
	if err != nil {
		return err
	}
	if len(expired) > r.req.Limit {
		expired, r.res.More = expired[:r.req.Limit], true
	}
	for _, o := range expired {
		if err := r.lose(o); err != nil {
			return err
		}
	}
	if err := r.close(); err != nil {
		return err
	}
	missed, more, err := r.expire(r.now, r.req.Limit)
	if err != nil {
		return err
	}
	r.res.Missed, r.res.More = missed, r.res.More || more
	return r.expireNodes(r.now)
}

// lose ends an attempt whose lease ran out.
func (r *reaping) lose(o *occ) error {
	node, err := r.makerName(o.holder)
	if err != nil {
		return err
	}
	e := store.Expired{
		Seq: o.seq, Schedule: o.schedule, Period: o.period, Definition: o.definition, Attempt: int(o.attempt), Tries: int(o.tries),
		Node: node, Cancelled: o.cancelled != "",
	}
	next := r.req.Decide(e)
	if next.State == "" {
		return nil
	}
	if !duly.CanMove(duly.Running, duly.StepReap, next.State) {
		return duly.Errorf(duly.CodeInternal, "it was decided that %s, whose lease ran out, becomes %q", o.id(), next.State)
	}
	if err := r.end(o, ending{outcome: outcomeLost, next: next, to: stateCode(next.State)}); err != nil {
		return err
	}
	r.res.Lost = append(r.res.Lost, store.Reaped{Expired: e, State: stateCodes[o.state]})
	return nil
}

func (t *tx) makerName(maker int64) (name string, err error) {
	if maker != 0 {
		_, err = t.one(bg, "SELECT name FROM makers WHERE maker = ?", []any{maker}, func(r row) { name = r.str(0) })
	}
	return name, err
}

// expire makes occurrences missed that never started and may not start any
// more.
func (t *tx) expire(now int64, limit int) (all []store.Fired, more bool, err error) {
	var sids []int64
	err = t.query(bg, `SELECT o.seq, o.sid, s.id, o.period, o.due FROM occurrences o INDEXED BY occurrences_deadline JOIN schedules s ON s.sid = o.sid
		WHERE o.waiting > 0 AND o.attempt = 0 AND o.start_by IS NOT NULL AND o.start_by < ? LIMIT ?`, []any{now, limit + 1}, func(r row) error {
		if len(all) == limit {
			more = true
			return nil
		}
		sids = append(sids, r.int(1))
		all = append(all, store.Fired{
			Seq: r.int(0), Schedule: r.str(2), Period: r.str(3), Due: instant(r.int(4)), State: duly.Missed, Reason: reasonDeadline, Count: 1,
		})
		return nil
	})
	if err != nil || len(all) == 0 {
		return nil, false, err
	}
	settle := map[int64]bool{}
	for i, f := range all {
		_, err := t.exec("UPDATE occurrences SET state = ?, waiting = NULL, finished_at = ?, reason = ? WHERE seq = ?", missed, now, reasonDeadline, f.Seq)
		if err != nil {
			return nil, false, err
		}
		t.skip(sids[i], reasonDeadline, 1)
		settle[sids[i]] = true
	}
	if err := t.moved(pending, missed, int64(len(all))); err != nil {
		return nil, false, err
	}
	t.event(store.TopicOccurrences, "")
	return all, more, t.settleAll(settle, now)
}
