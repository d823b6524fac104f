package plan

import (
	"time"

	"github.com/duly-dev/duly/store"
	"github.com/duly-dev/duly/timing"
)

// segment is a span of time, from < t <= to, in which one revision was in
// force.
type segment struct {
	from, to time.Time
	revision store.Revision
	plan     *Plan
	seq      timing.Sequence
	before   *segment // of the revision before; nil: none after the cursor
}

// due is a due instant with the segment that it belongs to.
type due struct {
	timing.Due
	seg *segment
}

// interval returns where the interval begins whose data a due is for: when the
// schedule was due before, by the revision that was in force then.
func (x due) interval() time.Time {
	start := x.seg.seq.Interval(x.Due)
	for seg := x.seg; seg.before != nil && !start.After(seg.revision.From); seg = seg.before {
		last, ok := seg.before.seq.Last(seg.revision.From)
		if !ok {
			break
		}
		start = last.Nominal
	}
	return start
}

// timeline is what a schedule was due, from its cursor to now, by the revision
// that was in force at each moment.
type timeline []segment

// trace makes the timeline of a schedule. It answers false if a definition
// cannot be had.
func trace(now time.Time, s store.DueSchedule, defs func(int64) *Plan) (timeline, bool) {
	line := make(timeline, 0, len(s.Revisions))
	for i, r := range s.Revisions {
		p := defs(r.Definition)
		if p == nil {
			return nil, false
		}
		seg := segment{from: s.Cursor, to: now, revision: r, plan: p}
		if i > 0 {
			seg.from = later(s.Cursor, r.From)
		}
		if i+1 < len(s.Revisions) {
			seg.to = earlier(now, s.Revisions[i+1].From)
		}
		seg.seq = p.Timing.Sequence(s.Anchor).PerPeriod(r.From)
		if i > 0 {
			seg.before = &line[i-1]
		}
		line = append(line, seg)
	}
	return line, true
}

// newest is the segment of the definition in force now.
func (l timeline) newest() *segment { return &l[len(l)-1] }

// next returns the first instant after a time at which something is due, by
// the revision that is in force then.
func (l timeline) next(after time.Time) time.Time {
	for i := range l {
		lo, last := after, i+1 == len(l)
		if i > 0 {
			lo = later(after, l[i].revision.From)
		}
		if t, ok := l[i].seq.NextAt(lo); ok && (last || !t.After(l[i+1].revision.From)) {
			return t
		}
	}
	return time.Time{}
}

// first returns the first instant in a span at which something was due.
func (l timeline) first(from, to time.Time) (time.Time, bool) {
	for i := range l {
		seg := &l[i]
		lo, hi := later(from, seg.from), earlier(to, seg.to)
		if !lo.Before(hi) {
			continue
		}
		if at, ok := seg.seq.NextAt(lo); ok && !at.After(hi) {
			return at, true
		}
	}
	return time.Time{}, false
}

// each calls visit with the dues in a span, in order, until it answers false.
func (l timeline) each(from, to time.Time, visit func(due) bool) {
	for i := range l {
		seg := &l[i]
		lo, hi := later(from, seg.from), earlier(to, seg.to)
		if !lo.Before(hi) {
			continue
		}
		for d := range seg.seq.Between(lo, hi) {
			if !visit(due{d, seg}) {
				return
			}
		}
	}
}

// back returns the nth newest due in a span that runs, counted from 1.
func (l timeline) back(from, to time.Time, n int) (due, bool) {
	for i := len(l) - 1; i >= 0; i-- {
		seg := &l[i]
		lo, hi := later(from, seg.from), earlier(to, seg.to)
		if !lo.Before(hi) {
			continue
		}
		for before := hi.Add(1); ; {
			d, ok := seg.seq.PrevRun(before)
			if !ok || !d.At.After(lo) {
				break
			}
			before = d.At
			if n--; n == 0 {
				return due{d, seg}, true
			}
		}
	}
	return due{}, false
}

// count counts the dues in a span, up to a bound.
func (l timeline) count(from, to time.Time, max int) (n int) {
	for i := range l {
		seg := &l[i]
		lo, hi := later(from, seg.from), earlier(to, seg.to)
		if lo.Before(hi) && n < max {
			c, _ := seg.seq.Count(lo, hi, max-n)
			n += c
		}
	}
	return n
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
