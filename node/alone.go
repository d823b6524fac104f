package node

import (
	"context"
	"slices"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/plan"
	"github.com/duly-dev/duly/store"
	"github.com/duly-dev/duly/target"
)

const (
	// aloneAfter is for how long the store has to be silent before a node does
	// by itself what may be done so. A store that is restarted is back sooner.
	aloneAfter = 10 * time.Second
	// learnEvery is how often a node looks which schedules those are, if
	// nothing tells it of a change; learnPause is the least time between looks.
	learnEvery = 30 * time.Second
	learnPause = time.Second
	// aloneCall bounds a call of this loop, which has to go on while the store
	// hangs.
	aloneCall = 5 * time.Second
	// lastAsk bounds the last question to a silent store. What comes due waits
	// for it.
	lastAsk = time.Second
)

// loner is a schedule that says when_unavailable: run, as the store last told
// of it.
type loner struct {
	id            string
	revision      int64
	plan          *plan.Plan
	anchor, since time.Time
	paused        *store.PauseStatus
	// cursor is up to where an outage's due times have been dealt with; zero
	// while there is none.
	cursor time.Time
}

// standAlone does by itself, while the store is out of reach, what says
// when_unavailable: run, and tells the store of it once it is back. It starts
// nothing any more when ctx has ended, and returns when serve has.
func (n *Node) standAlone(ctx, serve context.Context) {
	var known map[string]*loner
	learnAt := time.Now()
	asked := false // since the store fell silent
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-serve.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(serve), finalReports)
			defer cancel()
			n.tellUnowned(last)
			if left := n.alone.held(); left > 0 {
				n.log.Error("the store did not learn what was done without ownership; only this log tells of it", "records", left)
			}
			return
		case <-timer.C:
		case <-n.alone.wake:
		case <-n.alone.changed:
			if soon := time.Now().Add(learnPause); soon.Before(learnAt) {
				learnAt = soon
			}
		}
		sleep := learnEvery
		switch {
		case n.sessionID() == 0:
			sleep = time.Second
		case n.available.silence() < aloneAfter:
			if !time.Now().Before(learnAt) {
				known = n.learnAlone(serve, known)
				learnAt = time.Now().Add(learnEvery)
			}
			n.tellUnowned(serve)
			sleep = time.Until(learnAt)
			if n.alone.held() > 0 {
				sleep = min(sleep, time.Second)
			}
		}
		switch silent := n.available.silence() >= aloneAfter; {
		case !silent:
			asked = false
		case !asked && len(known) > 0:
			asked = true
			n.askOnceMore(serve)
		}
		if ctx.Err() == nil {
			for _, s := range known {
				sleep = min(sleep, n.runAlone(s))
			}
		}
		timer.Reset(max(0, sleep))
	}
}

// askOnceMore asks a store that has been silent for long whether it is back: by
// then the node tries so seldom that it could not have noticed.
func (n *Node) askOnceMore(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lastAsk)
	defer cancel()
	err := n.store.Beat(ctx, n.sessionID(), n.opt.SessionTTL, n.load())
	if err == nil || duly.CodeOf(err) == duly.CodeNotFound { // a session that has run out is joined again by its keeper
		n.available.answered()
	}
}

// learnAlone reads which schedules this node may have to run by itself. Where
// the store does not answer, what was known stays.
func (n *Node) learnAlone(ctx context.Context, known map[string]*loner) map[string]*loner {
	ctx, cancel := context.WithTimeout(ctx, aloneCall)
	defer cancel()
	can := n.capabilities()
	fresh := map[string]*loner{}
	page := store.Page{Limit: 1000}
	for {
		items, next, err := n.store.Schedules(ctx, store.ScheduleFilter{Alone: true}, page)
		if err != nil {
			return known
		}
		for _, s := range items {
			if !slices.Contains(can, s.Target.Capability()) {
				continue
			}
			if was := known[s.ID]; was != nil && was.revision == s.Revision && was.anchor.Equal(s.Anchor) {
				was.paused = s.Paused
				fresh[s.ID] = was
				continue
			}
			p, faults := n.plans.Compile(s.Schedule)
			revisions, err := n.store.Revisions(ctx, s.ID)
			if len(faults) > 0 || err != nil || len(revisions) == 0 {
				continue // the planner says it, or it is looked at again
			}
			fresh[s.ID] = &loner{
				id: s.ID, revision: s.Revision, plan: p, anchor: s.Anchor, paused: s.Paused,
				since: revisions[len(revisions)-1].From,
			}
		}
		if next == "" {
			return fresh
		}
		page.Cursor = next
	}
}

// runAlone starts what is to be started of a schedule by now, and answers when
// to look again.
func (n *Node) runAlone(s *loner) time.Duration {
	silence := n.available.silence()
	if silence < aloneAfter {
		s.cursor = time.Time{}
		return max(aloneAfter-silence, 10*time.Millisecond)
	}
	now := n.clock.now()
	if s.cursor.IsZero() {
		// Whoever the store answered last knows that it has what was due by then.
		s.cursor = now.Add(-silence)
	}
	if p := s.paused; p != nil {
		if p.Until.IsZero() {
			return time.Second
		}
		if p.Until.After(s.cursor) {
			s.cursor = p.Until
		}
	}
	for {
		next, ok := s.plan.NextAlone(s.id, s.anchor, s.since, s.cursor, now)
		if !ok {
			if next.Start.IsZero() {
				return time.Second
			}
			return min(time.Second, max(next.Start.Sub(now), time.Millisecond))
		}
		if busy := n.active.of(s.id); len(busy) > 0 {
			switch s.plan.Def.Overlap {
			case duly.OverlapAllow:
			case duly.OverlapSkip:
				s.cursor = next.Due
				continue
			case duly.OverlapReplace:
				for _, a := range busy {
					a.cancel(target.ErrCancelled)
				}
				return time.Second
			default:
				return time.Second // or when it ends
			}
		}
		if n.active.used() >= n.opt.Slots {
			return time.Second
		}
		s.cursor = next.Due
		n.startUnowned(s, next, now)
	}
}
