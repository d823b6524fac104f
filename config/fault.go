package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/duly-dev/duly"
)

const (
	maxFaults  = 1000 // beyond that a file is of another kind
	maxExcerpt = 100  // characters of a line that an excerpt shows
)

// Fault is one thing that is wrong with a file, or worth a warning, and where.
type Fault struct {
	File    string `json:"file"`
	Line    int    `json:"line"`   // counted from 1
	Column  int    `json:"column"` // counted from 1, in characters
	Message string `json:"message"`
	// Excerpt is the line of source with carets under what is meant. It shows
	// placeholders, never their values.
	Excerpt string `json:"excerpt,omitempty"`
}

// Error gives the place and the message on one line.
func (f *Fault) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", f.File, f.Line, f.Column, f.Message)
}

// Unwrap makes a fault an error of code invalid.
func (f *Fault) Unwrap() error {
	return &duly.Error{Code: duly.CodeInvalid, Message: f.Message}
}

// Faults are all the faults of a file in the order of its lines.
type Faults []*Fault

// Error gives every fault with its excerpt.
func (fs Faults) Error() string {
	var b strings.Builder
	for i, f := range fs {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(f.Error())
		if f.Excerpt != "" {
			b.WriteByte('\n')
			b.WriteString(f.Excerpt)
		}
	}
	return b.String()
}

// Unwrap gives the single faults to errors.Is and errors.As.
func (fs Faults) Unwrap() []error {
	errs := make([]error, len(fs))
	for i, f := range fs {
		errs[i] = f
	}
	return errs
}

// source is a file's text by line, and what was found in it.
type source struct {
	file     string
	lines    []string
	faults   Faults
	warnings Faults
	seen     map[Fault]bool
}

func newSource(file, text string) *source {
	return &source{file: file, lines: strings.Split(text, "\n"), seen: map[Fault]bool{}}
}

// fault notes a fault at a node.
func (s *source) fault(at *node, format string, args ...any) {
	if len(s.faults) < maxFaults {
		s.faultAt(at.line, at.col, s.width(at), fmt.Sprintf(format, args...))
	}
}

// faultAt notes a fault at a line and column, with width carets.
func (s *source) faultAt(line, col, width int, message string) {
	if len(s.faults) < maxFaults {
		s.note(&s.faults, line, col, width, message)
	}
}

func (s *source) warn(at *node, format string, args ...any) {
	s.note(&s.warnings, at.line, at.col, s.width(at), fmt.Sprintf(format, args...))
}

// note adds a fault once: a node that many schedules share is wrong once.
func (s *source) note(list *Faults, line, col, width int, message string) {
	f := Fault{File: s.file, Line: line, Column: col, Message: clip(message)}
	if s.seen[f] {
		return
	}
	s.seen[f] = true
	f.Excerpt = s.excerpt(line, col, width)
	*list = append(*list, &f)
}

// clip takes the middle out of a message that repeats a long text.
func clip(message string) string {
	const end = 300 // characters
	if len(message) <= 4*2*end {
		return message
	}
	runes := []rune(message)
	return string(runes[:end]) + " … " + string(runes[len(runes)-end:])
}

// err returns the faults in order, nil if there are none.
func (s *source) err() error {
	if len(s.faults) == 0 {
		return nil
	}
	all := sorted(s.faults)
	if len(all) == maxFaults {
		last := *all[len(all)-1]
		last.Message, last.Excerpt = fmt.Sprintf("%d faults so far; the rest is left out", maxFaults), ""
		all = append(all, &last)
	}
	return all
}

func sorted(fs Faults) Faults {
	slices.SortStableFunc(fs, func(a, b *Fault) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return fs
}

// line returns a line's text, "" where there is none.
func (s *source) line(n int) string {
	if n < 1 || n > len(s.lines) {
		return ""
	}
	return s.lines[n-1]
}

// literal reports whether the text of a scalar stands in the source as it is,
// and how many characters after the node's column it begins.
func (s *source) literal(n *node) (shift int, ok bool) {
	if !n.isScalar() || n.text == "" {
		return 0, false
	}
	rest := afterColumn(s.line(n.line), n.col)
	if strings.HasPrefix(rest, n.text) {
		return 0, true
	}
	if rest != "" && (rest[0] == '"' || rest[0] == '\'') && strings.HasPrefix(rest[1:], n.text) {
		return 1, true
	}
	return 0, false
}

// width is how many carets point at a node.
func (s *source) width(n *node) int {
	if shift, ok := s.literal(n); ok {
		return utf8.RuneCountInString(n.text) + 2*shift
	}
	return 1
}

// afterColumn cuts off what stands before a column.
func afterColumn(line string, col int) string {
	for i := range line {
		if col <= 1 {
			return line[i:]
		}
		col--
	}
	return ""
}

// excerpt prints a line with carets below. Of a long line it shows what is
// around the column; what a terminal would obey is made visible.
func (s *source) excerpt(line, col, width int) string {
	text := s.line(line)
	if strings.TrimSpace(text) == "" {
		return ""
	}
	first := max(1, col-maxExcerpt/2)
	if col <= maxExcerpt*3/4 {
		first = 1
	}
	shown := []rune(afterColumn(text, first)[:min(len(afterColumn(text, first)), 4*maxExcerpt)])
	cut := len(shown) > maxExcerpt
	shown = shown[:min(len(shown), maxExcerpt)]

	var src, mark strings.Builder
	if first > 1 {
		src.WriteString("…")
		mark.WriteString(" ")
	}
	for i, r := range shown {
		if r != '\t' && !unicode.IsPrint(r) {
			r = '·'
		}
		src.WriteRune(r)
		if i < col-first {
			if r != '\t' {
				r = ' '
			}
			mark.WriteRune(r)
		}
	}
	if cut {
		src.WriteString("…")
	}
	mark.WriteString(strings.Repeat("^", max(1, min(width, len(shown)-(col-first)))))
	return fmt.Sprintf("%5d | %s\n      | %s", line, src.String(), mark.String())
}
