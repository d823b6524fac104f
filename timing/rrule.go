package timing

import (
	"errors"
	"fmt"
	"time"

	"github.com/duly-dev/duly/cron"
)

// rrule makes a source of a recurrence rule.
func (c *compiler) rrule(field, text string) (source, error) {
	r, err := parseRRule(text, c.t.loc)
	if err != nil {
		return source{}, err
	}
	start := r.start
	if start.IsZero() {
		if c.t.start.IsZero() {
			return source{}, errors.New("needs a beginning: put DTSTART:20270104T090000 on a line before the rule, or set the schedule's start")
		}
		start = local(c.t.start.Add(time.Second-1).Truncate(time.Second), c.t.loc)
	}
	u := newRule(r, start)
	elapsed := r.freq > daily || u.clock.hours == allHours
	src := source{perDay: u.clock.size()}
	src.daily = src.perDay == 1 && !elapsed && c.dst.Overlap != cron.OverlapBoth
	src.place(c.dst, elapsed, func(dst cron.DST) cron.Sequence {
		if elapsed {
			dst = cron.DST{Gap: cron.GapSkip, Overlap: cron.OverlapBoth}
		}
		return r.bound(u, start, c.t.loc, dst)
	})
	if _, ok := src.seq.Next(time.Unix(0, 0).Add(-1)); !ok {
		return source{}, errors.New("is never due: no date from DTSTART to UNTIL matches all of its parts")
	}
	if first, ok := u.NextWall(u.start); ok && first != u.start {
		c.warn(field, fmt.Sprintf("DTSTART (%s) does not match the rule, so the first time is %s", start.Format("2006-01-02T15:04:05"), time.Unix(first, 0).UTC().Format("2006-01-02T15:04:05")))
	}
	if r.freq <= monthly && len(u.monthDays) == 1 && u.monthDays[0] > 28 {
		c.warn(field, fmt.Sprintf("months without a day %d are left out; BYMONTHDAY=-1 is the last day of each", u.monthDays[0]))
	}
	return src, nil
}

// bound puts a rule into the zone and applies what counts instants rather than
// wall times: INTERVAL below a day, COUNT, and an UNTIL in UTC.
func (r *rruleText) bound(u *rule, start time.Time, loc *time.Location, dst cron.DST) cron.Sequence {
	var seq cron.Sequence = cron.Place(u, loc, dst)
	if r.freq > daily && r.interval > 1 {
		unit := [...]time.Duration{hourly: time.Hour, minutely: time.Minute, secondly: time.Second}[r.freq]
		seq = steps{seq, instantOf(start, loc).Truncate(time.Second), unit, time.Duration(r.interval) * unit}.align(loc)
	}
	if !r.until.IsZero() && r.untilUTC {
		seq = until{seq, r.until}
	}
	if r.count > 0 {
		seq = until{seq, nth(seq, r.count)}
	}
	return seq
}

// instantOf returns the first instant at which the clocks show a wall time.
func instantOf(wall time.Time, loc *time.Location) time.Time {
	y, mo, d := wall.Date()
	h, mi, s := wall.Clock()
	if at := cron.Resolve(loc, cron.DST{}, y, mo, d, h, mi, s); len(at) > 0 {
		return at[0]
	}
	return wall
}

// nth returns the nth instant of a sequence, or the last if it has fewer.
func nth(s cron.Sequence, n int) time.Time {
	t := time.Unix(0, 0).Add(-1)
	for range n {
		next, ok := s.Next(t)
		if !ok {
			break
		}
		t = next
	}
	return t
}

// until ends a sequence.
type until struct {
	cron.Sequence
	last time.Time
}

func (u until) Next(after time.Time) (time.Time, bool) {
	t, ok := u.Sequence.Next(after)
	return t, ok && !t.After(u.last)
}

func (u until) Prev(before time.Time) (time.Time, bool) {
	if before.After(u.last) {
		before = u.last.Add(1)
	}
	return u.Sequence.Prev(before)
}

// steps takes the instants of every nth hour, minute or second of elapsed time
// since a start, and no others.
type steps struct {
	cron.Sequence
	start          time.Time // of the hour or minute in which DTSTART lies
	unit, interval time.Duration
}

// maxStepsTried bounds a search for an instant in a step that is taken.
const maxStepsTried = 100_000

// align moves the start back to the beginning of its hour or minute on the
// wall clock.
func (s steps) align(loc *time.Location) steps {
	into := local(s.start, loc).Unix() % int64(s.unit/time.Second)
	s.start = s.start.Add(-time.Duration(into) * time.Second)
	return s
}

func (s steps) Next(after time.Time) (time.Time, bool) {
	if after.Before(s.start) {
		after = s.start.Add(-1)
	}
	for range maxStepsTried {
		t, ok := s.Sequence.Next(after)
		if !ok {
			break
		}
		off := s.offset(t)
		if off < s.unit {
			return t, true
		}
		after = t.Add(s.interval - off - 1)
	}
	return time.Time{}, false
}

func (s steps) Prev(before time.Time) (time.Time, bool) {
	for range maxStepsTried {
		t, ok := s.Sequence.Prev(before)
		if !ok || t.Before(s.start) {
			break
		}
		off := s.offset(t)
		if off < s.unit {
			return t, true
		}
		before = t.Add(s.unit - off)
	}
	return time.Time{}, false
}

// offset is how far an instant lies past the beginning of a step. Seconds are
// used, as a duration ends after 292 years.
func (s steps) offset(t time.Time) time.Duration {
	return time.Duration((t.Unix()-s.start.Unix())%int64(s.interval/time.Second)) * time.Second
}
