package sqlite

import (
	"context"
	"slices"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

const defaultLimit = 1000

// Fire implements store.Planner.
func (s *Store) Fire(ctx context.Context, req store.FireRequest) (store.FireResult, error) {
	if req.Limit <= 0 {
		req.Limit = defaultLimit
	}
	return write(ctx, s, func(t *tx) (store.FireResult, error) {
		if err := t.committed(); err != nil {
			return store.FireResult{}, err
		}
		f := &firing{tx: t, req: &req, now: at(req.Now), settle: map[int64]bool{}}
		err := f.run()
		return f.res, err
	})
}

// firing is one Fire under way.
type firing struct {
	*tx
	req    *store.FireRequest
	now    int64
	due    []*dueRow
	settle map[int64]bool // schedules whose order may have changed
	made   [len(stateCodes)]int64
	res    store.FireResult
}

func (f *firing) run() error {
	f.res.Now = instant(f.now)
	if err := f.clock(); err != nil {
		return err
	}
	if err := f.load(); err != nil {
		return err
	}
	if len(f.due) > 0 {
		if err := f.plan(); err != nil {
			return err
		}
	}
	return f.claim()
}

// plan has the planner decide and carries it out, but for the claims.
func (f *firing) plan() error {
	ahead, err := f.count(counterAhead, 0)
	if err != nil {
		return err
	}
	due := make([]store.DueSchedule, len(f.due))
	for i, d := range f.due {
		due[i] = d.DueSchedule
		due[i].Ahead = instant(ahead)
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
	return f.prepare()
}

// prepare makes the rows of the new occurrences, not yet inserted.
func (f *firing) prepare() error {
	maker, err := f.maker(f.req.Node)
	if err != nil {
		return err
	}
	first, err := f.count(counterSeq, 0)
	if err != nil {
		return err
	}
	seq := first
	for _, d := range f.due {
		busy := d.Open > len(d.firing.Merge) || d.held
		d.contended = len(d.firing.Merge) > 0
		for i := range d.firing.Occurrences {
			o := &d.firing.Occurrences[i]
			r := &newRow{NewOccurrence: o, due: d, sid: d.sid, maker: maker, state: stateCode(o.State)}
			if !duly.CanMove("", duly.StepFire, o.State) {
				return duly.Errorf(duly.CodeInternal, "the planner made %s@%s %q", d.Schedule, o.Period, o.State)
			}
			if r.lane, r.queue, err = f.lane(o.Capability, o.Queue); err != nil {
				return err
			}
			r.wait(f.now, busy)
			d.contended = d.contended || o.Serial && (d.Open > 0 || d.held)
			busy = busy || r.state == pending
			seq++
			r.seq = seq
			d.rows = append(d.rows, r)
		}
		if d.contended {
			f.settle[d.sid] = true
		}
	}
	_, err = f.reserve(counterSeq, int(seq-first))
	return err
}

// claim carries out what was planned and hands out work, if it is asked to.
// What this very call may run is inserted as running at once, chosen together
// with what is ready in the file by the rules of every claim. Schedules of
// which something is open come before that, since their new occurrences may
// change who is first.
func (f *firing) claim() error {
	var contended, free []*dueRow
	var rows []*newRow
	for _, d := range f.due {
		if d.contended {
			contended = append(contended, d)
		} else {
			free = append(free, d)
			rows = append(rows, d.rows...)
		}
	}
	if err := f.carryOut(contended); err != nil {
		return err
	}
	if f.req.Claim == nil || f.req.Claim.Max <= 0 {
		return inOrder(func() error { return f.carryOut(free) }, f.close)
	}
	c, err := newClaiming(f.tx, f.now, f.req.Claim)
	if err != nil {
		return err
	}
	err = inOrder(
		func() error { return c.choose(rows) },
		func() error { return f.carryOut(free) },
		f.close, c.hand,
	)
	if err == nil && c.leftOver { // some of those chosen turned out to exist
		err = inOrder(func() error { return c.choose(nil) }, c.hand)
	}
	f.res.Claims = c.res.Claims
	return err
}

// inOrder takes steps until one fails.
func inOrder(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// carryOut inserts occurrences, merges and cancels, moves schedules on and
// keeps their order.
func (f *firing) carryOut(due []*dueRow) error {
	settle, n := map[int64]bool{}, 0
	for _, d := range due {
		n += len(d.rows)
	}
	f.res.Fired = slices.Grow(f.res.Fired, n)
	for _, d := range due {
		if err := f.carryOutOne(d); err != nil {
			return err
		}
		if f.settle[d.sid] {
			settle[d.sid] = true
		}
	}
	return f.settleAll(settle, f.now)
}

// close counts and tells what was made.
func (f *firing) close() error {
	for state, n := range f.made {
		if n != 0 {
			if err := f.moved(-1, int64(state), n); err != nil {
				return err
			}
		}
	}
	if len(f.due) > 0 {
		f.event(store.TopicSchedules, f.due[0].topic(len(f.due)))
	}
	if len(f.res.Fired) > 0 {
		f.event(store.TopicOccurrences, f.due[0].topic(len(f.due)))
	}
	return nil
}

func (f *firing) carryOutOne(d *dueRow) error {
	fired := int64(0)
	for _, r := range d.rows {
		if r.Extend {
			extended, err := f.extend(d, r)
			if err != nil {
				return err
			}
			if extended {
				continue
			}
		}
		inserted, err := f.insert(r, d.newest, f.now)
		if err != nil {
			return err
		}
		if !inserted { // it exists; what was to wait for it must not wait for ever
			f.settle[d.sid] = true
			continue
		}
		d.newest = r.seq
		f.made[r.state]++
		if r.state == pending || r.state == running {
			fired++
		} else {
			f.skip(d.sid, r.Reason, r.count())
		}
		f.res.Fired = append(f.res.Fired, store.Fired{
			Seq: r.seq, Schedule: d.Schedule, Period: r.Period, Due: r.Due, State: r.State, Reason: r.Reason, Count: int(r.count()),
		})
	}
	if err := f.merge(d); err != nil {
		return err
	}
	if len(d.firing.Cancel) > 0 {
		f.event(store.TopicCancels, d.Schedule)
	}
	for _, seq := range d.firing.Cancel {
		if _, err := f.exec("UPDATE occurrences SET cancelled = ? WHERE seq = ? AND state = 1 AND cancelled IS NULL", "replaced by a later occurrence", seq); err != nil {
			return err
		}
	}
	return f.move(d, fired)
}

// merge ends the waiting occurrences that the last new one takes over.
func (f *firing) merge(d *dueRow) error {
	if len(d.firing.Merge) == 0 || len(d.rows) == 0 || d.rows[len(d.rows)-1].existed {
		return nil
	}
	into := d.rows[len(d.rows)-1].Period
	for _, seq := range d.firing.Merge {
		n, err := f.exec(`UPDATE occurrences SET state = ?, waiting = NULL, merged_into = ?, finished_at = ?, reason = ?
			WHERE seq = ? AND sid = ? AND state = 0 AND attempt = 0`, merged, into, f.now, "covered by "+into, seq, d.sid)
		if err != nil {
			return err
		}
		if err := f.moved(pending, merged, n); err != nil {
			return err
		}
	}
	return nil
}

// move writes where the schedule stands now.
func (f *firing) move(d *dueRow, fired int64) error {
	next := opt(micros(d.firing.NextDue))
	_, err := f.exec("UPDATE schedules SET cursor = ?, next_due = ?, fired = fired + ?, newest = ? WHERE sid = ?",
		micros(d.firing.Cursor), next, fired, opt(d.newest), d.sid)
	if err != nil || d.Resume == nil {
		return err
	}
	if d.firing.ResumeDone {
		_, err = f.exec("UPDATE schedules SET resume_from = NULL, resume_to = NULL, resume_by = NULL, resume_policy = NULL WHERE sid = ?", d.sid)
	}
	return err
}

// clock sets schedules and leases back after the store's clock was.
func (f *firing) clock() error {
	mark, err := f.count(counterMark, 0)
	if err != nil {
		return err
	}
	back := mark - f.now
	if back <= store.ClockTolerance.Microseconds() {
		return nil
	}
	f.res.ClockSetBack = span(back)
	if err := f.raise(counterAhead, mark); err != nil {
		return err
	}
	for _, step := range []string{
		`UPDATE schedules SET cursor = ?1, next_due = CASE WHEN paused_at IS NULL THEN ?1 ELSE next_due END,
			paused_at = min(paused_at, ?1), resume_from = min(resume_from, ?1), resume_to = min(resume_to, ?1)
			WHERE cursor > ?1 AND removed_at IS NULL`,
		"UPDATE occurrences SET lease_until = ?1 + coalesce(granted, lease) WHERE state = 1 AND lease_until > ?1 + coalesce(granted, lease)",
		"UPDATE leases SET until = ?1 + ttl WHERE until > ?1 + ttl",
		"UPDATE waiters SET until = ?1 + wait WHERE until > ?1 + wait",
		"UPDATE nodes SET until = ?1 + ttl WHERE ended IS NULL AND until > ?1 + ttl",
	} {
		if _, err := f.exec(step, f.now); err != nil {
			return err
		}
	}
	_, err = f.exec("UPDATE occurrences SET not_before = max(?1, not_before - ?2) WHERE waiting IN (2, 3) AND not_before > ?1", f.now, back)
	if err != nil {
		return err
	}
	_, err = f.count(counterMark, f.now-mark)
	return err
}

// topic names a schedule in an event about n of them.
func (d *dueRow) topic(n int) string {
	if n == 1 {
		return d.Schedule
	}
	return ""
}

// dueRow is a schedule that is due, on its way through a firing.
type dueRow struct {
	store.DueSchedule
	sid          int64
	newest       int64
	held         bool
	wants        int64
	revisionFrom int64
	firing       *store.Firing
	rows         []*newRow
	// contended: what is made may change which of its occurrences is first.
	contended bool
}

// count of the periods that a row stands for.
func (r *newRow) count() int64 { return max(1, int64(r.Count)) }

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

// expired reports whether it may not start any more.
func (r *newRow) expired(now int64) bool {
	by := micros(r.StartBy)
	return by != 0 && by < now
}

// leaseOf is how long ownership lasts.
func (r *newRow) leaseOf() time.Duration {
	if r.Lease <= 0 {
		return duly.DefaultLease.Std()
	}
	return r.Lease
}
