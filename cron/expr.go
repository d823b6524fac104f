package cron

import (
	"fmt"
	"math/bits"
	"strings"
)

// Expr is a parsed cron expression. It never changes and may be shared by
// goroutines. It says nothing about zones: see [Expr.In].
type Expr struct {
	source   string
	seconds  uint64
	minutes  uint64
	hours    uint32
	months   uint16
	years    yearSet
	rules    dayRules
	days     *monthTable
	warnings []string

	// The first and the last due second of a matching day.
	firstClock, lastClock int
}

// allHours is the hour field of an expression about elapsed time.
const allHours = 1<<24 - 1

// String returns the expression in its normal form: upper case, one space
// between fields, macros as lower-case macros. Parsing it with the same
// options gives an equal expression.
func (e *Expr) String() string { return e.source }

// Elapsed reports whether the expression selects all 24 hours, and so follows
// elapsed time through changes of the clocks. Then [DST] has no effect on it.
func (e *Expr) Elapsed() bool { return e.hours == allHours }

// OncePerDay reports whether the expression names a single second of the day,
// so that it is due at most once on a local date (unless [OverlapBoth] asks
// for both passes of a repeated hour).
func (e *Expr) OncePerDay() bool { return e.firstClock == e.lastClock }

// Warnings returns what a person should know who may have meant something
// else, one sentence each. It is empty for most expressions; a warning is
// never a reason to refuse one.
func (e *Expr) Warnings() []string {
	var all []string
	if e.rules.restricted() && !e.rules.both {
		all = append(all, "day-of-month and day-of-week are both set: a day that matches either field is due, not only days that match both")
	}
	return append(all, e.warnings...)
}

// warnStep notes a step that does not go into its field evenly.
func (e *Expr) warnStep(it *item, sp span) {
	if it.restart == "" || sp.step == 1 || it.size%sp.step == 0 {
		return
	}
	w := fmt.Sprintf("%s: %s starts over every %s, so the last distance before that is not %d", it.name, it.text, it.restart, sp.step)
	if it.unit != "" {
		w += fmt.Sprintf("; for a steady distance use an interval (every: %d%s)", sp.step*it.unitSize, it.unit)
	}
	e.warnings = append(e.warnings, w)
}

// possible reports whether any date matches. Without a list of years each
// kind of month comes up within 400 years, so its entry in the table decides.
func (e *Expr) possible() bool {
	if e.years == nil {
		for set := e.months; set != 0; set &= set - 1 {
			length := monthLength(2000, bits.TrailingZeros16(set))
			if e.days[length-28] != [7]uint32{} || length == 29 && e.days[0] != [7]uint32{} {
				return true
			}
		}
		return false
	}
	_, ok := e.NextWall(0)
	return ok
}

func (e *Expr) impossible(days word) *ParseError {
	var names []string
	for set := e.months; set != 0; set &= set - 1 {
		names = append(names, fields[month].names[bits.TrailingZeros16(set)-1])
	}
	in := strings.Join(names, ", ")
	if e.years != nil {
		in += " of the given years"
	}
	return &ParseError{
		Field: fields[dayOfMonth].name, Column: days.col, Reason: ReasonImpossibleDate,
		Message: fmt.Sprintf("%s never comes in %s; choose a day that exists there, or L for the last day of a month", days.text, in),
	}
}
