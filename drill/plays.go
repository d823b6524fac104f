package drill

import (
	"context"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

func playNodes(ctx context.Context, s *stage) error {
	if s.ownJob() {
		periods, err := s.dated(ctx, invoices, 5)
		if err != nil {
			return err
		}
		s.owes(invoices, periods...)
		if err := s.startNodes(ctx, 3); err != nil {
			return err
		}
		return s.settle(ctx)
	}
	if err := s.startNodes(ctx, 3); err != nil {
		return err
	}
	const n = 4
	if err := s.ticking(ctx, n); err != nil {
		return err
	}
	if err := s.settleCount(ctx, invoices, n); err != nil {
		return err
	}
	s.sees("three nodes met %d periods as the clock struck them: one occurrence each", n)
	return s.settle(ctx)
}

// ticking applies a schedule that is due each second, n times.
func (s *stage) ticking(ctx context.Context, n int) error {
	def := s.schedule(invoices)
	def.Timing, def.Period, def.Limit = duly.Timing{Every: duly.Duration(time.Second)}, duly.PeriodInstant, n
	return s.apply(ctx, time.Time{}, def)
}

// settleCount waits until a schedule has made n occurrences, and owes them. They
// must lie a second apart.
func (s *stage) settleCount(ctx context.Context, schedule string, n int) error {
	for limit := time.Now().Add(waitLimit); time.Now().Before(limit); {
		occs, err := s.occurrences(ctx, schedule)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil && len(occs) >= n {
			for i, o := range occs {
				s.owes(schedule, o.Period)
				if i > 0 && o.Due.Sub(occs[i-1].Due) != time.Second {
					s.breaks("lost occurrence: nothing between %s and %s, which are due a second apart", occs[i-1].ID, o.ID)
				}
			}
			return nil
		}
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
	s.breaks("lost occurrence: %s made fewer than %d", schedule, n)
	return nil
}

func playStoreLost(ctx context.Context, s *stage) error {
	short, long := s.lease()*2/5, s.lease()*2
	s.config = func(cfg *nodeConfig) { cfg.Work = s.lease() * 6 / 5 }
	periods, err := s.dated(ctx, invoices, 4)
	if err != nil {
		return err
	}
	s.owes(invoices, periods...)
	last := periods[3]
	before := s.config
	s.config = func(cfg *nodeConfig) { before(cfg); cfg.Gates = []gate{{Point: saysAfter, Attempt: 1, Period: last}} }
	if err := s.startNodes(ctx, 2); err != nil {
		return err
	}
	e, err := s.await(ctx, "an attempt to begin", reaches(saysBegin, periods[1], 1))
	if err != nil {
		return err
	}
	if err := s.cutFor(ctx, e, short); err != nil {
		return err
	}
	if e, err = s.await(ctx, "an attempt to begin", reaches(saysBegin, periods[2], 1)); err != nil {
		return err
	}
	if err := s.cutFor(ctx, e, long); err != nil {
		return err
	}
	if e, err = s.await(ctx, "an attempt to have its effect", reaches(saysAfter, last, 0)); err != nil {
		return err
	}
	back := time.AfterFunc(s.lease()/5, func() { e.node.openGates(saysAfter) }) // while the store is away
	defer back.Stop()
	if err := s.cutFor(ctx, e, long); err != nil {
		return err
	}
	if err := s.settle(ctx); err != nil {
		return err
	}
	s.sees("cut for %v and twice for %v: what was begun was finished or tried again", short, long)
	return nil
}

func playDuplicate(ctx context.Context, s *stage) error {
	s.config = func(cfg *nodeConfig) { cfg.Deliveries = 2 }
	periods, err := s.dated(ctx, invoices, 2)
	if err != nil {
		return err
	}
	s.owes(invoices, periods...)
	if err := s.startNodes(ctx, 2); err != nil {
		return err
	}
	return s.settle(ctx)
}

func playSlow(ctx context.Context, s *stage) error {
	slow := s.lease() * 5 / 2
	if !s.ownJob() {
		s.config = func(cfg *nodeConfig) { cfg.Inside = slow / time.Duration(len(customers)) }
	}
	periods, err := s.begin(ctx, 1)
	if err != nil {
		return err
	}
	if s.ownJob() {
		e, err := s.halfway(ctx, periods[0])
		if err != nil {
			return err
		}
		e.node.freezeCommands()
		s.mark(Mark{Kind: MarkNote, Node: e.node.name, Occurrence: e.Occurrence, Attempt: e.Attempt, Token: e.Token, Text: "the job hangs; its node is well"})
		if err := pause(ctx, slow); err != nil {
			return err
		}
		e.node.thawCommands()
	}
	return s.settle(ctx)
}

func playMissed(ctx context.Context, s *stage) error {
	const days = 5
	if s.ownJob() {
		return s.missedOwn(ctx, days)
	}
	for _, policy := range []duly.CatchUpPolicy{duly.CatchUpNone, duly.CatchUpLatest, duly.CatchUpAll, duly.CatchUpCombine} {
		if err := s.outage(ctx, policy, days); err != nil {
			return err
		}
	}
	if err := s.startNodes(ctx, 2); err != nil {
		return err
	}
	s.sees("none: 5 recorded as missed; latest: 1 done, 4 recorded; all: 5 done in order; combine: 1 occurrence that covers 5")
	return s.settle(ctx)
}

// missedOwn plays the policies that say something about the job, one after the
// other: it need not bear two schedules at once.
func (s *stage) missedOwn(ctx context.Context, days int) error {
	if err := s.startNodes(ctx, 2); err != nil {
		return err
	}
	for _, policy := range []duly.CatchUpPolicy{duly.CatchUpAll, duly.CatchUpCombine} {
		if err := s.outage(ctx, policy, days); err != nil {
			return err
		}
		if err := s.settle(ctx); err != nil {
			return err
		}
	}
	s.sees("%d dates were caught up one by one, and %d by one occurrence that covers them", days, days)
	return nil
}

// outage makes a schedule, named for its policy, that has missed some dates.
func (s *stage) outage(ctx context.Context, policy duly.CatchUpPolicy, days int) error {
	id := string(policy)
	periods, err := s.dated(ctx, id, days, func(def *duly.Schedule) { def.CatchUp.Policy = policy })
	if err != nil {
		return err
	}
	newest := periods[days-1]
	switch policy {
	case duly.CatchUpNone:
		s.missed[id] = days
	case duly.CatchUpLatest:
		s.missed[id] = days - 1
		s.owes(id, newest)
	case duly.CatchUpAll:
		s.owes(id, periods...)
	case duly.CatchUpCombine:
		s.owed = append(s.owed, owed{id: s.occurrence(id, newest), state: duly.Succeeded, covers: days})
	}
	return nil
}

func playSkew(ctx context.Context, s *stage) error {
	wrong := map[string]time.Duration{nodeName(1): -5 * time.Minute, nodeName(2): 0, nodeName(3): 7 * time.Minute}
	s.config = func(cfg *nodeConfig) { cfg.ClockError = wrong[cfg.Name]; cfg.Work = 100 * time.Millisecond }
	if err := s.startNodes(ctx, 3); err != nil {
		return err
	}
	const n = 4
	if err := s.ticking(ctx, n); err != nil {
		return err
	}
	if err := s.settleCount(ctx, invoices, n); err != nil {
		return err
	}
	if err := s.settle(ctx); err != nil {
		return err
	}
	occs, err := s.occurrences(ctx, invoices)
	if err != nil {
		return err
	}
	for _, o := range occs {
		if early := o.Due.Sub(o.CreatedAt); early > 0 {
			s.breaks("%s came into being %v before it was due", o.ID, early)
		}
		if late := o.CreatedAt.Sub(o.Due); late > time.Minute {
			s.breaks("%s came into being %v after it was due: a wrong clock was believed", o.ID, late)
		}
	}
	return s.awaitOffsets(ctx, wrong)
}

// awaitOffsets waits until the node list shows the wrong clocks.
func (s *stage) awaitOffsets(ctx context.Context, wrong map[string]time.Duration) error {
	var known map[string]bool // a node that joined again is listed twice
	for limit := time.Now().Add(10 * time.Second); time.Now().Before(limit); {
		nodes, err := s.st.NodeList(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		known = map[string]bool{}
		for _, n := range nodes {
			if want, ours := wrong[n.Name]; err == nil && ours && (n.ClockOffset-want).Abs() < 30*time.Second {
				known[n.Name] = true
			}
		}
		if len(known) == len(wrong) {
			s.sees("the store's clock decided, and the node list shows which clocks are wrong")
			return nil
		}
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
	s.breaks("only %d of %d nodes are shown with the offset of their clock", len(known), len(wrong))
	return nil
}

func (s *stage) occurrences(ctx context.Context, schedule string) ([]duly.Occurrence, error) {
	var all []duly.Occurrence
	for cursor := ""; ; {
		page, next, err := s.st.Occurrences(ctx, store.OccurrenceFilter{Schedule: schedule}, store.Page{Limit: 1000, Cursor: cursor})
		if err != nil {
			return nil, err
		}
		all = append(all, page...)
		if cursor = next; next == "" {
			break
		}
	}
	for i, j := 0, len(all)-1; i < j; i, j = i+1, j-1 { // the oldest first
		all[i], all[j] = all[j], all[i]
	}
	return all, nil
}
