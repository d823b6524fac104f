package sim

import (
	"slices"
	"strings"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// settled is how long before the end of a run what came due must have ended.
const settled = 50 * time.Minute

// checker follows every step as it is committed.
type checker struct {
	w        *world
	specs    map[string]*Spec
	bySeq    map[int64]*tracked
	all      []*tracked
	byName   map[string]*tracked
	token    int64
	accepted map[int64]bool      // tokens whose report was taken
	requests map[string]string   // by request, what it made
	periods  map[string]*tracked // by period, what is worked on for it
	named    map[string]*tracked // by period, what is told of it alone or among what it covers
}

// tracked is an occurrence as the checker knows it.
type tracked struct {
	seq      int64
	schedule string
	period   string
	due      time.Time
	state    duly.State
	at       time.Duration // when it was made
	token    int64         // the newest
	until    time.Duration // no reap before
	tries    int
}

func newChecker(w *world) *checker {
	c := &checker{
		w: w, specs: map[string]*Spec{}, bySeq: map[int64]*tracked{}, byName: map[string]*tracked{}, accepted: map[int64]bool{},
		requests: map[string]string{}, periods: map[string]*tracked{}, named: map[string]*tracked{},
	}
	for i := range w.sc.Schedules {
		c.specs[w.sc.Schedules[i].ID] = &w.sc.Schedules[i]
	}
	return c
}

func (t *tracked) id() string { return duly.OccurrenceID(t.schedule, t.period) }

func (c *checker) made(t *tracked) {
	if was := c.byName[t.id()]; was != nil {
		c.w.broken("%s exists twice, as %d and %d", t.id(), was.seq, t.seq)
		return
	}
	t.at = c.w.now
	c.byName[t.id()], c.bySeq[t.seq] = t, t
	c.all = append(c.all, t)
	c.w.res.Occurrences++
}

func (c *checker) fired(res store.FireResult) {
	for _, f := range res.Fired {
		c.w.logf("made %s@%s, %d: %s %s", f.Schedule, f.Period, f.Seq, f.State, f.Reason)
		if c.bySeq[f.Seq] == nil { // else a run of periods that has grown
			c.made(&tracked{seq: f.Seq, schedule: f.Schedule, period: f.Period, due: f.Due, state: f.State})
		}
	}
	c.refresh()
	for _, f := range res.Fired {
		c.tells(c.bySeq[f.Seq], &f)
	}
}

// tells checks that a period is told of once by what the planner makes. What a
// run of periods stands for was not done, and may be in its own time after the
// clock was set back; but no run stands for what exists.
func (c *checker) tells(t *tracked, f *store.Fired) {
	o, err := c.w.st.Occurrence(bg, duly.OccurrenceID(f.Schedule, f.Period))
	must(err)
	for _, period := range o.Covers {
		account(period, time.Duration(c.specs[f.Schedule].Every)*time.Minute, func(at time.Time) {
			name := duly.OccurrenceID(f.Schedule, at.Format(time.RFC3339))
			if other := c.named[name]; other != nil && other != t && other.state != duly.Merged {
				c.w.broken("%s is told of by %s and by %s", name, other.id(), o.ID)
			}
			if f.Count <= 1 {
				c.named[name] = t
			}
		})
	}
}

// refresh learns what a firing, a claim or a person did to occurrences beside
// those that it names: merged, missed, cancelled.
func (c *checker) refresh() {
	c.all = slices.DeleteFunc(c.all, func(t *tracked) bool { return !t.state.Open() })
	for _, t := range c.all {
		o, err := c.w.st.Occurrence(bg, t.id())
		must(err)
		t.state = o.State
	}
}

func (c *checker) missed(all []store.Fired) {
	for _, f := range all {
		if t := c.bySeq[f.Seq]; t != nil {
			t.state = f.State
		}
	}
}

func (c *checker) inserted(schedule, request string, occ store.NewOccurrence, res []store.Inserted) {
	for _, r := range res {
		if made := c.requests[request]; made != "" && made != r.ID {
			c.w.broken("what was asked for once, %s, was made twice: %s and %s", request, made, r.ID)
		}
		c.requests[request] = r.ID
		if !r.Existing {
			c.made(&tracked{seq: r.Seq, schedule: schedule, period: occ.Period, due: occ.Due, state: r.State})
		}
	}
}

// claimed checks what a step handed out.
func (c *checker) claimed(n *node, claims []store.Claim) {
	if len(claims) == 0 {
		return
	}
	c.refresh()
	for _, k := range claims {
		c.claim(n, &k)
	}
	running := 0
	for _, t := range c.all {
		if t.state == duly.Running && c.specs[t.schedule].Queue == sharedQueue {
			running++
		}
	}
	if running > queueConcurrency {
		c.w.broken("%d run at once in a queue of %d", running, queueConcurrency)
	}
}

func (c *checker) claim(n *node, k *store.Claim) {
	c.w.res.Attempts++
	c.w.logf("%s claimed %s@%s, %d, attempt %d, token %d", n.name, k.Schedule, k.Period, k.Seq, k.Attempt, k.Token)
	if k.Token <= c.token {
		c.w.broken("token %d was granted after %d", k.Token, c.token)
	}
	c.token = k.Token
	t := c.bySeq[k.Seq]
	if t == nil {
		c.w.broken("%s@%s was handed out and never made", k.Schedule, k.Period)
		return
	}
	spec := c.specs[t.schedule]
	t.state, t.token, t.until = duly.Running, k.Token, c.w.now+k.Lease
	if t.tries++; t.tries > spec.MaxAttempts {
		c.w.broken("%s is tried for the %dth time, and may be %d times", t.id(), t.tries, spec.MaxAttempts)
	}
	for _, period := range k.Covers {
		name := duly.OccurrenceID(t.schedule, period)
		if other := c.periods[name]; other != nil && other != t {
			c.w.broken("%s is worked on by %s and by %s", name, other.id(), t.id())
		}
		c.periods[name] = t
	}
	c.believers(t)
	if spec.Overlap != duly.OverlapAllow {
		c.order(t)
	}
}

// believers looks for a node that still believes to own what was granted anew.
func (c *checker) believers(t *tracked) {
	for _, n := range c.w.nodes {
		for _, k := range n.active {
			if k.claim.Seq == t.seq && !k.over && k.trusted > c.w.now && k.claim.Token != t.token {
				c.w.broken("%s believes to own %s by token %d until %v, and token %d was granted", n.name, t.id(), k.claim.Token, k.trusted, t.token)
			}
		}
	}
}

// order looks for one of the schedule that runs or comes before.
func (c *checker) order(t *tracked) {
	for _, x := range c.all {
		switch {
		case x == t || x.schedule != t.schedule || !x.state.Open():
		case x.state == duly.Running:
			c.w.broken("%s runs beside %s", t.id(), x.id())
		case x.due.Before(t.due) || x.due.Equal(t.due) && x.seq < t.seq:
			c.w.broken("%s runs before %s", t.id(), x.id())
		}
	}
}

func (c *checker) renewed(item store.Renewal, all []store.Renewed) {
	if len(all) == 0 || all[0].Lost {
		return
	}
	t := c.bySeq[item.Seq]
	if t.token != item.Token {
		c.w.broken("%s was renewed by token %d after %d was granted", t.id(), item.Token, t.token)
	}
	t.until = c.w.now + item.Lease
}

func (c *checker) finished(reports []store.Report, answers []store.Finished) {
	for i, a := range answers {
		r := reports[i]
		t := c.bySeq[r.Seq]
		if duly.CodeOf(a.Err) == duly.CodeStaleToken {
			c.w.res.Stale++
		}
		if a.Err != nil {
			continue
		}
		c.w.logf("accepted of %s, token %d: %s, now %s", t.id(), r.Token, r.Outcome, a.State)
		if r.Token != t.token && !c.accepted[r.Token] {
			c.w.broken("%s was completed under token %d after %d was granted", t.id(), r.Token, t.token)
		}
		if r.Token == t.token {
			t.state = a.State
			if r.Next.Uncounted && !c.accepted[r.Token] {
				t.tries--
			}
		}
		c.accepted[r.Token] = true
	}
}

func (c *checker) reaped(res store.ReapResult) {
	for _, l := range res.Lost {
		t := c.bySeq[l.Seq]
		c.w.res.Lost++
		c.w.logf("lost %s, token %d, now %s", t.id(), t.token, l.State)
		if c.w.now < t.until {
			c.w.broken("%s was taken from its owner %v before its lease ran out", t.id(), t.until-c.w.now)
		}
		t.state = l.State
	}
	c.missed(res.Missed)
}

// final checks what has to be true when the faults are over.
func (c *checker) final() {
	for i := range c.w.sc.Schedules {
		spec := &c.w.sc.Schedules[i]
		id := spec.ID
		every := time.Duration(spec.Every) * time.Minute
		accounted := map[time.Time]int{}
		var all []duly.Occurrence
		for page := (store.Page{Limit: 1000}); ; {
			some, next, err := c.w.st.Occurrences(bg, store.OccurrenceFilter{Schedule: id}, page)
			must(err)
			all = append(all, some...)
			if page.Cursor = next; next == "" {
				break
			}
		}
		for _, o := range all {
			c.ended(&o)
			if o.State == duly.Merged {
				continue // the one that covers it tells
			}
			for _, period := range o.Covers {
				account(period, every, func(at time.Time) { accounted[at]++ })
			}
		}
		for due := began.Add(every); due.Before(c.w.clock().Add(-settled)); due = due.Add(every) {
			switch n := accounted[due]; {
			case n == 0:
				c.w.broken("%s owes %v, and nothing tells of it", id, due.Format(time.RFC3339))
			case n > 1 && c.w.back == 0: // else see tells
				c.w.broken("%s at %v is told of %d times", id, due.Format(time.RFC3339), n)
			}
		}
	}
}

// ended checks an occurrence that came due long ago.
func (c *checker) ended(o *duly.Occurrence) {
	if t := c.bySeq[o.Seq]; o.State.Open() && t != nil && t.at < c.w.now-settled {
		c.w.broken("%s came due long ago and is %s (%s)", o.ID, o.State, o.Waiting)
	}
	if o.State != duly.Succeeded {
		return
	}
	for _, period := range o.Covers {
		if n := c.w.ledger.rows[duly.OccurrenceID(o.Schedule, period)]; n != 1 {
			c.w.broken("%s succeeded, and the effect of %s has happened %d times", o.ID, period, n)
		}
	}
}

// account visits the instants that a period, or a run of them, stands for.
func account(period string, every time.Duration, visit func(time.Time)) {
	first, last, isRun := strings.Cut(period, "..")
	from, err := time.Parse(time.RFC3339, first)
	if err != nil {
		return // what a person asked for
	}
	to := from
	if isRun {
		if to, err = time.Parse(time.RFC3339, last); err != nil {
			return
		}
	}
	for at := from; !at.After(to); at = at.Add(every) {
		visit(at.UTC())
	}
}
