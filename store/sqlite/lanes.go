package sqlite

import (
	"cmp"
	"slices"
)

// candidate is an occurrence that a claim may take.
type candidate struct {
	seq, priority, due int64
	queue              int64
	row                *newRow // not in the file yet
}

// before is the order within a queue: higher priority first, then earlier due.
func (a candidate) before(b candidate) int {
	return cmp.Or(cmp.Compare(b.priority, a.priority), cmp.Compare(a.due, b.due), cmp.Compare(a.seq, b.seq))
}

// lane answers candidates in order.
type lane interface {
	// peek answers the next one without taking it.
	peek() (c candidate, ok bool, err error)
	take()
}

// group is a shared queue, or all queues of schedules' own, with the lanes
// that a claim visits in it.
type group struct {
	room  int // how many may start
	lanes []lane
}

// head is the next candidate of a group and its lane.
func (g *group) head() (best candidate, from lane, err error) {
	for _, l := range g.lanes {
		c, ok, err := l.peek()
		if err != nil {
			return best, nil, err
		}
		if ok && (from == nil || c.before(best) < 0) {
			best, from = c, l
		}
	}
	return best, from, nil
}

// pick takes up to max candidates: in rounds, one of each queue that has room,
// the queue with the best head first. So a queue is served in its order, and a
// long one cannot starve the others.
func pick(groups []*group, max int) ([]candidate, error) {
	type headed struct {
		candidate
		group *group
		lane  lane
	}
	var picked []candidate
	for len(picked) < max {
		var heads []headed
		for _, g := range groups {
			if g.room <= 0 {
				continue
			}
			c, from, err := g.head()
			if err != nil {
				return nil, err
			}
			if from != nil {
				heads = append(heads, headed{c, g, from})
			}
		}
		if len(heads) == 0 {
			break
		}
		if len(heads) == 1 { // nobody to be fair to
			h := heads[0]
			for from := h.lane; from != nil && h.group.room > 0 && len(picked) < max; {
				picked = append(picked, h.candidate)
				from.take()
				h.group.room--
				var err error
				if h.candidate, from, err = h.group.head(); err != nil {
					return nil, err
				}
			}
			break
		}
		slices.SortFunc(heads, func(a, b headed) int { return a.before(b.candidate) })
		for _, h := range heads[:min(len(heads), max-len(picked))] {
			picked = append(picked, h.candidate)
			h.lane.take()
			h.group.room--
		}
	}
	return picked, nil
}

// memoryLane holds candidates that are not in the file yet.
type memoryLane struct{ list []candidate }

func (l *memoryLane) add(c candidate) { l.list = append(l.list, c) }
func (l *memoryLane) sort()           { slices.SortFunc(l.list, candidate.before) }
func (l *memoryLane) take()           { l.list = l.list[1:] }

func (l *memoryLane) peek() (candidate, bool, error) {
	if len(l.list) == 0 {
		return candidate{}, false, nil
	}
	return l.list[0], true, nil
}

// fileLane reads a lane's ready occurrences page by page.
type fileLane struct {
	*tx
	lane, queue int64
	page        int
	read        int
	list        []candidate
	over        bool
}

func (l *fileLane) take() { l.list = l.list[1:] }

func (l *fileLane) peek() (candidate, bool, error) {
	if len(l.list) == 0 && !l.over {
		if err := l.more(); err != nil {
			return candidate{}, false, err
		}
	}
	if len(l.list) == 0 {
		return candidate{}, false, nil
	}
	return l.list[0], true, nil
}

func (l *fileLane) more() error {
	l.list = l.list[:0]
	err := l.query(bg, `SELECT seq, priority, due FROM occurrences INDEXED BY occurrences_ready
		WHERE waiting = 1 AND lane = ? ORDER BY priority DESC, due, seq LIMIT ? OFFSET ?`, []any{l.lane, l.page, l.read}, func(r row) error {
		l.list = append(l.list, candidate{seq: r.int(0), priority: r.int(1), due: r.int(2), queue: l.queue})
		return nil
	})
	l.over = len(l.list) < l.page
	l.read += len(l.list)
	l.page *= 2
	return err
}

// readyGroups finds the lanes of the claim's capabilities in which something
// is ready, by queue. Lanes that nobody here can serve, and queues that are
// full, cost nothing more than this.
func (c *claiming) readyGroups(max int) (map[int64]*group, error) {
	type found struct{ lane, queue int64 }
	var all []found
	err := c.query(bg, `SELECT l.lane, l.queue FROM json_each(?) c JOIN lanes l ON l.capability = c.value
		WHERE EXISTS (SELECT 1 FROM occurrences o INDEXED BY occurrences_ready WHERE o.waiting = 1 AND o.lane = l.lane)`,
		[]any{c.capabilities}, func(r row) error {
			all = append(all, found{r.int(0), r.int(1)})
			return nil
		})
	if err != nil {
		return nil, err
	}
	page := max/(len(all)+1) + 1
	groups := map[int64]*group{}
	for _, f := range all {
		g, err := c.group(groups, f.queue)
		if err != nil {
			return nil, err
		}
		g.lanes = append(g.lanes, &fileLane{tx: c.tx, lane: f.lane, queue: f.queue, page: min(page, max)})
	}
	return groups, nil
}

// group is the one of a queue, made on first use.
func (c *claiming) group(groups map[int64]*group, queue int64) (*group, error) {
	if g := groups[queue]; g != nil {
		return g, nil
	}
	q, err := c.queueState(queue)
	if err != nil {
		return nil, err
	}
	g := &group{room: q.room}
	groups[queue] = g
	return g, nil
}
