package drill

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/plan"
	"github.com/duly-dev/duly/store"
)

// waitLimit is how long a play waits for what must happen next.
const waitLimit = 30 * time.Second

// stage is where one round of a scenario is played.
type stage struct {
	house    *house
	opt      *Options
	scenario Scenario
	at       float64 // where in its attempt a job of the user's own is hit, 0 to 1

	dir     string
	scratch *scratch
	st      store.Store // the director's own way to it, which is never cut
	app     *sample     // nil: a job of the user's own
	began   time.Time
	ahead   time.Duration // the store's clock minus ours
	before  tally
	config  func(*nodeConfig) // how every node of the play is

	mu      sync.Mutex
	changed chan struct{} // closed when there is a new event
	events  []event
	marks   []Mark
	nodes   map[string]*process
	all     []*process
	owed    []owed
	missed  map[string]int // schedule: periods that must be recorded as missed
	strike  strike
	broken  []string // promises, in words
	seen    []string // what is worth telling of a pass
	poll    poll
	tag     string // tells this round's schedules from those of all others
}

// owed is an occurrence that must come to be, and how it must end.
type owed struct {
	id       string
	state    duly.State
	covers   int            // periods whose effects it owes
	attempts []duly.Outcome // exactly these, where it is set
}

// strike is what recovery is counted from.
type strike struct {
	at         time.Time
	occurrence string
}

func (h *house) playOnce(ctx context.Context, scenario Scenario, at float64) (Result, error) {
	s, err := h.stage(ctx, scenario, at)
	if err != nil {
		return Result{}, err
	}
	defer s.close()
	if scenario.play(ctx, s) != nil && ctx.Err() != nil {
		return Result{}, ctx.Err()
	}
	return s.verify(ctx)
}

// stage sets the scene: an empty store and no nodes yet.
func (h *house) stage(ctx context.Context, scenario Scenario, at float64) (_ *stage, err error) {
	s := &stage{
		house: h, opt: &h.opt, scenario: scenario, at: at, began: time.Now(),
		changed: make(chan struct{}), nodes: map[string]*process{}, missed: map[string]int{}, tag: strings.ToLower(rand.Text()[:8]), config: func(*nodeConfig) {},
	}
	dir, remove, err := scratchFolder()
	if err != nil {
		return nil, err
	}
	s.dir = dir
	if s.scratch, err = newScratch(ctx, h.opt.Store, dir); err != nil {
		remove()
		return nil, err
	}
	s.scratch.closers = append([]func(){remove}, s.scratch.closers...)
	st, err := store.Open(ctx, s.scratch.direct, store.Options{})
	if err != nil {
		s.close()
		return nil, err
	}
	s.st = st
	if h.opt.Job == nil {
		if s.app, err = openSample(ctx, s.scratch.app); err != nil {
			s.close()
			return nil, err
		}
	}
	asked := time.Now()
	horizon, err := s.st.Horizon(ctx)
	if err == nil {
		s.ahead = clockAhead(asked, time.Now(), horizon.Now)
		s.before, err = s.count(ctx)
	}
	if err != nil {
		s.close()
		return nil, err
	}
	s.startPolling(ctx)
	return s, nil
}

// clockAhead is by how much the store's clock, which said now between two of our
// instants, is surely ahead of ours.
func clockAhead(asked, answered, now time.Time) time.Duration {
	if !now.Before(asked.Truncate(time.Millisecond)) && !now.After(answered) {
		return 0
	}
	return now.Sub(asked.Add(answered.Sub(asked) / 2))
}

// close ends what still lives and takes everything away.
func (s *stage) close() {
	s.poll.stop()
	for _, p := range s.all {
		p.kill()
	}
	if s.app != nil {
		_ = s.app.Close()
	}
	if s.st != nil {
		_ = s.st.Close()
	}
	s.scratch.close()
}

func (s *stage) lease() time.Duration { return s.opt.Lease }

func (s *stage) ownJob() bool { return s.opt.Job != nil }

// count counts the effects that there are.
func (s *stage) count(ctx context.Context) (tally, error) {
	if s.app != nil {
		return s.app.count(ctx)
	}
	return s.opt.Job.count(ctx)
}

// perPeriod is how many effects a period owes.
func (s *stage) perPeriod() int {
	if s.app != nil {
		return len(customers)
	}
	return max(1, s.house.normal.effects)
}

// start starts a node.
func (s *stage) start(name string, change ...func(*nodeConfig)) (*process, error) {
	cfg := nodeConfig{Name: name, Store: s.scratch.nodes, Markers: s.dir, DrainTime: s.lease() / 2}
	if s.app != nil {
		cfg.App = s.scratch.app
	}
	s.config(&cfg)
	for _, c := range change {
		c(&cfg)
	}
	p, err := launch(s.opt.Command, cfg, s.hear)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.nodes[name] = p
	s.all = append(s.all, p)
	s.mu.Unlock()
	s.mark(Mark{Kind: MarkStart, Node: name, Text: cfg.Version})
	return p, nil
}

// startNodes starts node-1 … node-n and waits until all are ready, so that any
// of them can be the one that is hit.
func (s *stage) startNodes(ctx context.Context, n int) error {
	for i := range n {
		if _, err := s.start(nodeName(i + 1)); err != nil {
			return err
		}
	}
	for i := range n {
		if _, err := s.await(ctx, nodeName(i+1)+" to start", func(e event) bool { return e.Kind == saysReady && e.node.name == nodeName(i+1) }); err != nil {
			return err
		}
	}
	return nil
}

func nodeName(i int) string { return fmt.Sprintf("node-%d", i) }

// hear takes what a node says.
func (s *stage) hear(e event) {
	kinds := map[eventKind]MarkKind{saysBegin: MarkBegin, saysEnd: MarkEnd, saysEffect: MarkEffect, saysReused: MarkReused}
	if kind, ok := kinds[e.Kind]; ok {
		s.mark(Mark{At: e.At, Kind: kind, Node: e.node.name, Occurrence: e.Occurrence, Attempt: e.Attempt, Token: e.Token, Key: e.Key, Text: e.Text})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tell(e)
}

// tell hands an event to those who await one. The caller holds mu.
func (s *stage) tell(e event) {
	s.events = append(s.events, e)
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *stage) mark(m Mark) {
	if m.At.IsZero() {
		m.At = time.Now()
	}
	s.mu.Lock()
	s.marks = append(s.marks, m)
	s.mu.Unlock()
	if s.opt.Watch != nil {
		s.opt.Watch(s.scenario.Name, m)
	}
}

// await waits for an event, past ones included.
func (s *stage) await(ctx context.Context, what string, is func(event) bool) (event, error) {
	limit := time.NewTimer(waitLimit + s.house.normal.duration)
	defer limit.Stop()
	for seen := 0; ; {
		s.mu.Lock()
		events, changed := s.events[seen:], s.changed
		s.mu.Unlock()
		for _, e := range events {
			if is(e) {
				return e, nil
			}
		}
		seen += len(events)
		select {
		case <-changed:
		case <-limit.C:
			s.breaks("waited in vain for %s", what)
			return event{}, errInVain
		case <-ctx.Done():
			return event{}, ctx.Err()
		}
	}
}

// reaches is an attempt at a period that comes to a point.
func reaches(point eventKind, period string, attempt int) func(event) bool {
	return func(e event) bool {
		return e.Kind == point && e.Period == period && (attempt == 0 || e.Attempt == attempt)
	}
}

// breaks notes a broken promise, sees what is worth telling of a kept one.
func (s *stage) breaks(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = append(s.broken, fmt.Sprintf(format, args...))
}

func (s *stage) sees(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, fmt.Sprintf(format, args...))
}

// struck notes the moment from which recovery is counted.
func (s *stage) struck(occurrence string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.strike.at.IsZero() {
		s.strike = strike{at: time.Now(), occurrence: occurrence}
	}
}

// kill, freeze and the others do something to a node, and say so.
func (s *stage) kill(p *process, e event) {
	s.struck(e.Occurrence)
	p.kill()
	s.mark(Mark{Kind: MarkKill, Node: p.name, Occurrence: e.Occurrence, Attempt: e.Attempt, Token: e.Token})
}

func (s *stage) terminate(p *process, e event) {
	s.struck(e.Occurrence)
	s.mark(Mark{Kind: MarkTerm, Node: p.name, Occurrence: e.Occurrence, Attempt: e.Attempt, Token: e.Token})
	p.terminate()
}

// cutFor takes the store away for a while.
func (s *stage) cutFor(ctx context.Context, e event, d time.Duration) error {
	back, err := s.scratch.cut()
	if err != nil {
		s.breaks("the store could not be taken away: %v", err)
		return err
	}
	s.struck(e.Occurrence)
	s.mark(Mark{Kind: MarkCut, Text: d.String()})
	err = pause(ctx, d)
	back()
	s.mark(Mark{Kind: MarkBack})
	return err
}

// apply makes schedules the ones in force, as of a time.
func (s *stage) apply(ctx context.Context, at time.Time, schedules ...duly.Schedule) error {
	req := store.ApplyRequest{Now: at, Owner: "drill", By: "drill"}
	for _, def := range schedules {
		p, faults := plan.Compile(def)
		if len(faults) > 0 {
			return faults[0]
		}
		req.Schedules = append(req.Schedules, store.Definition{Schedule: def, Next: p.Next})
	}
	_, err := s.st.Apply(ctx, req)
	return err
}

// id names a schedule. A job of the user's own keeps fences in its database,
// and each scratch store begins again with token 1: what an earlier round was
// granted for a schedule of the same name would fence this one out.
func (s *stage) id(name string) string {
	if s.ownJob() {
		return s.scenario.Name + "-" + name + "-" + s.tag
	}
	return name
}

// occurrence names an occurrence of a schedule of this stage.
func (s *stage) occurrence(schedule, period string) string {
	return duly.OccurrenceID(s.id(schedule), period)
}

// schedule is the definition that plays start from.
func (s *stage) schedule(id string) duly.Schedule {
	def := duly.Schedule{
		ID: s.id(id), Lease: duly.Duration(s.lease()), Period: duly.PeriodDay,
		// A drill has no time to wait: what failed is tried again at once.
		Retry:   duly.Retry{MaxAttempts: 5, Backoff: duly.Duration(50 * time.Millisecond), MaxBackoff: duly.Duration(200 * time.Millisecond)},
		CatchUp: duly.CatchUp{Policy: duly.CatchUpAll, Window: duly.Duration(9 * 365 * 24 * time.Hour)},
		Target:  duly.Target{Handler: sampleHandler},
	}
	if job := s.opt.Job; job != nil {
		// A job that finds a lock of its dead self has some time to get it.
		def.Retry = duly.Retry{MaxAttempts: ownAttempts, Backoff: duly.Duration(300 * time.Millisecond), MaxBackoff: duly.Duration(ownBackoff)}
		def.Timeout = duly.Duration(2*job.Timeout + 10*s.lease())
		def.Target = job.target()
	}
	return def
}

// How often a job of the user's own is tried, and the longest pause between.
const (
	ownAttempts = 6
	ownBackoff  = 2 * time.Second
)

func (j *Job) target() duly.Target {
	if j.URL != "" {
		return duly.Target{HTTP: &duly.HTTPTarget{URL: j.URL}}
	}
	// The shell says who it is before it becomes the command, so that signals
	// can be sent to the command's group past the node.
	command := []string{"/bin/sh", "-c", `echo "` + commandLine + `$$"; exec /bin/sh -c "$1"`, "duly-drill", j.Exec}
	return duly.Target{Exec: &duly.ExecTarget{Command: command, KillAfter: duly.Duration(killAfter)}}
}

// killAfter is how long a command of the user's own has between its signals.
const killAfter = 2 * time.Second

// dated applies a schedule with n business dates that have passed and are all
// owed, and answers the periods.
func (s *stage) dated(ctx context.Context, id string, n int, change ...func(*duly.Schedule)) ([]string, error) {
	def := s.schedule(id)
	first := s.house.days(n)
	end := first.AddDate(0, 0, n)
	def.Timing, def.Start, def.End = duly.Timing{Cron: "0 0 * * *"}, &first, &end
	for _, c := range change {
		c(&def)
	}
	var periods []string
	for i := range n {
		periods = append(periods, first.AddDate(0, 0, i).Format(time.DateOnly))
	}
	// The schedule was there the evening before, and no node has been since.
	return periods, s.apply(ctx, first.Add(-12*time.Hour), def)
}

// owes says which periods must have succeeded in the end.
func (s *stage) owes(schedule string, periods ...string) {
	for _, p := range periods {
		s.owed = append(s.owed, owed{id: s.occurrence(schedule, p), state: duly.Succeeded, covers: 1})
	}
}

// settle waits until all that is owed has ended. What has not by then is the
// verifier's to tell.
func (s *stage) settle(ctx context.Context) error {
	limit := time.Now().Add(waitLimit)
	if s.ownJob() { // each may use up its attempts
		limit = limit.Add(time.Duration(len(s.owed)*ownAttempts) * (s.house.normal.duration + ownBackoff))
	}
	for time.Now().Before(limit) {
		open := false
		for _, o := range s.owed {
			occ, err := s.st.Occurrence(ctx, o.id)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			open = open || err != nil || occ.State.Open()
		}
		for schedule, n := range s.missed {
			occs, err := s.occurrences(ctx, schedule)
			open = open || err != nil || missedPeriods(occs) < n
		}
		if !open {
			return nil
		}
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}
