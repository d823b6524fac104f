package drill

import (
	"context"
	"math/rand/v2"
	"syscall"
	"time"

	"github.com/duly-dev/duly"
)

func playDrain(ctx context.Context, s *stage) error {
	if s.ownJob() {
		return s.drainOwn(ctx)
	}
	periods, err := s.dated(ctx, invoices, 3)
	if err != nil {
		return err
	}
	s.owes(invoices, periods...)
	s.owed[0].attempts = []duly.Outcome{duly.AttemptSucceeded}
	s.owed[1].attempts = []duly.Outcome{duly.AttemptReleased, duly.AttemptSucceeded}
	s.config = func(cfg *nodeConfig) {
		cfg.Gates = []gate{{Point: saysAfter, Attempt: 1, Period: periods[0]}, {Point: saysBefore, Attempt: 1, Period: periods[1]}}
		cfg.DrainTime = max(cfg.DrainTime, 500*time.Millisecond)
	}
	if err := s.startNodes(ctx, 2); err != nil {
		return err
	}
	// Enough time: the work is all but done.
	e, err := s.await(ctx, "an attempt to have its effect", reaches(saysAfter, periods[0], 1))
	if err != nil {
		return err
	}
	s.terminate(e.node, e)
	e.node.openGates(saysAfter)
	s.endsWell(e.node)
	if _, err := s.start(e.node.name); err != nil {
		return err
	}
	// Too little: nobody opens the gate before. (It can still be the node that
	// ends already.)
	if e, err = s.await(ctx, "an attempt to come to its effect", reaches(saysBefore, periods[1], 1)); err != nil {
		return err
	}
	s.terminate(e.node, e)
	s.endsWell(e.node)
	if err := s.settle(ctx); err != nil {
		return err
	}
	s.sees("given time, the attempt succeeded; without it, it was given back and done by another node; both processes ended with exit code 0")
	return nil
}

func (s *stage) drainOwn(ctx context.Context) error {
	periods, err := s.begin(ctx, 2)
	if err != nil {
		return err
	}
	e, err := s.halfway(ctx, struckPeriod(periods))
	if err != nil {
		return err
	}
	s.terminate(e.node, e)
	s.endsWell(e.node)
	return s.settle(ctx)
}

// endsWell wants a node that was told to end to do so by itself.
func (s *stage) endsWell(p *process) {
	if !p.waitGone(waitLimit) {
		s.breaks("%s did not end within %v of SIGTERM", p.name, waitLimit)
		return
	}
	s.mark(Mark{Kind: MarkExit, Node: p.name})
	if code, _ := p.exited(); code != 0 {
		s.breaks("%s ended with exit code %d after SIGTERM; it must be 0\n%s", p.name, code, p.log.String())
	}
}

// version is a version of the program that declares the schedule: the old one
// is due each second, the new one every other second.
type version struct{ name, cron string }

var versions = [...]version{{"v1", "* * * * * *"}, {"v2", "*/2 * * * * *"}}

func (s *stage) declaredBy(v version) func(*nodeConfig) {
	def := s.schedule(invoices)
	def.Timing, def.Period = duly.Timing{Cron: v.cron}, duly.PeriodInstant
	return func(cfg *nodeConfig) {
		cfg.Version = v.name
		cfg.Declare = []duly.Schedule{def}
	}
}

func playDeploy(ctx context.Context, s *stage) error {
	old, fresh := s.declaredBy(versions[0]), s.declaredBy(versions[1])
	start := func(i int, of func(*nodeConfig)) (*process, error) {
		p, err := s.start(nodeName(i), of)
		if err == nil {
			_, err = s.await(ctx, p.name+" to start", func(e event) bool { return e.Kind == saysReady && e.node == p })
		}
		return p, err
	}
	var olds [2]*process
	var err error
	for i := range olds {
		if olds[i], err = start(i+1, old); err != nil {
			return err
		}
	}
	if err := s.inForce(ctx, versions[0], 1); err != nil {
		return err
	}
	_ = pause(ctx, 2200*time.Millisecond) // some periods of the old pattern
	newer, err := start(3, fresh)
	if err != nil {
		return err
	}
	if err := s.inForce(ctx, versions[1], 2); err != nil {
		return err
	}
	// Old nodes come and go, by kill and by SIGTERM, in random order and time.
	for range 3 {
		i := rand.IntN(len(olds))
		how := event{node: olds[i]}
		if rand.IntN(2) == 0 {
			s.kill(olds[i], how)
		} else {
			s.mark(Mark{Kind: MarkTerm, Node: olds[i].name})
			olds[i].terminate()
			s.endsWell(olds[i])
		}
		_ = pause(ctx, time.Duration(rand.IntN(1200))*time.Millisecond)
		if olds[i], err = start(i+1, old); err != nil {
			return err
		}
	}
	if err := s.inForce(ctx, versions[1], 2); err != nil {
		return err
	}
	// The roll-back: the last new node leaves.
	s.mark(Mark{Kind: MarkTerm, Node: newer.name})
	newer.terminate()
	s.endsWell(newer)
	if err := s.inForce(ctx, versions[0], 3); err != nil {
		return err
	}
	_ = pause(ctx, 2200*time.Millisecond)
	return s.endDeploy(ctx, olds[:])
}

// inForce waits until a version's pattern is in force, as the schedule's n-th
// revision.
func (s *stage) inForce(ctx context.Context, v version, n int) error {
	var got string
	var revision int64
	for limit := time.Now().Add(waitLimit); time.Now().Before(limit); {
		status, err := s.st.Schedule(ctx, invoices)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil {
			got, revision = status.Cron, status.Revision
			if got == v.cron && revision == int64(n) {
				return nil
			}
			if revision > int64(n) {
				break
			}
		}
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
	s.breaks("the definition in force is %q (revision %d) where it must be %q of %s (revision %d): a node that restarted has changed it", got, revision, v.cron, v.name, n)
	return errInVain
}

// endDeploy ends the nodes, and works out which periods were owed: those of the
// pattern that was in force.
func (s *stage) endDeploy(ctx context.Context, nodes []*process) error {
	revisions, err := s.st.Revisions(ctx, invoices)
	if err != nil {
		return err
	}
	status, err := s.st.Schedule(ctx, invoices)
	if err != nil {
		return err
	}
	for due := revisions[0].From.Truncate(time.Second).Add(time.Second); !due.After(status.Cursor); due = due.Add(time.Second) {
		inForce := 0
		for i, r := range revisions {
			if r.From.Before(due) {
				inForce = i
			}
		}
		if inForce == 1 && due.Second()%2 != 0 {
			continue // the new pattern is due every other second
		}
		s.owes(invoices, due.UTC().Format(time.RFC3339))
	}
	if err := s.settle(ctx); err != nil {
		return err
	}
	for _, p := range nodes { // what comes due later is another story
		_ = p.cmd.Process.Signal(syscall.SIGTERM)
		s.endsWell(p)
	}
	s.sees("%d periods over three changes of the definition, while old nodes restarted: each once, by the pattern that was in force", len(s.owed))
	return nil
}
