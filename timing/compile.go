package timing

import (
	"errors"
	"fmt"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/calendar"
	"github.com/duly-dev/duly/cron"
)

// Compile checks all that a schedule says about time and makes one Timing of
// it. It returns every fault at once, each with its field; faults of a cron
// expression name the column too and wrap a [*cron.ParseError].
//
// It checks nothing that [duly.Schedule.Validate] checks, and expects a
// schedule that has passed it.
func Compile(s duly.Schedule) (*Timing, []*duly.Error) {
	s = s.WithDefaults()
	c := compiler{schedule: &s, t: &Timing{offset: s.PeriodOffset}}
	loc, err := cron.LoadZone(s.Timezone)
	if err != nil {
		c.fault("timezone", err)
		return nil, c.faults // nothing else can be judged without a zone
	}
	c.t.loc = loc
	c.dst = cron.DST{Gap: cron.Gap(s.DST.Gap), Overlap: cron.Overlap(s.DST.Overlap)}
	if err := c.dst.Validate(); err != nil {
		c.fault("dst", err)
	}
	c.bounds()
	c.timings()
	c.exclusions()
	c.calendar()
	c.period()
	if len(c.faults) == 0 {
		c.fix()
	}
	if len(c.faults) > 0 {
		return nil, c.faults
	}
	return c.t, nil
}

type compiler struct {
	schedule *duly.Schedule
	t        *Timing
	dst      cron.DST
	faults   []*duly.Error
}

func (c *compiler) fault(field string, err error) {
	c.faults = append(c.faults, &duly.Error{Code: duly.CodeInvalid, Field: field, Message: err.Error(), Err: err})
}

func (c *compiler) warn(field, text string) {
	c.t.warnings = append(c.t.warnings, field+": "+text)
}

func (c *compiler) bounds() {
	if c.schedule.Start != nil {
		c.t.start = c.schedule.Start.UTC()
	}
	if c.schedule.End != nil {
		c.t.end = c.schedule.End.UTC()
	}
}

func (c *compiler) timings() {
	if !c.schedule.Timing.IsZero() {
		c.source("", c.schedule.Timing)
	}
	for i, t := range c.schedule.Timings {
		c.source(fmt.Sprintf("timings[%d].", i), t)
	}
}

func (c *compiler) source(prefix string, t duly.Timing) {
	src, field, err := c.compile(prefix, t)
	if err != nil {
		c.fault(field, err)
		return
	}
	c.t.sources = append(c.t.sources, src)
}

// compile makes a source of one timing. It also returns the field that names
// it, or the one that is to blame.
func (c *compiler) compile(prefix string, t duly.Timing) (src source, field string, err error) {
	switch {
	case t.Cron != "":
		field = prefix + "cron"
		src, err = c.cron(field, t.Cron)
	case t.Every != 0:
		field = prefix + "every"
		src, err = c.every(t)
	case t.At != "":
		field = prefix + "at"
		src, err = c.at(t.At)
	case t.RRule != "":
		field = prefix + "rrule"
		src, err = c.rrule(field, t.RRule)
	default:
		field, err = prefix+"cron", errors.New("is missing: set cron, every, at or rrule")
	}
	return src, field, err
}

func (c *compiler) cron(field, text string) (source, error) {
	expr, err := cron.Parse(text)
	if err != nil {
		return source{}, err
	}
	for _, w := range expr.Warnings() {
		c.warn(field, w)
	}
	count := newWallCount(expr)
	src := source{plain: count, perDay: count.day, daily: expr.OncePerDay() && c.dst.Overlap != cron.OverlapBoth}
	src.place(c.dst, expr.Elapsed(), func(dst cron.DST) cron.Sequence { return expr.In(c.t.loc, dst) })
	return src, nil
}

// place puts wall times into the zone. Under gap: skip they are there twice,
// since a time that is skipped is worth a record.
func (s *source) place(dst cron.DST, elapsed bool, in func(cron.DST) cron.Sequence) {
	if elapsed || dst.Gap != cron.GapSkip {
		s.seq = in(dst)
		return
	}
	s.real = in(dst)
	dst.Gap = cron.GapNext
	s.seq = in(dst)
}

func (c *compiler) every(t duly.Timing) (source, error) {
	src := source{every: t.Every.Std(), perDay: int(24*time.Hour/t.Every.Std()) + 1}
	anchor := time.Unix(0, 0)
	if t.Anchor != nil {
		anchor = *t.Anchor
	}
	seq, err := cron.Every(src.every, anchor)
	if t.Anchor != nil {
		src.seq = seq
	}
	return src, err
}

func (c *compiler) at(text string) (source, error) {
	t, err := instant(text, c.t.loc, c.dst)
	return source{seq: cron.At(t), perDay: 1, daily: true}, err
}

// maxExclusions bounds what each search has to look at.
const maxExclusions = 1000

func (c *compiler) exclusions() {
	if n := len(c.schedule.Except); n > maxExclusions {
		c.fault("except", fmt.Errorf("has %d entries; at most %d are allowed (dates may be many in one)", n, maxExclusions))
		return
	}
	for i, x := range c.schedule.Except {
		prefix := fmt.Sprintf("except[%d].", i)
		field, err := c.exclusion(prefix, x)
		if err != nil {
			c.fault(field, err)
		}
	}
}

// maxExcludedPerDay keeps the search past single excluded instants short.
const maxExcludedPerDay = 24 * 60

func (c *compiler) exclusion(prefix string, x duly.Exclusion) (field string, err error) {
	out := exclusion{length: x.For.Std()}
	switch {
	case !x.Timing.IsZero():
		var src source
		if src, field, err = c.compile(prefix, x.Timing); err != nil {
			return field, err
		}
		if out.length == 0 && src.perDay > maxExcludedPerDay {
			return field, fmt.Errorf("excludes up to %d single instants a day, and at most %d are allowed; open windows with `for`, or give from and to", src.perDay, maxExcludedPerDay)
		}
		out.source = &src
	case x.From != "":
		if out.from, err = instant(x.From, c.t.loc, cron.DST{}); err != nil {
			return prefix + "from", err
		}
		if out.to, err = instant(x.To, c.t.loc, cron.DST{}); err != nil {
			return prefix + "to", err
		}
		if !out.from.Before(out.to) {
			return prefix + "to", errors.New("is not after from")
		}
	default:
		dates, err := datesOf(prefix+"dates", x.Dates)
		if err != nil {
			return prefix + "dates", err
		}
		out.dates = make(map[calendar.Date]bool, len(dates))
		for _, d := range dates {
			out.dates[d] = true
		}
	}
	c.t.except = append(c.t.except, out)
	return "", nil
}

// period sets the default unit: a day where at most one instant can be due on
// a local date, judged by a single timing.
func (c *compiler) period() {
	c.t.unit = c.schedule.Period
	if c.t.unit != "" {
		return
	}
	c.t.unit = duly.PeriodInstant
	if len(c.t.sources) == 1 && c.t.sources[0].daily {
		c.t.unit = duly.PeriodDay
		return
	}
	if c.t.offset != 0 {
		c.fault("period_offset", errors.New("needs a period: the schedule may be due more than once a day, so say `period: day` (or hour, week, month)"))
	}
}

// maxExcluded is how many instants in a row may be excluded at the beginning;
// more, and nothing seems to be left.
const maxExcluded = 100_000

// fix builds the sequence if no anchor is needed, and makes sure that the
// exclusions and bounds leave something of the timings.
func (c *compiler) fix() {
	anchored := false
	for _, src := range c.t.sources {
		anchored = anchored || src.seq == nil
	}
	for _, x := range c.t.except {
		anchored = anchored || x.source != nil && x.source.seq == nil
	}
	if len(c.t.sources) == 0 {
		c.t.fixed = &Sequence{t: c.t}
		return
	}
	if anchored {
		return
	}
	s := c.t.sequence(time.Time{})
	c.t.fixed = &s
	from := time.Unix(0, 0)
	if c.t.start.After(from) {
		from = c.t.start
	}
	if _, ok := s.search(from.Add(-1), maxExcluded); !ok {
		c.faults = append(c.faults, duly.Invalid("except", "nothing is left: the timings, start, end and except have no due instant in common from 1970 on"))
	}
}
