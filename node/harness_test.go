package node_test

import (
	"context"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/control"
	"github.com/duly-dev/duly/node"
	"github.com/duly-dev/duly/store"
	_ "github.com/duly-dev/duly/store/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a store and the nodes on it, inside a bubble of fake time.
type world struct {
	t    *testing.T
	ctx  context.Context
	st   store.Store
	ctl  *control.Control
	stop []func()
}

// inBubble runs a test in fake time over a real SQLite store. The nodes that
// it starts are drained when it returns.
func inBubble(t *testing.T, test func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		st, err := store.Open(ctx, "sqlite:"+filepath.Join(t.TempDir(), "duly.db")+"?synchronous=off&poll=0", store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		w := &world{t: t, ctx: ctx, st: st, ctl: control.New(st)}
		defer func() {
			for _, stop := range w.stop {
				stop()
			}
			if err := st.Close(); err != nil {
				t.Error(err)
			}
		}()
		test(w)
	})
}

// start runs a node; stop drains it.
func (w *world) start(st store.Store, opt node.Options, prepare func(n *node.Node)) (n *node.Node, stop func()) {
	w.t.Helper()
	if opt.Logger == nil {
		opt.Logger = slog.New(slog.DiscardHandler)
	}
	n = node.New(st, opt)
	prepare(n)
	ctx, cancel := context.WithCancel(w.ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := n.Run(ctx); err != nil {
			w.t.Error(err)
		}
	}()
	stop = sync.OnceFunc(func() { cancel(); <-ended })
	w.stop = append(w.stop, stop)
	return n, stop
}

func (w *world) apply(schedules ...duly.Schedule) {
	w.t.Helper()
	if _, err := w.ctl.Apply(w.ctx, control.ApplyRequest{Owner: "test", By: "test", Schedules: schedules}); err != nil {
		w.t.Fatal(err)
	}
}

// occurrences lists a schedule's, oldest first, with their attempts.
func (w *world) occurrences(schedule string) []duly.Occurrence {
	w.t.Helper()
	var all []duly.Occurrence
	page := store.Page{Limit: 1000}
	for {
		items, next, err := w.st.Occurrences(w.ctx, store.OccurrenceFilter{Schedule: schedule}, page)
		if err != nil {
			w.t.Fatal(err)
		}
		all = append(all, items...)
		if next == "" {
			break
		}
		page.Cursor = next
	}
	for i, j := 0, len(all)-1; i < j; i, j = i+1, j-1 {
		all[i], all[j] = all[j], all[i]
	}
	return all
}

func (w *world) occurrence(id string) duly.Occurrence {
	w.t.Helper()
	o, err := w.st.Occurrence(w.ctx, id)
	if err != nil {
		w.t.Fatal(err)
	}
	return o
}

// handled is a schedule with a handler target.
func handled(id, cron string) duly.Schedule {
	return duly.Schedule{ID: id, Timing: duly.Timing{Cron: cron}, Target: duly.Target{Handler: "work"}}
}

// handle names the handler "work".
func handle(fn node.Handler) func(*node.Node) {
	return func(n *node.Node) { n.Handle("work", fn) }
}

func done(context.Context, *node.Occurrence) error { return nil }

// until moves time to the next full minute plus d.
func toMinute(d time.Duration) {
	now := time.Now()
	time.Sleep(now.Truncate(time.Minute).Add(time.Minute + d).Sub(now))
	synctest.Wait()
}

// gate makes calls fail as an unreachable store does while it is shut.
type gate struct {
	store.Store
	mu   sync.Mutex
	shut bool
}

func (g *gate) set(shut bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = shut
}

func (g *gate) err() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut {
		return duly.Errorf(duly.CodeUnavailable, "the store is cut off")
	}
	return nil
}

func (g *gate) Fire(ctx context.Context, r store.FireRequest) (store.FireResult, error) {
	if err := g.err(); err != nil {
		return store.FireResult{}, err
	}
	return g.Store.Fire(ctx, r)
}

func (g *gate) Horizon(ctx context.Context) (store.Horizon, error) {
	if err := g.err(); err != nil {
		return store.Horizon{}, err
	}
	return g.Store.Horizon(ctx)
}

func (g *gate) Claim(ctx context.Context, r store.ClaimRequest) (store.ClaimResult, error) {
	if err := g.err(); err != nil {
		return store.ClaimResult{}, err
	}
	return g.Store.Claim(ctx, r)
}

func (g *gate) Renew(ctx context.Context, node int64, items []store.Renewal) ([]store.Renewed, error) {
	if err := g.err(); err != nil {
		return nil, err
	}
	return g.Store.Renew(ctx, node, items)
}

func (g *gate) Finish(ctx context.Context, node int64, reports []store.Report) ([]store.Finished, error) {
	if err := g.err(); err != nil {
		return nil, err
	}
	return g.Store.Finish(ctx, node, reports)
}

func (g *gate) Reap(ctx context.Context, r store.ReapRequest) (store.ReapResult, error) {
	if err := g.err(); err != nil {
		return store.ReapResult{}, err
	}
	return g.Store.Reap(ctx, r)
}

func (g *gate) Join(ctx context.Context, info store.NodeInfo) (int64, error) {
	if err := g.err(); err != nil {
		return 0, err
	}
	return g.Store.Join(ctx, info)
}

func (g *gate) Beat(ctx context.Context, node int64, ttl time.Duration, load store.NodeLoad) error {
	if err := g.err(); err != nil {
		return err
	}
	return g.Store.Beat(ctx, node, ttl, load)
}
