package calendar

import (
	"fmt"
	"time"
)

// maxSteps bounds Neighbour, far above what any schedule needs: a century of
// hours.
const maxSteps = 1_000_000

// Bounds returns the first instant of a period in a zone and the first instant
// of the next one, both in UTC.
//
// A day that begins with a gap at midnight (Santiago in September) starts when
// the clocks have jumped. A day, or an hour with its offset, that does not exist
// in the zone is an error (Apia on 30 December 2011). An instant lasts for a
// second. Where clocks went back across midnight (St John's until 2011), the
// last hour of the old date comes after the first instant of the new one and
// so lies within the new day's bounds.
func Bounds(u Unit, key string, loc *time.Location) (start, end time.Time, err error) {
	p, err := parseKey(u, key)
	if err != nil {
		return start, end, err
	}
	loc = orUTC(loc)
	d := dateOf(p.at)
	exists := true
	switch u {
	case Instant:
		start, end = p.at, p.at.Add(time.Second)
	case Hour:
		start, end, exists = p.hour(loc)
	case Day:
		start, exists = startOf(d, loc)
		end, _ = startOf(d.AddDays(1), loc)
	case Week:
		start, _ = startOf(d, loc)
		end, _ = startOf(d.AddDays(7), loc)
	case Month:
		start, _ = startOf(d, loc)
		end, _ = startOf(Date{d.Year, d.Month, 1 + daysIn(d.Year, d.Month)}, loc)
	}
	if !exists {
		return time.Time{}, time.Time{}, fmt.Errorf("period %q does not exist in %s, which skipped it or has another offset then", key, loc)
	}
	return start, end, nil
}

// daysIn returns the length of a month.
func daysIn(year int, month time.Month) int {
	return time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// hour returns the part of an hour on a clock during which the zone has the
// offset of that clock. A change of offset may cut it short on either side.
func (p period) hour(loc *time.Location) (start, end time.Time, exists bool) {
	start = p.at.Add(-p.offset)
	last := start.Add(time.Hour - time.Second)
	end = last.Add(time.Second)
	atStart, atLast := offset(loc, start) == p.offset, offset(loc, last) == p.offset
	switch {
	case atStart && atLast:
		return start, end, true
	case atStart:
		return start, change(loc, start, last), true
	case atLast:
		return change(loc, start, last), end, true
	}
	return start, end, false
}

// Neighbour returns the key of the period n periods later in a zone, or earlier
// if n is negative. It steps over days that the zone skipped, and through both
// of two hours that carry the same name. The given period must exist. There are
// no neighbours of an instant. n is at most a million either way.
func Neighbour(u Unit, key string, n int, loc *time.Location) (string, error) {
	if u == Instant {
		return "", fmt.Errorf("period %q is an instant, which has no neighbours; ask the schedule for its next due time", key)
	}
	if n > maxSteps || n < -maxSteps {
		return "", fmt.Errorf("period %q: %d periods are too far; at most %d", key, n, maxSteps)
	}
	start, end, err := Bounds(u, key, loc)
	if err != nil {
		return "", err
	}
	loc = orUTC(loc)
	var moved string
	switch u {
	case Hour:
		moved, err = neighbourHour(start, end, n, loc)
	default:
		moved = Key(u, n, start, loc)
	}
	if err != nil {
		return "", err
	}
	if _, err := parseKey(u, moved); err != nil {
		return "", fmt.Errorf("period %q: %d periods away is outside the years 1-9999", key, n)
	}
	return moved, nil
}

// neighbourHour steps from one hour to the next, since a change of offset may
// have cut any of them short.
func neighbourHour(start, end time.Time, n int, loc *time.Location) (string, error) {
	key := hourKey(start.In(loc))
	for n != 0 {
		if n > 0 {
			key = hourKey(end.In(loc))
			n--
		} else {
			key = hourKey(start.Add(-time.Second).In(loc))
			n++
		}
		var err error
		if start, end, err = Bounds(Hour, key, loc); err != nil {
			return "", err
		}
	}
	return key, nil
}
