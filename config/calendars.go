package config

import (
	"slices"

	"github.com/duly-dev/duly"
)

// namedCalendar is a calendar of the file.
type namedCalendar struct {
	key  *node
	rule *duly.CalendarRule // nil where it is at fault
	used bool
}

func (r *reader) readCalendar(e entry, f *field) {
	named := &namedCalendar{key: e.key}
	r.calendars[e.name] = named
	if err := duly.CheckID(e.name); err != nil {
		r.fault(e.key, "the name of calendar %v", err)
		return
	}
	var c calendarEntry
	if !r.into(e, f, &c) {
		return
	}
	rule := duly.CalendarRule{Name: e.name, Weekdays: c.Weekdays, Holidays: c.Holidays, Workdays: c.Workdays}
	for _, path := range r.paths(e.value.get("ics")) {
		rule.Holidays = append(rule.Holidays, r.icsDates(path)...)
	}
	slices.Sort(rule.Holidays)
	rule.Holidays = slices.Compact(rule.Holidays)
	named.rule = &rule
	r.file.Calendars = append(r.file.Calendars, rule)
}

// paths returns the sound nodes of a key that holds one text or a list of them.
func (r *reader) paths(e *entry) []*node {
	if e == nil {
		return nil
	}
	all := []*node{e.value}
	if e.value.kind == kindList {
		all = e.value.items
	}
	var sound []*node
	for _, n := range all {
		if n.kind == kindText && !r.faulty[n] {
			sound = append(sound, n)
		}
	}
	return sound
}

// placeCalendar copies the days of the calendar that a schedule names into it.
func (r *reader) placeCalendar(s *duly.Schedule, whole *node) {
	rule := s.Calendar
	if rule == nil || rule.Name == "" {
		return
	}
	at := whole.get("calendar").value
	ownDays := at.get("weekdays") != nil || at.get("holidays") != nil || at.get("workdays") != nil
	if name := at.get("name"); name != nil {
		at = name.value
	}
	named := r.calendars[rule.Name]
	switch {
	case named == nil && ownDays:
		return // the name is for people
	case named == nil:
		r.refuse(at, "no calendar of this file is called %q%s", at.text, suggest(at.text, keys(r.calendars)))
		s.Calendar = nil
		r.faulty[whole] = true
		return
	case ownDays:
		r.refuse(at, "takes its days from the calendar %s, so it cannot have weekdays, holidays or workdays of its own", at.text)
		s.Calendar = nil
		r.faulty[whole] = true
		return
	}
	named.used = true
	if named.rule == nil {
		s.Calendar = nil
		r.faulty[whole] = true
		return
	}
	otherwise := rule.Otherwise
	*rule = *named.rule
	rule.Weekdays, rule.Holidays, rule.Workdays = slices.Clone(rule.Weekdays), slices.Clone(rule.Holidays), slices.Clone(rule.Workdays)
	rule.Otherwise = otherwise
}
