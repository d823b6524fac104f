package postgres

import (
	"slices"
	"strings"

	"github.com/duly-dev/duly/store"
)

// carryOut puts in line what the planner decided: inserts the occurrences,
// merges and cancels, and moves the schedules on.
func (f *firing) carryOut() error {
	if len(f.due) == 0 {
		return nil
	}
	fired := map[int64]int64{}
	for _, r := range f.rows {
		f.moved(-1, r.state, 1)
		if r.state == pending || r.state == running {
			fired[r.sid]++
		} else {
			f.skip(r.sid, r.Reason, r.count())
		}
		f.res.Fired = append(f.res.Fired, store.Fired{
			Seq: r.seq, Schedule: r.due.Schedule, Period: r.Period, Due: r.Due, State: r.State, Reason: r.Reason, Count: int(r.count()),
		})
	}
	if len(f.rows) > 0 {
		f.insertRows()
		f.event(store.TopicOccurrences, f.topic())
		f.urgent = slices.ContainsFunc(f.rows, func(r *newRow) bool { return r.state == pending })
	}
	if err := f.mergeAndCancel(); err != nil {
		return err
	}
	f.move(fired)
	f.raiseMark()
	f.event(store.TopicSchedules, f.topic())
	var sids []int64
	for _, d := range f.due {
		if d.settle {
			sids = append(sids, d.sid)
		}
	}
	f.settle(sids, f.now, f.displaces)
	return nil
}

// insertRows puts the rows in line. Those that are claimed at once come first,
// in the order of their claims, and so do their tokens.
func (f *firing) insertRows() {
	if f.claims == nil || len(f.claims.taken) == 0 {
		f.insert(f.rows, f.maker, 0, f.now, nil)
		return
	}
	rows := make([]*newRow, 0, len(f.rows))
	rows = append(rows, f.claims.taken...)
	for _, r := range f.rows {
		if r.state != running {
			rows = append(rows, r)
		}
	}
	f.insert(rows, f.maker, f.claims.holder, f.now, f.claims.granted)
}

// topic names the schedule in an event, where there is one.
func (f *firing) topic() string {
	if len(f.due) == 1 {
		return f.due[0].Schedule
	}
	return ""
}

// mergeAndCancel ends the waiting occurrences that the last new one of a
// schedule takes over, and asks running ones to give way to it.
func (f *firing) mergeAndCancel() error {
	for _, d := range f.due {
		occs := d.firing.Occurrences
		if len(d.firing.Merge) > 0 && len(occs) > 0 {
			into := occs[len(occs)-1].Period
			n, err := f.exec(`UPDATE duly.occurrences SET state = ?, waiting = 0, merged_into = ?, finished_at = ?, reason = ?
				WHERE seq = ANY(?) AND sid = ? AND state = 0 AND attempt = 0`, merged, plain(into), f.now, plain("covered by "+into), d.firing.Merge, d.sid)
			if err != nil {
				return err
			}
			d.merged = n
			f.moved(pending, merged, n)
		}
		if len(d.firing.Cancel) > 0 {
			f.urgent = true
			f.event(store.TopicCancels, d.Schedule)
			f.later("UPDATE duly.occurrences SET cancelled = ? WHERE seq = ANY(?) AND sid = ? AND state = 1 AND cancelled IS NULL",
				"replaced by a later occurrence", d.firing.Cancel, d.sid)
		}
	}
	return nil
}

// move writes where the schedules stand now.
func (f *firing) move(made map[int64]int64) {
	n := len(f.due)
	sids, cursors, next, fired, open, newest := make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n)
	for i, d := range f.due {
		sids[i], cursors[i], next[i], newest[i] = d.sid, micros(d.firing.Cursor), micros(d.firing.NextDue), d.newest
		fired[i], open[i] = made[d.sid], made[d.sid]-d.merged
		if d.halted && (d.Resume == nil || d.firing.ResumeDone) {
			f.later("UPDATE duly.schedules SET resume_from = NULL, resume_to = NULL, resume_by = NULL, resume_policy = NULL WHERE sid = ?", d.sid)
			f.later("UPDATE duly.tracks SET halted = false WHERE sid = ?", d.sid)
		}
	}
	f.later(`UPDATE duly.tracks t SET cursor = u.cursor, next_due = nullif(u.next, 0), fired = t.fired + u.fired, open = t.open + u.open, newest = nullif(u.newest, 0)
		FROM unnest(?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[]) u (sid, cursor, next, fired, open, newest) WHERE t.sid = u.sid`,
		sids, cursors, next, fired, open, newest)
}

// extend adds missed or skipped periods to the newest occurrence of their
// schedule, if that stands for a run of the same kind, and takes out the rows
// that it adds. The period of a run is first..last and its due time that of the
// last.
func (f *firing) extend() error {
	rows := f.rows
	f.rows = nil
	fresh := map[int64]bool{} // schedules that have a newer occurrence by now
	for _, r := range rows {
		if r.Extend && r.due.newest != 0 && !fresh[r.sid] {
			extended, err := f.extendOne(r)
			if err != nil {
				return err
			}
			if extended {
				continue
			}
		}
		fresh[r.sid] = true
		f.rows = append(f.rows, r)
	}
	return nil
}

func (f *firing) extendOne(r *newRow) (bool, error) {
	var period string
	found, err := f.one("SELECT period FROM duly.occurrences WHERE seq = ? AND sid = ? AND state = ? AND count > 1 AND coalesce(reason, '') = ?",
		[]any{r.due.newest, r.sid, r.state, plain(r.Reason)}, func(row row) { period = row.str(0) })
	if err != nil || !found {
		return false, err
	}
	first, _, _ := strings.Cut(period, "..")
	_, last, isRun := strings.Cut(r.Period, "..")
	if !isRun {
		last = r.Period
	}
	period = first + ".." + last
	n, err := f.exec(`UPDATE duly.occurrences SET period = ?1, due = ?2, count = count + ?3, finished_at = ?4
		WHERE seq = ?5 AND NOT EXISTS (SELECT 1 FROM duly.occurrences o WHERE o.period = ?1 AND o.sid = ?6 AND o.seq <> ?5)`,
		plain(period), micros(r.Due), int32(r.count()), f.now, r.due.newest, r.sid)
	if err != nil || n == 0 {
		return false, err
	}
	f.skip(r.sid, r.Reason, r.count())
	f.res.Fired = append(f.res.Fired, store.Fired{
		Seq: r.due.newest, Schedule: r.due.Schedule, Period: period, Due: r.Due, State: r.State, Reason: r.Reason, Count: int(r.count()),
	})
	return true, nil
}
