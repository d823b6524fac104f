package drill

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/duly-dev/duly"
)

// found is all that a verdict rests on.
type found struct {
	history []duly.Occurrence // of all schedules of the play, with their attempts
	marks   []Mark
	before  tally
	after   tally
	// owedEffects is how many the succeeded occurrences owe.
	owedEffects                int
	effects, repeated, missing int
	// told: the job names its effects itself, so whose each one is is known.
	told bool
	// calm: nothing was done that could cost an attempt its lease.
	calm     bool
	delivers int // how often each attempt was handed to the job
}

// verify judges what was played. It is the same for every scenario: what a
// play knows of its own it has noted before.
func (s *stage) verify(ctx context.Context) (Result, error) {
	s.poll.stop()
	f := &found{marks: s.settledMarks(), before: s.before, delivers: 1}
	if err := s.readHistory(ctx, f); err != nil {
		return Result{}, err
	}
	after, err := s.count(ctx)
	if err != nil {
		return Result{}, err
	}
	f.after = after
	cfg := nodeConfig{}
	s.config(&cfg)
	f.delivers = max(1, cfg.Deliveries)
	f.calm = true
	for _, m := range f.marks {
		switch m.Kind {
		case MarkKill, MarkStop, MarkCut, MarkTerm, MarkNote:
			f.calm = false
		case MarkEffect:
			f.told = f.told || !m.wasCounted()
		}
	}

	res := Result{Name: s.scenario.Name, Title: s.scenario.Title, Occurrences: len(f.history)}
	var broken []string
	res.LostOccurrences, broken = s.checkOwed(f)
	f.effects, f.repeated, f.missing = f.after.since(f.before, f.owedEffects)
	res.Effects, res.RepeatedEffects, res.MissingEffects = f.effects, f.repeated, f.missing
	broken = append(broken, checkOwners(f.history)...)
	for _, o := range f.history {
		res.Attempts += len(o.Attempts)
	}
	why := f.diagnose(s.opt)
	why = append(why, s.broken...)
	why = append(why, broken...)
	res.Verdict = Pass
	if len(why) > 0 {
		res.Verdict = Fail
	} else {
		why = append(slices.Clone(s.seen), f.tell()...)
	}
	res.Why = union(nil, why)
	res.RecoveryMS = s.recovery(f).Milliseconds()
	res.Timeline = s.timeline(f)
	res.DurationMS = time.Since(s.began).Milliseconds()
	return res, nil
}

// readHistory reads what the store says happened.
func (s *stage) readHistory(ctx context.Context, f *found) error {
	schedules := map[string]bool{}
	for _, o := range s.owed {
		name, _, _ := duly.SplitOccurrenceID(o.id)
		schedules[name] = true
	}
	for name := range s.missed {
		schedules[name] = true
	}
	for _, name := range slices.Sorted(keysOf(schedules)) {
		occs, err := s.occurrences(ctx, name)
		if err != nil {
			return err
		}
		last := s.lastOwed(name, occs)
		for _, o := range occs {
			if o.Due.After(last) {
				continue // what came due after the play is another story
			}
			if o.State != duly.Succeeded { // with what its attempts printed
				if o, err = s.st.Occurrence(ctx, o.ID); err != nil {
					return err
				}
			}
			f.history = append(f.history, o)
		}
	}
	return nil
}

// lastOwed is when the last occurrence that is owed was due.
func (s *stage) lastOwed(schedule string, occs []duly.Occurrence) time.Time {
	var last time.Time
	for _, o := range occs {
		isOwed := o.State == duly.Missed && s.missed[schedule] > 0 || slices.ContainsFunc(s.owed, func(w owed) bool { return w.id == o.ID })
		if isOwed && o.Due.After(last) {
			last = o.Due
		}
	}
	return last
}

// checkOwed compares history with what was owed.
func (s *stage) checkOwed(f *found) (lost int, broken []string) {
	byID := map[string]*duly.Occurrence{}
	for i := range f.history {
		byID[f.history[i].ID] = &f.history[i]
	}
	for _, w := range s.owed {
		o := byID[w.id]
		switch {
		case o == nil:
			lost++
			broken = append(broken, fmt.Sprintf("lost occurrence: %s was owed and does not exist", w.id))
			continue
		case o.State.Open():
			lost++
			broken = append(broken, fmt.Sprintf("lost occurrence: %s came to no end; it is %s (%s)", w.id, o.State, o.Reason))
		case o.State != w.state && !f.explained(o):
			broken = append(broken, fmt.Sprintf("%s is %s where it must be %s: %s", w.id, o.State, w.state, cmp.Or(lastError(o), o.Reason)))
		}
		if o.State == duly.Succeeded {
			f.owedEffects += max(w.covers, len(o.Covers)) * s.perPeriod()
		}
		if got := outcomes(o); w.attempts != nil && !slices.Equal(got, w.attempts) {
			broken = append(broken, fmt.Sprintf("%s had the attempts %v where it must have had %v", w.id, got, w.attempts))
		}
		delete(byID, w.id)
	}
	for schedule, n := range s.missed {
		var missed []duly.Occurrence
		for id, o := range byID {
			if o.Schedule == schedule && o.State == duly.Missed {
				missed = append(missed, *o)
				delete(byID, id)
			}
		}
		if got := missedPeriods(missed); got != n {
			lost += max(0, n-got)
			broken = append(broken, fmt.Sprintf("lost occurrence: %d periods of %s are recorded as missed, where it must be %d", got, schedule, n))
		}
	}
	for id, o := range byID {
		broken = append(broken, fmt.Sprintf("%s exists (%s) and nobody owed it", id, o.State))
	}
	return lost, broken
}

// missedPeriods counts the periods that are recorded as missed: a long run of
// them may be one row.
func missedPeriods(occs []duly.Occurrence) (n int) {
	for _, o := range occs {
		if o.State == duly.Missed {
			n += o.Count
		}
	}
	return n
}

func outcomes(o *duly.Occurrence) []duly.Outcome {
	var all []duly.Outcome
	for _, a := range byNumber(o.Attempts) {
		all = append(all, a.Outcome)
	}
	return all
}

func byNumber(attempts []duly.Attempt) []duly.Attempt {
	return slices.SortedFunc(slices.Values(attempts), func(a, b duly.Attempt) int { return a.Number - b.Number })
}

func lastError(o *duly.Occurrence) string {
	all := byNumber(o.Attempts)
	if len(all) == 0 {
		return ""
	}
	last := all[len(all)-1]
	if text := strings.TrimSpace(last.Output); text != "" {
		return last.Error + ": " + text[strings.LastIndexByte(text, '\n')+1:]
	}
	return last.Error
}

// checkOwners wants tokens to grow and owners to follow each other.
func checkOwners(history []duly.Occurrence) (broken []string) {
	for i := range history {
		o := &history[i]
		all := byNumber(o.Attempts)
		for k := 1; k < len(all); k++ {
			was, is := all[k-1], all[k]
			if is.Token <= was.Token {
				broken = append(broken, fmt.Sprintf("two owners: attempt %d of %s got token %d after %d", is.Number, o.ID, is.Token, was.Token))
			}
			if !was.FinishedAt.IsZero() && is.StartedAt.Before(was.FinishedAt) {
				broken = append(broken, fmt.Sprintf("two owners: attempt %d of %s began before attempt %d had ended", is.Number, o.ID, was.Number))
			}
		}
	}
	return broken
}

// recovery is how long it took from the strike to the end of what it hit.
func (s *stage) recovery(f *found) time.Duration {
	for _, o := range f.history {
		if o.ID == s.strike.occurrence && !o.FinishedAt.IsZero() {
			return max(0, o.FinishedAt.Add(-s.ahead).Sub(s.strike.at))
		}
	}
	return 0
}

// timeline puts history and marks on this machine's clock.
func (s *stage) timeline(f *found) Timeline {
	t := Timeline{Start: s.began, Marks: f.marks}
	nodes := map[string]bool{}
	for _, m := range f.marks {
		if m.Node != "" {
			nodes[m.Node] = true
		}
		if m.At.After(t.End) {
			t.End = m.At
		}
	}
	t.Nodes = slices.Sorted(keysOf(nodes))
	ours := func(at time.Time) time.Time {
		if at.IsZero() {
			return at
		}
		return at.Add(-s.ahead)
	}
	for _, o := range f.history {
		for _, a := range byNumber(o.Attempts) {
			span := Span{
				Node: a.Node, Occurrence: o.ID, Attempt: a.Number, Token: a.Token, Outcome: a.Outcome, Error: firstLine(a.Error),
				From: ours(a.StartedAt), To: ours(a.FinishedAt),
			}
			if a.Stale != nil {
				span.Refused, span.RefusedAt = a.Stale.Outcome, ours(a.Stale.At)
			}
			if span.To.IsZero() {
				span.To = time.Now()
			}
			t.Attempts = append(t.Attempts, span)
			if span.To.After(t.End) {
				t.End = span.To
			}
		}
	}
	slices.SortFunc(t.Attempts, func(a, b Span) int { return a.From.Compare(b.From) })
	if len(t.Marks) > 0 {
		t.Start = t.Marks[0].At
	}
	return t
}

func sortMarks(marks []Mark) {
	slices.SortStableFunc(marks, func(a, b Mark) int { return a.At.Compare(b.At) })
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}

func keysOf[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// shortList sorts and keeps some.
func shortList(all []string, limit int) []string {
	slices.Sort(all)
	if len(all) > limit {
		all = append(all[:limit], "…")
	}
	return all
}
