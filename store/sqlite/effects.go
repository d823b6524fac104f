package sqlite

import (
	"context"
	"fmt"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// effects records what an attempt told of effects.
func (f *finishing) effects(r *store.Report, o *occ) (created, reused int, err error) {
	mayClose := o.attempt > 1 // what an earlier attempt left open
	for _, e := range r.Effects {
		if e.Open {
			mayClose = true
			if err := f.leftOpen(o, e, r.Token); err != nil {
				return 0, 0, err
			}
		}
	}
	for _, e := range r.Effects {
		if e.Open {
			continue
		}
		if mayClose {
			if _, err := f.exec("DELETE FROM effects WHERE key = ? AND sid = ? AND period = ? AND open = 1", e.Key, o.sid, o.period); err != nil {
				return 0, 0, err
			}
		}
		if e.Reused {
			reused++
			err = f.found(o, e)
		} else {
			created++
			err = f.made(o, e, r.Token)
		}
		if err != nil {
			return 0, 0, err
		}
	}
	return created, reused, nil
}

func (f *finishing) made(o *occ, e store.EffectReport, token int64) error {
	_, err := f.exec("INSERT INTO effects (key, sid, period, attempt, token, created_at, reused, result) VALUES (?, ?, ?, ?, ?, ?, 0, ?) ON CONFLICT DO NOTHING",
		e.Key, o.sid, o.period, o.attempt, token, f.now, raw(e.Result))
	return err
}

// leftOpen records the first attempt that left an effect open.
func (f *finishing) leftOpen(o *occ, e store.EffectReport, token int64) error {
	_, err := f.exec(`INSERT INTO effects (key, sid, period, attempt, token, created_at, reused, open) SELECT ?1, ?2, ?3, ?4, ?5, ?6, 0, 1
		WHERE NOT EXISTS (SELECT 1 FROM effects WHERE key = ?1 AND sid = ?2 AND period = ?3 AND open = 1) ON CONFLICT DO NOTHING`,
		e.Key, o.sid, o.period, o.attempt, token, f.now)
	return err
}

// found counts that an effect was found again. Where its maker is known it is
// recorded as that one's, whether or not that one told of it.
func (f *finishing) found(o *occ, e store.EffectReport) error {
	if m := e.Maker; m != nil {
		sid, period, err := f.maker(o, m)
		if err != nil {
			return err
		}
		if sid != 0 {
			at := f.now
			if !m.CreatedAt.IsZero() {
				at = micros(m.CreatedAt)
			}
			_, err := f.exec(`INSERT INTO effects (key, sid, period, attempt, token, created_at, reused, result) VALUES (?, ?, ?, ?, ?, ?, 1, ?)
				ON CONFLICT DO UPDATE SET reused = reused + 1, open = NULL, result = coalesce(result, excluded.result)`,
				e.Key, sid, period, m.Attempt, m.Token, at, raw(e.Result))
			return err
		}
	}
	n, err := f.exec(`UPDATE effects SET reused = reused + 1
		WHERE effect = (SELECT effect FROM effects WHERE key = ? AND open IS NULL ORDER BY (sid = ? AND period = ?) DESC, effect LIMIT 1)`, e.Key, o.sid, o.period)
	if err != nil || n > 0 {
		return err
	}
	_, err = f.exec("INSERT INTO effects (key, sid, period, attempt, token, created_at, reused, result) VALUES (?, ?, ?, 0, 0, ?, 1, ?) ON CONFLICT DO NOTHING",
		e.Key, o.sid, o.period, f.now, raw(e.Result))
	return err
}

// maker finds the schedule of the occurrence that made an effect; 0 where it is
// none of this store's.
func (f *finishing) maker(o *occ, m *duly.EffectMaker) (sid int64, period string, err error) {
	schedule, period, ok := duly.SplitOccurrenceID(m.Occurrence)
	switch {
	case !ok || m.Attempt < 1:
		return 0, "", nil
	case schedule == o.schedule:
		return o.sid, period, nil
	}
	sid, err = f.number(bg, "SELECT sid FROM schedules WHERE id = ?", schedule)
	return sid, period, err
}

// unlessOpen makes a failure uncertain where an effect of the occurrence is
// open.
func (e *endings) unlessOpen(o *occ, end *ending) error {
	if end.to != failed {
		return nil
	}
	key := ""
	found, err := e.one(bg, "SELECT key FROM effects WHERE sid = ? AND period = ? AND open = 1 ORDER BY effect LIMIT 1", []any{o.sid, o.period}, func(r row) { key = r.str(0) })
	if err == nil && found {
		end.to, end.next.State, end.next.Reason = uncertain, duly.Uncertain, reasonOpen(key, end.next.Reason)
	}
	return err
}

func reasonOpen(key, why string) string {
	return fmt.Sprintf("nobody knows whether %s has happened; %s", key, why)
}

// ResolveEffect implements store.Operator.
func (s *Store) ResolveEffect(ctx context.Context, req store.ResolveEffectRequest) ([]string, error) {
	return write(ctx, s, func(t *tx) ([]string, error) {
		e := newEndings(t, now())
		all, err := e.waiting(req)
		if err != nil {
			return nil, err
		}
		ids := []string{}
		for _, o := range all {
			if err := e.again(o, req.By, req.Decided(), "resolve"); duly.CodeOf(err) == duly.CodeConflict {
				continue // its schedule was removed
			} else if err != nil {
				return nil, err
			}
			ids = append(ids, o.id())
		}
		if _, err := e.exec("DELETE FROM effects WHERE key = ? AND open = 1", req.Key); err != nil {
			return nil, err
		}
		var last any
		object := "effect/" + req.Key
		if _, err := e.one(bg, "SELECT after FROM audit WHERE object = ? ORDER BY row DESC LIMIT 1", []any{object}, func(r row) { last = r.str(0) }); err != nil {
			return nil, err
		}
		if last != string(req.After) {
			if err := e.audit(e.now, req.By, "resolve", object, req.Why, req.Before, req.After); err != nil {
				return nil, err
			}
		}
		return ids, e.close()
	})
}

// waiting finds the uncertain occurrences that wait for an effect.
func (e *endings) waiting(req store.ResolveEffectRequest) ([]*occ, error) {
	var all []*occ
	seen := map[int64]bool{}
	add := func(o *occ) {
		if o.state == uncertain && !seen[o.seq] {
			seen[o.seq] = true
			all = append(all, o)
		}
	}
	err := e.query(bg, selectOcc+`WHERE (o.period, o.sid) IN (SELECT period, sid FROM effects WHERE key = ? AND open = 1) ORDER BY o.seq`, []any{req.Key}, func(r row) error {
		add(readOcc(r))
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, id := range req.Occurrences {
		o, err := e.occ(id)
		switch code := duly.CodeOf(err); {
		case err == nil:
			add(o)
		case code != duly.CodeNotFound && code != duly.CodeInvalid: // history is trimmed
			return nil, err
		}
	}
	return all, nil
}
