package cron

import (
	"slices"
	"time"
)

// instants are Unix seconds in ascending order, each one once.
type instants []int64

// At is due at the given instants, in any order and with repeats. A fraction
// of a second is rounded up, so that nothing is due before it was asked for.
func At(times ...time.Time) Sequence {
	s := make(instants, 0, len(times))
	for _, t := range times {
		sec := t.Unix()
		if t.Nanosecond() > 0 {
			sec++
		}
		s = append(s, sec)
	}
	slices.Sort(s)
	return slices.Compact(s)
}

func (s instants) Next(after time.Time) (time.Time, bool) {
	i, found := slices.BinarySearch(s, after.Unix())
	if found {
		i++
	}
	if i == len(s) {
		return time.Time{}, false
	}
	return time.Unix(s[i], 0).UTC(), true
}

func (s instants) Prev(before time.Time) (time.Time, bool) {
	i, found := slices.BinarySearch(s, before.Unix())
	if found && before.Nanosecond() > 0 {
		i++
	}
	if i == 0 {
		return time.Time{}, false
	}
	return time.Unix(s[i-1], 0).UTC(), true
}
