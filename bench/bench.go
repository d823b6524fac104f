package bench

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/control"
	"github.com/duly-dev/duly/node"
	"github.com/duly-dev/duly/plan"
	"github.com/duly-dev/duly/store"
)

// Figure is one measurement.
type Figure struct {
	Figure string  `json:"figure"`
	Store  string  `json:"store"`
	Value  float64 `json:"value"`
	Unit   string  `json:"unit"`
	// Note says what was done, in words.
	Note string `json:"note"`
}

// Options choose what is measured.
type Options struct {
	// Fresh opens a new, empty store for each measurement.
	Fresh func(ctx context.Context) (st store.Store, url string, err error)
	// StoreName is the kind of store, for the figures.
	StoreName string
	// Only lists the measurements to make, by name. Default: all.
	Only []string
	// Lifecycles is how many occurrences the throughput measurements take.
	// Default 100,000.
	Lifecycles int
	// Schedules is how many idle schedules scale is measured with. Default
	// 100,000.
	Schedules int
	// Bursts lists how many schedules are due in the same second. Default 1000
	// and 10,000.
	Bursts []int
	// Serve is a command line that starts a server on the store URL appended
	// to it, for memory and idle CPU. Default: those are left out.
	Serve []string
	// Report is called with each figure as it is there.
	Report func(Figure)

	// The longest step of a store in the measurement before.
	longest     time.Duration
	longestName string
}

type measurement struct {
	name string
	run  func(ctx context.Context, o *Options) error
}

var measurements = []measurement{
	{"lifecycles", lifecycles},
	{"nodes", fourNodes},
	{"backlog", backlog},
	{"latency", latency},
	{"lateness", lateness},
	{"burst", burst},
	{"fairness", fairness},
	{"joined", joined},
	{"recovery", recovery},
	{"scale", scale},
}

// Names lists the measurements.
func Names() []string {
	names := make([]string, len(measurements))
	for i, m := range measurements {
		names[i] = m.name
	}
	return names
}

// Run measures.
func Run(ctx context.Context, o Options) error {
	if o.Lifecycles <= 0 {
		o.Lifecycles = 100_000
	}
	if o.Schedules <= 0 {
		o.Schedules = 100_000
	}
	if len(o.Bursts) == 0 {
		o.Bursts = []int{1000, 10_000}
	}
	for _, name := range o.Only {
		if !slices.Contains(Names(), name) {
			return duly.Invalid("only", "%q is no measurement; there are %s", name, strings.Join(Names(), ", "))
		}
	}
	for _, m := range measurements {
		if len(o.Only) > 0 && !slices.Contains(o.Only, m.name) {
			continue
		}
		if err := m.run(ctx, &o); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
	}
	return nil
}

func (o *Options) report(figure string, value float64, unit, note string, args ...any) {
	o.Report(Figure{Figure: figure, Store: o.StoreName, Value: value, Unit: unit, Note: fmt.Sprintf(note, args...)})
}

// lifecycles: many schedules that are each due once, as at midnight: fire,
// claim and finish, each durable.
func lifecycles(ctx context.Context, o *Options) error {
	return throughput(ctx, o, "lifecycles_per_s", 1, o.Lifecycles, 1,
		"%d schedules due once each: fired, claimed, done by a handler that does nothing, finished; all durable")
}

// fourNodes is lifecycles with four nodes, each with connections of its own.
func fourNodes(ctx context.Context, o *Options) error {
	return throughput(ctx, o, "lifecycles_4_nodes_per_s", 4, o.Lifecycles, 1,
		"%d schedules due once each, shared by four nodes")
}

// backlog: few schedules that owe many occurrences each.
func backlog(ctx context.Context, o *Options) error {
	return throughput(ctx, o, "backlog_lifecycles_per_s", 1, o.Lifecycles/200, 200,
		"%d schedules that owe 200 occurrences each, caught up")
}

func throughput(ctx context.Context, o *Options, figure string, nodes, schedules, owed int, note string) error {
	st, url, err := o.Fresh(ctx)
	if err != nil {
		return err
	}
	defer st.Close()
	past := time.Now().Add(-time.Duration(owed) * time.Minute).Truncate(time.Second)
	every := duly.Schedule{
		Timing: duly.Timing{Every: duly.Duration(time.Minute)}, Overlap: duly.OverlapAllow,
		CatchUp: duly.CatchUp{Policy: duly.CatchUpAll}, Target: duly.Target{Handler: "noop"},
	}
	// The store first met them `owed` minutes ago, and nothing has run since.
	if err := create(ctx, st, past, schedules, every); err != nil {
		return err
	}
	total := int64(schedules * owed)
	var done atomic.Int64
	finished := make(chan struct{})
	var all []*node.Node
	for i := range nodes {
		own := st
		if i > 0 {
			if own, err = store.Open(ctx, url, store.Options{}); err != nil {
				return err
			}
			defer own.Close()
		}
		n := newNode(own, 2000)
		n.Handle("noop", func(context.Context, *node.Occurrence) error {
			if done.Add(1) == total {
				close(finished)
			}
			return nil
		})
		all = append(all, n)
	}
	start := time.Now()
	var stops []func()
	for _, n := range all {
		stops = append(stops, runNode(ctx, n))
	}
	select {
	case <-finished:
	case <-ctx.Done():
	}
	for _, stop := range stops {
		stop() // returns when the last report is durable
	}
	took := time.Since(start)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err := expectSucceeded(ctx, st, total); err != nil {
		return err
	}
	o.report(figure, float64(total)/took.Seconds(), "1/s", note, schedules)
	return nil
}

// expectSucceeded keeps a benchmark honest: every occurrence must be recorded
// as done.
func expectSucceeded(ctx context.Context, st store.Store, want int64) error {
	stats, err := st.Stats(ctx)
	if err != nil {
		return err
	}
	if got := stats.Occurrences[duly.Succeeded]; got < want {
		return fmt.Errorf("only %d of %d occurrences are recorded as succeeded", got, want)
	}
	return nil
}

func create(ctx context.Context, st store.Store, at time.Time, count int, s duly.Schedule) error {
	name := cmp.Or(s.ID, "bench")
	s.ID = name
	p, faults := plan.Compile(s)
	if len(faults) > 0 {
		return faults[0]
	}
	for i := 0; i < count; i += applied {
		defs := make([]store.Definition, 0, applied)
		for j := i; j < min(i+applied, count); j++ {
			s.ID = fmt.Sprintf("%s/%07d", name, j)
			defs = append(defs, store.Definition{Schedule: s, Next: p.Next})
		}
		if _, err := st.Apply(ctx, store.ApplyRequest{Now: at, Owner: "bench", By: "bench", Schedules: defs}); err != nil {
			return err
		}
	}
	return nil
}

// applied is how many schedules are made in one transaction.
const applied = 5000

func newNode(st store.Store, slots int) *node.Node {
	return node.New(st, node.Options{Slots: slots, Logger: slog.New(slog.DiscardHandler)})
}

// runNode runs n until stop is called, which waits for its end.
func runNode(ctx context.Context, n *node.Node) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() { defer close(ended); _ = n.Run(ctx) }()
	return sync.OnceFunc(func() { cancel(); <-ended })
}

// latency: from the moment a person says now, or an occurrence is due, to the
// handler's start, with nothing else to do.
func latency(ctx context.Context, o *Options) error {
	st, _, err := o.Fresh(ctx)
	if err != nil {
		return err
	}
	defer st.Close()
	started := make(chan time.Time, 16)
	n := newNode(st, 10)
	n.Handle("noop", func(context.Context, *node.Occurrence) error {
		started <- time.Now()
		return nil
	})
	idle := duly.Schedule{
		ID: "idle", Timing: duly.Timing{Cron: "0 0 1 1 *"}, Target: duly.Target{Handler: "noop"},
	}
	ctl := control.NewBeside(n, st)
	if _, err := ctl.Apply(ctx, control.ApplyRequest{Owner: "bench", By: "bench", Schedules: []duly.Schedule{idle}}); err != nil {
		return err
	}
	stop := runNode(ctx, n)
	defer stop()
	var triggered []time.Duration
	for i := range 320 {
		time.Sleep(time.Duration(15+rand.IntN(10)) * time.Millisecond)
		asked := time.Now()
		if _, err := ctl.Trigger(ctx, control.TriggerRequest{Schedule: "idle", By: "bench"}); err != nil {
			return err
		}
		at := <-started
		if i >= 20 { // the first ones warm caches
			triggered = append(triggered, at.Sub(asked))
		}
	}
	p50, p99 := quantiles(triggered)
	o.report("start_latency_p50", ms(p50), "ms", "triggered to handler start, %d samples", len(triggered))
	o.report("start_latency_p99", ms(p99), "ms", "triggered to handler start, %d samples", len(triggered))

	every := duly.Schedule{ID: "second", Timing: duly.Timing{Cron: "* * * * * *"}, Target: duly.Target{Handler: "noop"}}
	if _, err := ctl.Apply(ctx, control.ApplyRequest{Owner: "bench", By: "bench", Schedules: []duly.Schedule{every}}); err != nil {
		return err
	}
	var due []time.Duration
	for i := range 31 {
		at := <-started
		if i > 0 {
			due = append(due, at.Sub(at.Truncate(time.Second)))
		}
	}
	p50, p99 = quantiles(due)
	o.report("due_latency_p50", ms(p50), "ms", "due to handler start, %d samples", len(due))
	o.report("due_latency_p99", ms(p99), "ms", "due to handler start, %d samples", len(due))
	return nil
}

// lateness: a thousand due in every second.
func lateness(ctx context.Context, o *Options) error {
	const schedules, seconds = 1000, 10
	late, err := startsOf(ctx, o, schedules, duly.Timing{Cron: "* * * * * *"}, schedules*seconds)
	if err != nil {
		return err
	}
	p50, p99 := quantiles(late)
	o.report("lateness_p50", ms(p50), "ms", "%d due in each of %d seconds, due to handler start", schedules, seconds)
	o.report("lateness_p99", ms(p99), "ms", "%d due in each of %d seconds, due to handler start", schedules, seconds)
	return nil
}

// burst: many due in the same second.
func burst(ctx context.Context, o *Options) error {
	for _, schedules := range o.Bursts {
		// Making them takes its time.
		at := time.Now().Add(5*time.Second + time.Duration(schedules)*400*time.Microsecond).Truncate(time.Second)
		late, err := startsOf(ctx, o, schedules, duly.Timing{At: at.Format(time.RFC3339)}, schedules)
		if err != nil {
			return err
		}
		_, p99 := quantiles(late)
		o.report(fmt.Sprintf("burst_%d_p99", schedules), p99.Seconds(), "s", "%d schedules due in the same second, due to handler start", schedules)
		o.report(fmt.Sprintf("burst_%d_all", schedules), slices.Max(late).Seconds(), "s", "%d schedules due in the same second, the last one's start", schedules)
		o.report(fmt.Sprintf("burst_%d_longest_step", schedules), ms(o.longest), "ms", "the longest that the store took for one step meanwhile (%s)", o.longestName)
	}
	return nil
}

// startsOf makes schedules and collects how late each of count starts was.
func startsOf(ctx context.Context, o *Options, schedules int, timing duly.Timing, count int) ([]time.Duration, error) {
	st, _, err := o.Fresh(ctx)
	if err != nil {
		return nil, err
	}
	defer st.Close()
	var mu sync.Mutex
	late := make([]time.Duration, 0, count)
	enough := make(chan struct{})
	steps := &stopwatch{Store: st}
	n := newNode(steps, 2000)
	n.Handle("noop", func(_ context.Context, occ *node.Occurrence) error {
		d := time.Since(occ.Due)
		mu.Lock()
		defer mu.Unlock()
		if len(late) < count {
			if late = append(late, d); len(late) == count {
				close(enough)
			}
		}
		return nil
	})
	s := duly.Schedule{Timing: timing, Overlap: duly.OverlapAllow, Target: duly.Target{Handler: "noop"}}
	if err := create(ctx, st, time.Time{}, schedules, s); err != nil {
		return nil, err
	}
	stop := runNode(ctx, n)
	defer stop()
	select {
	case <-enough:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	stop()
	o.longestName, o.longest = steps.longest()
	return late, nil
}

func quantiles(d []time.Duration) (p50, p99 time.Duration) {
	s := slices.Clone(d)
	slices.Sort(s)
	return s[len(s)/2], s[len(s)*99/100]
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
