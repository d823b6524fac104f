package drill

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"time"
)

// WriteText writes a timeline as lines: when, where, what.
func (t Timeline) WriteText(w io.Writer) error {
	type line struct {
		at   time.Time
		node string
		text string
	}
	var lines []line
	for _, m := range t.Marks {
		if m.Kind != MarkBegin && m.Kind != MarkEnd || m.Text != "" && m.Text != "done" { // spans say those
			lines = append(lines, line{m.At, m.Node, m.Words()})
		}
	}
	for _, a := range t.Attempts {
		who := fmt.Sprintf("attempt %d of %s (token %d)", a.Attempt, a.Occurrence, a.Token)
		lines = append(lines, line{a.From, a.Node, who + " is granted"})
		how := who + " ends: " + string(a.Outcome)
		if a.Error != "" {
			how += ": " + a.Error
		}
		lines = append(lines, line{a.To, a.Node, how})
		if a.Refused != "" {
			lines = append(lines, line{a.RefusedAt, a.Node, who + " reports " + string(a.Refused) + " and is refused: stale"})
		}
	}
	slices.SortStableFunc(lines, func(a, b line) int { return a.at.Compare(b.at) })
	for _, l := range lines {
		if _, err := fmt.Fprintf(w, "%8.3fs  %-7s  %s\n", l.at.Sub(t.Start).Seconds(), cmp.Or(l.node, "store"), l.text); err != nil {
			return err
		}
	}
	return nil
}

// Words says a mark in words.
func (m Mark) Words() string {
	of := ""
	if m.Occurrence != "" {
		of = fmt.Sprintf(", at attempt %d of %s (token %d)", m.Attempt, m.Occurrence, m.Token)
	}
	switch m.Kind {
	case MarkStart:
		if m.Text != "" {
			return "starts, version " + m.Text
		}
		return "starts"
	case MarkBegin:
		return "begins" + of
	case MarkEnd:
		return "returns" + of + ": " + m.Text
	case MarkEffect:
		return "EFFECT " + cmp.Or(m.Key, m.Text) + of
	case MarkReused:
		return "finds done " + m.Key + of
	case MarkKill:
		return "SIGKILL" + of
	case MarkTerm:
		return "SIGTERM" + of
	case MarkStop:
		return "SIGSTOP" + of
	case MarkContinue:
		return "SIGCONT" + of
	case MarkExit:
		return "has ended by itself"
	case MarkCut:
		return "cannot be reached, for " + m.Text
	case MarkBack:
		return "can be reached again"
	}
	return m.Text + of
}
