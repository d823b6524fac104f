package cli

import (
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/api"
	"github.com/duly-dev/duly/cron"
	"github.com/duly-dev/duly/timing"
)

// maxWindow bounds what `next --to` lists without being asked for a number.
const maxWindow = 100_000

const nextLong = `When is an expression due, in a zone, clock changes included?

The expression has 5 fields, or 6 with seconds first, or 7 with a year last; or
it is a macro such as @daily, or "@every 15m". Times are listed strictly after
--from (strictly before it with --prev), up to and including --to.`

const nextExample = `  duly next '0 2 * * *' --tz America/New_York --from 2026-03-07T12:00:00Z -n 3
  duly next '0 9 LW * *' --tz Europe/Berlin --to 2027-01-01T00:00
  duly next '@every 90m' --anchor 2026-11-28T00:10:00Z
  duly next '0 6 * * 1' --period week --prev -o json`

// nextFlags are the flags of `duly next`.
type nextFlags struct {
	zone             string
	from, to, anchor string
	count            int
	prev             bool
	period           string
	offset           int
	gap, overlap     string
}

// dueItem is one line of what `duly next` and `duly schedules next` print.
type dueItem struct {
	Due    time.Time `json:"due"`
	Local  string    `json:"local"`
	Period string    `json:"period"`
}

func (inv *invocation) nextCommand() *cobra.Command {
	var f nextFlags
	c := &cobra.Command{
		Use:     "next 'CRON'",
		Short:   "When is a cron expression due?",
		Long:    nextLong,
		Example: nextExample,
		Args:    oneExpression,
		RunE:    func(c *cobra.Command, a []string) error { return inv.next(c, a[0], f) },
	}
	flags := c.Flags()
	flags.StringVar(&f.zone, "tz", "UTC", "the time `zone`, an IANA name such as Europe/Berlin")
	flags.StringVar(&f.from, "from", "", "where to start: RFC 3339, or local `time` in the zone (default now)")
	flags.StringVar(&f.to, "to", "", "list all up to this `time`")
	flags.IntVarP(&f.count, "count", "n", 5, "list this many")
	flags.BoolVar(&f.prev, "prev", false, "go backwards")
	flags.StringVar(&f.period, "period", "", "name the periods of this `unit`: instant, hour, day, week or month")
	flags.IntVar(&f.offset, "period-offset", 0, "move the periods, as -1 for yesterday's")
	flags.StringVar(&f.gap, "dst-gap", "", "a time that the clocks jump over is due: next, shift or skip")
	flags.StringVar(&f.overlap, "dst-overlap", "", "a time that comes twice is due: first, last or both")
	flags.StringVar(&f.anchor, "anchor", "", "where @every counts from (default --from)")
	complete(c, "period", "instant", "hour", "day", "week", "month")
	complete(c, "dst-gap", "next", "shift", "skip")
	complete(c, "dst-overlap", "first", "last", "both")
	c.ValidArgsFunction = cobra.NoFileCompletions
	return c
}

// oneExpression asks for quotes where a shell took an expression apart.
func oneExpression(c *cobra.Command, given []string) error {
	if len(given) > 1 {
		return withHint(usagef("the expression came as %d arguments", len(given)), "put it in quotes, so that the shell keeps it together: duly next '0 2 * * *'")
	}
	return args(1, 1)(c, given)
}

func (inv *invocation) next(c *cobra.Command, expr string, f nextFlags) error {
	if f.count < 1 {
		return usagef("-n is %d; it must be at least 1", f.count)
	}
	if f.prev && f.to != "" {
		return usagef("--prev and --to exclude each other: going backwards, say how many with -n")
	}
	zone, err := cron.LoadZone(f.zone)
	if err != nil {
		return invalidTiming(err)
	}
	from, err := inv.instant("from", f.from, zone, inv.now())
	if err != nil {
		return err
	}
	to, err := inv.instant("to", f.to, zone, time.Time{})
	if err != nil {
		return err
	}
	anchor, err := inv.instant("anchor", f.anchor, zone, from)
	if err != nil {
		return err
	}
	t, err := compileExpr(expr, f)
	if err != nil {
		return err
	}

	limit := f.count
	window := !to.IsZero()
	if window && !c.Flags().Changed("count") {
		limit = maxWindow
	}
	seq := t.Sequence(anchor)
	items := api.List[dueItem]{Items: []dueItem{}}
	for d := range dues(seq, from, to, f.prev) {
		if len(items.Items) == limit {
			if window && limit == maxWindow {
				return withHint(duly.Invalid("to", "there are more than %d times up to then", maxWindow), "narrow the window, or say how many with -n")
			}
			break
		}
		items.Items = append(items.Items, dueItem{Due: d.At, Local: instantIn(d.At, zone), Period: d.Period})
	}
	for _, w := range t.Warnings() {
		inv.note("note: %s", w)
	}
	return inv.print(items, func() error { return inv.showDues(items.Items, zone, f.prev) })
}

// compileExpr makes a timing of an expression or of "@every D".
func compileExpr(expr string, f nextFlags) (*timing.Timing, error) {
	s := duly.Schedule{
		ID:       "next",
		Timezone: f.zone, DST: duly.DST{Gap: f.gap, Overlap: f.overlap},
		Period: duly.PeriodUnit(f.period), PeriodOffset: f.offset,
	}
	if word := strings.Fields(expr); len(word) > 0 && strings.EqualFold(word[0], "@every") {
		every, err := cron.ParseEvery(expr)
		if err != nil {
			return nil, invalidTiming(err)
		}
		s.Every = duly.Duration(every)
	} else {
		if _, err := cron.Parse(expr); err != nil {
			return nil, invalidTiming(err)
		}
		s.Cron = expr
	}
	s.Target.Handler = "next" // nothing is done with it
	if faults := s.Validate(); len(faults) > 0 {
		return nil, faults[0]
	}
	t, faults := timing.Compile(s)
	if len(faults) > 0 {
		return nil, faults[0]
	}
	return t, nil
}

// dues yields what is due from a time on, or backwards; to bounds it where it
// is set. What a clock change or a calendar skips is not due.
func dues(seq timing.Sequence, from, to time.Time, backwards bool) iter.Seq[timing.Due] {
	step := seq.Next
	if backwards {
		step = seq.Prev
	}
	return func(yield func(timing.Due) bool) {
		d, ok := step(from)
		for ok && (to.IsZero() || !d.At.After(to)) {
			if d.Skip == "" && !yield(d) {
				return
			}
			d, ok = step(d.At)
		}
	}
}

// invalidTiming shows where in a text the fault lies.
func invalidTiming(err error) error {
	var p *cron.ParseError
	if !errors.As(err, &p) {
		return err
	}
	field := p.Field
	if field == "" {
		field = "expression"
	}
	e := duly.Errorf(duly.CodeInvalid, "%s, column %d: %s", field, p.Column, p.Message)
	return withHint(e, "  %s\n  %s^", p.Expr, strings.Repeat(" ", max(p.Column-1, 0)))
}

func newDueTable() *table {
	return &table{columns: []column{
		{name: "LOCAL"}, {name: "DAY"}, {name: "UTC", spare: 1}, {name: "PERIOD"}, {name: "HINT"}, {name: "NOTE", elastic: true},
	}}
}

func (inv *invocation) showDues(items []dueItem, zone *time.Location, backwards bool) error {
	now := inv.now()
	t := newDueTable()
	for _, it := range items {
		local := it.Due.In(zone)
		t.add(it.Local, local.Format("Mon"), it.Due.UTC().Format(time.RFC3339), it.Period, relative(it.Due, now), clockChange(local))
	}
	t.dropEmpty()
	if backwards {
		return inv.show(t, "it was never due before that")
	}
	return inv.show(t, "it is never due in that time")
}

// clockChange says what the zone's clocks do on a local day, for those who
// wonder about the hour.
func clockChange(local time.Time) string {
	y, m, d := local.Date()
	morning := time.Date(y, m, d, 0, 0, 0, 0, local.Location())
	evening := time.Date(y, m, d+1, 0, 0, 0, 0, local.Location())
	_, before := morning.Add(-time.Second).Zone()
	_, after := evening.Zone()
	by := time.Duration(after-before) * time.Second
	switch {
	case by > 0:
		return fmt.Sprintf("clocks go forward by %s", span(by))
	case by < 0:
		return fmt.Sprintf("clocks go back by %s", span(-by))
	}
	return ""
}
