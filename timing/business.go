package timing

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/calendar"
	"github.com/duly-dev/duly/cron"
)

// business skips or moves what is due on a day without business.
type business struct {
	*calendar.Calendar
	otherwise string // skip, next or previous
	reason    string
	overlap   cron.Overlap
}

const skipUnmovable = "calendar: no business day within a year"

// maxMovedPerDay keeps what a calendar piles up on one day small.
const maxMovedPerDay = 24 * 60

func (c *compiler) calendar() {
	r := c.schedule.Calendar
	if r == nil {
		return
	}
	b := &business{otherwise: r.Otherwise, reason: skipNoBusiness, overlap: c.dst.Overlap}
	if r.Name != "" {
		b.reason = "calendar: " + r.Name
	}
	rules, err := rulesOf(r)
	if err == nil {
		b.Calendar, err = calendar.New(rules)
	}
	if err != nil {
		c.fault("calendar", err)
		return
	}
	if b.moves() {
		perDay := 0
		for _, src := range c.t.sources {
			perDay += src.perDay
		}
		if perDay > maxMovedPerDay {
			c.fault("calendar.otherwise", fmt.Errorf("%s would move up to %d occurrences of each day without business, and at most %d can be; use skip", b.otherwise, perDay, maxMovedPerDay))
			return
		}
	}
	c.t.business = b
}

func rulesOf(r *duly.CalendarRule) (rules calendar.Rules, err error) {
	for i, name := range r.Weekdays {
		day := slices.Index(weekdays, strings.ToUpper(name[:min(2, len(name))]))
		if day < 0 || len(name) != 3 {
			return rules, fmt.Errorf("weekdays[%d]: %q is none of mon, tue, wed, thu, fri, sat, sun", i, name)
		}
		rules.Weekdays = append(rules.Weekdays, time.Weekday(day))
	}
	if rules.Holidays, err = datesOf("holidays", r.Holidays); err != nil {
		return rules, err
	}
	rules.Workdays, err = datesOf("workdays", r.Workdays)
	return rules, err
}

func datesOf(field string, texts []string) ([]calendar.Date, error) {
	dates := make([]calendar.Date, len(texts))
	for i, text := range texts {
		d, err := calendar.ParseDate(text)
		if err != nil {
			return nil, fmt.Errorf("%s[%d]: %w", field, i, err)
		}
		dates[i] = d
	}
	return dates, nil
}

func (b *business) moves() bool {
	return b.otherwise == "next" || b.otherwise == "previous"
}

// apply moves or skips a due whose nominal day has no business.
func (b *business) apply(d *Due, loc *time.Location) {
	on := calendar.DateOf(d.Nominal, loc)
	if b.IsBusinessDay(on) {
		return
	}
	if !b.moves() {
		d.Skip = b.reason
		return
	}
	day, ok := b.target(on)
	if !ok {
		d.Skip = skipUnmovable
		return
	}
	h, m, s := d.Nominal.In(loc).Clock()
	if at := cron.Resolve(loc, cron.DST{Overlap: b.overlap}, day.Year, day.Month, day.Day, h, m, s); len(at) > 0 {
		d.At = at[0]
	}
}

// target returns the business day to which a date's work goes.
func (b *business) target(on calendar.Date) (calendar.Date, bool) {
	if b.otherwise == "previous" {
		return b.Previous(on)
	}
	return b.Next(on)
}

// sources returns the dates, from <= date < to, whose work goes to a day.
func (b *business) sources(day calendar.Date) (from, to calendar.Date) {
	if !b.IsBusinessDay(day) {
		return day, day.AddDays(1) // nothing can be moved from there
	}
	if b.otherwise == "previous" {
		if to, ok := b.Next(day.AddDays(1)); ok {
			return day, to
		}
		return day, day.AddDays(367)
	}
	if from, ok := b.Previous(day.AddDays(-1)); ok {
		return from.AddDays(1), day.AddDays(1)
	}
	return day.AddDays(-366), day.AddDays(1)
}

// moves reports whether dues may lie elsewhere than their nominal instants.
func (s Sequence) moves() bool { return s.t.business != nil && s.t.business.moves() }

// groups yields what is due on one business day after another, beginning with
// the last one that may have something due at or before an instant.
func (s Sequence) groups(around time.Time) iter.Seq[[]Due] {
	return func(yield func([]Due) bool) {
		b, loc := s.t.business, s.t.loc
		day := calendar.DateOf(around, loc).AddDays(-1)
		if target, ok := b.Previous(day); ok {
			day = target
		}
		from, _ := b.sources(day)
		n, ok := s.nextNominal(startOf(from, loc).Add(-1))
		for ok {
			group, end := s.group(n)
			if !yield(group) {
				return
			}
			n, ok = s.nextNominal(end.Add(-1))
		}
	}
}

// group returns all that is due on the day to which a nominal instant's work
// goes, in order, and where the nominal instants of the next day begin.
func (s Sequence) group(n time.Time) (dues []Due, end time.Time) {
	b, loc := s.t.business, s.t.loc
	on := calendar.DateOf(n, loc)
	day, ok := b.target(on)
	if !ok {
		day = on
	}
	from, to := b.sources(day)
	end = startOf(to, loc)
	if !end.After(n) {
		end = n.Add(1)
	}
	for x, ok := s.nextNominal(startOf(from, loc).Add(-1)); ok && x.Before(end); x, ok = s.nextNominal(x) {
		if t, movable := b.target(calendar.DateOf(x, loc)); movable == ok && (!movable || t == day) {
			dues = append(dues, s.due(x))
		}
	}
	slices.SortFunc(dues, func(a, b Due) int {
		return cmp.Or(a.At.Compare(b.At), a.Nominal.Compare(b.Nominal))
	})
	return dues, end
}

func (s Sequence) nextMoved(after time.Time) (Due, bool) {
	for group := range s.groups(after) {
		for _, d := range group {
			if d.At.After(after) {
				return d, true
			}
		}
	}
	return Due{}, false
}

func (s Sequence) prevMoved(before time.Time) (Due, bool) {
	b, loc := s.t.business, s.t.loc
	day := calendar.DateOf(before, loc).AddDays(1)
	if target, ok := b.Next(day); ok {
		day = target
	}
	_, to := b.sources(day)
	n, ok := s.prevNominal(startOf(to, loc))
	for ok {
		group, _ := s.group(n)
		for _, d := range slices.Backward(group) {
			if d.At.Before(before) {
				return d, true
			}
		}
		first := n
		for _, d := range group {
			if d.Nominal.Before(first) {
				first = d.Nominal
			}
		}
		n, ok = s.prevNominal(first)
	}
	return Due{}, false
}

func (s Sequence) betweenMoved(from, to time.Time) iter.Seq[Due] {
	return func(yield func(Due) bool) {
		for group := range s.groups(from) {
			for _, d := range group {
				if d.At.After(to) || d.At.After(from) && !yield(d) {
					return
				}
			}
		}
	}
}

// startOf returns the first instant of a date, or of the next that exists.
func startOf(d calendar.Date, loc *time.Location) time.Time {
	for d.Year <= 9999 {
		if at := cron.Resolve(loc, cron.DST{}, d.Year, d.Month, d.Day, 0, 0, 0); len(at) > 0 {
			return at[0]
		}
		d = d.AddDays(1)
	}
	return time.Time{}
}
