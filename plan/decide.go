package plan

import (
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

const (
	// Grace is how late after due an occurrence still counts as made on time.
	Grace = 5 * time.Second
	// MaxPage is how many occurrences one decision makes at most, give or take
	// those that are due at the very same instant or within Grace.
	MaxPage = 500
	// LongRun is how many skipped or missed occurrences in a row are recorded
	// one by one; more become one record.
	LongRun = 25
	// MaxCovers is how many periods one occurrence covers at most.
	MaxCovers = 2000

	// maxScan is how many dues one decision lists at most.
	maxScan = 20_000
	// retryPlan is when a schedule is looked at again whose definition cannot
	// be had.
	retryPlan = time.Minute
)

// limits are the constants above, for tests to turn.
type limits struct{ page, scan int }

// Decide says what a schedule owes at now and where it stands then. defs
// answers the plan of a definition, nil where it cannot be had; then nothing is
// decided, and the schedule is looked at again a minute later.
//
// It is called again with what it left: a Firing whose NextDue is now has more
// to come; and with what it asked for. The same question always gets the same
// answer.
func Decide(now time.Time, s store.DueSchedule, defs func(definition int64) *Plan) store.Firing {
	return decide(now, s, defs, limits{page: MaxPage, scan: maxScan})
}

func decide(now time.Time, s store.DueSchedule, defs func(int64) *Plan, lim limits) store.Firing {
	line, ok := trace(now, s, defs)
	if !ok || len(line) == 0 {
		return store.Firing{Schedule: s.Schedule, Cursor: s.Cursor, NextDue: now.Add(retryPlan)}
	}
	d := decision{
		now: now, s: s, lim: lim, line: line, def: &line.newest().plan.Def,
		firing: store.Firing{Schedule: s.Schedule, Cursor: now}, open: s.Open,
	}
	d.ledger.d = &d
	if now.After(s.Cursor) && !d.over() {
		d.stretches()
		d.close()
	}
	if len(d.ask) > 0 {
		return store.Firing{Schedule: s.Schedule, Cursor: s.Cursor, NextDue: now, Ask: d.ask}
	}
	d.firing.Cursor = later(d.firing.Cursor, s.Cursor)
	switch {
	case d.over():
		d.firing.ResumeDone = s.Resume != nil
	case d.full:
		d.firing.NextDue = now
	default:
		d.firing.ResumeDone = s.Resume != nil && !s.Resume.To.After(now)
		d.firing.NextDue = line.next(d.firing.Cursor)
	}
	return d.firing
}

// decision is the work of one call of Decide.
type decision struct {
	now  time.Time
	s    store.DueSchedule
	lim  limits
	line timeline
	def  *duly.Schedule // of the newest revision, whose policies hold

	firing store.Firing
	ledger ledger
	open   int  // unfinished occurrences, those of this decision too
	made   int  // occurrences to be done in this decision
	listed int  // dues that were looked at
	full   bool // a bound was reached; the cursor says how far it got

	held *held
	ask  []string    // periods of which it is not known whether they exist
	gaps []time.Time // where dues exist or are held, in order; no run of records stands for them
}

// over reports whether the schedule's limit is used up.
func (d *decision) over() bool {
	return d.def.Limit > 0 && d.s.Fired+d.made >= d.def.Limit
}

// stretches cuts the time that is owed into what came before a pause, in it and
// after it, and decides on each.
func (d *decision) stretches() {
	from := d.s.Cursor
	if r := d.s.Resume; r != nil {
		begin, end := earlier(later(r.From, from), d.now), earlier(later(r.To, from), d.now)
		if !d.catchUp(stretch{from: from, to: begin, policy: d.def.CatchUp.Policy, unwanted: duly.Missed}) ||
			!d.catchUp(stretch{from: begin, to: end, policy: r.Policy, unwanted: duly.Skipped, paused: "paused by " + r.By}) {
			return
		}
		from = end
	}
	d.catchUp(stretch{from: from, to: d.now, policy: d.def.CatchUp.Policy, unwanted: duly.Missed})
}

// stop notes that a bound was reached, with all dues up to an instant decided.
func (d *decision) stop(at time.Time) {
	d.full = true
	d.firing.Cursor = at
}

// close completes the firing with what is still in hand.
func (d *decision) close() {
	d.release()
	d.ledger.flush()
	if len(d.line) > 1 {
		d.changes()
	}
	d.finish()
}
