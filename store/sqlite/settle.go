package sqlite

// settleAll keeps the strict order of serial occurrences: of those of a
// schedule, only the first by due time may run or be ready; the others wait
// for an earlier one. It is called for the schedules of which something began,
// ended or changed its place.
func (t *tx) settleAll(sids map[int64]bool, now int64) error {
	if len(sids) == 0 {
		return nil
	}
	// Mostly nobody waits at all.
	any, err := t.number(bg, "SELECT EXISTS (SELECT 1 FROM occurrences INDEXED BY occurrences_blocked WHERE waiting = 3)")
	if err != nil || any == 0 {
		return err
	}
	keys := make([]int64, 0, len(sids))
	for sid := range sids {
		keys = append(keys, sid)
	}
	type head struct{ sid, seq int64 }
	var heads []head
	// The head of those that wait, where there is one and nothing holds it.
	err = t.in(bg, `SELECT s.sid, (SELECT b.seq FROM occurrences b INDEXED BY occurrences_blocked WHERE b.waiting = 3 AND b.sid = s.sid ORDER BY b.due, b.seq LIMIT 1)
		FROM schedules s WHERE s.held IS NULL AND s.sid IN (`, ")", nil, keys, func(r row) error {
		if !r.null(1) {
			heads = append(heads, head{r.int(0), r.int(1)})
		}
		return nil
	})
	if err != nil {
		return err
	}
	done := map[int64]bool{} // a chunk may name a schedule twice
	for _, h := range heads {
		if done[h.sid] {
			continue
		}
		done[h.sid] = true
		if err := t.settle(h.sid, h.seq, now); err != nil {
			return err
		}
	}
	return nil
}

// settle lets the first waiting occurrence of a schedule go ahead, if no other
// is before it.
func (t *tx) settle(sid, first, now int64) error {
	// What could be in the way, and what is ready but not first any more.
	inTheWay, ready := false, int64(0)
	err := t.query(bg, `SELECT o.seq, o.state = 0 AND o.serial AND (o.due, o.seq) > (b.due, b.seq)
		FROM occurrences o INDEXED BY occurrences_front, occurrences b
		WHERE o.state < 2 AND o.waiting IS NOT 3 AND o.sid = ? AND b.seq = ?`, []any{sid, first}, func(r row) error {
		if r.bool(1) {
			ready = r.int(0)
		} else {
			inTheWay = true
		}
		return nil
	})
	if err != nil || inTheWay {
		return err
	}
	if ready != 0 {
		if _, err := t.exec("UPDATE occurrences SET waiting = 3 WHERE seq = ?", ready); err != nil {
			return err
		}
	}
	_, err = t.exec("UPDATE occurrences SET waiting = CASE WHEN not_before > ? THEN 2 ELSE 1 END WHERE seq = ?", now, first)
	return err
}
