package convert

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// entry is a line of a crontab that starts something.
type entry struct {
	place
	macro    string // @daily and the like, or
	words    []word // the five time fields
	user     string // of a system crontab
	text     word   // the rest of the line as it stands
	comments []string
	env      []variable // in force here, in the order of their lines
}

// variable is an environment line.
type variable struct {
	place
	name, value string
}

// crontab is what stands in one.
type crontab struct {
	file    string
	entries []*entry
	vars    []variable
	header  bool // a comment names a user column
}

// readCrontab takes a crontab apart. What it cannot read becomes a note.
func (r *Result) readCrontab(src Source) *crontab {
	c := &crontab{file: src.Name}
	text := strings.TrimPrefix(string(src.Data), "\ufeff")
	lines := strings.Split(text, "\n")
	last := len(lines) - 1
	if lines[last] == "" {
		lines = lines[:last]
	} else {
		r.note(place{src.Name, last + 1, 1}, Remark, "the last line has no end; cron refuses or ignores such a line")
	}
	var comments []string
	returns := false
	for i, line := range lines {
		p := place{src.Name, i + 1, 1}
		if cut, ok := strings.CutSuffix(line, "\r"); ok {
			line = cut
			if !returns {
				r.note(p, Remark, "the line ends with a carriage return, which cron makes part of the command; it is left out here")
			}
			returns = true
		}
		if !utf8.ValidString(line) {
			r.note(p, Wrong, "is not valid UTF-8; save the file as UTF-8")
			continue
		}
		if at := strings.IndexByte(line, 0); at >= 0 {
			r.note(p.column(line, at), Wrong, "has a NUL character, at which cron stops reading")
			continue
		}
		trimmed := strings.TrimLeft(line, " \t")
		switch {
		case trimmed == "":
			comments = nil
		case trimmed[0] == '#':
			comments = c.comment(comments, trimmed)
		default:
			if v, ok := readVariable(trimmed); ok {
				v.place = p.column(line, len(line)-len(trimmed))
				c.vars = append(c.vars, v)
			} else if e, err := readEntry(line); err != nil {
				r.note(p.column(line, err.offset), Wrong, "%s", err.text)
			} else {
				e.place = p.column(line, len(line)-len(trimmed))
				e.comments, e.env = comments, c.vars[:len(c.vars):len(c.vars)]
				c.entries = append(c.entries, e)
			}
			comments = nil
		}
	}
	return c
}

// column moves a place to an offset in its line.
func (p place) column(line string, offset int) place {
	p.col = utf8.RuneCountInString(line[:min(offset, len(line))]) + 1
	return p
}

var (
	// headerLine explains the columns: "# m h dom mon dow user command".
	headerLine = regexp.MustCompile(`(?i)^(m|min|minute|\*)\b?[\s|]+(h|hour|\*)\b?.*(command|cmd)`)
	userColumn = regexp.MustCompile(`(?i)\buser(-?name)?\b`)
	// generated lines come from crontab(1) and from configuration management.
	generated = regexp.MustCompile(`^(DO NOT EDIT|HEADER:|\(.* installed on |\(Cron version)`)
	// named comments are the names that configuration management gives.
	named = regexp.MustCompile(`^(Ansible|Puppet Name): *`)
)

// comment adds a comment to those that stand above the next entry, unless it
// cannot be about that.
func (c *crontab) comment(above []string, line string) []string {
	text := strings.TrimSpace(strings.TrimLeft(line, "#"))
	if headerLine.MatchString(text) {
		c.header = c.header || userColumn.MatchString(text)
		return nil
	}
	if e, err := readEntry(text); err == nil && e.looksReal() {
		return nil // an entry that was taken out
	}
	text = named.ReplaceAllString(text, "")
	if generated.MatchString(text) || strings.Trim(text, "-=*#_~+. ") == "" {
		return above
	}
	return append(above, text)
}

// looksReal reports whether the time fields can be read.
func (e *entry) looksReal() bool {
	if e.macro != "" {
		return true
	}
	_, err := vixie.parseClock(e.words)
	return err == nil
}

// readVariable reads NAME = value, with quotes around either.
func readVariable(line string) (variable, bool) {
	var v variable
	name, rest, ok := quoted(line)
	if !ok {
		end := strings.IndexAny(line, "= \t")
		if end <= 0 {
			return v, false
		}
		name, rest = line[:end], line[end:]
	}
	rest = strings.TrimLeft(rest, " \t")
	if name == "" || strings.Contains(name, "=") || !strings.HasPrefix(rest, "=") {
		return v, false
	}
	value := strings.Trim(rest[1:], " \t")
	if inner, after, ok := quoted(value); ok {
		if after != "" {
			return v, false
		}
		value = inner
	}
	v.name, v.value = name, value
	return v, true
}

// quoted takes a text in matching quotes off the front.
func quoted(s string) (inner, rest string, ok bool) {
	if s == "" || s[0] != '"' && s[0] != '\'' {
		return "", s, false
	}
	inner, rest, ok = strings.Cut(s[1:], s[:1])
	return inner, rest, ok
}

// readEntry takes a line apart at its columns. Offsets count from its start.
func readEntry(line string) (*entry, *fieldError) {
	e := &entry{}
	rest := word{line, 0}
	first := nextWord(&rest)
	if cut, quiet := strings.CutPrefix(first.text, "-"); quiet {
		first = word{cut, first.at + 1} // do not log, says some cron
	}
	if strings.HasPrefix(first.text, "@") {
		e.macro = first.text
	} else {
		e.words = []word{first}
		for len(e.words) < len(fields) {
			w := nextWord(&rest)
			if w.text == "" {
				return nil, &fieldError{first.at, "is neither a setting (NAME=value) nor an entry, which has five time fields and a command"}
			}
			e.words = append(e.words, w)
		}
	}
	skipBlanks(&rest)
	e.text = rest
	if rest.text == "" {
		return nil, &fieldError{rest.at, "the command is missing"}
	}
	return e, nil
}

func skipBlanks(rest *word) {
	trimmed := strings.TrimLeft(rest.text, " \t")
	rest.at += len(rest.text) - len(trimmed)
	rest.text = trimmed
}

// nextWord takes a word off the front.
func nextWord(rest *word) word {
	skipBlanks(rest)
	end := strings.IndexAny(rest.text, " \t")
	if end < 0 {
		end = len(rest.text)
	}
	w := word{rest.text[:end], rest.at}
	rest.text = rest.text[end:]
	rest.at += end
	return w
}
