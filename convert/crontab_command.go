package convert

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/duly-dev/duly"
)

// command is what an entry starts.
type command struct {
	text  string // for the shell
	input string // for its standard input; cron always ends it with a newline
	fed   bool   // there is input
	// raw is the text as it stands, up to the percent sign that begins the
	// input, and rawInput what follows, that sign included.
	raw, rawInput string
}

// command divides the entry's text at the first percent sign that is not
// escaped: the rest is standard input, in which every other is a newline.
func (e *entry) command() command {
	text := e.text.text
	var b strings.Builder
	escaped := false
	for i := range len(text) {
		ch := text[i]
		switch {
		case escaped && ch == '%':
			cut := b.String()
			b.Reset()
			b.WriteString(cut[:len(cut)-1]) // without the backslash
			b.WriteByte(ch)
			escaped = false
			continue
		case !escaped && ch == '%':
			input := unescapeInput(text[i+1:])
			return command{text: b.String(), input: input, fed: input != "", raw: text[:i], rawInput: text[i:]}
		}
		escaped = !escaped && ch == '\\'
		b.WriteByte(ch)
	}
	return command{text: b.String(), raw: text}
}

// unescapeInput makes newlines of percent signs, except of escaped ones, and
// ends the last line.
func unescapeInput(text string) string {
	if text == "" {
		return ""
	}
	const mark = "\x00" // an entry has none
	text = strings.ReplaceAll(text, `\%`, mark)
	text = strings.ReplaceAll(text, "%", "\n")
	text = strings.ReplaceAll(text, mark, "%")
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text
}

// shells understand a here-document around a group of commands.
var shells = []string{"sh", "bash", "dash", "ash", "ksh", "ksh93", "mksh", "zsh"}

// target makes the exec target, and says what it lacks.
func (e *entry) target(s *duly.Schedule, cmd command) []Note {
	var notes []Note
	target := &duly.ExecTarget{Env: map[string]string{}}
	shell := "/bin/sh"
	for _, v := range e.env {
		switch {
		case v.name == "CRON_TZ" || v.name == "RANDOM_DELAY" || slices.Contains(mailVariables, v.name):
			continue
		case v.name == "SHELL":
			shell = v.value
		case v.name == "HOME":
			target.Dir = v.value
		}
		target.Env[v.name] = v.value
	}
	if shell == "" {
		shell = "/bin/sh"
	}
	text := cmd.text
	if cmd.fed {
		if slices.Contains(shells, path.Base(shell)) {
			text = hereDocument(cmd.text, cmd.input)
		} else {
			notes = append(notes, e.note(Lost, "the standard input after %%: %s has no here-document; put it into a file", shell))
		}
	}
	target.Command = []string{shell, "-c", text}
	if e.user != "" {
		notes = append(notes, e.note(Lost, "cron starts it as the user %s; Duly starts it as the one that duly serve has", e.user))
	}
	s.Target.Exec = target
	return notes
}

// hereDocument gives a command its standard input within the shell's text.
func hereDocument(text, input string) string {
	end := "STDIN"
	for strings.Contains("\n"+input, "\n"+end+"\n") {
		end += "_"
	}
	return fmt.Sprintf("{\n%s\n} <<'%s'\n%s%s\n", text, end, input, end)
}

// sixthField is a command that looks like a time field.
var sixthField = regexp.MustCompile(`^[0-9*?][0-9*?/,-]*[ \t]`)

// suspicion says what looks like a slip.
func (e *entry) suspicion() string {
	switch {
	case e.user == "" && strings.HasPrefix(e.text.text, "root "):
		return "the command begins with root; if that is the user of a system crontab, say --system"
	case sixthField.MatchString(e.text.text):
		return "the command begins with a number; if that is a sixth time field, cron does not take it for one"
	}
	return ""
}

// advice is the line to put in the crontab instead.
func (e *entry) advice(id string, period duly.PeriodUnit) []string {
	shell, _ := e.variable("SHELL")
	if shell == "" {
		shell = "/bin/sh"
	}
	var columns []string
	if e.macro != "" {
		columns = []string{e.macro}
	}
	for _, w := range e.words {
		columns = append(columns, w.text)
	}
	if e.user != "" {
		columns = append(columns, e.user)
	}
	columns = append(columns, "duly", "exec", id)
	if period == duly.PeriodInstant {
		columns = append(columns, "--due", `"$(date -u +\%Y-\%m-\%dT\%H:\%M:00Z)"`)
	}
	cmd := e.command()
	quoted := "'" + strings.ReplaceAll(cmd.raw, "'", `'\''`) + "'"
	columns = append(columns, "--", shell, "-c", quoted)
	return []string{
		"The line keeps the time; let it start the command through Duly:",
		"  " + strings.Join(columns, " ") + cmd.rawInput,
	}
}
