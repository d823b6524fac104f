package cron

import "fmt"

// DST says what becomes of named wall times when a zone changes its clocks:
// twice a year for daylight saving, and whenever a government moves the
// offset. The zero value is next and first, with which each local date gets
// each of its times exactly once.
//
// It does not touch expressions that select all 24 hours ([Expr.Elapsed]).
type DST struct {
	Gap     Gap
	Overlap Overlap
}

// Gap chooses what happens to a wall time that the clocks jump over.
type Gap string

// With clocks moving from 02:00 to 03:00, a time of 02:30 is due
const (
	GapNext  Gap = "next"  // at 03:00, the first instant after the gap; several such times are due once
	GapShift Gap = "shift" // at 03:30, as late as it would have been without the change
	GapSkip  Gap = "skip"  // not at all on that date
)

// Overlap chooses what happens to a wall time that comes twice.
type Overlap string

// With clocks moving from 03:00 back to 02:00, a time of 02:30 is due
const (
	OverlapFirst Overlap = "first" // before the clocks move
	OverlapLast  Overlap = "last"  // after the clocks have moved
	OverlapBoth  Overlap = "both"  // both times
)

// Validate refuses words that are not among the constants. Empty ones stand
// for the defaults.
func (d DST) Validate() error {
	switch d.Gap {
	case "", GapNext, GapShift, GapSkip:
	default:
		return fmt.Errorf("dst.gap: %q is not one of next, shift, skip", d.Gap)
	}
	switch d.Overlap {
	case "", OverlapFirst, OverlapLast, OverlapBoth:
	default:
		return fmt.Errorf("dst.overlap: %q is not one of first, last, both", d.Overlap)
	}
	return nil
}

// policy is a DST in the form that a search asks for.
type policy struct{ next, shift, first, last bool }

// policy takes an unknown word for the default; Validate is there to refuse it.
func (d DST) policy() policy {
	return policy{
		next:  d.Gap != GapShift && d.Gap != GapSkip,
		shift: d.Gap == GapShift,
		first: d.Overlap != OverlapLast && d.Overlap != OverlapBoth,
		last:  d.Overlap == OverlapLast,
	}
}
