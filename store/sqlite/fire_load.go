package sqlite

import (
	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// load reads the due schedules and what deciding about them rests on.
func (f *firing) load() error {
	var paused []*dueRow
	bySID := map[int64]*dueRow{}
	err := f.query(bg, `SELECT sid, id, revision, revision_from, definition, wants, anchor, cursor, fired, newest, held, coalesce(paused_at, resume_from)
		FROM schedules INDEXED BY schedules_due WHERE next_due IS NOT NULL AND next_due <= ? ORDER BY next_due, turn LIMIT ?`,
		[]any{f.now, f.req.Limit + 1}, func(r row) error {
			if len(f.due) == f.req.Limit {
				f.res.More = true
				return nil
			}
			d := &dueRow{sid: r.int(0), revisionFrom: r.int(3), wants: r.int(5), newest: r.int(9), held: !r.null(10)}
			d.Schedule, d.Anchor, d.Cursor, d.Fired = r.str(1), instant(r.int(6)), instant(r.int(7)), int(r.int(8))
			d.Revisions = []store.Revision{{Number: r.int(2), Definition: r.int(4), From: instant(d.revisionFrom)}}
			if !r.null(11) {
				paused = append(paused, d)
			}
			bySID[d.sid] = d
			f.due = append(f.due, d)
			return nil
		})
	if err != nil || len(f.due) == 0 {
		return err
	}
	if err := f.raise(counterMark, f.now); err != nil {
		return err
	}
	for _, d := range paused {
		if err := f.loadResume(d); err != nil {
			return err
		}
	}
	if err := f.loadOpen(bySID); err != nil {
		return err
	}
	for _, d := range f.due {
		if err := f.loadMore(d); err != nil {
			return err
		}
	}
	return nil
}

// loadOpen counts unfinished occurrences, all schedules at once.
func (f *firing) loadOpen(bySID map[int64]*dueRow) error {
	sids := make([]int64, 0, len(f.due))
	for _, d := range f.due {
		sids = append(sids, d.sid)
	}
	err := f.in(bg, `SELECT sid, count(*), sum(state = 1) FROM occurrences INDEXED BY occurrences_front
		WHERE state < 2 AND waiting IS NOT 3 AND sid IN (`, ") GROUP BY sid", nil, sids, func(r row) error {
		d := bySID[r.int(0)]
		d.Open, d.Running = int(r.int(1)), int(r.int(2))
		return nil
	})
	if err != nil {
		return err
	}
	return f.in(bg, `SELECT sid, count(*) FROM occurrences INDEXED BY occurrences_blocked
		WHERE waiting = 3 AND sid IN (`, ") GROUP BY sid", nil, sids, func(r row) error {
		bySID[r.int(0)].Open += int(r.int(1))
		return nil
	})
}

// loadMore reads what only some schedules need: older revisions in force, the
// waiting and the running occurrences.
func (f *firing) loadMore(d *dueRow) error {
	if d.revisionFrom > micros(d.Cursor) {
		if err := f.loadRevisions(d); err != nil {
			return err
		}
	}
	if d.wants == wantsWaiting && d.Open > d.Running {
		err := f.query(bg, `SELECT seq, period, covers FROM (
				SELECT seq, due, period, covers FROM occurrences INDEXED BY occurrences_front WHERE state < 2 AND waiting IS NOT 3 AND sid = ? AND state = 0 AND attempt = 0
				UNION ALL
				SELECT seq, due, period, covers FROM occurrences INDEXED BY occurrences_blocked WHERE waiting = 3 AND sid = ? AND attempt = 0
			) ORDER BY due, seq LIMIT 100`, []any{d.sid, d.sid}, func(r row) error {
			d.Waiting = append(d.Waiting, store.Waiting{Seq: r.int(0), Period: r.str(1), Covers: covers(r.str(2), r.str(1))})
			return nil
		})
		if err != nil {
			return err
		}
	}
	if d.wants == wantsActive && d.Running > 0 {
		return f.query(bg, `SELECT seq FROM occurrences INDEXED BY occurrences_front
			WHERE state < 2 AND waiting IS NOT 3 AND sid = ? AND state = 1 ORDER BY due, seq`, []any{d.sid}, func(r row) error {
			d.Active = append(d.Active, r.int(0))
			return nil
		})
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
func (f *firing) loadRevisions(d *dueRow) error {
	d.Revisions = nil
	return f.query(bg, `SELECT number, definition, from_at FROM revisions WHERE sid = ?1 AND number >= coalesce(
			(SELECT max(number) FROM revisions WHERE sid = ?1 AND from_at <= ?2), 0) ORDER BY number`,
		[]any{d.sid, micros(d.Cursor)}, func(r row) error {
			d.Revisions = append(d.Revisions, store.Revision{Number: r.int(0), Definition: r.int(1), From: instant(r.int(2))})
			return nil
		})
}

// loadResume reads what is to be decided about a pause that has ended. One
// whose time is up ends here.
func (f *firing) loadResume(d *dueRow) error {
	ended, err := f.exec(`UPDATE schedules SET resume_from = coalesce(resume_from, paused_at), resume_to = paused_until, resume_by = paused_by,
			resume_policy = paused_policy, paused_at = NULL, paused_by = NULL, paused_why = NULL, paused_until = NULL, paused_policy = NULL
		WHERE sid = ? AND paused_at IS NOT NULL`, d.sid)
	if err != nil {
		return err
	}
	if _, err := f.count(counterPaused, -ended); err != nil {
		return err
	}
	_, err = f.one(bg, "SELECT resume_from, resume_to, resume_policy, resume_by FROM schedules WHERE sid = ?", []any{d.sid}, func(r row) {
		d.Resume = &store.Resume{From: instant(r.int(0)), To: instant(r.int(1)), Policy: duly.CatchUpPolicy(r.str(2)), By: r.str(3)}
	})
	return err
}
