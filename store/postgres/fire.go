package postgres

import (
	"context"
	"slices"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

const defaultLimit = 1000

// Fire implements store.Planner. In the usual case it is two round trips: one
// that takes the due schedules, and, after the decision, one that writes
// everything and commits.
func (s *Store) Fire(ctx context.Context, req store.FireRequest) (store.FireResult, error) {
	if req.Limit <= 0 {
		req.Limit = defaultLimit
	}
	passed, tooLate := false, false // some new ones may not start any more
	var unknown []laneName
	for {
		res, err := write(ctx, s, func(t *tx) (store.FireResult, error) {
			f := &firing{tx: t, req: &req, passed: passed}
			err := f.run()
			unknown = f.unknown
			tooLate = f.claims != nil && slices.ContainsFunc(f.rows, func(r *newRow) bool { return r.state == pending && r.expired(f.now) })
			return f.res, err
		})
		if err == errTimePassed {
			some, err := s.advance(ctx, req.Now, defaultLimit)
			if err != nil {
				return res, err
			}
			passed = !some.more
			continue
		}
		if err == errNewLanes {
			// They are learned in between, since a transaction that holds
			// schedules must not wait for another connection: behind a pooler
			// all of them may be taken by those who wait for the schedules.
			if err := s.names.learn(ctx, s, unknown); err != nil {
				return res, s.classify(err)
			}
			continue
		}
		if err == nil && tooLate {
			_, err = s.advance(ctx, req.Now, defaultLimit)
		}
		return res, err
	}
}

// firing is one Fire under way.
type firing struct {
	*tx
	req     *store.FireRequest
	passed  bool // time has been let pass; see advance
	now     int64
	mark    int64
	ahead   int64 // the highest mark before the clock was set back
	due     []*dueRow
	rows    []*newRow
	maker   int64
	claims  *claiming
	unknown []laneName // lanes without a number
	// displaces: what is ready may have to give way to what is due earlier.
	displaces bool
	res       store.FireResult
}

// dueRow is a schedule that is due, on its way through a firing.
type dueRow struct {
	store.DueSchedule
	sid          int64
	newest       int64
	held         bool
	halted       bool
	wants        int64
	revisionFrom int64
	seq          int64 // for its first new occurrence
	settle       bool  // its order may have changed
	merged       int64
	firing       *store.Firing
}

func (f *firing) run() error {
	if err := f.load(); err != nil {
		return err
	}
	if len(f.due) > 0 {
		if err := f.plan(); err != nil {
			return err
		}
		if err := f.prepare(); err != nil {
			return err
		}
	}
	if f.claims == nil {
		return f.carryOut()
	}
	// What this very call may run is inserted as running at once, if nothing
	// else waits that the claim would have to weigh it against; otherwise it is
	// inserted as pending and claimed like everything else, which comes to the
	// same.
	ready := f.claims.someReady()
	if !ready {
		if err := f.claims.takeNew(f.rows); err != nil {
			return err
		}
	}
	f.claims.addNew()
	if err := f.carryOut(); err != nil {
		return err
	}
	if ready {
		f.claims.include(f.rows)
		if err := f.claims.take(); err != nil {
			return err
		}
	}
	f.res.Claims = f.claims.res.Claims
	return nil
}

// plan has the planner decide.
func (f *firing) plan() error {
	due := make([]store.DueSchedule, len(f.due))
	for i, d := range f.due {
		due[i] = d.DueSchedule
		due[i].Ahead = instant(f.ahead)
	}
	firings, err := f.decide(due)
	if err != nil {
		return err
	}
	f.res.Schedules = len(firings)
	f.res.More = f.res.More || len(firings) < len(due)
	for i := range firings {
		f.due[i].firing = &firings[i]
		if next := micros(firings[i].NextDue); next != 0 && next <= f.now {
			f.res.More = true
		}
	}
	f.due = f.due[:len(firings)]
	return nil
}

// prepare makes the rows of the new occurrences, not yet inserted.
func (f *firing) prepare() (err error) {
	if err := f.learnLanes(); err != nil {
		return err
	}
	for _, d := range f.due {
		busy := d.Open > len(d.firing.Merge) || d.held
		for i := range d.firing.Occurrences {
			occ := &d.firing.Occurrences[i]
			if !duly.CanMove("", duly.StepFire, occ.State) {
				return duly.Errorf(duly.CodeInternal, "the planner made %s@%s %q", d.Schedule, occ.Period, occ.State)
			}
			r := &newRow{NewOccurrence: occ, due: d, schedule: d.Schedule, sid: d.sid, maker: f.maker, state: stateCode(occ.State)}
			r.laneNumber, _ = f.s.names.lane(laneName{occ.Capability, occ.Queue})
			r.wait(f.now, busy)
			busy = busy || r.state == pending
			f.rows = append(f.rows, r)
		}
		if len(d.firing.Merge) > 0 || d.Open > 0 {
			d.settle, f.displaces = true, true
		}
	}
	if err := f.extend(); err != nil {
		return err
	}
	if f.careful {
		if err := f.dropExisting(); err != nil {
			return err
		}
	}
	return f.number()
}

// learnLanes sees to it that all lanes of the new occurrences have a number.
func (f *firing) learnLanes() error {
	var unknown []laneName
	for _, d := range f.due {
		for _, occ := range d.firing.Occurrences {
			name := laneName{occ.Capability, occ.Queue}
			if _, known := f.s.names.lane(name); !known && !slices.Contains(unknown, name) {
				unknown = append(unknown, name)
			}
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	f.unknown = unknown
	return errNewLanes
}

// errNewLanes: the firing makes occurrences of lanes that have no number yet.
var errNewLanes error = &duly.Error{Code: duly.CodeInternal, Message: "new lanes"}

// number gives the new rows their seqs, and chains those of a schedule. Each
// due schedule came with one.
func (f *firing) number() error {
	var spare []int64
	missing := 0
	last := (*dueRow)(nil)
	for _, r := range f.rows {
		if r.due == last {
			missing++
		}
		last = r.due
	}
	if missing > 0 {
		if err := f.query("SELECT nextval('duly.seqs') FROM generate_series(1, ?)", []any{missing}, func(r row) error {
			spare = append(spare, r.int(0))
			return nil
		}); err != nil {
			return err
		}
		slices.Sort(spare)
	}
	last = nil
	for _, r := range f.rows {
		if r.due != last {
			r.seq = r.due.seq
		} else {
			r.seq, spare = spare[0], spare[1:]
		}
		last = r.due
		r.prev, r.due.newest = r.due.newest, r.seq
	}
	return nil
}

// dropExisting takes out what exists already. The schedules are locked, so that
// nobody else can make any meanwhile.
func (f *firing) dropExisting() error {
	existing, err := f.existingRows(f.rows)
	if err != nil {
		return err
	}
	rows := f.rows
	f.rows = nil
	for i, r := range rows {
		if !existing[i] {
			f.rows = append(f.rows, r)
			continue
		}
		// What was to wait for it must not wait for ever, and what it was to
		// take over stays.
		r.due.settle = true
		if occs := r.due.firing.Occurrences; r.NewOccurrence == &occs[len(occs)-1] {
			r.due.firing.Merge, r.due.firing.Cancel = nil, nil
		}
	}
	return nil
}

// wait says what a new occurrence waits for. busy: another one of its schedule
// is open, or holds it.
func (r *newRow) wait(now int64, busy bool) {
	switch {
	case r.state != pending:
	case busy && r.Serial:
		r.waiting = waitEarlier
	case micros(r.NotBefore) > now:
		r.waiting = waitTime
	default:
		r.waiting = waitSlot
	}
}
