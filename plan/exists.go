package plan

import (
	"slices"
	"time"
)

// exists reports whether an occurrence accounts for a due already, so that
// nothing is to be made of it. Two things let one exist although its instant
// lies after the cursor: a clock that was set back, and, where one occurrence is
// about to cover many periods (joins), what a name alone would keep from being
// made twice: a period that a new timing moved, or that a person has asked for.
//
// What is not known is asked for, and left alone until there is an answer.
func (d *decision) exists(x due, joins bool) bool {
	if !joins && x.At.After(d.s.Ahead) {
		return false
	}
	exists, known := d.s.Exists[x.Period]
	switch {
	case !known:
		d.ask = append(d.ask, x.Period)
	case exists:
		d.gaps = append(d.gaps, x.At)
	}
	return exists || !known
}

// gap reports whether something that exists, or is held, lies between two
// instants.
func (d *decision) gap(from, to time.Time) bool {
	i, _ := slices.BinarySearchFunc(d.gaps, from.Add(1), time.Time.Compare)
	return i < len(d.gaps) && d.gaps[i].Before(to)
}

// first returns the first instant of a stretch at which something came due that
// does not exist: what was made is not owed, and not late.
//
// It looks at no more of them than a decision lists; where all of those exist,
// the next one does for the answer.
func (d *decision) first(st stretch) (time.Time, bool) {
	known := later(st.from, earlier(st.to, d.s.Ahead))
	var first time.Time
	n := 0
	d.line.each(st.from, known, func(x due) bool {
		n++
		if d.s.Exists[x.Period] && n <= d.lim.scan {
			return true
		}
		first = x.At
		return false
	})
	if !first.IsZero() {
		return first, true
	}
	return d.line.first(known, st.to)
}
