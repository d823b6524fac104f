package plan

import (
	"time"

	"github.com/duly-dev/duly"
)

// lookAhead bounds how many dues NextAlone looks at.
const lookAhead = 10_000

// Alone is what a node that cannot reach the store does by itself.
type Alone struct {
	Period string
	// Covers are the periods that it is for, its own the last.
	Covers             []string
	Due, IntervalStart time.Time
	// Start is when to begin: Due, spread by the schedule's jitter.
	Start time.Time
}

// NextAlone says what a schedule that the store cannot be asked about is due
// for next, after one instant and to be begun by another. Where overlap wants
// one to stand for all that could not begin earlier (combine, replace), it is
// the newest that may begin. False: nothing is to begin yet; Start then says
// when something is, zero for never.
//
// anchor is when the store first met the schedule and since when the revision
// came into force. Of a calendar's skips and of times that start_deadline has
// given up there is nothing.
func (p *Plan) NextAlone(schedule string, anchor, since, after, now time.Time) (Alone, bool) {
	var all Alone
	seq := p.Timing.Sequence(anchor).PerPeriod(since)
	for range lookAhead {
		d, ok := seq.Next(after)
		if !ok {
			break
		}
		after = d.At
		start := d.At
		if p.Def.Jitter > 0 {
			start = start.Add(jitter(schedule, d.Period, p.Def.Jitter.Std()))
		}
		if start.After(now) {
			if all.Period == "" {
				all.Start = start
			}
			break
		}
		if d.Skip != "" || p.Def.StartDeadline > 0 && now.After(d.At.Add(p.Def.StartDeadline.Std())) {
			continue
		}
		covers, interval := []string{d.Period}, seq.Interval(d)
		if p.Def.Overlap == duly.OverlapCombine && all.Period != "" && len(all.Covers) < MaxCovers {
			covers, interval = append(all.Covers, d.Period), all.IntervalStart
		}
		all = Alone{Period: d.Period, Covers: covers, Due: d.At, IntervalStart: interval, Start: start}
		if p.Def.Overlap != duly.OverlapCombine && p.Def.Overlap != duly.OverlapReplace {
			break
		}
	}
	return all, all.Period != ""
}
