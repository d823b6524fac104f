package convert

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/timing"
)

// Source is a file to convert.
type Source struct {
	// Name is for messages. For a crontab it also tells a system crontab
	// (/etc/crontab, /etc/cron.d/x) from a person's.
	Name string
	Data []byte
}

// maxSource bounds a source: more is no crontab and no manifest.
const maxSource = 4 << 20

// Mode says who keeps the time and starts the command.
type Mode string

// The modes.
const (
	// ModeExec makes schedules with a timing and an exec target: Duly keeps
	// the time and starts the command.
	ModeExec Mode = "exec"
	// ModeExternal makes external schedules: the platform keeps the time and
	// starts the command through `duly exec`. Each schedule comes with advice
	// on how.
	ModeExternal Mode = "external"
)

// Result is what a conversion makes.
type Result struct {
	// Schedules are in the order of the sources. Each is complete in itself.
	Schedules []Schedule `json:"schedules"`
	// Notes are in the order of the sources and their lines.
	Notes []Note `json:"notes"`

	origin string         // who made it, for the head of the file
	common *duly.Schedule // policies that all schedules share
}

// Schedule is a converted schedule and where it came from.
type Schedule struct {
	duly.Schedule
	File string `json:"file"`
	Line int    `json:"line"`
	// Advice says what is to be done at the source, line by line. Only external
	// schedules have some.
	Advice []string `json:"advice,omitempty"`
}

// Kind is what a note is about.
type Kind string

// The kinds of notes.
const (
	// Wrong could not be understood. Nothing was made of it.
	Wrong Kind = "wrong"
	// Lost was understood and has no counterpart, or none that could be known.
	Lost Kind = "lost"
	// Changed is written in another way, or means something slightly different.
	Changed Kind = "changed"
	// Remark is worth knowing.
	Remark Kind = "remark"
)

// Note is something that a person should know.
type Note struct {
	File   string `json:"file"`
	Line   int    `json:"line"`   // from 1
	Column int    `json:"column"` // from 1, in characters
	Kind   Kind   `json:"kind"`
	// Schedule is the ID of the schedule it concerns; empty where it concerns
	// several, or none was made.
	Schedule string `json:"schedule,omitempty"`
	Message  string `json:"message"`
}

// String is the note on one line.
func (n Note) String() string {
	return fmt.Sprintf("%s:%d:%d: %s: %s", n.File, n.Line, n.Column, n.Kind, n.Message)
}

// Count returns how many notes are of a kind.
func (r *Result) Count(kind Kind) int {
	n := 0
	for _, note := range r.Notes {
		if note.Kind == kind {
			n++
		}
	}
	return n
}

// place is a position in a source.
type place struct {
	file      string
	line, col int
}

func (p place) note(kind Kind, format string, args ...any) Note {
	return Note{File: p.file, Line: p.line, Column: p.col, Kind: kind, Message: fmt.Sprintf(format, args...)}
}

func (r *Result) note(p place, kind Kind, format string, args ...any) {
	r.Notes = append(r.Notes, p.note(kind, format, args...))
}

// add adds a schedule with the notes about it, unless Duly would refuse it.
// Then that is a note, and the schedule is left out.
func (r *Result) add(p place, s Schedule, notes []Note) {
	if faults := refusals(s.Schedule); len(faults) > 0 {
		for _, f := range faults {
			r.note(p, Wrong, "%s", f)
		}
		return
	}
	for i := range notes {
		notes[i].Schedule = s.ID
	}
	s.File, s.Line = p.file, p.line
	r.Schedules = append(r.Schedules, s)
	r.Notes = append(r.Notes, notes...)
}

// refusals says why Duly would refuse a schedule.
func refusals(s duly.Schedule) []string {
	errs := s.Validate()
	if len(errs) == 0 {
		_, errs = timing.Compile(s)
	}
	texts := make([]string, len(errs))
	for i, err := range errs {
		texts[i] = err.Error()
	}
	return texts
}

// sort puts the notes in the order of the sources and their lines.
func (r *Result) sort(sources []Source) {
	order := map[string]int{}
	for i, s := range sources {
		if _, twice := order[s.Name]; !twice {
			order[s.Name] = i
		}
	}
	slices.SortStableFunc(r.Notes, func(a, b Note) int {
		return cmp.Or(cmp.Compare(order[a.File], order[b.File]), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}
