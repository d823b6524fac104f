package cli

import (
	"io"
	"strings"
	"unicode"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"github.com/duly-dev/duly"
)

// paper is where things are shown to a person: colours are kept as far as the
// terminal and NO_COLOR allow it, and dropped where there is no terminal.
func (inv *invocation) paper() io.Writer { return colorprofile.NewWriter(inv.out, inv.env) }

func bold(s string) string { return lipgloss.NewStyle().Bold(true).Render(s) }

func dim(s string) string { return lipgloss.NewStyle().Faint(true).Render(s) }

// wordStyle is the colour of a state, an outcome or an action. The words say
// the same without it.
func wordStyle(word string) lipgloss.Style {
	colour := func(n string) lipgloss.Style { return lipgloss.NewStyle().Foreground(lipgloss.Color(n)) }
	word, _, _ = strings.Cut(word, " ")
	switch word {
	case string(duly.Succeeded), "create", "live", "yes", "added", "pass":
		return colour("2")
	case string(duly.Failed), string(duly.AttemptLost), string(duly.AttemptTimedOut), "remove", "gone", "dropped", "fail":
		return colour("1")
	case string(duly.Uncertain), string(duly.Missed), "update", "paused", "orphaned", "moved", "draining", "retry":
		return colour("3")
	case string(duly.Running):
		return colour("4")
	case string(duly.Pending):
		return colour("6")
	case string(duly.Skipped), string(duly.Merged), string(duly.Cancelled), string(duly.AttemptReleased), "keep", "ignore", "left":
		return lipgloss.NewStyle().Faint(true)
	}
	return lipgloss.NewStyle()
}

func painted(word string) string { return wordStyle(word).Render(word) }

// clean makes text that came from a target or another person fit for a
// terminal: what would move the cursor or change its colours is taken out.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, ansi.Strip(s))
}
