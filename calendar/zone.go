package calendar

import "time"

// near is longer than a zone's largest distance from UTC and than any jump of
// its clocks, which is a day at the date line. Since 1970 no zone has moved its
// clocks twice within twice that time; what follows relies on it.
const near = 30 * time.Hour

// offset returns by how much loc is ahead of UTC at t.
func offset(loc *time.Location, t time.Time) time.Duration {
	_, seconds := t.In(loc).Zone()
	return time.Duration(seconds) * time.Second
}

// change returns the moment between lo and hi at which the offset changes. The
// offsets at lo and hi must differ.
//
// It looks for the moment rather than asking for it, because the bounds that
// the standard library reports are wrong for some instants (go.dev/issue/81583).
func change(loc *time.Location, lo, hi time.Time) time.Time {
	first := offset(loc, lo)
	for hi.Sub(lo) > time.Second {
		mid := lo.Add(hi.Sub(lo) / 2).Truncate(time.Second)
		if offset(loc, mid) == first {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

// startOf returns the first instant at which the local date is d or later, and
// whether it is d: a date that the zone skipped altogether does not exist.
func startOf(d Date, loc *time.Location) (start time.Time, exists bool) {
	midnight := d.utc()
	before, after := offset(loc, midnight.Add(-near)), offset(loc, midnight.Add(near))
	start = midnight.Add(-before)
	if before == after {
		return start, true
	}
	moved := change(loc, midnight.Add(-near), midnight.Add(near))
	if start.Before(moved) {
		return start, true
	}
	if start = midnight.Add(-after); !start.Before(moved) {
		return start, true
	}
	// The clocks jump over midnight: the date begins with the jump, unless
	// that leads past it.
	return moved, moved.Add(after).Before(d.AddDays(1).utc())
}

// addDays returns the date n days away, counting only dates that exist in the
// zone. The day before 31 December 2011 was the 29th in Apia.
func addDays(d Date, n int, loc *time.Location) Date {
	step := 1
	if n < 0 {
		step = -1
	}
	for ; n != 0; n -= step {
		d = d.AddDays(step)
		if _, exists := startOf(d, loc); !exists {
			d = d.AddDays(step)
		}
	}
	return d
}
