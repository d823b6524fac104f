package postgres

import (
	"context"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

const reasonDeadline = "start deadline passed"

// Reap implements store.Worker. Its parts are transactions of their own: each
// has its own order of locks.
func (s *Store) Reap(ctx context.Context, req store.ReapRequest) (store.ReapResult, error) {
	if req.Limit <= 0 {
		req.Limit = defaultLimit
	}
	sessions := false
	res, err := write(ctx, s, func(t *tx) (store.ReapResult, error) {
		r := &reaping{endings: newEndings(t, 0), req: &req}
		err := r.run()
		sessions = r.sessions
		return r.res, err
	})
	if err != nil {
		return res, err
	}
	late, err := s.advance(ctx, req.Now, req.Limit)
	if err != nil {
		return res, err
	}
	res.Missed, res.More = late.missed, res.More || late.more
	if sessions {
		_, err = write(ctx, s, func(t *tx) (struct{}, error) {
			t.changing()
			return struct{}{}, t.expireNodes(micros(req.Now))
		})
	}
	return res, err
}

type reaping struct {
	*endings
	req      *store.ReapRequest
	sessions bool // some have run out
	res      store.ReapResult
}

func (r *reaping) run() error {
	given := micros(r.req.Now)
	r.ask("SELECT coalesce(nullif(?1::bigint, 0), duly.clock()), EXISTS (SELECT 1 FROM duly.nodes WHERE ended IS NULL AND until <= coalesce(nullif(?1::bigint, 0), duly.clock()))",
		[]any{given}, func(row row) error {
			r.now, r.sessions = row.int(0), row.bool(1)
			return nil
		})
	type lost struct {
		*occ
		node, open string
	}
	var expired []lost
	// What others hold at this moment is passed over: it is being finished, or
	// reaped.
	err := r.query(selectOcc+`, (SELECT m.name FROM duly.makers m WHERE m.maker = o.holder),
			(SELECT min(e.key) FROM duly.effects e WHERE e.sid = o.sid AND e.period = o.period AND e.open)
		FROM duly.occurrences o JOIN duly.tracks t ON t.sid = o.sid WHERE o.state = 1 AND o.lease_until <= coalesce(nullif(?::bigint, 0), duly.clock())
		ORDER BY o.lease_until LIMIT ? FOR NO KEY UPDATE OF t, o SKIP LOCKED`, []any{given, r.req.Limit + 1}, func(row row) error {
		expired = append(expired, lost{readOcc(row), row.str(17), row.str(18)})
		return nil
	})
	if err != nil {
		return err
	}
	r.res.Now = instant(r.now)
	if len(expired) > r.req.Limit {
		expired, r.res.More = expired[:r.req.Limit], true
	}
	for _, o := range expired {
		if err := r.lose(o.occ, o.node, o.open); err != nil {
			return err
		}
	}
	r.close()
	return nil
}

// lose ends an attempt whose lease ran out. open is an effect that an attempt
// before it has left open.
func (r *reaping) lose(o *occ, node, open string) error {
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
	end := ending{outcome: outcomeLost, next: next, to: stateCode(next.State)}
	end.unlessOpen(open)
	r.end(o, end)
	r.res.Lost = append(r.res.Lost, store.Reaped{Expired: e, State: stateCodes[o.state]})
	return nil
}

// advanced is what letting time pass did.
type advanced struct {
	missed []store.Fired
	more   bool
}

// advance lets time pass: what waited for its time is ready, and what never
// started and may not start any more is missed. What others hold at this moment
// is passed over, so that this waits for nobody.
func (s *Store) advance(ctx context.Context, at time.Time, limit int) (advanced, error) {
	return write(ctx, s, func(t *tx) (res advanced, err error) {
		given := micros(at)
		var now int64
		var seqs, sids []int64
		t.ask("SELECT coalesce(nullif(?::bigint, 0), duly.clock())", []any{given}, func(r row) error {
			now = r.int(0)
			return nil
		})
		t.ask(`SELECT o.seq, o.sid, t.id, o.period, o.due, t.open FROM duly.occurrences o JOIN duly.tracks t ON t.sid = o.sid
			WHERE o.waiting > 0 AND o.attempt = 0 AND o.start_by IS NOT NULL AND o.start_by < coalesce(nullif(?::bigint, 0), duly.clock())
			ORDER BY o.start_by LIMIT ? FOR NO KEY UPDATE OF t, o SKIP LOCKED`, []any{given, limit + 1}, func(r row) error {
			if len(res.missed) == limit {
				res.more = true
				return nil
			}
			seqs, sids = append(seqs, r.int(0)), append(sids, r.int(1))
			res.missed = append(res.missed, store.Fired{
				Seq: r.int(0), Schedule: r.str(2), Period: r.str(3), Due: instant(r.int(4)), State: duly.Missed, Reason: reasonDeadline, Count: 1,
			})
			return nil
		})
		woken, err := t.exec(`UPDATE duly.occurrences SET waiting = 1 WHERE seq = ANY(ARRAY(SELECT o.seq FROM duly.occurrences o
			WHERE o.waiting = 2 AND o.not_before <= coalesce(nullif(?::bigint, 0), duly.clock()) LIMIT ? FOR NO KEY UPDATE SKIP LOCKED))`, given, limit)
		if err != nil {
			return res, err
		}
		res.more = res.more || woken == int64(limit)
		if len(seqs) == 0 {
			return res, nil
		}
		t.later("UPDATE duly.occurrences SET state = ?, waiting = 0, finished_at = ?, reason = ? WHERE seq = ANY(?)", missed, now, reasonDeadline, seqs)
		t.later(`UPDATE duly.tracks t SET open = t.open - u.n FROM (SELECT sid, count(*) AS n FROM unnest(?::bigint[]) v (sid) GROUP BY sid) u WHERE t.sid = u.sid`, sids)
		for _, sid := range sids {
			t.skip(sid, reasonDeadline, 1)
		}
		t.moved(pending, missed, int64(len(seqs)))
		t.event(store.TopicOccurrences, "")
		t.settle(unique(sids), now, false)
		return res, nil
	})
}
