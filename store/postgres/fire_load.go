package postgres

import (
	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// selectDue takes due schedules that nobody else holds. Each comes with a
// seq for its next occurrence, handed out under the schedule's lock, so that they
// grow along with it; what is not used is skipped.
const selectDue = `SELECT t.sid, t.id, t.revision, t.revision_from, t.definition, t.wants, t.anchor, t.cursor, t.fired, t.newest, t.held, t.halted, t.open,
		nextval('duly.seqs')
	FROM (SELECT * FROM duly.tracks t WHERE t.next_due IS NOT NULL AND t.next_due <= coalesce(nullif(?1::bigint, 0), duly.clock())
		ORDER BY t.next_due, t.turn LIMIT ?2 FOR NO KEY UPDATE SKIP LOCKED) t`

// load takes the due schedules, and reads what deciding about them rests on.
func (f *firing) load() (err error) {
	given := micros(f.req.Now)
	f.ask("SELECT coalesce(nullif(?::bigint, 0), duly.clock()), mark, ahead FROM duly.marks", []any{given}, func(r row) error {
		f.now, f.mark, f.ahead = r.int(0), r.int(1), r.int(2)
		return nil
	})
	f.ask(selectDue, []any{given, f.req.Limit + 1}, f.takeDue)
	if f.req.Claim != nil && f.req.Claim.Max > 0 {
		f.claims = newClaiming(f.tx, f.req.Claim)
		f.claims.look(given)
	}
	if f.maker, err = f.tx.maker(f.req.Node); err != nil {
		return err
	}
	if err := f.send(); err != nil {
		return err
	}
	f.res.Now = instant(f.now)
	if f.claims != nil {
		f.claims.now = f.now
		if f.claims.holder, err = f.tx.maker(f.req.Claim.Node); err != nil {
			return err
		}
		if f.claims.timePassed && !f.passed {
			return errTimePassed
		}
	}
	if f.mark-f.now > store.ClockTolerance.Microseconds() {
		if err := f.setBack(); err != nil {
			return err
		}
	}
	if len(f.due) == 0 {
		return nil
	}
	return f.loadMore()
}

func (f *firing) takeDue(r row) error {
	if len(f.due) == f.req.Limit {
		f.res.More = true
		return nil
	}
	d := &dueRow{
		sid: r.int(0), revisionFrom: r.int(3), wants: r.int(5), newest: r.int(9), held: !r.null(10), halted: r.bool(11), seq: r.int(13),
	}
	d.Schedule, d.Anchor, d.Cursor, d.Fired, d.Open = r.str(1), instant(r.int(6)), instant(r.int(7)), int(r.int(8)), int(r.int(12))
	d.Revisions = []store.Revision{{Number: r.int(2), Definition: r.int(4), From: instant(d.revisionFrom)}}
	f.due = append(f.due, d)
	return nil
}

// markStep is how much later than the mark a firing must be to raise it. All
// nodes share the row, so that it is not written with every firing.
const markStep = 250_000

func (f *firing) raiseMark() {
	if f.now-f.mark >= markStep {
		f.later("UPDATE duly.marks SET mark = ?1 WHERE mark < ?1", f.now)
	}
}

// setBack sets schedules and leases back after the store's clock was, and takes
// what is due then.
func (f *firing) setBack() error {
	f.res.ClockSetBack = span(f.mark - f.now)
	// Cursors may lie somewhat beyond the mark, which few firings write.
	f.ask("UPDATE duly.marks SET ahead = greatest(ahead, mark, (SELECT max(cursor) FROM duly.tracks)) RETURNING ahead", nil, func(r row) error {
		f.ahead = r.int(0)
		return nil
	})
	for _, step := range []string{
		// CASE, since least takes NULL, which is not paused, for the greatest.
		`UPDATE duly.schedules s SET paused_at = CASE WHEN paused_at > ?1 THEN ?1 ELSE paused_at END,
				resume_from = CASE WHEN resume_from > ?1 THEN ?1 ELSE resume_from END, resume_to = CASE WHEN resume_to > ?1 THEN ?1 ELSE resume_to END
			FROM duly.tracks t WHERE t.sid = s.sid AND t.cursor > ?1 AND s.removed_at IS NULL AND coalesce(paused_at, resume_from) IS NOT NULL`,
		`UPDATE duly.tracks t SET cursor = ?1, next_due = CASE WHEN s.paused_at IS NULL THEN ?1 ELSE next_due END
			FROM duly.schedules s WHERE s.sid = t.sid AND t.cursor > ?1 AND s.removed_at IS NULL`,
		"UPDATE duly.occurrences SET lease_until = ?1 + coalesce(granted, lease) WHERE state = 1 AND lease_until > ?1 + coalesce(granted, lease)",
		"UPDATE duly.leases SET until = ?1 + ttl WHERE until > ?1 + ttl",
		"UPDATE duly.waiters SET until = ?1 + wait WHERE until > ?1 + wait",
		"UPDATE duly.nodes SET until = ?1 + ttl WHERE ended IS NULL AND until > ?1 + ttl",
		"UPDATE duly.marks SET mark = ?1",
	} {
		f.later(step, f.now)
	}
	f.later("UPDATE duly.occurrences SET not_before = greatest(?1, not_before - ?2) WHERE waiting IN (2, 3) AND not_before > ?1", f.now, f.mark-f.now)
	f.mark, f.due, f.res.More = f.now, nil, false
	return f.query(selectDue, []any{f.now, f.req.Limit + 1}, f.takeDue)
}

// loadMore reads what only some schedules need: what runs and waits, older
// revisions in force, and pauses that have ended.
func (f *firing) loadMore() error {
	bySID := map[int64]*dueRow{}
	var busy, waiting, active []int64
	for _, d := range f.due {
		if d.Open > 0 {
			busy = append(busy, d.sid)
			switch d.wants {
			case wantsWaiting:
				waiting = append(waiting, d.sid)
			case wantsActive:
				active = append(active, d.sid)
			}
		}
		bySID[d.sid] = d
		if d.revisionFrom > micros(d.Cursor) {
			f.loadRevisions(d)
		}
		if d.halted {
			f.loadResume(d)
		}
	}
	if len(busy) > 0 {
		f.ask("SELECT o.sid, count(*) FROM duly.occurrences o WHERE o.state < 2 AND o.waiting < 3 AND o.state = 1 AND o.sid = ANY(?) GROUP BY o.sid", []any{busy}, func(r row) error {
			bySID[r.int(0)].Running = int(r.int(1))
			return nil
		})
	}
	if len(waiting) > 0 {
		// What is being claimed at this moment does not wait any more.
		f.ask(`SELECT w.sid, w.seq, w.period, w.covers FROM unnest(?::bigint[]) u (sid) CROSS JOIN LATERAL (SELECT * FROM duly.occurrences o
				WHERE (o.state < 2 AND o.waiting < 3 OR o.waiting = 3) AND o.sid = u.sid AND o.state = 0 AND o.attempt = 0
				ORDER BY o.due, o.seq LIMIT 100 FOR NO KEY UPDATE SKIP LOCKED) w ORDER BY w.sid, w.due, w.seq`, []any{waiting}, func(r row) error {
			d := bySID[r.int(0)]
			d.Waiting = append(d.Waiting, store.Waiting{Seq: r.int(1), Period: r.str(2), Covers: covers(r.str(3), r.str(2))})
			return nil
		})
	}
	if len(active) > 0 {
		f.ask(`SELECT o.sid, o.seq FROM duly.occurrences o WHERE o.state < 2 AND o.waiting < 3 AND o.state = 1 AND o.sid = ANY(?) ORDER BY o.sid, o.due, o.seq`, []any{active}, func(r row) error {
			d := bySID[r.int(0)]
			d.Active = append(d.Active, r.int(1))
			return nil
		})
	}
	if len(f.steps) > 0 {
		return f.send()
	}
	return nil
}

// covers reads a list of periods, an occurrence's own where none is kept.
func covers(text, period string) []string {
	if text == "" {
		return []string{period}
	}
	return unlist(text)
}

// loadRevisions reads the revisions in force after the cursor: the one that
// held at the cursor, and all later ones.
func (f *firing) loadRevisions(d *dueRow) {
	d.Revisions = nil
	f.ask(`SELECT number, definition, from_at FROM duly.revisions WHERE sid = ?1 AND number >= coalesce(
			(SELECT max(number) FROM duly.revisions WHERE sid = ?1 AND from_at <= ?2), 0) ORDER BY number`,
		[]any{d.sid, micros(d.Cursor)}, func(r row) error {
			d.Revisions = append(d.Revisions, store.Revision{Number: r.int(0), Definition: r.int(1), From: instant(r.int(2))})
			return nil
		})
}

// loadResume reads what is to be decided about a pause that has ended. One
// whose time is up ends here.
func (f *firing) loadResume(d *dueRow) {
	f.ask(`UPDATE duly.schedules SET resume_from = coalesce(resume_from, paused_at), resume_to = paused_until, resume_by = paused_by,
			resume_policy = paused_policy, paused_at = NULL, paused_by = NULL, paused_why = NULL, paused_until = NULL, paused_policy = NULL
		WHERE sid = ? AND paused_at IS NOT NULL RETURNING sid`, []any{d.sid}, func(row) error {
		f.tally[tallyPaused]--
		return nil
	})
	f.ask("SELECT resume_from, resume_to, resume_policy, resume_by FROM duly.schedules WHERE sid = ? AND resume_from IS NOT NULL", []any{d.sid}, func(r row) error {
		d.Resume = &store.Resume{From: instant(r.int(0)), To: instant(r.int(1)), Policy: duly.CatchUpPolicy(r.str(2)), By: r.str(3)}
		return nil
	})
}
