package plan

import (
	"fmt"
	"time"

	"github.com/duly-dev/duly"
)

// stretch is a span of owed time, from < t <= to, under one policy.
type stretch struct {
	from, to time.Time
	policy   duly.CatchUpPolicy
	unwanted duly.State // of what the policy does not want
	paused   string     // why, if the stretch is a pause; it has no window then
}

// late reports whether there is something to catch up, on which a policy
// decides.
func (st stretch) late() bool { return st.paused != "" || st.policy != "" }

// reason is why the policy does not want something.
func (st stretch) reason(text string) string {
	if st.paused != "" {
		return st.paused
	}
	return text
}

// catchUp decides on a stretch: first what is not wanted, then what is. It
// answers false if it stopped at a bound.
func (d *decision) catchUp(st stretch) bool {
	first, ok := d.first(st)
	if !ok {
		return true
	}
	if st.paused == "" && d.onTime(first) {
		st.policy = "" // nothing to catch up
		return d.make(st, st.from)
	}
	switch st.policy {
	case duly.CatchUpNone:
		return d.none(st)
	case duly.CatchUpAll, duly.CatchUpCombine:
		return d.all(st)
	}
	return d.latest(st)
}

func (d *decision) onTime(at time.Time) bool { return d.now.Sub(at) <= Grace }

func (d *decision) none(st stretch) bool {
	why := st.reason("catch-up none: came due while nothing could fire")
	newest, ok := d.line.back(st.from, st.to, 1)
	if !ok || st.paused != "" || !d.onTime(newest.At) {
		return d.pass(st, st.from, st.to, why)
	}
	before := newest.At.Add(-1)
	return d.pass(st, st.from, before, why) && d.make(st, before)
}

func (d *decision) latest(st stretch) bool {
	why := st.reason("catch-up latest: a newer one was due")
	newest, ok := d.line.back(st.from, st.to, 1)
	if !ok {
		return d.pass(st, st.from, st.to, why)
	}
	before := newest.At.Add(-1)
	if !d.pass(st, st.from, before, why) {
		return false
	}
	if window := d.windowStart(st); !newest.At.After(window) {
		return d.pass(st, before, st.to, d.tooOld(st))
	}
	return d.make(st, before)
}

func (d *decision) all(st stretch) bool {
	window := later(st.from, earlier(st.to, d.windowStart(st)))
	if !d.pass(st, st.from, window, d.tooOld(st)) {
		return false
	}
	most, why := d.def.CatchUp.Max, fmt.Sprintf("catch-up max: only the newest %d run", d.def.CatchUp.Max)
	if st.policy == duly.CatchUpCombine && (most == 0 || most > MaxCovers) {
		most, why = MaxCovers, fmt.Sprintf("catch-up combine: one occurrence covers %d periods at most", MaxCovers)
	}
	keep := window
	if most > 0 && d.line.count(window, st.to, most+1) > most {
		if oldest, ok := d.line.back(window, st.to, most); ok {
			keep = oldest.At.Add(-1)
		}
	}
	done := d.pass(st, window, keep, st.reason(why)) && d.make(st, keep)
	if d.def.Overlap != duly.OverlapCombine && d.def.Overlap != duly.OverlapReplace {
		d.release()
	}
	return done
}

// windowStart is the end of what is too old to be caught up.
func (d *decision) windowStart(st stretch) time.Time {
	if st.paused != "" {
		return st.from
	}
	return d.now.Add(-d.def.CatchUp.Window.Std())
}

func (d *decision) tooOld(st stretch) string {
	return st.reason(fmt.Sprintf("catch-up window: came due more than %v ago", d.def.CatchUp.Window))
}

// pass records the dues in a span as not wanted.
func (d *decision) pass(st stretch, from, to time.Time, why string) bool {
	each := func(x due) bool {
		switch {
		case d.exists(x, false):
		case x.Skip != "":
			d.ledger.add(duly.Skipped, x.Skip, x)
		default:
			d.ledger.add(st.unwanted, why, x)
		}
		return true
	}
	for i := range d.line {
		seg := &d.line[i]
		lo, hi := later(from, seg.from), earlier(to, seg.to)
		if known := earlier(hi, d.s.Ahead); lo.Before(known) {
			if !d.list(lo, known, each) {
				return false
			}
			lo = known
		}
		if !lo.Before(hi) {
			continue
		}
		if seg.seq.Cheap() {
			if n, _ := seg.seq.Count(lo, hi, 0); n > LongRun {
				first, _ := seg.seq.Next(lo)
				last, _ := seg.seq.Prev(hi.Add(1))
				d.ledger.addRun(st.unwanted, why, due{first, seg}, due{last, seg}, n)
				continue
			}
		}
		if !d.list(lo, hi, each) {
			return false
		}
	}
	return true
}

// make makes occurrences of the dues from an instant to the stretch's end.
func (d *decision) make(st stretch, from time.Time) bool {
	joins := st.late() && (st.policy == duly.CatchUpCombine || d.def.Overlap == duly.OverlapCombine)
	return d.list(from, st.to, func(x due) bool {
		if d.exists(x, joins) {
			return true
		}
		if x.Skip != "" {
			d.ledger.add(duly.Skipped, x.Skip, x)
			return true
		}
		return d.want(st, x)
	})
}

// list visits the dues in a span, in order. It stops once a bound is reached, or
// when visit answers false, and answers false then. A bound stops it between two
// instants, and only before one that is late: the rest by itself would look as
// if nothing had been interrupted.
func (d *decision) list(from, to time.Time, visit func(due) bool) bool {
	at, done := from, true
	d.line.each(from, to, func(x due) bool {
		full := d.made >= d.lim.page || d.listed >= d.lim.scan
		if full && x.At.After(at) && !d.onTime(x.At) {
			d.stop(at)
			done = false
			return false
		}
		d.listed++
		at = x.At
		done = visit(x)
		return done
	})
	return done
}
