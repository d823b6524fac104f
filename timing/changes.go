package timing

import "time"

const (
	// maxShift is the longest by which a zone has changed its offset, and more.
	maxShift = 36 * time.Hour
	// changeStep is within the time in which no zone has changed its offset
	// twice, so that equal offsets at both ends mean that nothing happened.
	changeStep = 48 * time.Hour
)

// nextChange returns the first change of the zone's offset after a time, and
// by how much the clocks moved, either way.
func nextChange(loc *time.Location, after, until time.Time) (at time.Time, width time.Duration, ok bool) {
	if loc == time.UTC {
		return time.Time{}, 0, false
	}
	offset := func(sec int64) int {
		_, o := time.Unix(sec, 0).In(loc).Zone()
		return o
	}
	lo := after.Unix()
	have := offset(lo)
	for end := until.Unix(); lo < end; {
		hi := lo + int64(changeStep/time.Second)
		now := offset(hi)
		if now == have {
			lo = hi
			continue
		}
		for hi-lo > 1 {
			if mid := lo + (hi-lo)/2; offset(mid) == have {
				lo = mid
			} else {
				hi = mid
			}
		}
		return time.Unix(hi, 0).UTC(), time.Duration(max(now-have, have-now)) * time.Second, true
	}
	return time.Time{}, 0, false
}
