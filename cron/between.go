package cron

import (
	"iter"
	"time"
)

// Between yields the instants of a window, from < t <= to, in order. They are
// computed one at a time, so a caller may stop early at no cost.
func Between(s Sequence, from, to time.Time) iter.Seq[time.Time] {
	return func(yield func(time.Time) bool) {
		t, ok := s.Next(from)
		for ok && !t.After(to) && yield(t) {
			t, ok = s.Next(t)
		}
	}
}
