package postgres

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
	n, err := write(ctx, s, func(t *tx) (int, error) { return t.trimOccurrences(cut, limit) })
	if err != nil {
		return 0, err
	}
	_, err = write(ctx, s, func(t *tx) (struct{}, error) {
		t.changing()
		if err := t.trimAudit(cut, limit); err != nil {
			return struct{}{}, err
		}
		t.trimNodes(cut, limit)
		return struct{}{}, t.gatherTallies(limit)
	})
	return n, err
}

// trimOccurrences deletes ended occurrences, the oldest first. Those that
// still hold their schedule, or wait for a person, stay, and those whose schedule somebody has locked
// are left for the next time.
func (t *tx) trimOccurrences(cut int64, limit int) (int, error) {
	end, err := t.firstSince("occurrences", "seq", "created_at", cut)
	if err != nil {
		return 0, err
	}
	type old struct{ seq, sid, prev, state int64 }
	var all []old
	var seqs, sids, prevs []int64
	err = t.query(`SELECT o.seq, o.sid, o.prev, o.state FROM duly.occurrences o JOIN duly.tracks t ON t.sid = o.sid
		WHERE o.seq < ? AND o.state > 1 AND o.state <> ? AND o.finished_at < ? AND t.held IS DISTINCT FROM o.seq ORDER BY o.seq LIMIT ? FOR NO KEY UPDATE OF t, o SKIP LOCKED`,
		[]any{end, int16(uncertain), cut, limit}, func(r row) error {
			all = append(all, old{r.int(0), r.int(1), r.int(2), r.int(3)})
			seqs, sids, prevs = append(seqs, r.int(0)), append(sids, r.int(1)), append(prevs, r.int(2))
			return nil
		})
	if err != nil || len(all) == 0 {
		return 0, err
	}
	t.later("DELETE FROM duly.attempts WHERE seq = ANY(?)", seqs)
	t.later("DELETE FROM duly.reports WHERE seq = ANY(?)", seqs)
	t.later("DELETE FROM duly.occurrences WHERE seq = ANY(?)", seqs)
	if err := t.unchain(seqs, sids, prevs); err != nil {
		return 0, err
	}
	for _, o := range all {
		t.tally[tallyTrimmed+o.state]++
	}
	return len(all), nil
}

// unchain takes occurrences that were deleted out of the chains of their
// schedules. Oldest first means that as a rule nothing is left behind them, and
// then a chain simply ends earlier. Where an older one stays, the one after the
// gap is linked to it.
func (t *tx) unchain(seqs, sids, prevs []int64) error {
	type gap struct{ seq, sid, prev int64 }
	var gaps []gap
	prevOf := map[int64]int64{}
	for i, seq := range seqs {
		prevOf[seq] = prevs[i]
	}
	err := t.query("SELECT u.seq, u.sid, u.prev FROM unnest(?::bigint[], ?::bigint[], ?::bigint[]) u (seq, sid, prev) WHERE (SELECT o.seq FROM duly.occurrences o WHERE o.seq = u.prev) IS NOT NULL",
		[]any{seqs, sids, prevs}, func(r row) error {
			gaps = append(gaps, gap{r.int(0), r.int(1), r.int(2)})
			return nil
		})
	if err != nil {
		return err
	}
	next := map[int64]int64{} // within what was deleted
	for seq, prev := range prevOf {
		next[prev] = seq
	}
	sortBy(gaps, func(g gap) int64 { return -g.seq }) // a chain is mended from its head on
	for _, g := range gaps {
		last := g.seq // the newest of the gap
		for next[last] != 0 {
			last = next[last]
		}
		if err := t.bridge(g.sid, last, g.prev); err != nil {
			return err
		}
	}
	return nil
}

// bridge links what came after last to prev.
func (t *tx) bridge(sid, last, prev int64) error {
	n, err := t.exec("UPDATE duly.tracks SET newest = ? WHERE sid = ? AND newest = ?", prev, sid, last)
	if err != nil || n > 0 {
		return err
	}
	t.later(`UPDATE duly.occurrences SET prev = ?1 WHERE seq = (WITH RECURSIVE chain (seq, prev) AS (
			SELECT o.seq, o.prev FROM duly.tracks t JOIN duly.occurrences o ON o.seq = t.newest WHERE t.sid = ?2
			UNION ALL SELECT o.seq, o.prev FROM chain JOIN duly.occurrences o ON o.seq = chain.prev WHERE chain.prev > ?3
		) SELECT seq FROM chain WHERE prev = ?3)`, prev, sid, last)
	return nil
}

// firstSince finds the first row of a table, in the order of its growing key,
// that was made at or after a time. It looks at some forty rows, not at all.
func (t *tx) firstSince(table, key, made string, since int64) (int64, error) {
	last, err := t.number("SELECT max(" + key + ") FROM duly." + table)
	if err != nil {
		return 0, err
	}
	var failed error
	at := sort.Search(int(last)+1, func(n int) bool {
		late := false
		_, err := t.one("SELECT "+made+" FROM duly."+table+" WHERE "+key+" >= ? ORDER BY "+key+" LIMIT 1", []any{int64(n)}, func(r row) { late = r.int(0) >= since })
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
	t.later("DELETE FROM duly.audit WHERE row = ANY(ARRAY(SELECT row FROM duly.audit WHERE row < ? ORDER BY row LIMIT ?))", end, limit)
	for _, q := range []string{"DELETE FROM duly.once WHERE created_at < ?", "DELETE FROM duly.leases WHERE until < ?", "DELETE FROM duly.waiters WHERE until < ?", "DELETE FROM duly.unowned WHERE recorded_at < ?"} {
		t.later(q, cut)
	}
	return nil
}

// trimNodes deletes ended sessions and sets of definitions that no session
// carries.
func (t *tx) trimNodes(cut int64, limit int) {
	t.later(`WITH old AS (DELETE FROM duly.nodes WHERE node = ANY(ARRAY(SELECT node FROM duly.nodes WHERE ended IS NOT NULL AND seen_at < ? ORDER BY node LIMIT ?)) RETURNING node)
		DELETE FROM duly.node_sets ns USING old WHERE ns.node = old.node`, cut, limit)
	t.later("DELETE FROM duly.set_members m WHERE NOT EXISTS (SELECT 1 FROM duly.node_sets ns WHERE ns.declared = m.declared)")
	t.later("DELETE FROM duly.sets z WHERE NOT EXISTS (SELECT 1 FROM duly.node_sets ns WHERE ns.declared = z.declared)")
}

// manyTallies is how many rows of counts there may be: some for the store, and
// one for each connection that a joined transaction has ever used.
const manyTallies = 1024

// gatherTallies adds up rows of counts where there are many. What an open
// transaction holds is left for the next time.
func (t *tx) gatherTallies(limit int) error {
	n, err := t.number("SELECT count(*) FROM duly.tallies")
	if err != nil || n <= manyTallies {
		return err
	}
	return t.query("DELETE FROM duly.tallies WHERE slot = ANY(ARRAY(SELECT slot FROM duly.tallies WHERE slot > 127 ORDER BY slot LIMIT ? FOR UPDATE SKIP LOCKED)) RETURNING "+tallyColumns,
		[]any{limit}, func(r row) error {
			for i := range tallyCount {
				t.tally[i] += r.int(i)
			}
			return nil
		})
}
