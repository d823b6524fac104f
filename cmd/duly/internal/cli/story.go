package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/duly-dev/duly"
)

// shownLines is how much of an attempt's output a story tells: this many lines
// from its beginning and from its end.
const shownLines = 10

// story tells what became of an occurrence: what it is for, where it stands,
// then each attempt, then the effects.
type story struct {
	*sheet
	zone *time.Location
	now  time.Time
}

func (s story) tell(o duly.Occurrence) {
	s.title(o.ID)
	s.subject(o)
	s.attempts(o)
	s.unowned(o)
	s.effects(o)
}

// unowned tells what nodes did by themselves while they could not reach the
// store.
func (s story) unowned(o duly.Occurrence) {
	if len(o.Unowned) == 0 {
		return
	}
	s.section("Unowned: done while the store was out of reach")
	for _, u := range o.Unowned {
		text := fmt.Sprintf("%s on %s, started %s, took %s", u.Outcome, u.Node, instantIn(u.StartedAt, s.zone), took(u.FinishedAt.Sub(u.StartedAt)))
		if u.Period != o.Period {
			text = u.Period + ": " + text
		}
		if u.ExitCode != nil {
			text += fmt.Sprintf(", exit or status %d", *u.ExitCode)
		}
		if u.Error != "" {
			text += ": " + u.Error
		}
		s.text(text)
	}
}

func (s story) subject(o duly.Occurrence) {
	label := "Period"
	if _, err := time.Parse(time.DateOnly, o.Period); err == nil {
		label = "Business date"
	}
	s.line(label, o.Period)
	if len(o.Covers) > 1 {
		s.line("Covers", strings.Join(o.Covers, ", "))
	}
	if o.Count > 1 {
		s.line("Stands for", fmt.Sprintf("%d periods", o.Count))
	}
	s.line("Due", dueIn(o.Due, s.zone, s.now))
	if !o.IntervalStart.IsZero() {
		s.line("Data since", instantIn(o.IntervalStart, s.zone))
	}
	s.word("State", string(o.State))
	s.line("Reason", o.Reason)
	s.line("Waits", s.waits(o))
	if o.MergedInto != "" {
		s.line("Merged into", o.MergedInto)
	}
	s.line("Origin", s.origin(o))
	if o.Queue != "" {
		s.line("Queue", queueAndPriority(o))
	}
	if !o.FinishedAt.IsZero() {
		s.line("Ended", dueIn(o.FinishedAt, s.zone, s.now))
	}
}

func (s story) waits(o duly.Occurrence) string {
	if o.State != duly.Pending {
		return ""
	}
	var text string
	switch o.Waiting {
	case duly.WaitingSlot:
		text = "for a free slot on a node, or for room in its queue"
	case duly.WaitingTime:
		text = "until " + dueIn(o.NotBefore, s.zone, s.now)
	case duly.WaitingEarlier:
		text = "for an earlier occurrence of its schedule"
	}
	if !o.StartBy.IsZero() {
		text += "; missed unless started by " + instantIn(o.StartBy, s.zone)
	}
	return text
}

func (s story) origin(o duly.Occurrence) string {
	text := map[duly.Origin]string{
		duly.OriginSchedule: "came due",
		duly.OriginCatchUp:  "caught up with: it came due while nothing could fire",
		duly.OriginTrigger:  "triggered by a person",
		duly.OriginBackfill: "backfilled: a person asked for a past range",
		duly.OriginExternal: "started by a platform's cron",
	}[o.Origin]
	if text == "" {
		text = string(o.Origin)
	}
	text += fmt.Sprintf("; made %s", instantIn(o.CreatedAt, s.zone))
	if o.FiredBy != "" {
		text += " by " + o.FiredBy
	}
	if o.TZData != "" {
		text += ", zone data " + o.TZData
	}
	return text + fmt.Sprintf(", revision %d", o.Revision)
}

func queueAndPriority(o duly.Occurrence) string {
	if o.Priority == 0 {
		return o.Queue
	}
	return fmt.Sprintf("%s, priority %d", o.Queue, o.Priority)
}

func (s story) attempts(o duly.Occurrence) {
	s.section("Attempts")
	if len(o.Attempts) == 0 {
		s.text("none")
	}
	for i, a := range o.Attempts {
		if i > 0 {
			s.printf("\n")
		}
		s.attempt(a)
	}
}

func (s story) attempt(a duly.Attempt) {
	s.printf("  %d  %s on %s with token %d\n", a.Number, painted(string(a.Outcome)), clean(a.Node), a.Token)
	s.detail("Started", instantIn(a.StartedAt, s.zone))
	switch {
	case !a.FinishedAt.IsZero():
		s.detail("Ended", fmt.Sprintf("%s, after %s", instantIn(a.FinishedAt, s.zone), took(a.FinishedAt.Sub(a.StartedAt))))
	case !a.LeaseUntil.IsZero():
		s.detail("Leased", fmt.Sprintf("until %s; it has been going on for %s", instantIn(a.LeaseUntil, s.zone), span(s.now.Sub(a.StartedAt))))
	}
	s.detail("Error", a.Error)
	if a.ExitCode != nil {
		s.detail("Exit code", strconv.Itoa(*a.ExitCode))
	}
	if a.Late {
		s.detail("Late", "it reported after its lease had run out; nobody had taken over, so the report was accepted")
	}
	if st := a.Stale; st != nil {
		s.detail("Stale", s.stale(st))
	}
	s.detail("Effects", effectCounts(a.Effects))
	s.detail("Result", string(a.Result))
	s.detail("Output", excerpt(a.Output))
}

func effectCounts(n duly.EffectCounts) string {
	switch {
	case n == duly.EffectCounts{}:
		return ""
	case n.Reused == 0:
		return fmt.Sprintf("%d created", n.Created)
	}
	return fmt.Sprintf("%d created, %d found done already", n.Created, n.Reused)
}

func (s story) stale(r *duly.StaleReport) string {
	text := fmt.Sprintf("at %s it reported %s, after a newer token had been granted; the report was refused and changed nothing", instantIn(r.At, s.zone), r.Outcome)
	if r.Error != "" {
		text += "\nit said: " + r.Error
	}
	return text
}

// excerpt is the beginning and the end of a long text.
func excerpt(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if left := len(lines) - 2*shownLines; left > 1 {
		short := append([]string{}, lines[:shownLines]...)
		short = append(short, fmt.Sprintf("… %d lines left out; -o json has them all", left))
		lines = append(short, lines[len(lines)-shownLines:]...)
	}
	return strings.Join(lines, "\n")
}

// shownEffects is how many effects a story lists.
const shownEffects = 20

func (s story) effects(o duly.Occurrence) {
	s.section("Effects")
	for _, e := range o.Effects[:min(len(o.Effects), shownEffects)] {
		s.text(shownKey(e.Key))
		if e.Open {
			s.detail("Unknown", fmt.Sprintf("attempt %d with token %d could not tell whether it has happened, %s", e.Attempt, e.Token, instantIn(e.CreatedAt, s.zone)))
			continue
		}
		maker := "found done by an attempt that could not tell who had made it,"
		if e.Attempt != 0 {
			maker = fmt.Sprintf("by attempt %d with token %d,", e.Attempt, e.Token)
		}
		s.detail("Recorded", maker+" "+instantIn(e.CreatedAt, s.zone))
		s.detail("Result", string(e.Result))
	}
	switch left := len(o.Effects) - shownEffects; {
	case left > 0:
		s.text(fmt.Sprintf("… and %d more: duly effects ls --occurrence %s", left, o.ID))
	case len(o.Effects) > 0:
	case slices.ContainsFunc(o.Attempts, func(a duly.Attempt) bool { return a.Effects.Reused > 0 }):
		s.text("none of its own: what its attempts found had been made for another occurrence")
	default:
		s.text("none recorded")
	}
}
