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
	quit  chan struct{}
	ended chan struct{}
}

// pollEvery is the pause between two counts.
const pollEvery = 20 * time.Millisecond

func (s *stage) startPolling(ctx context.Context) {
	if !s.ownJob() {
		return
	}
	s.poll.quit, s.poll.ended = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(s.poll.ended)
		next := time.NewTicker(pollEvery)
		defer next.Stop()
		last, began := s.before, time.Now()
		for over := false; !over; {
			select {
			case <-next.C:
			case <-s.poll.quit: // after a last look
				over = true
			case <-ctx.Done():
				return
			}
			if !over && !s.busy() {
				continue
			}
			asked := time.Now()
			now, err := s.count(ctx)
			if err != nil {
				continue // the verifier counts again, and tells
			}
			s.markCounted(began, asked, last, now)
			last, began = now, asked
		}
	}()
}

func (p *poll) stop() {
	if p.quit == nil {
		return
	}
	p.once.Do(func() { close(p.quit); <-p.ended })
}

// counted begins the text of an effect that was counted, not told.
const counted = "counted"

// markCounted notes the effects that came between two counts, which began at
// these moments. Whose they are
// is told by their keys, if they have the period in them, and by who was at
// work.
func (s *stage) markCounted(from, at time.Time, was, is tally) {
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
		if a, ok := s.whose(from, at, occurrence); ok {
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

// busy reports whether there can be effects just now: counting costs a
// process each time.
func (s *stage) busy() bool {
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

// atWork is what is known of an attempt when it comes to whose an effect was.
type atWork struct {
	Mark
	ended  time.Time // zero: it goes on
	paused bool
	had    bool // an effect before
}

// whose is the attempt, at an occurrence or at any, that is most likely to have
// had an effect between two moments: one that was at work then, rather one that
// had none before, rather the newest; else the one that had ended last.
func (s *stage) whose(from, to time.Time, occurrence string) (Mark, bool) {
	var best *atWork
	for _, a := range s.attemptsUntil(to, occurrence) {
		if best == nil || s.rank(a, from) >= s.rank(best, from) {
			best = a
		}
	}
	if best == nil {
		return Mark{}, false
	}
	return best.Mark, true
}

func (s *stage) rank(a *atWork, from time.Time) int {
	over := !a.ended.IsZero() && a.ended.Before(from)
	// What is paused does nothing, unless it is a service behind a URL, which
	// nobody has paused.
	idle := a.paused && s.opt.Job != nil && s.opt.Job.URL == ""
	switch {
	case over:
		return 0
	case idle:
		return -1
	case a.had:
		return 1
	case a.At.After(from): // it has only just begun
		return 2
	}
	return 3
}

// attemptsUntil lists the attempts that had begun at a moment, oldest first.
func (s *stage) attemptsUntil(at time.Time, occurrence string) []*atWork {
	s.mu.Lock()
	defer s.mu.Unlock()
	type who struct {
		node  string
		token int64
	}
	known := map[who]*atWork{}
	var all []*atWork
	for _, m := range s.marks {
		if m.At.After(at) {
			continue
		}
		a := known[who{m.Node, m.Token}]
		switch m.Kind {
		case MarkBegin:
			if a == nil && (occurrence == "" || m.Occurrence == occurrence) {
				a = &atWork{Mark: m}
				known[who{m.Node, m.Token}] = a
				all = append(all, a)
			}
		case MarkStop, MarkContinue:
			for _, other := range all {
				if other.Node == m.Node {
					other.paused = m.Kind == MarkStop
				}
			}
		case MarkEnd, MarkKill:
			if a != nil {
				a.ended = m.At
			}
		case MarkEffect:
			if a != nil {
				a.had = true
			}
		}
	}
	return all
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
