package convert

import (
	"path"
	"strconv"
	"strings"

	"github.com/duly-dev/duly"
)

// wrapped is a command that goes through duly exec already. Whoever moves on
// from there wants the schedule to keep its ID and its periods, or work that
// was done would be done again.
type wrapped struct {
	id      string
	flags   map[string]string
	command []string // what stands behind the --
}

// unwrapCommand reads duly exec ID [flags] -- COMMAND.
func unwrapCommand(words []string) (w wrapped, ok bool) {
	if len(words) < 3 || path.Base(words[0]) != "duly" || words[1] != "exec" {
		return w, false
	}
	w.flags = map[string]string{}
	for i := 2; i < len(words); i++ {
		name, isFlag := strings.CutPrefix(words[i], "-")
		switch {
		case words[i] == "--":
			w.command = words[i+1:]
			return w, w.id != ""
		case !isFlag:
			w.id = words[i]
		default:
			name, value, set := strings.Cut(strings.TrimPrefix(name, "-"), "=")
			if !set && i+1 < len(words) { // none of its flags stands alone
				i++
				value = words[i]
			}
			w.flags[name] = value
		}
	}
	return w, false
}

// unwrapText does the same for a shell's text, whose rest it returns.
func unwrapText(text string) (w wrapped, rest string, ok bool) {
	head, rest, found := strings.Cut(text, " -- ")
	commands := splitCommands(head)
	rest = strings.TrimSpace(rest)
	if !found || rest == "" || len(commands) != 1 {
		return w, text, false
	}
	if w, ok = unwrapCommand(append(commands[0], "--")); !ok {
		return wrapped{}, text, false
	}
	return w, rest, true
}

// nested is said of a command that goes through duly exec somewhere within.
const nested = "the command seems to go through duly exec within a script; take that out by hand, as it cannot start a schedule that Duly times"

func isNested(text string) bool { return strings.Contains(text, "duly exec ") }

// into sets what the flags said of the schedule. Its zone is not among it: a
// schedule with a timing has that of its times.
func (w *wrapped) into(s *duly.Schedule) {
	if unit := w.flags["period-unit"]; unit != "" {
		s.Period = duly.PeriodUnit(unit)
	}
	if n, err := strconv.Atoi(w.flags["period-offset"]); err == nil && n != 0 {
		s.PeriodOffset = n
		if s.Period == "" {
			s.Period = duly.PeriodDay // of duly exec, where nothing is said
		}
	}
	if d, err := duly.ParseDuration(w.flags["lease"]); err == nil && d != duly.DefaultLease {
		s.Lease = d
	}
	if d, err := duly.ParseDuration(w.flags["timeout"]); err == nil && d > 0 {
		s.Timeout = d
	}
}
