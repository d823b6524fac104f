package calendar

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

const (
	// MaxICSBytes is the largest iCalendar file that is read. Half a century of
	// a country's holidays takes a tenth of it.
	MaxICSBytes = 1 << 20

	maxDates     = 100_000 // from one file
	maxEventDays = reach   // of one event
)

// ICSOptions says how a file becomes dates. The zero value takes it as written
// and refuses events that recur without an end.
type ICSOptions struct {
	// Zone is where a time given in UTC becomes a date. Nil is UTC. It does
	// not touch dates, nor times that name their own zone or none.
	Zone *time.Location
	// FromYear and ToYear limit the years, both included, for which yearly
	// events are worked out. FromYear 0 begins with the event itself; ToYear 0
	// follows the rule's own end and refuses a rule that has none.
	FromYear, ToYear int
}

// ICSError is what is wrong with an iCalendar file, and on which line.
type ICSError struct {
	Line    int // of the file, from 1; a folded line counts from its first part
	Message string
}

func (e *ICSError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Message) }

// ParseICS reads the dates that the events of an iCalendar file (RFC 5545)
// cover, in order and each one once.
//
// An all-day event covers its dates up to its exclusive end; one that ends on
// the day it starts covers that day. An event with times covers every date that
// it touches on its own clock. Cancelled events cover none. Events may recur by
// FREQ=YEARLY on the same date, with INTERVAL, COUNT and UNTIL; on 29 February
// only leap years count.
//
// Whatever else would change the dates (other rules, RDATE, EXDATE,
// RECURRENCE-ID) is refused with an [*ICSError] and never ignored, for a
// holiday that is silently missing is noticed too late. So is a file that is
// not well-formed or longer than [MaxICSBytes]. Errors of r are returned as
// they are.
func ParseICS(r io.Reader, o ICSOptions) ([]Date, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxICSBytes+1))
	if err != nil {
		return nil, err
	}
	if len(data) > MaxICSBytes {
		return nil, fmt.Errorf("calendar file is longer than %d bytes; leave out old years", MaxICSBytes)
	}
	if o.FromYear < 0 || o.ToYear < 0 || o.ToYear > 9999 || o.ToYear > 0 && o.FromYear > o.ToYear {
		return nil, fmt.Errorf("years %d to %d are not a range within 1-9999", o.FromYear, o.ToYear)
	}
	p := icsParser{options: o, dates: map[Date]struct{}{}}
	for _, l := range unfold(string(data)) {
		if err := p.line(l); err != nil {
			return nil, err
		}
	}
	if err := p.complete(); err != nil {
		return nil, err
	}
	dates := make([]Date, 0, len(p.dates))
	for d := range p.dates {
		dates = append(dates, d)
	}
	slices.SortFunc(dates, Date.Compare)
	return dates, nil
}

// icsLine is a content line: NAME;PARAMS:value, unfolded.
type icsLine struct {
	number int
	text   string

	name, value string
	params      map[string]string
}

func (l *icsLine) fail(format string, args ...any) *ICSError {
	return &ICSError{Line: l.number, Message: fmt.Sprintf(format, args...)}
}

// unfold joins continuation lines, which begin with a space or a tab, to the
// lines that they continue.
func unfold(text string) []*icsLine {
	text = strings.TrimPrefix(text, "\ufeff")
	var lines []*icsLine
	var parts []string // of the line that is being joined
	join := func() {
		if len(parts) > 0 {
			lines[len(lines)-1].text = strings.Join(parts, "")
		}
	}
	number := 0
	for part := range strings.SplitSeq(text, "\n") {
		number++
		part = strings.TrimSuffix(part, "\r")
		if part == "" {
			continue
		}
		if (part[0] == ' ' || part[0] == '\t') && len(lines) > 0 {
			parts = append(parts, part[1:])
			continue
		}
		join()
		lines = append(lines, &icsLine{number: number})
		parts = append(parts[:0], part)
	}
	join()
	return lines
}

// split takes the text of a line apart. Parameter values may be quoted, and
// then hold colons and semicolons.
func (l *icsLine) split() *ICSError {
	l.params = map[string]string{}
	quoted, start := false, 0
	for i := 0; i < len(l.text); i++ {
		c := l.text[i]
		if c == '"' {
			quoted = !quoted
		}
		if quoted || c != ';' && c != ':' {
			continue
		}
		if part := l.text[start:i]; start == 0 {
			l.name = strings.ToUpper(part)
		} else {
			key, value, _ := strings.Cut(part, "=")
			l.params[strings.ToUpper(key)] = strings.ToUpper(strings.Trim(value, `"`))
		}
		start = i + 1
		if c == ':' {
			l.value = l.text[start:]
			return nil
		}
	}
	return l.fail("%.40q is not a calendar line, which has the form NAME:value", l.text)
}

// icsParser goes through the lines and keeps where in the file it is.
type icsParser struct {
	options ICSOptions
	open    []string // components, outermost first
	seen    bool     // a VCALENDAR
	event   *icsEvent
	dates   map[Date]struct{}
	covered int // dates, with repeats
	last    int // line
}

func (p *icsParser) line(l *icsLine) error {
	p.last = l.number
	if err := l.split(); err != nil {
		return err
	}
	switch l.name {
	case "BEGIN":
		return p.begin(l)
	case "END":
		return p.end(l)
	}
	if len(p.open) == 0 {
		return l.fail("%s stands outside a calendar; the file must begin with BEGIN:VCALENDAR", l.name)
	}
	// Alarms inside an event have times of their own.
	if p.event != nil && p.open[len(p.open)-1] == "VEVENT" {
		return p.event.property(l)
	}
	return nil
}

func (p *icsParser) begin(l *icsLine) error {
	name := strings.ToUpper(l.value)
	outermost := len(p.open) == 0
	switch {
	case outermost != (name == "VCALENDAR"):
		return l.fail("BEGIN:%.20s is out of place; components stand inside BEGIN:VCALENDAR and END:VCALENDAR", name)
	case name == "VEVENT" && p.event != nil:
		return l.fail("an event inside an event; is an END:VEVENT missing?")
	case len(p.open) == 8:
		return l.fail("components are nested too deeply")
	}
	p.seen = true
	p.open = append(p.open, name)
	if name == "VEVENT" {
		p.event = &icsEvent{line: l, found: map[string]*icsLine{}}
	}
	return nil
}

func (p *icsParser) end(l *icsLine) error {
	name := strings.ToUpper(l.value)
	if len(p.open) == 0 || p.open[len(p.open)-1] != name {
		return l.fail("END:%.20s closes what is not open", name)
	}
	p.open = p.open[:len(p.open)-1]
	if name != "VEVENT" {
		return nil
	}
	event := p.event
	p.event = nil
	return p.add(event)
}

func (p *icsParser) complete() error {
	switch {
	case !p.seen:
		return &ICSError{Line: 1, Message: "not a calendar file; it must begin with BEGIN:VCALENDAR"}
	case len(p.open) > 0:
		return &ICSError{Line: p.last, Message: fmt.Sprintf("the file ends inside %s; END:%s is missing", p.open[len(p.open)-1], p.open[len(p.open)-1])}
	}
	return nil
}

// add takes in the dates of an event.
func (p *icsParser) add(e *icsEvent) error {
	first, days, err := e.span(p.options.Zone)
	if err != nil {
		return err
	}
	if e.cancelled() {
		return nil
	}
	starts, err := e.starts(first, p.options)
	if err != nil {
		return err
	}
	if p.covered += len(starts) * days; p.covered > maxDates {
		return e.line.fail("more than %d dates in all; leave out old years or narrow FromYear and ToYear", maxDates)
	}
	for _, d := range starts {
		for range days {
			p.dates[d] = struct{}{}
			if d = d.AddDays(1); d.Year > 9999 {
				break
			}
		}
	}
	return nil
}
