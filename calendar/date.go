package calendar

import (
	"cmp"
	"fmt"
	"time"
)

// Date is a date on the wall calendar, without a zone.
type Date struct {
	Year  int
	Month time.Month
	Day   int
}

// ParseDate reads "2026-11-28". Dates that do not exist, such as 30 February,
// are refused; nothing is carried over. The year has four digits and is not 0.
func ParseDate(s string) (Date, error) {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil || t.Year() < 1 {
		return Date{}, fmt.Errorf("%q is not a date; write it as 2026-11-28", s)
	}
	return dateOf(t), nil
}

// DateOf returns the date that a wall clock in loc shows at t.
func DateOf(t time.Time, loc *time.Location) Date {
	return dateOf(t.In(orUTC(loc)))
}

func dateOf(t time.Time) Date {
	y, m, d := t.Date()
	return Date{y, m, d}
}

// String returns the date as "2026-11-28".
func (d Date) String() string {
	return fmt.Sprintf("%04d-%02d-%02d", d.Year, int(d.Month), d.Day)
}

// Valid reports whether the date exists, in the years 1 to 9999.
func (d Date) Valid() bool {
	return d.Year >= 1 && d.Year <= 9999 && dateOf(d.utc()) == d
}

// AddDays returns the date n days later, or earlier if n is negative.
func (d Date) AddDays(n int) Date { return dateOf(d.utc().AddDate(0, 0, n)) }

// Weekday returns the day of the week.
func (d Date) Weekday() time.Weekday { return d.utc().Weekday() }

// Compare returns -1, 0 or 1 as d is before, the same as or after e.
func (d Date) Compare(e Date) int {
	return cmp.Or(cmp.Compare(d.Year, e.Year), cmp.Compare(d.Month, e.Month), cmp.Compare(d.Day, e.Day))
}

// MarshalText writes the date as String does.
func (d Date) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what ParseDate reads.
func (d *Date) UnmarshalText(text []byte) error {
	parsed, err := ParseDate(string(text))
	if err == nil {
		*d = parsed
	}
	return err
}

// utc returns midnight of the date in UTC, where every date has one.
func (d Date) utc() time.Time {
	return time.Date(d.Year, d.Month, d.Day, 0, 0, 0, 0, time.UTC)
}

func orUTC(loc *time.Location) *time.Location {
	if loc == nil {
		return time.UTC
	}
	return loc
}
