//go:build unix

package chaos

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/control"
	"github.com/duly-dev/duly/effect"
	"github.com/duly-dev/duly/effect/pgxeffect"
	"github.com/duly-dev/duly/internal/sqltest"
	"github.com/duly-dev/duly/store"
)

const (
	// lease is short, so that many run out.
	lease = 3 * time.Second
	// patience is how long nothing may move once the faults are over.
	patience = time.Minute
	members  = 5
	// appSettings keep a paused worker from holding up the others for ever.
	appSettings = "&statement_timeout=5000&idle_in_transaction_session_timeout=5000&pool_max_conns=6"
)

// plan is what is due in a run: each schedule from start to end.
type plan struct {
	start, end time.Time
	schedules  []duly.Schedule
	queues     []duly.Queue
}

func newPlan(start, end time.Time) *plan {
	p := &plan{start: start, end: end, queues: []duly.Queue{{Name: "one", Concurrency: 1}, {Name: "three", Concurrency: 3}}}
	p.add("wait-1", time.Second, duly.OverlapWait, "")
	p.add("wait-2", 2*time.Second, duly.OverlapWait, "")
	p.add("allow-1", time.Second, duly.OverlapAllow, "three")
	p.add("allow-2", 2*time.Second, duly.OverlapAllow, "three")
	p.add("combine-1", time.Second, duly.OverlapCombine, "")
	p.add("joined-1", time.Second, duly.OverlapWait, "")
	p.add("joined-2", 2*time.Second, duly.OverlapCombine, "")
	p.add("shared-1", 2*time.Second, duly.OverlapAllow, "one")
	p.add("shared-2", 3*time.Second, duly.OverlapWait, "one")
	p.add("shared-3", 5*time.Second, duly.OverlapCombine, "one")
	return p
}

func (p *plan) add(id string, every time.Duration, overlap duly.Overlap, queue string) {
	p.schedules = append(p.schedules, duly.Schedule{
		ID: id, Timing: duly.Timing{Every: duly.Duration(every), Anchor: &p.start}, Start: &p.start, End: &p.end,
		Period: duly.PeriodInstant, Overlap: overlap, Queue: queue, Lease: duly.Duration(lease),
		CatchUp: duly.CatchUp{Policy: duly.CatchUpAll}, Target: duly.Target{Handler: "work"},
		Retry: duly.Retry{MaxAttempts: 10_000, Backoff: duly.Duration(100 * time.Millisecond), MaxBackoff: duly.Duration(time.Second)},
	})
}

// periods lists what a schedule owes.
func (p *plan) periods(s duly.Schedule) (all []string) {
	for at := p.start; at.Before(p.end); at = at.Add(s.Every.Std()) {
		all = append(all, at.UTC().Format(time.RFC3339))
	}
	return all
}

// TestChaos does whatever comes to mind to five workers and their servers, and
// holds what is left in the database to Duly's promises.
func TestChaos(t *testing.T) {
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64N(1_000_000)
	}
	t.Logf("go test ./internal/chaos -run 'TestChaos$' -chaos.seed=%d -chaos.for=%v", seed, *forFlag)
	a := sqltest.NewOwn(t)
	b := a.Standby()
	a.Exec("CREATE DATABASE app")
	direct := &wire{hosts: []string{a.Addr(), b.Addr()}}
	w := openWorld(t, direct.url("postgres", ""), direct.url("app", ""))

	start := time.Now().Add(2 * time.Second).Truncate(time.Second).UTC()
	p := newPlan(start, start.Add(*forFlag))
	w.apply(p)
	m := &mischief{t: t, rnd: rand.New(rand.NewPCG(seed, 0)), primary: a, standby: b, began: time.Now(), done: map[string]int{}}
	for i := range members {
		name := fmt.Sprintf("worker-%d", i+1)
		wire := newWire(t, name, a.Addr(), b.Addr())
		m.members = append(m.members, &member{wire: wire, process: newProcess(t, order{
			Name: name, Slots: 10, Store: wire.url("postgres", "&statement_timeout=5s"),
			App: wire.url("app", appSettings), Home: wire.url("postgres", appSettings),
		})})
		m.members[i].start()
	}
	m.rage(*forFlag)
	healed := time.Now()
	still := w.awaitEnd(m)
	t.Logf("all work was done %v after the faults, nothing ended for at most %v: %s", time.Since(healed).Round(time.Millisecond), still.Round(time.Millisecond), m.summary())
	for _, w := range m.members {
		w.end(syscall.SIGTERM)
	}
	if broken := w.verify(p); len(broken) > 0 {
		w.tell(m, broken)
	}
}

func (m *mischief) summary() string {
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(m.done)) {
		parts = append(parts, fmt.Sprintf("%d × %s", m.done[kind], kind))
	}
	return strings.Join(parts, ", ")
}

// world is the store and the application's database, reached without a wire.
type world struct {
	t   testing.TB
	st  store.Store
	ctl *control.Control
	own *pgxpool.Pool // the store's database
	app *pgxpool.Pool
}

// audit makes a table in which triggers write, along with each change, who owns
// what: the numbers of two changes that wait for each other are in order.
const audit = `
CREATE TABLE owned (n bigserial PRIMARY KEY, sid bigint, queue bigint, seq bigint, token bigint, began boolean, at timestamptz DEFAULT clock_timestamp());
CREATE FUNCTION note_owned() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF TG_OP = 'UPDATE' AND OLD.state = 1 AND (NEW.state <> 1 OR NEW.token <> OLD.token) THEN
		INSERT INTO public.owned (sid, queue, seq, token, began) VALUES (OLD.sid, OLD.queue, OLD.seq, OLD.token, false);
	END IF;
	IF NEW.state = 1 AND (TG_OP = 'INSERT' OR OLD.state <> 1 OR NEW.token <> OLD.token) THEN
		INSERT INTO public.owned (sid, queue, seq, token, began) VALUES (NEW.sid, NEW.queue, NEW.seq, NEW.token, true);
	END IF;
	RETURN NULL;
END $$;
CREATE TRIGGER note_owned AFTER INSERT OR UPDATE ON duly.occurrences FOR EACH ROW EXECUTE FUNCTION note_owned();
`

// The business rows have no unique key: what is repeated is to be seen.
const made = `CREATE TABLE IF NOT EXISTS made (n bigserial PRIMARY KEY, key text, occurrence text, attempt integer, token bigint, worker text, at timestamptz DEFAULT clock_timestamp())`

func openWorld(t testing.TB, storeURL, appURL string) *world {
	t.Helper()
	ctx := context.Background()
	w := &world{t: t}
	var err error
	if w.st, err = store.Open(ctx, storeURL, store.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.st.Close() })
	w.ctl = control.New(w.st)
	for pool, url := range map[**pgxpool.Pool]string{&w.own: storeURL, &w.app: appURL} {
		if *pool, err = pgxpool.New(ctx, url); err != nil {
			t.Fatal(err)
		}
		t.Cleanup((*pool).Close)
	}
	_, err = w.own.Exec(ctx, audit)
	for _, db := range []*pgxpool.Pool{w.own, w.app} {
		if err == nil {
			_, err = db.Exec(ctx, made)
		}
		if err == nil {
			err = effect.Migrate(ctx, pgxeffect.DB(db))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// effectsOf is the database that has a schedule's effects.
func (w *world) effectsOf(schedule string) *pgxpool.Pool {
	if joins(schedule) {
		return w.own
	}
	return w.app
}

func (w *world) apply(p *plan) {
	w.t.Helper()
	if _, err := w.ctl.Apply(context.Background(), control.ApplyRequest{Owner: "chaos", By: "chaos", Schedules: p.schedules, Queues: p.queues}); err != nil {
		w.t.Fatal(err)
	}
}

// awaitEnd waits until nothing is left to do, and answers for how long nothing
// ended meanwhile. Something has to move all the time.
func (w *world) awaitEnd(m *mischief) (still time.Duration) {
	w.t.Helper()
	const question = `SELECT (SELECT count(*) FROM duly.tracks WHERE next_due IS NOT NULL), count(*) FILTER (WHERE state < 2), count(*) FILTER (WHERE state >= 2) FROM duly.occurrences`
	var due, open, over, before int64
	moved := time.Now()
	for {
		err := w.own.QueryRow(context.Background(), question).Scan(&due, &open, &over)
		if err == nil && due == 0 && open == 0 {
			return still
		}
		if over != before {
			before, moved = over, time.Now()
		}
		still = max(still, time.Since(moved))
		if still > patience {
			w.tell(m, []broken{{what: fmt.Sprintf("nothing moved for %v: %d schedules are still due, %d occurrences open, %d have ended (%v)", patience, due, open, over, err)}})
			w.t.FailNow()
		}
		time.Sleep(100 * time.Millisecond)
	}
}
