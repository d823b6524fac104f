package postgres

import (
	"cmp"
	"slices"

	"github.com/duly-dev/duly/internal/pacing"
	"github.com/duly-dev/duly/store"
)

// candidate is an occurrence that a claim may take.
type candidate struct {
	seq, priority, due int64
	queue              int64
	claim              *store.Claim
	index              int // in a firing's rows
}

// before is the order within a queue: higher priority first, then earlier due.
func (a candidate) before(b candidate) int {
	return cmp.Or(cmp.Compare(b.priority, a.priority), cmp.Compare(a.due, b.due), cmp.Compare(a.seq, b.seq))
}

// group is a shared queue, or all queues of schedules' own, with what may be
// taken of it, in order.
type group struct {
	room int // how many may start
	list []candidate
}

// groups sorts candidates by queue.
func (c *claiming) groups(all []candidate) []*group {
	byQueue := map[int64]*group{}
	var list []*group
	for _, one := range all {
		g := byQueue[one.queue]
		if g == nil {
			g = &group{room: c.queues[one.queue].room}
			byQueue[one.queue] = g
			list = append(list, g)
		}
		g.list = append(g.list, one)
	}
	for _, g := range list {
		slices.SortFunc(g.list, candidate.before)
		g.list = g.list[:min(len(g.list), g.room)]
	}
	return list
}

// pick takes up to most candidates: in rounds, one of each queue, the queue
// with the best head first. So a queue is served in its order, and a long one
// cannot starve the others.
func pick(groups []*group, most int) []candidate {
	var picked []candidate
	for len(picked) < most {
		groups = slices.DeleteFunc(groups, func(g *group) bool { return len(g.list) == 0 })
		switch len(groups) {
		case 0:
			return picked
		case 1: // nobody to be fair to
			return append(picked, groups[0].list[:min(len(groups[0].list), most-len(picked))]...)
		}
		slices.SortFunc(groups, func(a, b *group) int { return a.list[0].before(b.list[0]) })
		for _, g := range groups[:min(len(groups), most-len(picked))] {
			picked = append(picked, g.list[0])
			g.list = g.list[1:]
		}
	}
	return picked
}

// queueState is a queue as a claim finds it.
type queueState struct {
	name        string
	concurrency int64
	room        int // how many may start now
	rate        pacing.Rate
	unsaved     int64 // starts that rate does not know of yet
}

// lockQueues puts in line to lock the shared queues of lanes, and to read them
// once they are. The room of a shared queue is what its running occurrences
// leave of its concurrency, counted under its lock, so that it is exact and
// cannot drift. Queues of schedules' own need none of this, since an occurrence
// that waits for an earlier one is not ready.
func (c *claiming) lockQueues(lanes []laneNumber) {
	var queues []int64
	for _, l := range lanes {
		if c.queues[l.queue] == nil && !slices.Contains(queues, l.queue) {
			queues = append(queues, l.queue)
		}
	}
	if len(queues) == 0 {
		return
	}
	slices.Sort(queues)
	c.later("SELECT queue FROM duly.queues WHERE queue = ANY(?) ORDER BY queue FOR NO KEY UPDATE", queues)
	c.ask("SELECT queue, name, concurrency, rate_count, rate_per, starts, paused_at, paused_until, "+queueRunning+" FROM duly.queues q WHERE queue = ANY(?)", []any{queues}, func(r row) error {
		q := &queueState{name: r.str(1), concurrency: r.int(2)}
		q.room = int(max(0, q.concurrency-r.int(8)))
		if (pacing.Pause{Since: r.int(6), Until: r.int(7)}).Holds(c.now) {
			q.room = 0
		}
		if q.rate.Count, q.rate.Per = r.int(3), r.int(4); q.rate.Count > 0 {
			q.rate.Read(r.str(5))
			q.room = min(q.room, int(q.rate.Room(c.now)))
		}
		c.queues[r.int(0)] = q
		return nil
	})
}

// saveStarts puts in line to write the starts of queues that have a rate.
func (c *claiming) saveStarts() {
	for id, q := range c.queues {
		if q.rate.Count == 0 || q.unsaved == 0 {
			continue
		}
		q.rate.Add(c.now, q.unsaved)
		q.unsaved = 0
		c.later("UPDATE duly.queues SET starts = ? WHERE queue = ?", q.rate.Text(), id)
	}
}

// include adds the lanes of new occurrences that the claim may take.
func (c *claiming) include(rows []*newRow) {
	for _, r := range rows {
		if c.mayTake(r) && !slices.Contains(c.lanes, r.laneNumber) {
			c.lanes = append(c.lanes, r.laneNumber)
		}
	}
}
