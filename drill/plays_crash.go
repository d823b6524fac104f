package drill

import (
	"context"
	"strings"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/fence"
)

const invoices = "invoices"

// struckPeriod picks the period at whose first attempt a play strikes: the one
// in the middle, so that there are some before it and after.
func struckPeriod(periods []string) string { return periods[len(periods)/2] }

// begin sets up what most plays need: a schedule with n dates and two nodes,
// either of which can come to do the work.
func (s *stage) begin(ctx context.Context, n int, gates ...gate) (periods []string, err error) {
	if periods, err = s.dated(ctx, invoices, n); err != nil {
		return nil, err
	}
	s.owes(invoices, periods...)
	var shut []gate
	for _, g := range gates {
		if g.Point == saysBefore && s.ownJob() {
			continue // which is hit where it is; see halfway
		}
		shut = append(shut, gate{Point: g.Point, Attempt: 1, Period: struckPeriod(periods)})
	}
	before := s.config
	s.config = func(cfg *nodeConfig) {
		before(cfg)
		cfg.Gates = shut
	}
	return periods, s.startNodes(ctx, 2)
}

// halfway waits until an attempt is where a strike before its effect belongs.
// The sample stands at its gate; a job of the user's own is hit at a part of
// the time that it takes to its effect.
func (s *stage) halfway(ctx context.Context, period string) (event, error) {
	if !s.ownJob() {
		return s.await(ctx, "an attempt to come to its effect", reaches(saysBefore, period, 1))
	}
	e, err := s.await(ctx, "an attempt to begin", reaches(s.beginning(), period, 1))
	if err != nil {
		return e, err
	}
	hit := e.At.Add(time.Duration(s.at * float64(s.house.normal.untilEffect)))
	return e, pause(ctx, time.Until(hit))
}

// beginning is what a job of the user's own says first.
func (s *stage) beginning() eventKind {
	if s.opt.Job.Exec != "" {
		return saysCommand
	}
	return saysBegin
}

func playCrashBefore(ctx context.Context, s *stage) error {
	periods, err := s.begin(ctx, 3, gate{Point: saysBefore})
	if err != nil {
		return err
	}
	e, err := s.halfway(ctx, struckPeriod(periods))
	if err != nil {
		return err
	}
	return s.crash(ctx, e)
}

// crash kills the node of an attempt, starts it again as a supervisor does, and
// waits for the end.
func (s *stage) crash(ctx context.Context, e event) error {
	s.kill(e.node, e)
	if _, err := s.start(e.node.name, func(cfg *nodeConfig) { cfg.Gates = nil }); err != nil {
		return err
	}
	return s.settle(ctx)
}

func playCrashAfter(ctx context.Context, s *stage) error {
	periods, err := s.begin(ctx, 3, gate{Point: saysAfter})
	if err != nil {
		return err
	}
	period := struckPeriod(periods)
	var e event
	if s.ownJob() {
		// At the moment of the effect or, in further rounds, somewhere between
		// it and the end; at the latest when the job is done, where its node
		// waits at the gate.
		effectOrEnd := func(e event) bool { return reaches(saysEffect, period, 1)(e) || reaches(saysAfter, period, 1)(e) }
		if e, err = s.await(ctx, "an attempt to have its effect", effectOrEnd); err == nil && s.opt.Repeat > 1 {
			rest := s.house.normal.duration - s.house.normal.untilEffect
			err = pause(ctx, time.Until(e.At.Add(time.Duration(s.at*float64(rest)))))
		}
	} else {
		e, err = s.await(ctx, "an attempt to have its effect", reaches(saysAfter, period, 1))
	}
	if err != nil {
		return err
	}
	return s.crash(ctx, e)
}

func playPause(ctx context.Context, s *stage) error {
	s.config = func(cfg *nodeConfig) { cfg.Deaf = true }
	periods, err := s.begin(ctx, 3, gate{Point: saysBefore})
	if err != nil {
		return err
	}
	period := struckPeriod(periods)
	e, err := s.halfway(ctx, period)
	if err != nil {
		return err
	}
	s.struck(e.Occurrence)
	e.node.freeze()
	s.mark(Mark{Kind: MarkStop, Node: e.node.name, Occurrence: e.Occurrence, Attempt: e.Attempt, Token: e.Token})

	if err := s.awaitOther(ctx, e); err != nil {
		return err
	}
	s.mark(Mark{Kind: MarkContinue, Node: e.node.name, Occurrence: e.Occurrence, Attempt: e.Attempt, Token: e.Token})
	e.node.openGates(saysBefore)
	e.node.thawCommands()
	e.node.waitCommands(2*s.house.normal.duration + time.Second)
	e.node.thaw()
	// The late one must have come to its end before anything is counted.
	end, err := s.await(ctx, "the paused job to end", func(o event) bool {
		return o.Kind == saysEnd && o.node == e.node && o.Token == e.Token
	})
	if err != nil {
		return err
	}
	// The business key alone would have kept the sample from a repetition, too.
	if !s.ownJob() && !strings.Contains(end.Text, fence.ErrStale.Error()) {
		s.breaks("%s: the late attempt was not refused by its token; it ended with %q", WhyNoFence, end.Text)
	}
	if err := s.settle(ctx); err != nil {
		return err
	}
	s.awaitRefusal(ctx, e)
	return nil
}

// awaitOther waits until another attempt at an occurrence has ended it, or has
// had every chance to.
func (s *stage) awaitOther(ctx context.Context, e event) error {
	limit := time.Now().Add(2*s.lease() + 4*s.house.normal.duration + 8*time.Second)
	for time.Now().Before(limit) {
		occ, err := s.st.Occurrence(ctx, e.Occurrence)
		if err == nil && !occ.State.Open() {
			break
		}
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

// awaitRefusal waits for the stale report of an attempt, and judges nothing: a
// node may have thought better of reporting at all.
func (s *stage) awaitRefusal(ctx context.Context, e event) {
	for limit := time.Now().Add(3 * time.Second); time.Now().Before(limit) && ctx.Err() == nil; {
		occ, err := s.st.Occurrence(ctx, e.Occurrence)
		if err != nil {
			return
		}
		for _, a := range occ.Attempts {
			if a.Token == e.Token && a.Stale != nil {
				s.sees("the paused node's report of attempt %d was refused as stale", a.Number)
				return
			}
		}
		_ = pause(ctx, 20*time.Millisecond)
	}
}

func playCrashLoop(ctx context.Context, s *stage) error {
	const poison, limit = "poison", 3
	poisoned, err := s.dated(ctx, poison, 1, func(def *duly.Schedule) { def.Retry.MaxAttempts = limit })
	if err != nil {
		return err
	}
	healthy, err := s.dated(ctx, invoices, 5)
	if err != nil {
		return err
	}
	id := duly.OccurrenceID(poison, poisoned[0])
	s.owed = append(s.owed, owed{id: id, state: duly.Failed, attempts: []duly.Outcome{duly.AttemptLost, duly.AttemptLost, duly.AttemptLost}})
	s.owes(invoices, healthy...)

	s.config = func(cfg *nodeConfig) { cfg.Gates = []gate{{Point: saysBefore, Period: poisoned[0]}} }
	if err := s.startNodes(ctx, 2); err != nil {
		return err
	}
	for attempt := range limit {
		e, err := s.await(ctx, "the poisonous job to begin", func(e event) bool {
			return e.Kind == saysBefore && e.Occurrence == id && e.Attempt == attempt+1
		})
		if err != nil {
			return err
		}
		s.kill(e.node, e)
		if _, err := s.start(e.node.name); err != nil {
			return err
		}
	}
	if err := s.settle(ctx); err != nil {
		return err
	}
	s.sees("after %d lost attempts the poisonous occurrence is failed and waits for a person; the other schedule's dates are done", limit)
	return nil
}
