package timing

import (
	"slices"
	"time"
)

const (
	secondsPerDay = 24 * 60 * 60
	maxDay        = 2_932_896 // 9999-12-31, counted from 1970-01-01
	// maxLook is how many days of matching years, months and weeks a search
	// looks at. The calendar repeats itself after 400 years (146,097 days), so
	// what has not come within this never comes.
	maxLook = 150_000
)

// rule is a recurrence rule as a set of wall times, in seconds from 1970. What
// it selects is a property of the date, of the period that the date lies in
// (years, months or weeks, of which INTERVAL takes every nth) and of the time
// of day; so a search starts anywhere and needs no history.
type rule struct {
	freq         frequency // daily stands for those below it too
	interval     int64
	weekStart    int
	startDay     int64
	start, until int64 // start <= wall <= until
	months       uint16
	monthDays    []int
	yearDays     []int
	weekNos      []int
	days         []byDay
	setPos       []int
	clock        clock
}

// newRule completes a rule from its start, as RFC 5545 has it: what the rule
// does not say is taken from DTSTART.
func newRule(r *rruleText, start time.Time) *rule {
	u := &rule{
		freq: min(r.freq, daily), interval: int64(r.interval), weekStart: r.weekStart,
		start: start.Unix(), until: maxDay*secondsPerDay + secondsPerDay - 1,
		months: uint16(maskOf(r.month)), monthDays: r.monthDay, yearDays: r.yearDay,
		weekNos: r.weekNo, days: r.day, setPos: r.setPos,
	}
	u.startDay = u.start / secondsPerDay
	if r.freq > daily {
		u.interval = 1 // it counts elapsed time there, see every
	}
	if !r.until.IsZero() && !r.untilUTC {
		u.until = min(u.until, r.until.Unix())
	}
	bare := len(r.monthDay)+len(r.yearDay)+len(r.weekNo)+len(r.day) == 0
	switch {
	case bare && r.freq == yearly && u.months == 0:
		u.months = 1 << start.Month()
		fallthrough
	case bare && (r.freq == yearly || r.freq == monthly):
		u.monthDays = []int{start.Day()}
	case bare && r.freq == weekly:
		u.days = []byDay{{weekday: int(start.Weekday())}}
	}
	u.clock = clock{hours: allHours, minutes: allMinutes, seconds: allMinutes}
	if len(r.hour) > 0 {
		u.clock.hours = uint32(maskOf(r.hour))
	} else if r.freq < hourly {
		u.clock.hours = 1 << start.Hour()
	}
	if len(r.minute) > 0 {
		u.clock.minutes = maskOf(r.minute)
	} else if r.freq < minutely {
		u.clock.minutes = 1 << start.Minute()
	}
	if len(r.second) > 0 {
		u.clock.seconds = maskOf(r.second)
	} else if r.freq < secondly {
		u.clock.seconds = 1 << start.Second()
	}
	return u
}

// NextWall returns the first matching local second at or after a given one.
func (u *rule) NextWall(local int64) (int64, bool) {
	local = max(local, u.start)
	if local > u.until {
		return 0, false
	}
	var wall int64
	var ok bool
	if len(u.setPos) > 0 {
		wall, ok = u.nextSet(local)
	} else {
		wall, ok = u.next(local)
	}
	return wall, ok && wall <= u.until
}

// PrevWall returns the last matching local second at or before a given one.
func (u *rule) PrevWall(local int64) (int64, bool) {
	local = min(local, u.until)
	if local < u.start {
		return 0, false
	}
	var wall int64
	var ok bool
	if len(u.setPos) > 0 {
		wall, ok = u.prevSet(local)
	} else {
		wall, ok = u.prev(local)
	}
	return wall, ok && wall >= u.start
}

func (u *rule) next(local int64) (int64, bool) {
	day, at := local/secondsPerDay, local%secondsPerDay
	found, ok := u.nextDay(day)
	if ok && found == day {
		if c, ok := u.clock.next(at); ok {
			return day*secondsPerDay + c, true
		}
		found, ok = u.nextDay(day + 1)
	}
	return found*secondsPerDay + u.clock.first(), ok
}

func (u *rule) prev(local int64) (int64, bool) {
	day, at := local/secondsPerDay, local%secondsPerDay
	found, ok := u.prevDay(day)
	if ok && found == day {
		if c, ok := u.clock.prev(at); ok {
			return day*secondsPerDay + c, true
		}
		found, ok = u.prevDay(day - 1)
	}
	return found*secondsPerDay + u.clock.last(), ok
}

func (u *rule) nextDay(n int64) (int64, bool) {
	for looked := 0; n <= maxDay && looked < maxLook; {
		d := dayOf(n)
		period := u.period(d)
		if off := u.phase(period); off != 0 {
			n = u.periodStart(period + u.interval - off)
			continue
		}
		if u.months != 0 && u.months>>d.month&1 == 0 {
			n += int64(d.monthLength - d.day + 1)
			looked += 28
			continue
		}
		if u.matches(d) {
			return n, true
		}
		n++
		looked++
	}
	return 0, false
}

func (u *rule) prevDay(n int64) (int64, bool) {
	for n >= u.startDay {
		d := dayOf(n)
		period := u.period(d)
		if off := u.phase(period); off != 0 {
			n = u.periodStart(period-off+1) - 1
			continue
		}
		if u.months != 0 && u.months>>d.month&1 == 0 {
			n -= int64(d.day)
			continue
		}
		if u.matches(d) {
			return n, true
		}
		n--
	}
	return 0, false
}

// nextSet is next for a rule with BYSETPOS, which chooses among all that a
// period has.
func (u *rule) nextSet(local int64) (int64, bool) {
	period := u.period(dayOf(local / secondsPerDay))
	if off := u.phase(period); off != 0 {
		period += u.interval - off
	}
	for looked := int64(0); looked < maxLook; period += u.interval {
		start := u.periodStart(period)
		if start > maxDay {
			break
		}
		walls, days := u.set(period)
		for _, w := range walls {
			if w >= local {
				return w, true
			}
		}
		looked += days
	}
	return 0, false
}

func (u *rule) prevSet(local int64) (int64, bool) {
	period := u.period(dayOf(local / secondsPerDay))
	first := u.period(dayOf(u.startDay))
	for period -= u.phase(period); period >= first; period -= u.interval {
		walls, _ := u.set(period)
		for _, w := range slices.Backward(walls) {
			if w <= local {
				return w, true
			}
		}
	}
	return 0, false
}

// set returns what BYSETPOS chooses in a period, in order, and the number of
// its days.
func (u *rule) set(period int64) (walls []int64, days int64) {
	var matching []int64
	start, end := u.periodStart(period), u.periodStart(period+1)
	for n := start; n < end; n++ {
		if d := dayOf(n); (u.months == 0 || u.months>>d.month&1 != 0) && u.matches(d) {
			matching = append(matching, n)
		}
	}
	size := u.clock.size()
	for _, pos := range u.setPos {
		i := pos - 1
		if pos < 0 {
			i = len(matching)*size + pos
		}
		if i >= 0 && i < len(matching)*size {
			walls = append(walls, matching[i/size]*secondsPerDay+u.clock.nth(i%size))
		}
	}
	slices.Sort(walls)
	return slices.Compact(walls), end - start
}

// matches judges a date by all that is not the month. The parts that are
// given must all agree.
func (u *rule) matches(d day) bool {
	if len(u.monthDays) > 0 && !slices.Contains(u.monthDays, d.day) && !slices.Contains(u.monthDays, d.day-d.monthLength-1) {
		return false
	}
	if len(u.yearDays) > 0 && !slices.Contains(u.yearDays, d.yearDay()) && !slices.Contains(u.yearDays, d.yearDay()-yearLength(d.year)-1) {
		return false
	}
	if len(u.weekNos) > 0 {
		no, of := u.week(d.n)
		if !slices.Contains(u.weekNos, no) && !slices.Contains(u.weekNos, no-of-1) {
			return false
		}
	}
	return len(u.days) == 0 || slices.ContainsFunc(u.days, func(b byDay) bool { return u.isNth(b, d) })
}

// isNth reports whether a date is the weekday, or the nth one, of its month or
// year.
func (u *rule) isNth(b byDay, d day) bool {
	if b.weekday != d.weekday() {
		return false
	}
	at, length := d.day, d.monthLength
	if u.freq == yearly && u.months == 0 {
		at, length = d.yearDay(), yearLength(d.year)
	}
	return b.n == 0 || b.n == (at-1)/7+1 || b.n == -((length-at)/7+1)
}

// week returns the number of the week that a day lies in, and how many weeks
// that week's year has. A week belongs to the year of its fourth day.
func (u *rule) week(n int64) (no, of int) {
	fourth := dayOf(u.weekBegin(n) + 3)
	last := dayOf(u.weekBegin(dayNumber(fourth.year, 12, 28)) + 3)
	return (fourth.yearDay()-1)/7 + 1, (last.yearDay()-1)/7 + 1
}

func (u *rule) weekBegin(n int64) int64 {
	return n - (weekdayOfDay(n)-int64(u.weekStart)+7)%7
}

// period numbers the years, months, weeks or days that INTERVAL counts.
func (u *rule) period(d day) int64 {
	switch {
	case u.freq == yearly && len(u.weekNos) > 0:
		return int64(dayOf(u.weekBegin(d.n) + 3).year)
	case u.freq == yearly:
		return int64(d.year)
	case u.freq == monthly:
		return int64(d.year)*12 + int64(d.month) - 1
	case u.freq == weekly:
		return (u.weekBegin(d.n) + 6) / 7 // weeks from the one that 1970 began in
	}
	return d.n
}

// periodStart returns the first day of a period.
func (u *rule) periodStart(period int64) int64 {
	switch {
	case u.freq == yearly && len(u.weekNos) > 0:
		return u.weekBegin(dayNumber(int(period), 1, 4))
	case u.freq == yearly:
		return dayNumber(int(period), 1, 1)
	case u.freq == monthly:
		return dayNumber(int(period/12), int(period%12)+1, 1)
	case u.freq == weekly:
		return u.weekBegin(period * 7)
	}
	return period
}

// phase returns how far a period lies past one that INTERVAL takes.
func (u *rule) phase(period int64) int64 {
	if u.interval == 1 {
		return 0
	}
	return (period - u.period(dayOf(u.startDay))) % u.interval
}

// day is a date with its number, counted from 1970-01-01.
type day struct {
	n                int64
	year, month, day int
	monthLength      int
}

func dayOf(n int64) day {
	y, m, d := time.Unix(n*secondsPerDay, 0).UTC().Date()
	return day{n: n, year: y, month: int(m), day: d, monthLength: monthLength(y, int(m))}
}

func (d day) yearDay() int { return int(d.n-dayNumber(d.year, 1, 1)) + 1 }

func (d day) weekday() int { return int(weekdayOfDay(d.n)) }

// weekdayOfDay counts from Sunday; 1970-01-01 was a Thursday.
func weekdayOfDay(n int64) int64 { return ((n+4)%7 + 7) % 7 }

func dayNumber(year, month, d int) int64 {
	return time.Date(year, time.Month(month), d, 0, 0, 0, 0, time.UTC).Unix() / secondsPerDay
}

func yearLength(year int) int { return int(dayNumber(year+1, 1, 1) - dayNumber(year, 1, 1)) }

func monthLength(year, month int) int {
	if month == 2 {
		return yearLength(year) - 337
	}
	return 30 + (month+month>>3)&1
}
