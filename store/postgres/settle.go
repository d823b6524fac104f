package postgres

// settle keeps the strict order of serial occurrences: of those of a schedule,
// only the first by due time may run or be ready; the others wait for an
// earlier one. It is called for schedules whose lock is held and of which
// something began, ended or changed its place. The steps are in line, and each
// sees what the one before it did.
//
// With displace set, an occurrence that is ready gives way to one that is due
// earlier; only what people ask for, and catching up, can make that necessary.
// One that is being claimed at this moment is waited for and then runs.
func (t *tx) settle(sids []int64, now int64, displace bool) {
	if len(sids) == 0 {
		return
	}
	if displace {
		t.later(`UPDATE duly.occurrences SET waiting = 3 WHERE waiting IN (1, 2) AND seq = ANY(ARRAY(
				SELECT f.seq FROM unnest(?::bigint[]) u (sid) JOIN duly.tracks t ON t.sid = u.sid AND t.held IS NULL
				CROSS JOIN LATERAL (SELECT b.due, b.seq FROM duly.occurrences b WHERE b.waiting = 3 AND b.sid = t.sid ORDER BY b.due, b.seq LIMIT 1) b
				CROSS JOIN LATERAL (SELECT o.seq FROM duly.occurrences o WHERE o.state < 2 AND o.waiting < 3 AND o.sid = t.sid
					AND o.state = 0 AND o.serial AND (o.due, o.seq) > (b.due, b.seq)) f))`, sids)
	}
	t.later(`UPDATE duly.occurrences SET waiting = CASE WHEN not_before > ? THEN 2 ELSE 1 END WHERE seq = ANY(ARRAY(
			SELECT b.seq FROM unnest(?::bigint[]) u (sid) JOIN duly.tracks t ON t.sid = u.sid AND t.held IS NULL
			CROSS JOIN LATERAL (SELECT b.seq FROM duly.occurrences b WHERE b.waiting = 3 AND b.sid = t.sid ORDER BY b.due, b.seq LIMIT 1) b
			WHERE NOT EXISTS (SELECT 1 FROM duly.occurrences o WHERE o.state < 2 AND o.waiting < 3 AND o.sid = t.sid)))`, now, sids)
}
