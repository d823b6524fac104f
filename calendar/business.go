package calendar

import (
	"errors"
	"fmt"
	"time"
)

// reach is how many days a search for a business day goes: a year.
const reach = 366

// Rules says which days are business days.
type Rules struct {
	// Weekdays are the days of the week on which business is done. Nil means
	// Monday to Friday; an empty list means none, so that only Workdays count.
	Weekdays []time.Weekday
	// Holidays are dates on which none is done. Empty by default.
	Holidays []Date
	// Workdays are dates on which it is done all the same, even if they are
	// listed as holidays: a Saturday worked to make up for a bridge day.
	// Empty by default.
	Workdays []Date
}

// Calendar tells business days from others. It never changes and may be shared
// by goroutines.
type Calendar struct {
	weekdays [7]bool
	special  map[Date]bool // dates that do not follow their weekday
}

// New returns the calendar of the rules. It refuses dates and weekdays that do
// not exist, and rules by which no day at all is a business day.
func New(r Rules) (*Calendar, error) {
	c := &Calendar{special: make(map[Date]bool, len(r.Holidays)+len(r.Workdays))}
	weekdays := r.Weekdays
	if weekdays == nil {
		weekdays = []time.Weekday{time.Monday, time.Tuesday, time.Wednesday, time.Thursday, time.Friday}
	}
	if len(weekdays) == 0 && len(r.Workdays) == 0 {
		return nil, errors.New("calendar: no day is a business day; give weekdays or workdays")
	}
	for i, w := range weekdays {
		if w < time.Sunday || w > time.Saturday {
			return nil, fmt.Errorf("calendar: weekdays[%d]: %d is not a weekday; Sunday is 0, Saturday 6", i, int(w))
		}
		c.weekdays[w] = true
	}
	if err := c.set("holidays", r.Holidays, false); err != nil {
		return nil, err
	}
	if err := c.set("workdays", r.Workdays, true); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *Calendar) set(field string, dates []Date, business bool) error {
	for i, d := range dates {
		if !d.Valid() {
			return fmt.Errorf("calendar: %s[%d]: %v does not exist", field, i, d)
		}
		c.special[d] = business
	}
	return nil
}

// IsBusinessDay reports whether business is done on a date.
func (c *Calendar) IsBusinessDay(d Date) bool {
	if business, ok := c.special[d]; ok {
		return business
	}
	return c.weekdays[d.Weekday()]
}

// Next returns the first business day on or after a date, and false if there
// is none within 366 days.
func (c *Calendar) Next(d Date) (Date, bool) { return c.search(d, 1) }

// Previous returns the last business day on or before a date, and false if
// there is none within 366 days.
func (c *Calendar) Previous(d Date) (Date, bool) { return c.search(d, -1) }

func (c *Calendar) search(d Date, step int) (Date, bool) {
	for range reach + 1 {
		if c.IsBusinessDay(d) {
			return d, true
		}
		d = d.AddDays(step)
	}
	return Date{}, false
}
