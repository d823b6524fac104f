package drill

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/duly-dev/duly"
)

// errInVain ends a play in which what had to happen did not. The promise that
// it broke has been noted.
var errInVain = errors.New("waited in vain")

// rehearsal is what an attempt of the user's own job is like when nothing
// disturbs it.
type rehearsal struct {
	effects     int
	duration    time.Duration
	untilEffect time.Duration // from its begin to its (first) effect
}

// rehearse makes one undisturbed attempt: without an effect that --count sees
// there is nothing to drill.
func (h *house) rehearse(ctx context.Context) error {
	s, err := h.stage(ctx, Scenario{Name: "rehearsal"}, 0)
	if err != nil {
		return err
	}
	defer s.close()
	periods, err := s.dated(ctx, "rehearsal", 1, func(def *duly.Schedule) { def.Retry.MaxAttempts = 1 })
	if err != nil {
		return err
	}
	s.owes("rehearsal", periods...)
	h.normal.duration = h.opt.Job.Timeout // until it is known better
	if err := s.startNodes(ctx, 1); err != nil {
		return err
	}
	if err := s.settle(ctx); err != nil {
		return err
	}
	occ, err := s.st.Occurrence(ctx, s.occurrence("rehearsal", periods[0]))
	if err != nil {
		return err
	}
	if occ.State != duly.Succeeded {
		return duly.Errorf(duly.CodeInvalid, "the job does not succeed even when nothing disturbs it: it is %s: %s%s", occ.State, occ.Reason, said(occ))
	}
	after, err := s.count(ctx)
	if err != nil {
		return err
	}
	effects, _, _ := after.since(s.before, 0)
	if effects <= 0 {
		return duly.Errorf(duly.CodeInvalid, "the job succeeded, but the count is as before (%d): let --count count what the job does for business date %s; a date that was worked on before has no effect any more (choose others with --from)", after.total, periods[0])
	}
	h.normal = s.measure(effects)
	return nil
}

// said is what an occurrence's last attempt printed.
func said(occ duly.Occurrence) string {
	if len(occ.Attempts) == 0 {
		return ""
	}
	last := occ.Attempts[len(occ.Attempts)-1]
	text := "\n" + last.Output
	if last.Error != "" {
		text = "\n" + last.Error + text
	}
	return text
}

func (s *stage) measure(effects int) rehearsal {
	s.poll.stop()
	r := rehearsal{effects: effects}
	var begin, effect, end time.Time
	for _, m := range s.settledMarks() {
		switch {
		case m.Kind == MarkBegin && begin.IsZero():
			begin = m.At
		case m.Kind == MarkEffect && effect.IsZero():
			effect = m.At
		case m.Kind == MarkEnd:
			end = m.At
		}
	}
	r.duration = end.Sub(begin)
	r.untilEffect = r.duration
	if !effect.IsZero() {
		r.untilEffect = min(effect.Sub(begin), r.duration)
	}
	return r
}

// poll counts the effects of the user's own job again and again, to learn when
// they happen where the job does not say so itself.
type poll struct {
	once  sync.Once
	quit  context.CancelFunc
	ended chan struct{}
}

// pollEvery is the pause between two counts.
const pollEvery = 20 * time.Millisecond

func (s *stage) startPolling(ctx context.Context) {
	if !s.ownJob() {
		return
	}
	ctx, s.poll.quit = context.WithCancel(ctx)
	s.poll.ended = make(chan struct{})
	go func() {
		defer close(s.poll.ended)
		last := s.before
		for pause(ctx, pollEvery) == nil {
			if !s.atWork() {
				continue
			}
			asked := time.Now()
			now, err := s.count(ctx)
			if err != nil {
				continue // the verifier counts again, and tells
			}
			s.markCounted(asked, last, now)
			last = now
		}
	}()
}

func (p *poll) stop() {
	if p.quit == nil {
		return
	}
	p.once.Do(func() { p.quit(); <-p.ended })
}

// counted begins the text of an effect that was counted, not told.
const counted = "counted"

// markCounted notes the effects that came between two counts. Whose they are
// is told by their keys, if they have the period in them, and by who was at
// work.
func (s *stage) markCounted(at time.Time, was, is tally) {
	fresh := map[string][]string{} // by occurrence
	for key, n := range is.keys {
		if n > was.keys[key] {
			o := s.occurrenceIn(key)
			fresh[o] = append(fresh[o], key)
		}
	}
	if is.keys == nil && is.total > was.total {
		fresh[""] = make([]string, is.total-was.total)
	}
	for occurrence, keys := range fresh {
		m := Mark{At: at, Kind: MarkEffect, Text: fmt.Sprintf("%s %d", counted, len(keys))}
		if keys[0] != "" {
			m.Text += ": " + strings.Join(shortList(keys, 3), ", ")
		}
		if a, ok := s.atWorkAt(at, occurrence); ok {
			m.Node, m.Occurrence, m.Attempt, m.Token = a.Node, a.Occurrence, a.Attempt, a.Token
		}
		s.mark(m)
		s.mu.Lock()
		if node := s.nodes[m.Node]; node != nil {
			s.tell(event{At: m.At, Kind: saysEffect, Occurrence: m.Occurrence, Period: periodOf(m.Occurrence), Attempt: m.Attempt, Token: m.Token, node: node})
		}
		s.mu.Unlock()
	}
}

// occurrenceIn is the newest occurrence, of those that have begun, whose period
// is part of a key; empty where there is none.
func (s *stage) occurrenceIn(key string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := len(s.marks) - 1; i >= 0; i-- {
		m := s.marks[i]
		if m.Kind == MarkBegin && strings.Contains(key, periodOf(m.Occurrence)) {
			return m.Occurrence
		}
	}
	return ""
}

func periodOf(occurrence string) string {
	_, period, _ := duly.SplitOccurrenceID(occurrence)
	return period
}

// pollAfter is how long after the last sign of work counting goes on.
const pollAfter = 2 * time.Second

// atWork reports whether there can be effects just now: counting costs a
// process each time.
func (s *stage) atWork() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := len(s.marks) - 1; i >= 0; i-- {
		m := s.marks[i]
		if m.Kind == MarkBegin {
			return true
		}
		if m.Kind == MarkEnd || m.Kind == MarkKill || m.Kind == MarkContinue {
			return time.Since(m.At) < pollAfter
		}
	}
	return false
}

// atWorkAt is the attempt, at an occurrence or at any, that is most likely to
// have had an effect just before a count began: the newest that went on then,
// else the one that had ended last.
func (s *stage) atWorkAt(at time.Time, occurrence string) (Mark, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	type who struct {
		node  string
		token int64
	}
	frozen := map[string]bool{}
	ended := map[who]bool{}
	var running, paused, last []Mark
	var marks []Mark
	for _, m := range s.marks {
		if !m.At.After(at) {
			marks = append(marks, m)
		}
	}
	for _, m := range marks {
		other := occurrence != "" && m.Occurrence != occurrence
		switch m.Kind {
		case MarkStop:
			frozen[m.Node] = true
		case MarkContinue:
			delete(frozen, m.Node)
		case MarkEnd, MarkKill:
			ended[who{m.Node, m.Token}] = true
			if !other {
				last = append(last, m)
			}
		}
	}
	for _, m := range marks {
		switch {
		case m.Kind != MarkBegin || ended[who{m.Node, m.Token}] || occurrence != "" && m.Occurrence != occurrence:
		case frozen[m.Node]:
			paused = append(paused, m) // a service behind a URL goes on, though
		default:
			running = append(running, m)
		}
	}
	switch {
	case len(running) > 0:
		return running[len(running)-1], true
	case len(paused) > 0:
		return paused[len(paused)-1], true
	case len(last) > 0:
		return last[len(last)-1], true
	}
	return Mark{}, false
}

// settledMarks are the marks in order of time. Where a job tells of its effects
// itself, those that were counted are left out.
func (s *stage) settledMarks() []Mark {
	s.mu.Lock()
	defer s.mu.Unlock()
	told := false
	for _, m := range s.marks {
		told = told || m.Kind == MarkEffect && !m.wasCounted()
	}
	var marks []Mark
	for _, m := range s.marks {
		if told && m.wasCounted() {
			continue
		}
		marks = append(marks, m)
	}
	sortMarks(marks)
	return marks
}

// wasCounted tells an effect that was counted from one that was told.
func (m *Mark) wasCounted() bool { return m.Kind == MarkEffect && strings.HasPrefix(m.Text, counted) }
