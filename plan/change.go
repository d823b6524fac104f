package plan

import (
	"github.com/duly-dev/duly"
)

const droppedByChange = "definition changed: by the new timing this period was due before the change"

// changes records the periods that a change of the definition drops. Where the
// old timing had a period still to come and the new one had it before the
// change, neither of them makes it: an invoice run that is moved from 18:00 to
// 06:00 at noon would silently leave out that day.
func (d *decision) changes() {
	for i := 1; i < len(d.line); i++ {
		before, after := &d.line[i-1], &d.line[i]
		at := after.revision.From
		if !at.After(d.s.Cursor) || at.After(d.firing.Cursor) {
			continue
		}
		unit := after.plan.Def.Period
		if unit == duly.PeriodInstant || unit != before.plan.Def.Period {
			continue
		}
		lost, ok := before.seq.Next(at)
		if !ok || lost.Skip != "" {
			continue
		}
		if next, ok := after.seq.Next(at); ok && next.Period == lost.Period {
			continue
		}
		if had, ok := after.seq.Find(lost.Period); ok && !had.At.After(at) {
			if d.exists(due{lost, after}, false) {
				continue
			}
			lost.At = at
			d.record(due{lost, after}, duly.Missed, droppedByChange)
		}
	}
}
