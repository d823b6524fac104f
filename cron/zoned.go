package cron

import (
	"math"
	"time"
)

// Sequence is a set of instants in order. Implementations never change, so
// that iterating forwards, backwards and listing a window agree, from
// whichever node.
type Sequence interface {
	// Next returns the first instant strictly after the given one, to the
	// nanosecond, and false if there is none.
	Next(after time.Time) (time.Time, bool)
	// Prev returns the last instant strictly before the given one.
	Prev(before time.Time) (time.Time, bool)
}

// Walls is a set of wall times, in seconds from 1970-01-01T00:00:00 on a clock
// without a zone. An [Expr] is one; other kinds of rule can be too, and then
// meet the changes of a zone's clocks exactly as cron expressions do.
type Walls interface {
	// NextWall returns the first time of the set at or after the given one.
	NextWall(local int64) (int64, bool)
	// PrevWall returns the last time of the set at or before the given one.
	PrevWall(local int64) (int64, bool)
}

// Zoned is a set of wall times in a time zone: the instants at which it is
// due, in UTC and whole seconds, within the local years 1970-9999. It is a
// small immutable value; its methods do not allocate.
type Zoned struct {
	walls Walls
	loc   *time.Location
	dst   policy
}

// In places the expression in a zone; nil is UTC. Use [LoadZone] to have the
// same zone data on every node.
func (e *Expr) In(loc *time.Location, dst DST) Zoned {
	if e.Elapsed() {
		dst = DST{Gap: GapSkip, Overlap: OverlapBoth}
	}
	return Place(e, loc, dst)
}

// Place puts a set of wall times into a zone; nil is UTC. With [GapSkip] and
// [OverlapBoth] it follows elapsed time.
func Place(w Walls, loc *time.Location, dst DST) Zoned {
	if loc == nil {
		loc = time.UTC
	}
	return Zoned{walls: w, loc: loc, dst: dst.policy()}
}

const (
	none  = math.MaxInt64
	never = math.MinInt64
)

// Next returns the first due instant strictly after the given one.
func (z Zoned) Next(after time.Time) (time.Time, bool) {
	sec := min(max(after.Unix(), -reach), maxLocal) + 1
	for sec <= maxLocal {
		s := z.segment(sec)
		due, wall := z.nextIn(s, sec)
		if due < s.end {
			return instant(due)
		}
		if s.end <= sec+lookback {
			sec = s.end // the clocks may go back to a wall time that was passed
			continue
		}
		if wall == none {
			break
		}
		sec = max(s.end, wall-lookback)
	}
	return time.Time{}, false
}

// Prev returns the last due instant strictly before the given one.
func (z Zoned) Prev(before time.Time) (time.Time, bool) {
	sec := before.Unix()
	if before.Nanosecond() == 0 {
		sec--
	}
	sec = min(sec, maxLocal)
	for sec >= -reach {
		s := z.segment(sec)
		due, wall := z.prevIn(s, sec)
		if due != never {
			return instant(due)
		}
		if s.atChange {
			sec = s.start - 1
			continue
		}
		if wall == never {
			break
		}
		sec = min(s.start+reach-1, wall+lookback)
	}
	return time.Time{}, false
}

func (z Zoned) segment(sec int64) segment {
	if z.loc == time.UTC {
		return segment{start: math.MinInt64 / 2, end: math.MaxInt64}
	}
	return segmentAt(z.loc, sec)
}

// nextIn returns the first due second at or after sec if it lies in the
// segment, else one at or after its end. It also returns the wall time that
// the expression matches next, from which a search can go on.
func (z Zoned) nextIn(s segment, sec int64) (due, wall int64) {
	from := sec + s.offset
	due = none
	if s.atChange && (z.dst.first || z.dst.next || z.dst.shift) {
		g := s.gapAt(z.loc)
		if z.dst.first {
			from = max(from, g.lo) // these have had their turn in the segment before
		}
		due = z.nextSkipped(s, g, sec)
	}
	wall, ok := z.walls.NextWall(from)
	if !ok {
		wall = none
	} else {
		due = min(due, wall-s.offset)
	}
	if z.dst.last && due < s.end && s.end <= due+reach {
		// A time that comes again after the end is left to the next segment.
		if again := s.end + offset(z.loc, s.end); due+s.offset >= again {
			due = s.end
		}
	}
	return due, wall
}

// nextSkipped returns the first second at or after sec at which a time of the
// gap before the segment is due.
func (z Zoned) nextSkipped(s segment, g gap, sec int64) int64 {
	if g.hi <= g.lo {
		return none
	}
	if z.dst.next && sec == s.start {
		if _, ok := z.nextInGap(g, g.lo); ok {
			return s.start
		}
	}
	if z.dst.shift {
		late := g.hi - g.lo
		if w, ok := z.nextInGap(g, max(g.lo, sec+s.offset-late)); ok {
			return w + late - s.offset
		}
	}
	return none
}

// prevIn returns the last due second of the segment at or before sec, and the
// wall time that the expression matches before that. Of a segment that does
// not begin at a change only the part out of reach of one counts.
func (z Zoned) prevIn(s segment, sec int64) (due, wall int64) {
	to := sec + s.offset
	if z.dst.last && s.end <= sec+reach {
		to = min(to, s.end+offset(z.loc, s.end)-1)
	}
	from := s.start + reach + s.offset
	due = never
	if s.atChange {
		g := s.gapAt(z.loc)
		from = g.hi
		if z.dst.first {
			from = max(from, g.lo)
		}
		due = z.prevSkipped(s, g, sec)
	}
	wall, ok := z.walls.PrevWall(to)
	if !ok {
		return due, never
	}
	if wall >= from {
		due = max(due, wall-s.offset)
	}
	return due, wall
}

// prevSkipped returns the last second at or before sec at which a time of the
// gap before the segment is due.
func (z Zoned) prevSkipped(s segment, g gap, sec int64) int64 {
	if g.hi <= g.lo {
		return never
	}
	if z.dst.next {
		if _, ok := z.nextInGap(g, g.lo); ok {
			return s.start
		}
	}
	if z.dst.shift {
		late := g.hi - g.lo
		if w, ok := z.prevInGap(g, min(g.hi-1, sec+s.offset-late)); ok {
			return w + late - s.offset
		}
	}
	return never
}

// nextInGap returns the first matching time of a gap at or after from whose
// date exists.
func (z Zoned) nextInGap(g gap, from int64) (int64, bool) {
	for {
		w, ok := z.walls.NextWall(from)
		if !ok || w >= g.hi {
			return 0, false
		}
		if !g.swallows(w) {
			return w, true
		}
		from = floorDay(w) + secondsPerDay
	}
}

// prevInGap returns the last matching time of a gap at or before to whose
// date exists.
func (z Zoned) prevInGap(g gap, to int64) (int64, bool) {
	for {
		w, ok := z.walls.PrevWall(to)
		if !ok || w < g.lo {
			return 0, false
		}
		if !g.swallows(w) {
			return w, true
		}
		to = floorDay(w) - 1
	}
}

// instant leaves out the few that are due after the year 9999 of UTC, which
// RFC 3339 cannot write.
func instant(sec int64) (time.Time, bool) {
	if sec > maxLocal {
		return time.Time{}, false
	}
	return time.Unix(sec, 0).UTC(), true
}
