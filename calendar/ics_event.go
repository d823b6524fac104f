package calendar

import (
	"strconv"
	"strings"
	"time"
)

// icsEvent is a VEVENT while it is read. It keeps the properties that decide
// its dates; summaries, locations and the like are passed over.
type icsEvent struct {
	line  *icsLine
	found map[string]*icsLine
}

func (e *icsEvent) property(l *icsLine) error {
	switch l.name {
	case "RDATE", "EXDATE", "EXRULE", "RECURRENCE-ID":
		return l.fail("%s is not supported; write the dates that are meant as events of their own", l.name)
	case "DTSTART", "DTEND", "DURATION", "RRULE", "STATUS":
		if first := e.found[l.name]; first != nil {
			return l.fail("a second %s in one event, after line %d", l.name, first.number)
		}
		e.found[l.name] = l
	}
	return nil
}

func (e *icsEvent) cancelled() bool {
	s := e.found["STATUS"]
	return s != nil && strings.EqualFold(s.value, "CANCELLED")
}

// moment is the value of DTSTART, DTEND or UNTIL.
type moment struct {
	at     time.Time // on the clock it is written for, as if that were UTC
	allDay bool
	utc    bool // written with a Z
	zone   string
}

func (l *icsLine) moment() (moment, *ICSError) {
	m := moment{zone: l.params["TZID"]}
	value := strings.TrimSpace(l.value)
	m.allDay = len(value) == len("20061128")
	kind := l.params["VALUE"]
	switch {
	case kind != "" && kind != "DATE" && kind != "DATE-TIME":
		return m, l.fail("%s with VALUE=%s is not supported; use a date or a date with time", l.name, kind)
	case kind == "DATE" && !m.allDay, kind == "DATE-TIME" && m.allDay:
		return m, l.fail("%s is %q, which is not what VALUE=%s says", l.name, value, kind)
	}
	layout := "20060102"
	if !m.allDay {
		value, m.utc = strings.CutSuffix(strings.ToUpper(value), "Z")
		layout += "T150405"
	}
	at, err := time.Parse(layout, value)
	if err != nil || at.Year() < 1 || at.Nanosecond() != 0 {
		return m, l.fail("%s is %q; write a date as 20261128 or with time as 20261128T090000", l.name, l.value)
	}
	m.at = at
	return m, nil
}

// span returns the first date of an event and how many it covers.
func (e *icsEvent) span(zone *time.Location) (first Date, days int, err error) {
	startLine := e.found["DTSTART"]
	if startLine == nil {
		return first, 0, e.line.fail("the event has no DTSTART")
	}
	start, bad := startLine.moment()
	if bad != nil {
		return first, 0, bad
	}
	end, endLine, bad := e.end(start)
	if bad != nil {
		return first, 0, bad
	}
	if end.at.Before(start.at) {
		return first, 0, endLine.fail("the event ends before it starts")
	}
	if end.at.After(start.at) {
		end.at = end.at.Add(-time.Second) // the end itself is no longer part of it
	}
	if start.utc {
		start.at, end.at = onClock(start.at, zone), onClock(end.at, zone)
	}
	first = dateOf(start.at)
	days = int(dateOf(end.at).utc().Sub(first.utc())/(24*time.Hour)) + 1
	if days > maxEventDays {
		return first, 0, endLine.fail("the event covers %d days; at most %d", days, maxEventDays)
	}
	return first, days, nil
}

// onClock returns what a clock in loc shows, as if it were UTC.
func onClock(t time.Time, loc *time.Location) time.Time {
	loc = orUTC(loc)
	return t.Add(offset(loc, t))
}

// end returns when the event ends, by DTEND, DURATION or the default: the next
// day for an all-day event, the start for one with a time.
func (e *icsEvent) end(start moment) (moment, *icsLine, *ICSError) {
	end, line := start, e.found["DTSTART"]
	endLine, duration := e.found["DTEND"], e.found["DURATION"]
	switch {
	case endLine != nil && duration != nil:
		return end, line, duration.fail("an event has DTEND or DURATION, not both")
	case endLine != nil:
		m, err := endLine.moment()
		if err != nil {
			return end, line, err
		}
		if m.allDay != start.allDay || m.utc != start.utc || m.zone != start.zone {
			return end, line, endLine.fail("DTEND is of another kind or zone than DTSTART; write both in the same way")
		}
		return m, endLine, nil
	case duration != nil:
		d, ok := parseDuration(strings.TrimSpace(duration.value))
		if !ok || start.allDay && d%(24*time.Hour) != 0 {
			return end, line, duration.fail("DURATION is %q; write P1D, P2W or PT8H, of whole days for an all-day event", duration.value)
		}
		end.at = end.at.Add(d)
		return end, duration, nil
	case start.allDay:
		end.at = end.at.AddDate(0, 0, 1)
	}
	return end, line, nil
}

// parseDuration reads the durations of RFC 5545, 3.3.6, that do not run
// backwards.
func parseDuration(s string) (time.Duration, bool) {
	s, ok := strings.CutPrefix(strings.TrimPrefix(strings.ToUpper(s), "+"), "P")
	if !ok || s == "" || strings.HasSuffix(s, "T") {
		return 0, false
	}
	var total time.Duration
	units, sizes := "WD", []time.Duration{7 * 24 * time.Hour, 24 * time.Hour}
	for s != "" {
		if rest, ok := strings.CutPrefix(s, "T"); ok && len(sizes) != 3 {
			s, units, sizes = rest, "HMS", []time.Duration{time.Hour, time.Minute, time.Second}
		}
		digits := strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' })
		if digits < 1 || digits > 7 {
			return 0, false
		}
		n, err := strconv.Atoi(s[:digits])
		unit := strings.IndexByte(units, s[digits])
		if err != nil || unit < 0 {
			return 0, false
		}
		total += time.Duration(n) * sizes[unit]
		s = s[digits+1:]
		if total > 2*maxEventDays*24*time.Hour {
			return 0, false
		}
	}
	return total, true
}
