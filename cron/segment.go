package cron

import (
	"math"
	"time"
)

const (
	// reach bounds how far from a change of offset its effects extend: the
	// longest known is a day, where zones crossed the date line.
	reach = 36 * 60 * 60

	// lookback is how far before an instant a segment is known to begin. No
	// zone has changed its offset twice within such a time since 1970.
	lookback = 2 * reach
)

// offset returns the seconds by which loc is ahead of UTC at a Unix second.
func offset(loc *time.Location, sec int64) int64 {
	_, o := time.Unix(sec, 0).In(loc).Zone()
	return int64(o)
}

// constantUntil returns a second up to which loc keeps the offset that it has
// at sec. Most often that is the next change of offset; it may be earlier.
//
// Of the two bounds that the standard library reports only the end is used.
// The start is wrong for some instants after the last transition in the zone's
// table (Ojinaga in October 2022). The end is wrong on 31 December of leap
// years that are served by the zone's rule (go.dev/issue/81583): there it lies
// before the instant, and the end of the year is right.
func constantUntil(loc *time.Location, sec int64) int64 {
	t := time.Unix(sec, 0).In(loc)
	_, end := t.ZoneBounds()
	if end.IsZero() {
		return math.MaxInt64
	}
	if e := end.Unix(); e > sec {
		return e
	}
	return time.Date(t.UTC().Year()+1, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
}

// segment is a stretch of time with one offset, around some instant.
type segment struct {
	start, end int64 // start <= instant < end
	offset     int64
	// atChange tells that start may be a change of offset. If not, it lies
	// lookback before the instant and the offset did not change in between.
	atChange bool
}

func segmentAt(loc *time.Location, sec int64) segment {
	s := segment{start: sec - lookback, offset: offset(loc, sec)}
	s.end = constantUntil(loc, s.start)
	for s.end <= sec {
		s.start, s.atChange = s.end, true
		s.end = constantUntil(loc, s.start)
	}
	return s
}

// gap is a run of local seconds, lo <= local < hi, that the clocks jump over.
// It is empty if hi <= lo; then the local seconds from hi to lo come twice.
type gap struct{ lo, hi int64 }

// gapAt returns what the clocks skip at the start of a segment.
func (s segment) gapAt(loc *time.Location) gap {
	return gap{s.start + offset(loc, s.start-1), s.start + s.offset}
}

// swallows reports whether the whole local date of a skipped second is
// skipped. Such a date does not exist in the zone.
func (g gap) swallows(local int64) bool {
	day := floorDay(local)
	return g.lo <= day && day+secondsPerDay <= g.hi
}
