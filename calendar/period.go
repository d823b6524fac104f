package calendar

import (
	"fmt"
	"time"
)

// Unit is the length of a period.
type Unit string

// The units, each with the form of its keys.
const (
	Instant Unit = "instant" // 2026-11-28T23:00:00Z, always in UTC
	Hour    Unit = "hour"    // 2026-10-25T02+02:00, so that an hour that comes twice is two periods
	Day     Unit = "day"     // 2026-11-28
	Week    Unit = "week"    // 2026-W48, by ISO 8601: from Monday, the first with four days in the year
	Month   Unit = "month"   // 2026-11
)

const (
	hourLayout  = "2006-01-02T15"
	monthLayout = "2006-01"
)

// Validate refuses words that are not among the constants.
func (u Unit) Validate() error {
	switch u {
	case Instant, Hour, Day, Week, Month:
		return nil
	}
	return fmt.Errorf("period: %q is not one of instant, hour, day, week, month", string(u))
}

// Key returns the key of the period in which t lies, on the wall clock of a
// zone, moved by offset periods: with -1 last night's work is for yesterday.
//
// An hour moves in elapsed time, a day by the dates that exist in the zone, a
// week and a month on the calendar. An instant is what it is: the offset does
// not apply. A fraction of a second is cut off. Key returns "" if the unit is
// not valid.
func Key(u Unit, offset int, t time.Time, loc *time.Location) string {
	loc = orUTC(loc)
	local := t.In(loc)
	switch u {
	case Instant:
		return t.UTC().Format(time.RFC3339)
	case Hour:
		return hourKey(local.Add(time.Duration(offset) * time.Hour))
	case Day:
		return addDays(dateOf(local), offset, loc).String()
	case Week:
		return weekKey(dateOf(local).AddDays(7 * offset))
	case Month:
		y, m, _ := local.Date()
		return time.Date(y, m+time.Month(offset), 1, 0, 0, 0, 0, time.UTC).Format(monthLayout)
	}
	return ""
}

func hourKey(local time.Time) string {
	_, seconds := local.Zone()
	sign := '+'
	if seconds < 0 {
		sign, seconds = '-', -seconds
	}
	key := fmt.Sprintf("%s%c%02d:%02d", local.Format(hourLayout), sign, seconds/3600, seconds/60%60)
	if seconds%60 != 0 { // Monrovia until 1972
		key += fmt.Sprintf(":%02d", seconds%60)
	}
	return key
}

func weekKey(d Date) string {
	year, week := d.utc().ISOWeek()
	return fmt.Sprintf("%04d-W%02d", year, week)
}

// ParseKey checks that a key has the form of its unit and names something on
// the calendar, and returns its normal form. It knows no zone: a day that a
// zone skipped, or an hour with an offset it does not use, is found by
// [Bounds].
//
// The one thing there is to normalise is an instant, which may be given with
// any offset from UTC.
func ParseKey(u Unit, key string) (string, error) {
	p, err := parseKey(u, key)
	if err != nil {
		return "", err
	}
	return p.key(), nil
}

// period is a parsed key.
type period struct {
	unit Unit
	// at is the start of the period on a wall clock, written as UTC.
	at     time.Time
	offset time.Duration // of that clock, for an hour
}

func (p period) key() string {
	switch p.unit {
	case Instant:
		return p.at.Format(time.RFC3339)
	case Hour:
		return hourKey(p.at.Add(-p.offset).In(time.FixedZone("", int(p.offset/time.Second))))
	case Week:
		return weekKey(dateOf(p.at))
	case Month:
		return p.at.Format(monthLayout)
	}
	return dateOf(p.at).String()
}

func parseKey(u Unit, key string) (period, error) {
	if err := u.Validate(); err != nil {
		return period{}, err
	}
	p := period{unit: u}
	ok, like := false, ""
	switch u {
	case Instant:
		like = "2026-11-28T23:00:00Z"
		t, err := time.Parse(time.RFC3339, key)
		p.at, ok = t.UTC(), err == nil && t.Nanosecond() == 0
	case Hour:
		like = "2026-10-25T02+02:00"
		p.at, p.offset, ok = parseHour(key)
	case Day:
		like = "2026-11-28"
		t, err := time.Parse(time.DateOnly, key)
		p.at, ok = t, err == nil
	case Week:
		like = "2026-W48"
		p.at, ok = parseWeek(key)
	case Month:
		like = "2026-11"
		t, err := time.Parse(monthLayout, key)
		p.at, ok = t, err == nil
	}
	if !ok || p.at.Year() < 1 || p.at.Year() > 9999 {
		return period{}, fmt.Errorf("period %q is not a valid %s; write it as %s", key, u, like)
	}
	return p, nil
}

func parseHour(key string) (at time.Time, offset time.Duration, ok bool) {
	if len(key) < len(hourLayout) {
		return at, 0, false
	}
	at, err := time.Parse(hourLayout, key[:len(hourLayout)])
	if err != nil {
		return at, 0, false
	}
	zone, layout := key[len(hourLayout):], "-07:00"
	if len(zone) > len(layout) {
		layout = "-07:00:00"
	}
	t, err := time.Parse(layout, zone)
	if err != nil {
		return at, 0, false
	}
	_, seconds := t.Zone()
	return at, time.Duration(seconds) * time.Second, true
}

func parseWeek(key string) (monday time.Time, ok bool) {
	var year, week int
	if n, err := fmt.Sscanf(key, "%4d-W%2d", &year, &week); n != 2 || err != nil || len(key) != len("2026-W48") {
		return monday, false
	}
	// The 4th of January always lies in the first week.
	d := Date{year, time.January, 4}
	d = d.AddDays(7*(week-1) - (int(d.Weekday())+6)%7)
	// A week that the year does not have reads back as another.
	return d.utc(), weekKey(d) == key
}
