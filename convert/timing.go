package convert

import (
	"fmt"
	"math/bits"
	"strings"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/cron"
)

// clock is an expression of five fields as its source means it.
type clock [5]values

// word is a piece of a line and the offset at which it stands.
type word struct {
	text string
	at   int
}

// parseClock reads five fields. The fault's offset counts from where the
// words' offsets do.
func (d *dialect) parseClock(words []word) (clock, *fieldError) {
	var c clock
	for i := range c {
		v, err := d.parse(&fields[i], words[i].text)
		if err != nil {
			return c, &fieldError{words[i].at + err.offset, err.text}
		}
		c[i] = v
	}
	return c, nil
}

// both reports whether a day has to match both day fields. Otherwise, either.
func (c *clock) both() bool { return c[dayOfMonth].star || c[dayOfWeek].star }

// timings writes the expression in Duly's dialect.
type timings struct {
	all    []duly.Timing
	except []duly.Exclusion
	dst    duly.DST
	notes  []string // on what is written in another way
}

// write finds what means the same to Duly, with the hours in one expression or
// in several. The days are the difficult part: where both fields restrict them,
// Duly takes a day that matches either.
func (c *clock) write(hours ...string) timings {
	var t timings
	dom, dow := c[dayOfMonth], c[dayOfWeek]
	days, weekdays := dom.text, dow.text
	switch {
	case !c.both() && (dom.every() || dow.every()):
		days, weekdays = "*", "*"
	case dom.every():
		days = "*"
	case dow.every():
		weekdays = "*"
	case c.both():
		if week := weekOf(dom.set); week > 0 {
			days, weekdays = "*", nth(dow.set, week)
			t.notes = append(t.notes, fmt.Sprintf("a day has to match both %s and %s, as one of them begins with *; written %q, the same days", dom.source, dow.source, weekdays))
			break
		}
		days = "*"
		others := spell(dom.all()&^dom.set, dom.field)
		for _, h := range hours {
			t.except = append(t.except, duly.Exclusion{
				Timing: duly.Timing{Cron: c.expr(h, others, "*")},
				Note:   fmt.Sprintf("days of the month that %s leaves out", dom.source),
			})
		}
		t.notes = append(t.notes, fmt.Sprintf("a day has to match both %s and %s, as one of them begins with *; written as the weekdays, except the other days of the month", dom.source, dow.source))
	}
	for _, h := range hours {
		t.all = append(t.all, duly.Timing{Cron: c.expr(h, days, weekdays)})
	}
	return t
}

// vixie writes the expression so that clock changes do to it what they do to
// it under cron. There, a line whose minute or hour begins with * follows the
// clock on the wall: a skipped time is left out, a repeated one comes twice.
// Every other line gets each of its times once. To Duly, the set of hours
// makes that difference.
func (c *clock) vixie(all []change) timings {
	starred := c[minute].star || c[hour].star
	if starred == c.allHours() || !c.meets(all) {
		return c.write(c[hour].text)
	}
	if starred {
		t := c.write(c[hour].text)
		t.dst = duly.DST{Gap: string(cron.GapSkip), Overlap: string(cron.OverlapBoth)}
		t.notes = append(t.notes, "as its minute or hour begins with *, cron leaves out times that clock changes skip, and repeats those that come twice; dst keeps that, and without dst each date gets each of its times once")
		return t
	}
	t := c.write("0-11", "12-23")
	t.notes = append(t.notes, "cron gives a repeated hour one start, as the hour does not begin with *; two timings keep that, as one that has all 24 hours would follow elapsed time")
	return t
}

// kubernetes writes the expression in Duly's dialect. A CronJob follows the
// clock on the wall through every clock change; Duly gives each date each of
// its times once, which nobody who moves wants to lose again.
func (c *clock) kubernetes(all []change) timings {
	t := c.write(c[hour].text)
	if !c.allHours() && c.meets(all) {
		t.notes = append(t.notes, "Kubernetes leaves out a time that a clock change skips, and starts twice at one that comes twice; here each date gets each of its times once (dst: { gap: skip, overlap: both } is the old way)")
	}
	return t
}

// expr puts an expression together.
func (c *clock) expr(hours, days, weekdays string) string {
	return strings.Join([]string{c[minute].text, hours, days, c[month].text, weekdays}, " ")
}

// weekOf says which week of seven days a set of days is: 1 for the first to
// the seventh, 5 for the 29th to the 31st, 0 for none. A weekday that falls on
// one of them is the n-th of its month.
func weekOf(days uint64) int {
	for n := range 5 {
		week := uint64(0)
		for d := 7*n + 1; d <= min(7*n+7, 31); d++ {
			week |= 1 << d
		}
		if days == week {
			return n + 1
		}
	}
	return 0
}

func nth(weekdays uint64, n int) string {
	var items []string
	for d := range 7 {
		if weekdays>>d&1 != 0 {
			items = append(items, fmt.Sprintf("%d#%d", d, n))
		}
	}
	return strings.Join(items, ",")
}

// allHours reports whether no hour is left out: then Duly follows elapsed time
// through clock changes, and otherwise gives each date each of its times once.
func (c *clock) allHours() bool { return c[hour].every() }

// perDay and perHour report whether it is due at most once in one.
func (c *clock) perDay() bool  { return c.perHour() && bits.OnesCount64(c[hour].set) == 1 }
func (c *clock) perHour() bool { return bits.OnesCount64(c[minute].set) == 1 }

// unit is the period that names what the platform starts, for schedules whose
// timing Duly does not know: the longest in which it is due at most once.
func (c *clock) unit() duly.PeriodUnit {
	switch {
	case c.perDay():
		return duly.PeriodDay
	case c.perHour():
		return duly.PeriodHour
	}
	return duly.PeriodInstant
}

// The years in which clock changes count: those that a schedule may still see.
const (
	firstYear = 2020
	lastYear  = 2050
)

// change is a span of wall times, in seconds of the day, that a zone's clocks
// skip or show twice. It may begin on the day before.
type change struct{ from, to int }

// changes lists the clock changes of a zone, each kind once.
func changes(zone *time.Location, first, last int) []change {
	known := map[change]bool{}
	var all []change
	day := time.Date(first, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	end := time.Date(last+1, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	for ; day < end; day += 86400 {
		lo, hi := day, day+86400
		before, after := offset(zone, lo), offset(zone, hi)
		if before == after {
			continue
		}
		for hi-lo > 1 {
			if mid := (lo + hi) / 2; offset(zone, mid) == before {
				lo = mid
			} else {
				hi = mid
			}
		}
		from, to := hi+int64(before), hi+int64(after)
		if from > to {
			from, to = to, from
		}
		ch := change{int(from % 86400), int(from%86400 + to - from)}
		if !known[ch] {
			known[ch] = true
			all = append(all, ch)
		}
	}
	return all
}

func offset(zone *time.Location, at int64) int {
	_, o := time.Unix(at, 0).In(zone).Zone()
	return o
}

// meets reports whether the expression names a time that a clock change skips
// or repeats.
func (c *clock) meets(all []change) bool {
	for _, ch := range all {
		for s := ch.from - ch.from%60; s < ch.to; s += 60 {
			h, m := s/3600%24, s/60%60
			if s >= ch.from && c[hour].set>>h&1 != 0 && c[minute].set>>m&1 != 0 {
				return true
			}
		}
	}
	return false
}

// zones remembers the clock changes of the zones that a source names.
type zones struct {
	first, last int
	known       map[string][]change
}

func newZones() *zones { return &zones{first: firstYear, last: lastYear, known: map[string][]change{}} }

// changes lists a zone's; of an unknown zone there are none.
func (z *zones) changes(name string) []change {
	all, ok := z.known[name]
	if !ok {
		if zone, err := cron.LoadZone(name); err == nil {
			all = changes(zone, z.first, z.last)
		}
		z.known[name] = all
	}
	return all
}
