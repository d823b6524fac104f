package plan

import (
	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// ledger gathers what does not run, so that a long run of one kind becomes one
// record.
type ledger struct {
	d           *decision
	state       duly.State
	reason      string
	first, last due
	n           int
	each        []due // the run one by one, while it is short
}

// add notes one that does not run.
func (l *ledger) add(state duly.State, reason string, x due) {
	if !l.continues(state, reason, x) {
		l.begin(state, reason, x)
	}
	l.n++
	l.last = x
	if l.n <= LongRun {
		l.each = append(l.each, x)
	}
}

// addRun notes many at once.
func (l *ledger) addRun(state duly.State, reason string, first, last due, n int) {
	if !l.continues(state, reason, first) {
		l.begin(state, reason, first)
	}
	l.n += n
	l.last = last
}

// continues reports whether one more of a kind belongs to the run in hand. A
// run crosses neither a change of the definition nor what exists or is held.
func (l *ledger) continues(state duly.State, reason string, x due) bool {
	return l.n > 0 && l.state == state && l.reason == reason && l.first.seg == x.seg && !l.d.gap(l.last.At, x.At)
}

func (l *ledger) begin(state duly.State, reason string, x due) {
	l.flush()
	l.state, l.reason, l.first = state, reason, x
}

// flush writes down the run in hand.
func (l *ledger) flush() {
	if l.n == 0 {
		return
	}
	if l.n <= LongRun {
		for _, x := range l.each {
			l.d.record(x, l.state, l.reason)
		}
	} else {
		l.long()
	}
	l.n, l.each = 0, l.each[:0]
}

// long writes down a run as one record. Where nothing of this decision comes
// before it, it may go on from the decision before; but not past what was made
// before the clock was set back.
func (l *ledger) long() {
	extend := len(l.d.firing.Occurrences) == 0 && l.d.held == nil
	if ahead := l.d.s.Ahead; extend && !ahead.IsZero() {
		before, ok := l.first.seg.seq.Prev(l.first.At)
		extend = ok && before.At.After(ahead)
	}
	o := l.d.record(l.last, l.state, l.reason)
	o.Period = l.first.Period + ".." + l.last.Period
	o.Count = l.n
	o.IntervalStart = l.first.interval()
	o.Extend = extend
}

// record adds an occurrence that does not run.
func (d *decision) record(x due, state duly.State, reason string) *store.NewOccurrence {
	d.firing.Occurrences = append(d.firing.Occurrences, x.occurrence())
	o := &d.firing.Occurrences[len(d.firing.Occurrences)-1]
	o.State, o.Reason = state, reason
	return o
}

// occurrence is what a due becomes.
func (x due) occurrence() store.NewOccurrence {
	return store.NewOccurrence{
		Period:        x.Period,
		Due:           x.At,
		IntervalStart: x.interval(),
		Origin:        duly.OriginSchedule,
		Revision:      x.seg.revision.Number,
		Definition:    x.seg.revision.Definition,
		Placement:     x.seg.plan.place,
	}
}
