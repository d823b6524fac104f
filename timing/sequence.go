package timing

import (
	"iter"
	"time"

	"github.com/duly-dev/duly/calendar"
	"github.com/duly-dev/duly/cron"
)

// Sequence is the due instants of one schedule, in order. It is a small
// immutable value.
type Sequence struct {
	t      *Timing
	base   cron.Sequence   // what the timings name
	real   cron.Sequence   // base without what a gap swallows; nil: the same
	except []cron.Sequence // of the timing's exclusions, in their order

	// distinct leaves out all but the first due of a period after since.
	distinct bool
	since    time.Time
}

// maxSteps bounds the search past excluded instants: a million in a row count
// as the end of the sequence.
const maxSteps = 1 << 20

// maxSkipped bounds the search for one that runs: by some years of days without
// business, and by more than the seconds of the hour that a gap swallows.
const maxSkipped = 4000

// Next returns the first due with At strictly after the given instant, and
// false if there is none. Several dues may have the same At; then it returns
// the first of them.
func (s Sequence) Next(after time.Time) (Due, bool) {
	if s.moves() {
		return s.nextMoved(after)
	}
	n, ok := s.nextNominal(after)
	if !ok {
		return Due{}, false
	}
	return s.due(n), true
}

// NextAt is Next for a caller who needs nothing but the instant.
func (s Sequence) NextAt(after time.Time) (time.Time, bool) {
	if s.moves() {
		d, ok := s.nextMoved(after)
		return d.At, ok
	}
	return s.nextNominal(after)
}

// Prev returns the last due with At strictly before the given instant.
func (s Sequence) Prev(before time.Time) (Due, bool) {
	if s.moves() {
		return s.prevMoved(before)
	}
	n, ok := s.prevNominal(before)
	if !ok {
		return Due{}, false
	}
	return s.due(n), true
}

// PrevRun is Prev for a due that runs. Days without business cost it one step
// each, however much was due on them; it gives up after some thousand steps.
func (s Sequence) PrevRun(before time.Time) (Due, bool) {
	if !s.moves() {
		n, ok := s.lastRun(before)
		if !ok {
			return Due{}, false
		}
		return s.due(n), true
	}
	for range maxSkipped {
		d, ok := s.prevMoved(before)
		if !ok || d.Skip == "" {
			return d, ok
		}
		before = d.At
	}
	return Due{}, false
}

// Between yields the dues of a window, from < At <= to, in order. They are
// computed one at a time, so a caller may stop early at no cost.
func (s Sequence) Between(from, to time.Time) iter.Seq[Due] {
	if s.moves() {
		return s.betweenMoved(from, to)
	}
	return func(yield func(Due) bool) {
		n, ok := s.nextNominal(from)
		for ok && !n.After(to) && yield(s.due(n)) {
			n, ok = s.nextNominal(n)
		}
	}
}

// ByNominal yields the dues whose nominal instants lie in a window, from <
// Nominal <= to, in the order of those.
func (s Sequence) ByNominal(from, to time.Time) iter.Seq[Due] {
	return func(yield func(Due) bool) {
		n, ok := s.nextNominal(from)
		for ok && !n.After(to) && yield(s.due(n)) {
			n, ok = s.nextNominal(n)
		}
	}
}

// Interval returns where the interval begins whose data a due is for: the
// nominal instant of the one before it that ran. It is zero where there is none
// that PrevRun would find.
func (s Sequence) Interval(d Due) time.Time {
	last, _ := s.lastRun(d.Nominal)
	return last
}

// Last returns the last due that runs whose nominal instant is not after a
// given one, and false if there is none that PrevRun would find.
func (s Sequence) Last(until time.Time) (Due, bool) {
	n, ok := s.lastRun(until.Add(1))
	if !ok {
		return Due{}, false
	}
	return s.due(n), true
}

func (s Sequence) lastRun(before time.Time) (time.Time, bool) {
	n, b := before, s.t.business
	for range maxSkipped {
		var ok bool
		if n, ok = s.prevNominal(n); !ok {
			break
		}
		if b == nil && s.real == nil || s.due(n).Skip == "" {
			return n, true
		}
		if b == nil {
			continue
		}
		if on := calendar.DateOf(n, s.t.loc); !b.IsBusinessDay(on) {
			n = earlier(n, startOf(on, s.t.loc)) // nor does the rest of the day run
		}
	}
	return time.Time{}, false
}

// due makes a Due of a nominal instant.
func (s Sequence) due(n time.Time) Due {
	d := Due{At: n, Nominal: n, Period: calendar.Key(calendar.Unit(s.t.unit), s.t.offset, n, s.t.loc)}
	if s.real != nil && !has(s.real, n) {
		d.Skip = skipGap
	} else if s.t.business != nil {
		s.t.business.apply(&d, s.t.loc)
	}
	return d
}

// rawNext is nextNominal without regard to periods.
func (s Sequence) rawNext(after time.Time) (time.Time, bool) {
	if s.base == nil {
		return time.Time{}, false
	}
	if start := s.t.start; !start.IsZero() && after.Before(start) {
		after = start.Add(-1)
	}
	return s.search(after, maxSteps)
}

func (s Sequence) search(after time.Time, steps int) (time.Time, bool) {
	for range steps {
		n, ok := s.base.Next(after)
		if !ok || !s.t.end.IsZero() && !n.Before(s.t.end) {
			break
		}
		w, hit := s.excluded(n)
		if !hit {
			return n, true
		}
		after = w.to.Add(-1)
	}
	return time.Time{}, false
}

func (s Sequence) rawPrev(before time.Time) (time.Time, bool) {
	if s.base == nil {
		return time.Time{}, false
	}
	if end := s.t.end; !end.IsZero() && before.After(end) {
		before = end
	}
	for range maxSteps {
		n, ok := s.base.Prev(before)
		if !ok || n.Before(s.t.start) {
			break
		}
		w, hit := s.excluded(n)
		if !hit {
			return n, true
		}
		before = w.from
	}
	return time.Time{}, false
}

func (s Sequence) excluded(n time.Time) (window, bool) {
	for i, x := range s.except {
		if w, hit := s.t.except[i].window(x, n, s.t.loc); hit {
			return w, true
		}
	}
	return window{}, false
}
