package cli

import (
	"fmt"
	"io"
	"strings"
)

// sheet is a page about one thing: labelled lines, in sections. It keeps the
// first error of writing.
type sheet struct {
	w   io.Writer
	err error
}

func newSheet(w io.Writer) *sheet { return &sheet{w: w} }

func (s *sheet) printf(format string, args ...any) {
	if s.err == nil {
		_, s.err = fmt.Fprintf(s.w, format, args...)
	}
}

func (s *sheet) title(text string) { s.printf("%s\n\n", bold(clean(text))) }

func (s *sheet) section(text string) { s.printf("\n%s\n\n", bold(text)) }

// line prints a labelled text, and nothing where the text is empty.
func (s *sheet) line(label, text string) { s.labelled(2, 14, label, clean(text)) }

// word is line for a word that has a colour.
func (s *sheet) word(label, text string) { s.labelled(2, 14, label, painted(clean(text))) }

// detail is line for what belongs to an item of a section.
func (s *sheet) detail(label, text string) { s.labelled(5, 11, label, clean(text)) }

func (s *sheet) labelled(margin, width int, label, text string) {
	if text == "" {
		return
	}
	s.printf("%*s%s %s\n", margin, "", dim(fmt.Sprintf("%-*s", width, label)), indent(text, margin+width+1))
}

// text prints lines as they are, indented.
func (s *sheet) text(text string) {
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n "), "\n") {
		s.printf("%s\n", strings.TrimRight("  "+line, " "))
	}
}

// indent puts further lines under the first.
func indent(text string, by int) string {
	text = strings.TrimRight(text, "\n")
	return strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", by))
}
