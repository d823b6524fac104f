package plan

import (
	"fmt"
	"slices"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// The reasons of the overlap policies.
const (
	overlapSkip    = "overlap skip: an earlier occurrence was unfinished"
	overlapReplace = "overlap replace: a newer one was due"
)

// held is an occurrence that later ones of the same decision may join or
// replace.
type held struct {
	due
	store.NewOccurrence
}

// want makes an occurrence of a due that is to run, or lets the policies do
// with it as they say. It answers false once the schedule's limit is used up.
func (d *decision) want(st stretch, x due) bool {
	def := &x.seg.plan.Def
	if deadline := def.StartDeadline.Std(); deadline > 0 && !d.now.Before(x.At.Add(deadline)) {
		d.ledger.add(duly.Missed, fmt.Sprintf("start deadline: not started within %v of due", def.StartDeadline), x)
		return true
	}
	combine := d.def.Overlap == duly.OverlapCombine || st.policy == duly.CatchUpCombine
	if combine && d.held != nil && len(d.held.Covers) < MaxCovers {
		d.gaps = append(d.gaps, x.At)
		d.join(st, x)
		return true
	}
	if d.def.Overlap == duly.OverlapSkip && d.open > 0 {
		d.ledger.add(duly.Skipped, overlapSkip, x)
		return true
	}
	if d.def.Overlap == duly.OverlapReplace && d.held != nil {
		d.replace()
	} else if d.release(); d.over() {
		return false
	}
	d.made++
	if combine || d.def.Overlap == duly.OverlapReplace {
		d.gaps = append(d.gaps, x.At)
		d.held = &held{x, d.occurrence(st, x)}
		return true
	}
	d.put(d.occurrence(st, x))
	return true
}

// occurrence is what a due becomes that is to run.
func (d *decision) occurrence(st stretch, x due) store.NewOccurrence {
	def := &x.seg.plan.Def
	o := x.occurrence()
	o.State = duly.Pending
	if st.paused != "" || !d.onTime(x.At) {
		o.Origin = duly.OriginCatchUp
	}
	if def.Jitter > 0 {
		if at := x.At.Add(jitter(d.s.Schedule, x.Period, def.Jitter.Std())); at.After(d.now) {
			o.NotBefore = at
		}
	}
	if def.StartDeadline > 0 {
		o.StartBy = x.At.Add(def.StartDeadline.Std())
	}
	return o
}

// join lets the newest take over what is held: it is of the newest's name and
// covers all.
func (d *decision) join(st stretch, x due) {
	o := d.occurrence(st, x)
	o.IntervalStart = d.held.IntervalStart
	o.Covers = append(covered(d.held.Period, d.held.Covers), x.Period)
	d.held.due, d.held.NewOccurrence = x, o
}

func covered(period string, covers []string) []string {
	if len(covers) == 0 {
		return []string{period}
	}
	return covers
}

// replace drops what is held in favour of a newer one.
func (d *decision) replace() {
	d.made--
	if len(d.held.Covers) == 0 {
		d.ledger.add(duly.Skipped, overlapReplace, d.held.due)
	} else {
		d.held.State, d.held.Reason = duly.Skipped, overlapReplace
		d.ledger.flush()
		d.firing.Occurrences = append(d.firing.Occurrences, d.held.NewOccurrence)
	}
	d.held = nil
}

// release makes what is held.
func (d *decision) release() {
	if d.held != nil {
		d.put(d.held.NewOccurrence)
		d.held = nil
	}
}

func (d *decision) put(o store.NewOccurrence) {
	d.ledger.flush()
	d.firing.Occurrences = append(d.firing.Occurrences, o)
	d.open++
}

// finish puts the firing into order and lets its newest occurrence, which then
// comes last, take over what waits or runs.
func (d *decision) finish() {
	all := d.firing.Occurrences
	byDue := func(a, b store.NewOccurrence) int { return a.Due.Compare(b.Due) }
	if !slices.IsSortedFunc(all, byDue) {
		slices.SortStableFunc(all, byDue)
	}
	if d.made == 0 || len(d.s.Active) == 0 && len(d.s.Waiting) == 0 {
		return
	}
	newest := len(all) - 1
	for all[newest].State != duly.Pending {
		newest--
	}
	o := all[newest]
	d.firing.Occurrences = append(slices.Delete(all, newest, newest+1), o)
	switch d.def.Overlap {
	case duly.OverlapReplace:
		d.firing.Cancel = d.s.Active
	case duly.OverlapCombine:
		d.merge(&d.firing.Occurrences[len(all)-1])
	}
}

// merge lets an occurrence take over those that wait, the newest of them first,
// as far as one can cover them.
func (d *decision) merge(taker *store.NewOccurrence) {
	size := func(covers []string) int { return max(1, len(covers)) }
	n, from := size(taker.Covers), len(d.s.Waiting)
	for from > 0 && n+size(d.s.Waiting[from-1].Covers) <= MaxCovers {
		from--
		n += size(d.s.Waiting[from].Covers)
	}
	if from == len(d.s.Waiting) {
		return
	}
	covers, seen := make([]string, 0, n), make(map[string]bool, n)
	add := func(periods []string) {
		for _, p := range periods {
			if !seen[p] {
				seen[p] = true
				covers = append(covers, p)
			}
		}
	}
	for _, w := range d.s.Waiting[from:] {
		d.firing.Merge = append(d.firing.Merge, w.Seq)
		add(covered(w.Period, w.Covers))
	}
	add(covered(taker.Period, taker.Covers))
	taker.Covers = covers
	seq := d.line.newest().seq
	if first, ok := seq.Find(covers[0]); ok {
		taker.IntervalStart = due{first, d.line.newest()}.interval()
	}
}
