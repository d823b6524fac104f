//go:build unix

package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/node"
	"github.com/duly-dev/duly/store"
	_ "github.com/duly-dev/duly/store/sqlite"
)

// TestDeploymentsInAnyOrderNeverBringBackAnOlderDefinition lets nodes of three
// releases come, leave and vanish in random order. Whenever an older definition
// came into force, nobody alive declared a newer one; and it did come into force
// when the last of those was gone.
func TestDeploymentsInAnyOrderNeverBringBackAnOlderDefinition(t *testing.T) {
	for _, s := range []struct {
		name string
		url  func(t *testing.T) string
	}{
		{"sqlite", func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "duly.db") }},
		{"postgres", func(t *testing.T) string { return servers.Postgres(t).DSN + "&max_conns=2" }},
	} {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			seed := *seedFlag
			if seed == 0 {
				seed = rand.Uint64N(1_000_000)
			}
			t.Logf("go test ./internal/chaos -run '%s' -chaos.seed=%d", t.Name(), seed)
			d := &deployment{t: t, url: s.url(t), rnd: rand.New(rand.NewPCG(seed, 1))}
			d.st = d.open()
			for range 80 {
				d.step()
				time.Sleep(time.Duration(d.rnd.IntN(150)) * time.Millisecond)
				if d.rnd.IntN(8) == 0 {
					d.awaitInForce()
				}
			}
			d.empty(func(r *release) bool { return r.version > 1 })
			d.start(1)
			d.awaitInForce() // the roll-back is complete
			d.verify()
		})
	}
}

const (
	releases   = 3
	mostNodes  = 8
	sessionTTL = 1500 * time.Millisecond
)

// deployment is a fleet of nodes of several releases of one application.
type deployment struct {
	t     *testing.T
	url   string
	st    store.Store
	rnd   *rand.Rand
	met   int // the newest release so far
	live  []*release
	ended []*release
}

// release is a node of a version of the application. Its store can be severed.
type release struct {
	store.Store
	name     string
	version  int
	declared chan time.Time // when the store had answered
	since    time.Time
	severed  atomic.Bool
	lapsed   atomic.Bool // this machine was too slow to keep its session alive
	stop     func()
	leaving  time.Time // before it was told to, zero where it vanished
}

func (r *release) err() error {
	if r.severed.Load() {
		return duly.Errorf(duly.CodeUnavailable, "severed")
	}
	return nil
}

func (r *release) Declare(ctx context.Context, req store.DeclareRequest) (store.ApplyResult, error) {
	res, err := r.Store.Declare(ctx, req)
	if err == nil {
		select {
		case r.declared <- time.Now():
		default: // it had expired, and came again
		}
	}
	return res, err
}

func (r *release) Beat(ctx context.Context, session int64, ttl time.Duration, load store.NodeLoad) error {
	if err := r.err(); err != nil {
		return err
	}
	err := r.Store.Beat(ctx, session, ttl, load)
	if duly.CodeOf(err) == duly.CodeNotFound {
		r.lapsed.Store(true)
	}
	return err
}

func (r *release) Leave(ctx context.Context, session int64) error {
	if err := r.err(); err != nil {
		return err
	}
	return r.Store.Leave(ctx, session)
}

func (d *deployment) open() store.Store {
	d.t.Helper()
	st, err := store.Open(context.Background(), d.url, store.Options{})
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { st.Close() })
	return st
}

// step starts, stops or loses a node. A release is not met before the one that
// it follows.
func (d *deployment) step() {
	d.t.Helper()
	what, which, version := d.rnd.IntN(10), d.rnd.IntN(mostNodes), 1+d.rnd.IntN(min(d.met+1, releases))
	switch {
	case len(d.live) == 0, what < 5 && len(d.live) < mostNodes:
		d.start(version)
	case what < 8:
		d.end(which%len(d.live), false)
	default:
		d.end(which%len(d.live), true)
	}
}

func (d *deployment) start(version int) {
	d.t.Helper()
	st := d.open()
	r := &release{Store: st, version: version, name: fmt.Sprintf("v%d-%d", version, len(d.live)+len(d.ended)), declared: make(chan time.Time, 1)}
	n := node.New(r, node.Options{Name: r.name, App: "app", SessionTTL: sessionTTL, DrainTime: time.Millisecond, Logger: slog.New(slog.DiscardHandler)})
	n.Handle("work", func(context.Context, *node.Occurrence) error { return nil })
	if err := n.Declare(definitionOf(version)); err != nil {
		d.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = n.Run(ctx) // nil: it drains
	}()
	r.stop = sync.OnceFunc(func() { cancel(); <-ended })
	d.t.Cleanup(r.stop)
	select {
	case r.since = <-r.declared:
	case <-time.After(patience):
		d.t.Fatalf("%s does not get to declare its schedule", r.name)
	}
	d.live = append(d.live, r)
	d.met = max(d.met, version)
}

func definitionOf(version int) duly.Schedule {
	return duly.Schedule{ID: "rolled", Timing: duly.Timing{Every: duly.Duration(version) * duly.Duration(time.Hour)}, Target: duly.Target{Handler: "work"}}
}

func (d *deployment) end(i int, vanishes bool) {
	r := d.live[i]
	d.live = append(d.live[:i], d.live[i+1:]...)
	d.ended = append(d.ended, r)
	if vanishes {
		r.severed.Store(true)
	} else {
		r.leaving = time.Now()
	}
	r.stop()
}

// empty ends all nodes of a kind.
func (d *deployment) empty(kind func(*release) bool) {
	for i := len(d.live) - 1; i >= 0; i-- {
		if kind(d.live[i]) {
			d.end(i, d.rnd.IntN(2) == 0)
		}
	}
}

// awaitInForce waits for the newest definition of those alive to be in force,
// which takes until the sessions of those that vanished have run out.
func (d *deployment) awaitInForce() {
	d.t.Helper()
	want := 0
	for _, r := range d.live {
		want = max(want, r.version)
	}
	if want == 0 {
		return // as it was, until somebody comes
	}
	var status store.ScheduleStatus
	for late := time.Now().Add(sessionTTL + 10*time.Second); time.Now().Before(late); time.Sleep(10 * time.Millisecond) {
		var err error
		if status, err = d.st.Schedule(context.Background(), "rolled"); err != nil {
			d.t.Fatal(err)
		}
		if versionOf(status.Schedule) == want && !status.Orphaned {
			return
		}
	}
	d.t.Fatalf("release %d is in force (orphaned: %v), not %d, the newest of those alive: %v", versionOf(status.Schedule), status.Orphaned, want, d.names())
}

func versionOf(s duly.Schedule) int { return int(s.Every.Std() / time.Hour) }

func (d *deployment) names() (all []string) {
	for _, r := range d.live {
		all = append(all, r.name)
	}
	return all
}

// verify reads in the audit what was in force when.
func (d *deployment) verify() {
	d.t.Helper()
	ctx := context.Background()
	rows, next, err := d.st.Audit(ctx, "schedule/rolled", store.Page{Limit: 1000})
	if err != nil || next != "" {
		d.t.Fatal("audit:", err, next)
	}
	sessions, err := d.st.NodeList(ctx)
	if err != nil {
		d.t.Fatal(err)
	}
	until := map[string]time.Time{} // by which the store held those that vanished for gone
	for _, s := range sessions {
		if until[s.Name].Before(s.Until) {
			until[s.Name] = s.Until
		}
	}
	lapsed := 0
	for _, r := range append(d.live, d.ended...) {
		if r.lapsed.Load() {
			lapsed++
		}
	}
	if all := len(d.live) + len(d.ended); lapsed > all/2 {
		d.t.Errorf("%d nodes could not keep their sessions alive on this machine: too many to tell anything", lapsed)
	}
	updates, back := 0, 0
	for i := len(rows) - 1; i >= 0; i-- { // oldest first
		row := rows[i]
		if row.Action != "update" {
			continue
		}
		updates++
		from, to := decodeVersion(d.t, row.Before), decodeVersion(d.t, row.After)
		if row.By != "code:app" || from == to {
			d.t.Errorf("audit row %+v", row)
		}
		if to > from {
			continue
		}
		back++
		for _, r := range append(d.live, d.ended...) {
			if r.version <= to || row.At.Before(r.since) || r.lapsed.Load() {
				continue
			}
			end := r.leaving
			if r.severed.Load() {
				end = until[r.name]
			}
			if end.IsZero() || row.At.Before(end) {
				d.t.Errorf("%v: release %d came back while %s declared a newer one, since %v until %v", row.At, to, r.name, r.since, end)
			}
		}
	}
	revisions, err := d.st.Revisions(ctx, "rolled")
	if err != nil {
		d.t.Fatal(err)
	}
	if len(revisions) != updates+1 {
		d.t.Errorf("%d revisions, and %d audit rows of a change", len(revisions), updates)
	}
	if back == 0 {
		d.t.Error("nothing was ever rolled back: this has tested nothing")
	}
	d.t.Logf("%d nodes, %d changes of what is in force, %d of them back", len(d.live)+len(d.ended), updates, back)
	if t := d.t; t.Failed() {
		for _, r := range rows {
			t.Logf("%v %s by %s: %s", r.At, r.Action, r.By, strings.ReplaceAll(string(r.After), "\n", " "))
		}
	}
}

func decodeVersion(t *testing.T, definition json.RawMessage) int {
	t.Helper()
	var s duly.Schedule
	if err := json.Unmarshal(definition, &s); err != nil {
		t.Fatalf("%s: %v", definition, err)
	}
	return versionOf(s)
}
