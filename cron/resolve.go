package cron

import "time"

// Resolve returns the instants at which a wall time of a zone is due under a
// policy, in UTC: one as a rule, two for a repeated time under [OverlapBoth],
// and none for a skipped time under [GapSkip] or on a date that the zone
// skipped altogether (Apia, 30 December 2011).
//
// Components that do not name a time of the years 1970-9999, such as 30
// February or 24:00, give none; unlike [time.Date] nothing is carried over.
// A nil zone is UTC.
func Resolve(loc *time.Location, dst DST, year int, month time.Month, day, hour, min, sec int) []time.Time {
	if loc == nil {
		loc = time.UTC
	}
	if year < minYear || year > maxYear || month < 1 || month > 12 || day < 1 || day > monthLength(year, int(month)) {
		return nil
	}
	if hour < 0 || hour > 23 || min < 0 || min > 59 || sec < 0 || sec > 59 {
		return nil
	}
	wall := dayNumber(year, int(month), day)*secondsPerDay + int64(hour*3600+min*60+sec)
	found := resolve(loc, dst.policy(), wall)
	times := make([]time.Time, 0, len(found))
	for _, t := range found {
		times = append(times, time.Unix(t, 0).UTC())
	}
	return times
}

// resolve looks through the segments around a wall time for those in which the
// clocks show it.
func resolve(loc *time.Location, p policy, wall int64) []int64 {
	var found, skipped []int64
	for at := wall - lookback; at < wall+lookback; {
		end, o := constantUntil(loc, at), offset(loc, at)
		if t := wall - o; at <= t && t < end {
			found = append(found, t)
		}
		if end >= wall+lookback {
			break
		}
		g := gap{end + o, end + offset(loc, end)}
		if g.lo <= wall && wall < g.hi && !g.swallows(wall) {
			skipped = p.skipped(wall-g.lo, end)
		}
		at = end
	}
	switch {
	case len(found) == 0:
		return skipped
	case p.first:
		return found[:1]
	case p.last:
		return found[len(found)-1:]
	}
	return found
}

// skipped returns when a time is due that lies the given seconds into a gap.
func (p policy) skipped(into, end int64) []int64 {
	switch {
	case p.next:
		return []int64{end}
	case p.shift:
		return []int64{end + into}
	}
	return nil
}
