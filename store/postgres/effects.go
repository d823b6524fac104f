package postgres

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// toldEffect is what an attempt told of an effect.
type toldEffect struct {
	store.EffectReport
	sid, token int64
	attempt    int64
	schedule   string
	period     string
	mayClose   bool // what the occurrence has left open
}

// keepEffects keeps what an attempt told of effects, to be recorded.
func (f *finishing) keepEffects(r *store.Report, o *occ) (created, reused int) {
	mayClose := o.attempt > 1 || slices.ContainsFunc(r.Effects, func(e store.EffectReport) bool { return e.Open })
	for _, e := range r.Effects {
		f.effects = append(f.effects, toldEffect{
			EffectReport: e, sid: o.sid, schedule: o.schedule, period: o.period, token: r.Token, attempt: o.attempt, mayClose: mayClose,
		})
		switch {
		case e.Open:
		case e.Reused:
			reused++
		default:
			created++
		}
	}
	return created, reused
}

// recordEffects puts in line to write them: what is open first, so that the rest
// closes it.
func (f *finishing) recordEffects() {
	f.recordOwn(true)
	f.recordClosed()
	f.recordOwn(false)
	f.recordFound()
}

// recordOwn records what attempts made, or the first that left it open.
func (f *finishing) recordOwn(open bool) {
	var sids, tokens []int64
	var attempts []int32
	var keys, periods, results []string
	for _, e := range f.effects {
		if e.Open == open && !e.Reused {
			sids, tokens, attempts = append(sids, e.sid), append(tokens, e.token), append(attempts, int32(e.attempt))
			keys, periods, results = append(keys, plain(e.Key)), append(periods, plain(e.period)), append(results, plain(string(e.Result)))
		}
	}
	if len(keys) == 0 {
		return
	}
	f.later(`INSERT INTO duly.effects (sid, token, created_at, reused, open, attempt, key, period, result)
		SELECT sid, token, ?, 0, nullif(?::boolean, false), attempt, key, period, nullif(result, '')
		FROM unnest(?::bigint[], ?::bigint[], ?::integer[], ?::text[], ?::text[], ?::text[]) u (sid, token, attempt, key, period, result)
		WHERE NOT ?::boolean OR NOT EXISTS (SELECT 1 FROM duly.effects e WHERE e.key = u.key AND e.sid = u.sid AND e.period = u.period AND e.open)
		ON CONFLICT (key, sid, period, attempt) DO NOTHING`, f.now, open, sids, tokens, attempts, keys, periods, results, open)
}

// recordClosed forgets what an occurrence left open and has told of since.
func (f *finishing) recordClosed() {
	var sids []int64
	var keys, periods []string
	for _, e := range f.effects {
		if e.mayClose && !e.Open {
			sids, keys, periods = append(sids, e.sid), append(keys, plain(e.Key)), append(periods, plain(e.period))
		}
	}
	if len(keys) > 0 {
		f.later(`DELETE FROM duly.effects e USING unnest(?::bigint[], ?::text[], ?::text[]) u (sid, key, period)
			WHERE e.key = u.key AND e.sid = u.sid AND e.period = u.period AND e.open`, sids, keys, periods)
	}
}

// recordFound counts what was found again. Where its maker is known it is
// recorded as that one's, whether or not that one told of it. The order of keys
// keeps two calls from waiting for each other in a circle.
func (f *finishing) recordFound() {
	var found []toldEffect
	for _, e := range f.effects {
		if e.Reused && !e.Open {
			found = append(found, e)
		}
	}
	slices.SortStableFunc(found, func(a, b toldEffect) int { return cmp.Compare(a.Key, b.Key) })
	for _, e := range found {
		schedule := ""
		if m := e.Maker; m != nil && m.Attempt > 0 {
			var period string
			var ok bool
			if schedule, period, ok = duly.SplitOccurrenceID(m.Occurrence); !ok || len(period) > maxKey {
				schedule = ""
			} else {
				at := f.now
				if !m.CreatedAt.IsZero() {
					at = micros(m.CreatedAt)
				}
				f.later(`INSERT INTO duly.effects AS e (key, sid, period, attempt, token, created_at, reused, result)
					SELECT ?1, s.sid, ?2, ?3::integer, ?4::bigint, ?5::bigint, 1, ?6::text FROM duly.schedules s WHERE s.id = ?7
					ON CONFLICT (key, sid, period, attempt) DO UPDATE SET reused = e.reused + 1, open = NULL, result = coalesce(e.result, excluded.result)`,
					plain(e.Key), plain(period), int32(m.Attempt), m.Token, at, raw(e.Result), plain(schedule))
			}
		}
		if schedule == e.schedule {
			continue
		}
		f.later(`WITH known AS (UPDATE duly.effects SET reused = reused + 1
				WHERE effect = (SELECT effect FROM duly.effects WHERE key = ?1 AND open IS NULL AND NOT EXISTS (SELECT 1 FROM duly.schedules WHERE id = ?6)
					ORDER BY (sid = ?2 AND period = ?3) DESC, effect LIMIT 1) RETURNING effect)
			INSERT INTO duly.effects (key, sid, period, attempt, token, created_at, reused, result)
			SELECT ?1, ?2, ?3, 0, 0, ?4, 1, ?5::text WHERE NOT EXISTS (SELECT 1 FROM known) AND NOT EXISTS (SELECT 1 FROM duly.schedules WHERE id = ?6)
			ON CONFLICT (key, sid, period, attempt) DO NOTHING`,
			plain(e.Key), e.sid, plain(e.period), f.now, raw(e.Result), plain(schedule))
	}
}

// askOpen puts in line to find which effects of occurrences are open.
func (f *finishing) askOpen(seqs []int64) {
	f.open = map[int64][]string{}
	f.ask(`SELECT o.seq, e.key FROM unnest(?::bigint[]) u (seq) JOIN duly.occurrences o ON o.seq = u.seq
		JOIN duly.effects e ON e.sid = o.sid AND e.period = o.period WHERE e.open`, []any{unique(seqs)}, func(r row) error {
		f.open[r.int(0)] = append(f.open[r.int(0)], r.str(1))
		return nil
	})
}

// openAfter is an effect that is open after a report; none is "".
func (f *finishing) openAfter(r *store.Report, o *occ) string {
	closed := map[string]bool{}
	for _, e := range r.Effects {
		if !e.Open {
			closed[plain(e.Key)] = true
		}
	}
	keys := f.open[o.seq]
	for _, e := range r.Effects {
		if e.Open {
			keys = append(keys, plain(e.Key))
		}
	}
	for _, key := range keys {
		if !closed[key] {
			return key
		}
	}
	return ""
}

// unlessOpen makes a failure uncertain where an effect of the occurrence is
// open.
func (end *ending) unlessOpen(key string) {
	if end.to == failed && key != "" {
		end.to, end.next.State = uncertain, duly.Uncertain
		end.next.Reason = fmt.Sprintf("nobody knows whether %s has happened; %s", key, end.next.Reason)
	}
}

// ResolveEffect implements store.Operator.
func (s *Store) ResolveEffect(ctx context.Context, req store.ResolveEffectRequest) ([]string, error) {
	return asked(ctx, s, func(t *tx) ([]string, error) {
		all, now, err := t.waitingFor(req)
		if err != nil {
			return nil, err
		}
		e := newEndings(t, now)
		ids := []string{}
		for _, o := range all {
			if err := e.again(o, req.By, req.Decided(), "resolve"); duly.CodeOf(err) == duly.CodeConflict {
				continue // its schedule was removed
			} else if err != nil {
				return nil, err
			}
			ids = append(ids, o.id())
		}
		e.later("DELETE FROM duly.effects WHERE key = ? AND open", plain(req.Key))
		object, last := "effect/"+req.Key, ""
		if _, err := e.one("SELECT after FROM duly.audit WHERE object = ? ORDER BY row DESC LIMIT 1", []any{plain(object)}, func(r row) { last = r.str(0) }); err != nil {
			return nil, err
		}
		if last != plain(string(req.After)) || last == "" {
			e.audit(e.now, req.By, "resolve", object, req.Why, req.Before, req.After)
		}
		e.close()
		return ids, nil
	})
}

// waitingFor finds and locks the uncertain occurrences that wait for an effect.
func (t *tx) waitingFor(req store.ResolveEffectRequest) (all []*occ, now int64, err error) {
	var schedules, periods []string
	for _, id := range req.Occurrences {
		if schedule, period, ok := duly.SplitOccurrenceID(id); ok {
			schedules, periods = append(schedules, plain(schedule)), append(periods, plain(period))
		}
	}
	t.ask("SELECT duly.clock()", nil, func(r row) error {
		now = r.int(0)
		return nil
	})
	err = t.query(selectOcc+`FROM duly.occurrences o JOIN duly.tracks t ON t.sid = o.sid WHERE o.state = ? AND o.seq = ANY(ARRAY(
			SELECT o.seq FROM duly.effects e JOIN duly.occurrences o ON o.period = e.period AND o.sid = e.sid WHERE e.key = ? AND e.open
			UNION SELECT o.seq FROM unnest(?::text[], ?::text[]) u (schedule, period)
				JOIN duly.schedules s ON s.id = u.schedule JOIN duly.occurrences o ON o.period = u.period AND o.sid = s.sid))`+lockOcc,
		[]any{int16(uncertain), plain(req.Key), schedules, periods}, func(r row) error {
			all = append(all, readOcc(r))
			return nil
		})
	return all, now, err
}
