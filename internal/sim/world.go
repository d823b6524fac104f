package sim

import (
	"container/heap"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/internal/memstore"
	"github.com/duly-dev/duly/plan"
	"github.com/duly-dev/duly/store"
)

// began is when every world begins.
var began = time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC)

// Result is what became of a run.
type Result struct {
	// Broken says which promise was, and when; empty for none.
	Broken string
	At     time.Duration
	// What happened, so that nobody takes an idle world for a right one.
	Occurrences, Attempts, Lost, Stale, Effects, Reused int
}

// Run plays a scenario. trace receives what happens, if it is not nil.
func Run(s Scenario, trace io.Writer) Result {
	w := &world{sc: s, rng: rand.New(rand.NewPCG(s.Seed, 2)), trace: trace, plans: map[int64]*plan.Plan{}, ledger: newLedger()}
	w.st = memstore.New(memstore.Options{Clock: w.clock, Bugs: s.Bug.storeBugs(func() bool { return w.rng.IntN(20) == 0 })})
	w.check = newChecker(w)
	w.ledger.w = w
	w.begin()
	end := time.Duration(s.Hours) * time.Hour
	for len(w.events) > 0 && w.res.Broken == "" {
		e := heap.Pop(&w.events).(*event)
		if w.now = e.at; w.now > end {
			break
		}
		w.happen(e)
	}
	if w.res.Broken == "" {
		w.now = end
		w.check.final()
	}
	w.res.Effects, w.res.Reused = w.ledger.created, w.ledger.reused
	return w.res
}

// world is a run under way. Times in it are since it began, by a true clock
// that nobody in it can see.
type world struct {
	sc     Scenario
	rng    *rand.Rand
	trace  io.Writer
	now    time.Duration
	events events
	count  int

	st     *memstore.Store
	back   time.Duration // by how much the store's clock was set back
	plans  map[int64]*plan.Plan
	nodes  []*node
	ledger *ledger
	check  *checker
	res    Result

	outages, slow, losing, doubling int // faults under way
}

// event is something that happens at a time, to a node or to the world. What
// was to happen to an earlier life of a node does not.
type event struct {
	at    time.Duration
	order int
	node  *node
	life  int
	do    func()
}

type events []*event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].order < e[j].order
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(*event)) }
func (e *events) Pop() any {
	last := len(*e) - 1
	x := (*e)[last]
	*e = (*e)[:last]
	return x
}

// at has something happen at a time; to a node, where it is not nil. Time goes
// by the microsecond, as it does in stores.
func (w *world) at(t time.Duration, n *node, do func()) {
	w.count++
	t = (max(t, w.now) + time.Microsecond - 1).Truncate(time.Microsecond)
	e := &event{at: t, order: w.count, node: n, do: do}
	if n != nil {
		e.life = n.life
	}
	heap.Push(&w.events, e)
}

func (w *world) after(d time.Duration, n *node, do func()) { w.at(w.now+d, n, do) }

func (w *world) happen(e *event) {
	n := e.node
	switch {
	case n != nil && n.life != e.life:
		return
	case n != nil && n.pausedUntil > w.now:
		// When it goes on, what should have been happens in any order.
		e.at = n.pausedUntil + upTo(w.rng, 50*time.Millisecond)
		w.count++
		e.order = w.count
		heap.Push(&w.events, e)
		return
	}
	e.do()
}

// clock is the store's.
func (w *world) clock() time.Time { return began.Add(w.now - w.back) }

func (w *world) logf(format string, args ...any) {
	if w.trace != nil {
		fmt.Fprintf(w.trace, "%12v  %s\n", w.now, fmt.Sprintf(format, args...))
	}
}

// broken notes the first promise that was broken, and ends the run.
func (w *world) broken(format string, args ...any) {
	if w.res.Broken == "" {
		w.res.Broken, w.res.At = fmt.Sprintf(format, args...), w.now
		w.logf("BROKEN: %s", w.res.Broken)
	}
}

// plan is the compiled definition of a number.
func (w *world) plan(definition int64) *plan.Plan {
	p := w.plans[definition]
	if p == nil {
		def, err := w.st.Definition(context.Background(), definition)
		must(err)
		def.ID = "definition"
		p = compiled(def)
		w.plans[definition] = p
	}
	return p
}

func compiled(def duly.Schedule) *plan.Plan {
	p, faults := plan.Compile(def)
	if len(faults) > 0 {
		panic(faults[0])
	}
	return p
}

// must is for what cannot fail in here, unless this package is wrong.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// begin defines the schedules and lets nodes, people and faults loose.
func (w *world) begin() {
	for i := range w.sc.Schedules {
		w.define(i, 1)
	}
	for i := range w.sc.Nodes {
		n := &node{w: w, number: i, name: fmt.Sprintf("n%d", i)}
		w.nodes = append(w.nodes, n)
		w.at(upTo(w.rng, time.Second), n, n.boot)
	}
	p := &person{w: w, line: &node{w: w, number: len(w.nodes), name: "ann"}}
	w.at(time.Minute, p.line, p.ask)
	for _, f := range w.sc.Faults {
		w.at(f.At, nil, func() { w.strike(f) })
	}
}

func (w *world) define(i, version int) {
	def := w.sc.Schedules[i].schedule(version)
	_, err := w.st.Apply(context.Background(), store.ApplyRequest{
		Owner: "sim", By: "sim", Queues: []duly.Queue{{Name: sharedQueue, Concurrency: queueConcurrency}},
		Schedules: []store.Definition{{Schedule: def, Next: compiled(def).Next}},
	})
	must(err)
}

// strike begins a fault.
func (w *world) strike(f Fault) {
	w.logf("fault %v", f)
	n := w.nodes[f.Node%len(w.nodes)]
	count := func(c *int) {
		*c++
		w.after(f.For, nil, func() { *c-- })
	}
	switch f.Kind {
	case Outage:
		count(&w.outages)
	case Slow:
		count(&w.slow)
	case LoseReply:
		count(&w.losing)
	case Duplicate:
		count(&w.doubling)
	case Partition:
		count(&n.cut)
	case Pause:
		n.pausedUntil = max(n.pausedUntil, w.now+f.For)
	case Skew:
		n.skew = f.Amount
		w.after(f.For, nil, func() { n.skew = 0 })
	case ClockBack:
		w.back += f.Amount
	case Crash:
		n.crash()
		w.after(f.For, nil, func() { w.at(w.now, n, n.boot) })
	case Drain:
		n.drain()
		w.after(f.For, nil, func() {
			n.crash()
			w.at(w.now, n, n.boot)
		})
	default:
		w.meddle(f)
	}
}

// meddle has a person do something to a schedule.
func (w *world) meddle(f Fault) {
	ctx := context.Background()
	i := f.Node % len(w.sc.Schedules)
	id := w.sc.Schedules[i].ID
	switch f.Kind {
	case Redefine:
		w.define(i, w.count)
	case PauseByMan:
		must(w.st.Pause(ctx, store.PauseRequest{Schedule: id, By: "ann"}))
		w.after(f.For, nil, func() {
			err := w.st.Resume(ctx, store.ResumeRequest{Schedule: id, By: "ann", Policy: duly.CatchUpLatest})
			if duly.CodeOf(err) != duly.CodeConflict { // an earlier resume was for this pause too
				must(err)
			}
		})
	case PauseQueue:
		must(w.st.PauseQueue(ctx, store.PauseQueueRequest{Queue: sharedQueue, By: "ann"}))
		w.after(f.For, nil, func() {
			err := w.st.ResumeQueue(ctx, store.ResumeQueueRequest{Queue: sharedQueue, By: "ann"})
			if duly.CodeOf(err) != duly.CodeConflict {
				must(err)
			}
		})
	case Cancel:
		all, _, err := w.st.Occurrences(ctx, store.OccurrenceFilter{Schedule: id, States: []duly.State{duly.Running}}, store.Page{Limit: 1})
		must(err)
		for _, o := range all {
			must(w.st.Cancel(ctx, o.ID, "ann", ""))
		}
	}
}
