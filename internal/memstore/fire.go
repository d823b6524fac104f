package memstore

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

const (
	defaultLimit = 1000
	// maxWaiting is how many waiting occurrences a planner is told of.
	maxWaiting = 100
)

// Fire implements store.Planner.
func (s *Store) Fire(ctx context.Context, req store.FireRequest) (store.FireResult, error) {
	if req.Limit <= 0 {
		req.Limit = defaultLimit
	}
	return step(ctx, s, func() (store.FireResult, error) {
		f := &firing{Store: s, req: &req, at: s.now(req.Now)}
		err := f.run()
		return f.res, err
	})
}

// firing is one Fire under way.
type firing struct {
	*Store
	req *store.FireRequest
	at  time.Time
	res store.FireResult
}

func (f *firing) run() error {
	f.res.Now = f.at
	f.clock()
	due := f.due()
	told := make([]store.DueSchedule, len(due))
	for i, sc := range due {
		told[i] = f.tell(sc)
	}
	if len(due) > 0 {
		firings, err := f.decide(due, told)
		if err != nil {
			return err
		}
		f.res.Schedules = len(firings)
		f.res.More = f.res.More || len(firings) < len(due)
		for i := range firings {
			f.carryOut(due[i], &told[i], &firings[i])
		}
	}
	if f.req.Claim != nil {
		f.res.Claims = f.claim(f.req.Claim, f.at).Claims
	}
	return nil
}

// decide has the planner decide, and answers what it asks.
func (f *firing) decide(due []*schedule, told []store.DueSchedule) ([]store.Firing, error) {
	for {
		firings := f.req.Plan(f.at, told)
		if err := check(told, firings); err != nil {
			return nil, err
		}
		asked := false
		for i, fi := range firings {
			if len(fi.Ask) > 0 {
				asked = true
				if err := f.exists(due[i], fi.Ask, &told[i]); err != nil {
					return nil, err
				}
			}
		}
		if !asked {
			return firings, nil
		}
	}
}

// exists tells which periods have an occurrence, or one that covers them.
func (f *firing) exists(sc *schedule, periods []string, told *store.DueSchedule) error {
	exists := map[string]bool{}
	maps.Copy(exists, told.Exists)
	for _, p := range periods {
		exists[p] = sc.occurrences[p] != nil && !f.opt.Bugs.FireWithoutUniqueKey
	}
	for _, o := range sc.chain {
		if o.Due.After(told.Cursor) && len(o.Covers) > 1 {
			for _, p := range o.Covers {
				if _, asked := exists[p]; asked {
					exists[p] = true
				}
			}
		}
	}
	if len(exists) == len(told.Exists) {
		return duly.Errorf(duly.CodeInternal, "the planner asks again what exists of %s", told.Schedule)
	}
	told.Exists = exists
	return nil
}

// clock sets schedules and leases back after the store's clock was.
func (f *firing) clock() {
	back := f.mark.Sub(f.at)
	if back <= store.ClockTolerance || f.opt.Bugs.ClockBackUnnoticed {
		f.mark = later(f.mark, f.at)
		return
	}
	if !f.opt.Bugs.ClockBackForgotten {
		f.ahead = later(f.ahead, f.mark)
	}
	f.res.ClockSetBack, f.mark = back, f.at
	for _, id := range f.ids() {
		sc := f.schedules[id]
		if !sc.cursor.After(f.at) || !sc.removed.IsZero() {
			continue
		}
		sc.cursor = f.at
		if sc.paused == nil {
			sc.next = f.at
		} else {
			sc.paused.At = earlier(sc.paused.At, f.at)
		}
		if r := sc.resume; r != nil {
			r.From, r.To = earlier(r.From, f.at), earlier(r.To, f.at)
		}
	}
	for _, o := range f.open {
		if a := o.newest(); o.State == duly.Running {
			a.LeaseUntil = earlier(a.LeaseUntil, f.at.Add(cmp.Or(a.granted, o.place.Lease)))
		} else if o.NotBefore.After(f.at) {
			o.NotBefore = later(f.at, o.NotBefore.Add(-back))
		}
	}
	for _, l := range f.leases {
		l.until = earlier(l.until, f.at.Add(l.ttl))
		for _, w := range l.waiters {
			w.until = earlier(w.until, f.at.Add(w.wait))
		}
	}
	for _, n := range f.nodes {
		n.Until = earlier(n.Until, f.at.Add(n.TTL))
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// due lists the schedules whose time has come, the earliest first.
func (f *firing) due() []*schedule {
	var all []*schedule
	for _, sc := range f.schedules {
		if sc.removed.IsZero() && !sc.next.IsZero() && !sc.next.After(f.at) {
			all = append(all, sc)
		}
	}
	slices.SortFunc(all, func(a, b *schedule) int {
		return cmp.Or(a.next.Compare(b.next), cmp.Compare(a.turn, b.turn), cmp.Compare(a.id, b.id))
	})
	if len(all) > f.req.Limit {
		all, f.res.More = all[:f.req.Limit], true
	}
	return all
}

// tell gathers what a decision about a schedule rests on.
func (f *firing) tell(sc *schedule) store.DueSchedule {
	d := store.DueSchedule{Schedule: sc.id, Cursor: sc.cursor, Anchor: sc.anchor, Fired: sc.fired, Ahead: f.ahead}
	first := 0
	for i, r := range sc.revisions {
		if !r.From.After(sc.cursor) {
			first = i
		}
	}
	d.Revisions = slices.Clone(sc.revisions[first:])
	if sc.resume != nil || sc.paused != nil {
		r := f.resumed(sc)
		d.Resume = &r
	}
	var waiting []*occurrence
	for _, o := range f.open {
		if o.sched != sc {
			continue
		}
		d.Open++
		switch {
		case o.State == duly.Running:
			d.Running++
			if sc.def.Overlap == duly.OverlapReplace {
				d.Active = append(d.Active, o.Seq)
			}
		case len(o.attempts) == 0 && sc.def.Overlap == duly.OverlapCombine:
			waiting = append(waiting, o)
		}
	}
	slices.SortFunc(waiting, byDue)
	for _, o := range waiting[:min(len(waiting), maxWaiting)] {
		d.Waiting = append(d.Waiting, store.Waiting{Seq: o.Seq, Period: o.Period, Covers: slices.Clone(o.Covers)})
	}
	return d
}

// resumed is what is to be decided about a pause that has ended.
func (f *firing) resumed(sc *schedule) store.Resume {
	if sc.paused == nil {
		return *sc.resume
	}
	r := store.Resume{From: sc.paused.At, To: sc.paused.Until, By: sc.paused.By, Policy: sc.paused.Policy}
	if sc.resume != nil {
		r.From = sc.resume.From
	}
	return r
}

// check refuses a plan that no store may carry out, before anything is.
func check(told []store.DueSchedule, firings []store.Firing) error {
	if len(firings) > len(told) {
		return duly.Errorf(duly.CodeInternal, "the planner answered %d firings for %d schedules", len(firings), len(told))
	}
	for i, fi := range firings {
		if fi.Schedule != told[i].Schedule {
			return duly.Errorf(duly.CodeInternal, "the planner answered for %s where %s was asked", fi.Schedule, told[i].Schedule)
		}
		for _, o := range fi.Occurrences {
			if !duly.CanMove("", duly.StepFire, o.State) {
				return duly.Errorf(duly.CodeInternal, "the planner made %s@%s %q", fi.Schedule, o.Period, o.State)
			}
		}
	}
	return nil
}

func (f *firing) carryOut(sc *schedule, told *store.DueSchedule, fi *store.Firing) {
	if sc.paused != nil {
		sc.resume, sc.paused = told.Resume, nil
	}
	if fi.ResumeDone {
		sc.resume = nil
	}
	sc.cursor, sc.next = f.now(fi.Cursor), f.kept(fi.NextDue)
	f.res.More = f.res.More || !sc.next.IsZero() && !sc.next.After(f.at)
	f.event(store.TopicSchedules, sc.id)
	if two := f.opt.Bugs.FireInTwoSteps; two != nil && two() {
		return
	}
	var last *occurrence
	for i := range fi.Occurrences {
		last = f.make(sc, &fi.Occurrences[i])
	}
	if last == nil {
		return
	}
	for _, seq := range fi.Merge {
		if o := f.bySeq[seq]; o != nil && o.sched == sc && o.State == duly.Pending && len(o.attempts) == 0 && !f.opt.Bugs.MergeWithoutClosing {
			f.end(o, duly.Merged, f.at, "covered by "+last.Period)
			o.MergedInto = last.ID
		}
	}
	for _, seq := range fi.Cancel {
		if o := f.bySeq[seq]; o != nil && o.State == duly.Running && o.cancelled == "" {
			o.cancelled = "replaced by a later occurrence"
			f.wanted(sc.id)
		}
	}
}

// make inserts an occurrence; nil where there was nothing to make.
func (f *firing) make(sc *schedule, n *store.NewOccurrence) *occurrence {
	if n.Extend && f.extend(sc, n) {
		return nil
	}
	if sc.occurrences[n.Period] != nil && !f.opt.Bugs.FireWithoutUniqueKey {
		return nil
	}
	o := f.insert(sc, n, f.at)
	if by := f.node(f.req.Node); by != nil {
		o.FiredBy, o.TZData = by.Name, by.TZData
	}
	if o.State == duly.Pending {
		sc.fired++
	} else {
		o.FinishedAt = f.at
		sc.skips[o.Reason] += int64(o.Count)
	}
	f.res.Fired = append(f.res.Fired, store.Fired{
		Seq: o.Seq, Schedule: sc.id, Period: o.Period, Due: o.Due, State: o.State, Reason: o.Reason, Count: o.Count,
	})
	return o
}

// extend adds to the schedule's newest occurrence, if that stands for a run of
// the same kind.
func (f *firing) extend(sc *schedule, n *store.NewOccurrence) bool {
	if len(sc.chain) == 0 {
		return false
	}
	o := sc.chain[len(sc.chain)-1]
	if o.Count < 2 || o.State != n.State || o.Reason != n.Reason {
		return false
	}
	first, _, _ := strings.Cut(o.Period, "..")
	_, last, isRun := strings.Cut(n.Period, "..")
	if !isRun {
		last = n.Period
	}
	period := first + ".." + last
	if there := sc.occurrences[period]; there != nil && there != o {
		return false
	}
	delete(sc.occurrences, o.Period)
	sc.occurrences[period] = o
	count := max(1, n.Count)
	o.Period, o.ID, o.Covers = period, duly.OccurrenceID(sc.id, period), []string{period}
	o.Due, o.FinishedAt, o.Count = f.now(n.Due), f.at, o.Count+count
	sc.skips[o.Reason] += int64(count)
	f.res.Fired = append(f.res.Fired, store.Fired{Seq: o.Seq, Schedule: sc.id, Period: period, Due: o.Due, State: o.State, Reason: o.Reason, Count: count})
	return true
}

// insert makes the occurrence itself.
func (s *Store) insert(sc *schedule, n *store.NewOccurrence, at time.Time) *occurrence {
	s.seq++
	o := &occurrence{sched: sc, definition: n.Definition, place: n.Placement}
	if o.place.Lease <= 0 {
		o.place.Lease = duly.DefaultLease.Std()
	}
	o.Occurrence = duly.Occurrence{
		ID: duly.OccurrenceID(sc.id, n.Period), Seq: s.seq, Schedule: sc.id, Revision: n.Revision, Period: n.Period, Covers: slices.Clone(n.Covers),
		Count: max(1, n.Count), Due: s.now(n.Due), IntervalStart: s.kept(n.IntervalStart), Reason: n.Reason, Origin: n.Origin,
		Queue: n.Queue, Priority: n.Priority, NotBefore: s.kept(n.NotBefore), StartBy: s.kept(n.StartBy), CreatedAt: at,
	}
	if len(o.Covers) == 0 {
		o.Covers = []string{n.Period}
	}
	if n.Queue != "" {
		s.queue(n.Queue)
	}
	sc.occurrences[n.Period] = o
	sc.chain = append(sc.chain, o)
	s.bySeq[o.Seq] = o
	s.all = append(s.all, o)
	s.counts[""]++
	s.move(o, n.State)
	return o
}
