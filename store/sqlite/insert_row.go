package sqlite

import (
	"strings"

	"github.com/duly-dev/duly/store"
)

// newRow is an occurrence on its way into the file.
type newRow struct {
	*store.NewOccurrence
	due *dueRow // in a firing

	sid, seq    int64
	state       int64
	waiting     int64
	lane, queue int64
	maker       int64
	payload     string
	token       int64 // set where it is claimed at once
	holder      int64
	existed     bool
}

const (
	insertHead = `INSERT INTO occurrences (seq, sid, period, due, state, origin, revision, definition, lane, priority, lease, serial, prev,
		interval_start, maker, created_at, attempt, tries`
	insertTail = ` ON CONFLICT (period, sid) DO NOTHING`
	// insertRunning is for what is claimed at once and has nothing out of the
	// ordinary; insertAny for everything.
	insertRunning = insertHead + `, token, holder, started_at, lease_until)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)` + insertTail
	insertAny = insertHead + `, token, holder, started_at, lease_until, waiting, queue, not_before, start_by, finished_at, covers, count, reason, payload)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)` + insertTail
)

// insert makes an occurrence; it answers false where schedule@period exists.
func (t *tx) insert(r *newRow, prev, now int64) (bool, error) {
	var attempt int64
	var token, holder, startedAt, leaseUntil, waiting, finishedAt, coversList, count any
	lease := r.leaseOf().Microseconds()
	switch r.state {
	case running:
		attempt, token, holder, startedAt, leaseUntil = 1, r.token, opt(r.holder), now, now+lease
	case pending:
		waiting = r.waiting
	default:
		finishedAt = now
	}
	if len(r.Covers) > 1 || len(r.Covers) == 1 && r.Covers[0] != r.Period {
		coversList = list(r.Covers)
	}
	if r.Count > 1 {
		count = r.Count
	}
	args := []any{
		r.seq, r.sid, r.Period, micros(r.Due), r.state, originCode(r.Origin), r.Revision, r.Definition, r.lane, r.Priority, lease, r.Serial, opt(prev),
		opt(micros(r.IntervalStart)), opt(r.maker), now, attempt, attempt, token, holder, startedAt, leaseUntil,
	}
	query := insertRunning
	if r.state != running || r.queue != 0 || coversList != nil || r.Reason != "" || r.payload != "" || !r.StartBy.IsZero() || !r.NotBefore.IsZero() {
		query = insertAny
		args = append(args, waiting, opt(r.queue), opt(micros(r.NotBefore)), opt(micros(r.StartBy)), finishedAt, coversList, count, opt(r.Reason), opt(r.payload))
	}
	n, err := t.exec(query, args...)
	r.existed = n == 0
	return n > 0, err
}

// extend adds missed or skipped periods to the schedule's newest occurrence,
// if that stands for a run of the same kind. The period of a run is
// first..last and its due time that of the last.
func (f *firing) extend(d *dueRow, r *newRow) (bool, error) {
	if d.newest == 0 {
		return false, nil
	}
	var period string
	found, err := f.one(bg, `SELECT period FROM occurrences WHERE seq = ? AND sid = ? AND state = ? AND count > 1 AND coalesce(reason, '') = ?`,
		[]any{d.newest, d.sid, r.state, r.Reason}, func(row row) { period = row.str(0) })
	if err != nil || !found {
		return false, err
	}
	first, _, _ := strings.Cut(period, "..")
	_, last, isRun := strings.Cut(r.Period, "..")
	if !isRun {
		last = r.Period
	}
	period = first + ".." + last
	n, err := f.exec(`UPDATE OR IGNORE occurrences SET period = ?, due = ?, count = count + ?, finished_at = ? WHERE seq = ?`,
		period, micros(r.Due), r.count(), f.now, d.newest)
	if err != nil || n == 0 {
		return false, err
	}
	f.skip(d.sid, r.Reason, r.count())
	f.res.Fired = append(f.res.Fired, store.Fired{
		Seq: d.newest, Schedule: d.Schedule, Period: period, Due: r.Due, State: r.State, Reason: r.Reason, Count: int(r.count()),
	})
	return true, nil
}
