package config

import (
	"bytes"
	"errors"

	"github.com/duly-dev/duly/calendar"
)

// The years for which an ICS file's yearly events are worked out. They are
// fixed, for a definition must not change because it is read in another year.
const (
	firstYear = 2020
	lastYear  = 2070
)

// icsDates reads the dates of an ICS file, whose path stands at a node.
func (r *reader) icsDates(at *node) []string {
	path, ok := r.filled(at)
	if !ok {
		return nil
	}
	data, err := r.fill.read(path, calendar.MaxICSBytes)
	if err != nil {
		r.refuse(at, "%v", err)
		return nil
	}
	dates, err := calendar.ParseICS(bytes.NewReader(data), calendar.ICSOptions{FromYear: firstYear, ToYear: lastYear})
	if err != nil {
		var e *calendar.ICSError
		if errors.As(err, &e) {
			r.refuse(at, "%s, line %d: %s", at.text, e.Line, e.Message)
			return nil
		}
		r.refuse(at, "%s: %v", at.text, err)
		return nil
	}
	texts := make([]string, len(dates))
	for i, d := range dates {
		texts[i] = d.String()
	}
	return texts
}
