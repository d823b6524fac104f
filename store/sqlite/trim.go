package sqlite

import (
	"context"
	"sort"
	"time"
)

// Trim implements store.Operator.
func (s *Store) Trim(ctx context.Context, before time.Time, limit int) (int, error) {
	if limit <= 0 {
		limit = defaultLimit
	}
	cut := micros(before)
	return write(ctx, s, func(t *tx) (int, error) {
		n, err := t.trimOccurrences(cut, limit)
		if err != nil {
			return 0, err
		}
		if err := t.trimAudit(cut, limit); err != nil {
			return 0, err
		}
		return n, t.trimNodes(cut, limit)
	})
}

// trimOccurrences deletes ended occurrences, the oldest first. Those that
// still hold their schedule, or wait for a person, stay.
func (t *tx) trimOccurrences(cut int64, limit int) (int, error) {
	end, err := t.firstSince("occurrences", "seq", "created_at", cut)
	if err != nil {
		return 0, err
	}
	type old struct{ seq, sid, prev, state, finished int64 }
	var all []old
	err = t.query(bg, `SELECT o.seq, o.sid, o.prev, o.state, o.finished_at FROM occurrences o JOIN schedules s ON s.sid = o.sid
		WHERE o.seq < ? AND o.state > 1 AND o.state <> ? AND o.finished_at < ? AND s.held IS NOT o.seq ORDER BY o.seq LIMIT ?`, []any{end, uncertain, cut, limit}, func(r row) error {
		all = append(all, old{r.int(0), r.int(1), r.int(2), r.int(3), r.int(4)})
		return nil
	})
	if err != nil {
		return 0, err
	}
	relinked := map[int64]int64{} // prevs that changed since they were read
	for _, o := range all {
		if prev, ok := relinked[o.seq]; ok {
			o.prev = prev
		}
		if err := t.unchain(o.sid, o.seq, o.prev, relinked); err != nil {
			return 0, err
		}
		for _, q := range []string{"DELETE FROM attempts WHERE seq = ?", "DELETE FROM reports WHERE seq = ?", "DELETE FROM occurrences WHERE seq = ?"} {
			if _, err := t.exec(q, o.seq); err != nil {
				return 0, err
			}
		}
		if _, err := t.count(counterTrimmed(o.state), 1); err != nil {
			return 0, err
		}
	}
	return len(all), nil
}

// unchain takes an occurrence out of its schedule's chain. Oldest first means
// that as a rule nothing is left behind it, and then the chain simply ends
// earlier; where an older one stays, its successor is found and linked to it.
func (t *tx) unchain(sid, seq, prev int64, relinked map[int64]int64) error {
	kept, err := t.number(bg, "SELECT count(*) FROM occurrences WHERE seq = ?", prev)
	if err != nil || kept == 0 {
		return err
	}
	n, err := t.exec("UPDATE schedules SET newest = ? WHERE sid = ? AND newest = ?", prev, sid, seq)
	if err != nil || n > 0 {
		return err
	}
	var next int64
	if err := t.query(bg, `WITH RECURSIVE chain (seq, prev) AS (
			SELECT o.seq, o.prev FROM schedules s JOIN occurrences o ON o.seq = s.newest WHERE s.sid = ?
			UNION ALL SELECT o.seq, o.prev FROM chain JOIN occurrences o ON o.seq = chain.prev WHERE chain.prev >= ?
		) SELECT seq FROM chain WHERE prev = ?`, []any{sid, seq, seq}, func(r row) error {
		next = r.int(0)
		return nil
	}); err != nil {
		return err
	}
	relinked[next] = prev
	_, err = t.exec("UPDATE occurrences SET prev = ? WHERE seq = ?", prev, next)
	return err
}

// firstSince finds the first row of a table, in the order of its growing key,
// that was made at or after a time. It looks at some twenty rows, not at all.
func (t *tx) firstSince(table, key, made string, since int64) (int64, error) {
	last, err := t.number(bg, "SELECT max("+key+") FROM "+table)
	if err != nil {
		return 0, err
	}
	var failed error
	at := sort.Search(int(last)+1, func(n int) bool {
		var late bool
		_, err := t.one(bg, "SELECT "+made+" FROM "+table+" WHERE "+key+" >= ? ORDER BY "+key+" LIMIT 1", []any{n}, func(r row) { late = r.int(0) >= since })
		if err != nil {
			failed = err
		}
		return late
	})
	return int64(at), failed
}

// trimAudit deletes old audit rows, and what time has made void: keys of
// requests, leases that ran out, what was done without ownership.
func (t *tx) trimAudit(cut int64, limit int) error {
	end, err := t.firstSince("audit", "row", "at", cut)
	if err != nil {
		return err
	}
	if _, err := t.exec("DELETE FROM audit WHERE row IN (SELECT row FROM audit WHERE row < ? ORDER BY row LIMIT ?)", end, limit); err != nil {
		return err
	}
	for _, q := range []string{"DELETE FROM once WHERE created_at < ?", "DELETE FROM leases WHERE until < ?", "DELETE FROM waiters WHERE until < ?", "DELETE FROM unowned WHERE recorded_at < ?"} {
		if _, err := t.exec(q, cut); err != nil {
			return err
		}
	}
	return nil
}

// trimNodes deletes ended sessions and sets of definitions that no session
// carries.
func (t *tx) trimNodes(cut int64, limit int) error {
	var old []int64
	err := t.query(bg, "SELECT node FROM nodes WHERE ended IS NOT NULL AND seen_at < ? ORDER BY node LIMIT ?", []any{cut, limit}, func(r row) error {
		old = append(old, r.int(0))
		return nil
	})
	if err != nil || len(old) == 0 {
		return err
	}
	for _, node := range old {
		for _, q := range []string{"DELETE FROM node_sets WHERE node = ?", "DELETE FROM nodes WHERE node = ?"} {
			if _, err := t.exec(q, node); err != nil {
				return err
			}
		}
	}
	for _, q := range []string{
		"DELETE FROM set_members WHERE declared NOT IN (SELECT declared FROM node_sets)",
		"DELETE FROM sets WHERE declared NOT IN (SELECT declared FROM node_sets)",
	} {
		if _, err := t.exec(q); err != nil {
			return err
		}
	}
	return nil
}

// attention counts what nobody has dealt with: trimmed ones are gone.
func attention(counters map[string]int64) (n int64) {
	for _, state := range []int64{failed, uncertain, missed} {
		n += counters[counterState(state)] - counters[counterTrimmed(state)]
	}
	return n
}
