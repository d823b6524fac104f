package dulytest

import (
	"context"
	"slices"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/control"
	"github.com/duly-dev/duly/internal/memstore"
	"github.com/duly-dev/duly/internal/plans"
	"github.com/duly-dev/duly/node"
	"github.com/duly-dev/duly/plan"
	"github.com/duly-dev/duly/store"
)

// T is what a test has that dulytest needs: *testing.T, *testing.B and
// testing.TB are Ts.
type T interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// start is what the clock says before the first At.
var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

const (
	owner      = "code:dulytest"
	sessionTTL = 100 * 365 * 24 * time.Hour
)

// Duly is a whole Duly under a clock of its own. It belongs to the test's
// goroutine.
type Duly struct {
	t        T
	now      time.Time
	st       *memstore.Store
	control  *control.Control
	plans    *plans.Cache
	session  int64
	handlers map[string]node.Handler
	declared []store.Definition
	takes    map[string]time.Duration
	crashes  map[string][]crash
	running  []*attempt
	inside   bool // a handler is being called
}

// New makes an empty Duly. Its clock says 2026-01-01T00:00:00Z.
func New(t T) *Duly {
	t.Helper()
	d := &Duly{t: t, now: start, handlers: map[string]node.Handler{}, takes: map[string]time.Duration{}, crashes: map[string][]crash{}}
	d.st = memstore.New(memstore.Options{Clock: func() time.Time { return d.now }})
	d.control, d.plans = control.New(d.st), plans.New(d.st)
	return d
}

// join opens the session of the one node that there is, on first use, so that
// At may move the clock before.
func (d *Duly) join() {
	d.t.Helper()
	if d.session != 0 {
		return
	}
	id, err := d.st.Join(context.Background(), store.NodeInfo{Name: "dulytest", TTL: sessionTTL})
	d.must(err)
	d.session = id
}

func (d *Duly) must(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatalf("dulytest: %v", err)
	}
}

// Handle names code that does the work of schedules whose target is
// { handler: name }. Naming it again replaces the code, as a deployment does.
func (d *Duly) Handle(name string, fn node.Handler) {
	d.t.Helper()
	if err := duly.CheckID(name); err != nil {
		d.t.Fatalf("dulytest: handler name %v", err)
	}
	d.handlers[name] = fn
}

// Declare says that the code under test carries schedules, as node.Declare
// does. Declaring one again, changed, makes a revision of it, in force from now.
// A definition that cannot be meant fails the test.
func (d *Duly) Declare(schedules ...duly.Schedule) {
	d.t.Helper()
	d.join()
	for _, s := range schedules {
		p, faults := plan.Compile(s)
		if len(faults) > 0 {
			d.t.Fatalf("dulytest: schedule %s: %v", s.ID, faults[0])
			return
		}
		d.declared = slices.DeleteFunc(d.declared, func(x store.Definition) bool { return x.Schedule.ID == s.ID })
		d.declared = append(d.declared, store.Definition{Schedule: s, Next: p.Next})
	}
	_, err := d.st.Declare(context.Background(), store.DeclareRequest{Node: d.session, Owner: owner, Schedules: d.declared})
	d.must(err)
}

// Queues defines shared queues.
func (d *Duly) Queues(all ...duly.Queue) {
	d.t.Helper()
	_, err := d.control.Apply(context.Background(), control.ApplyRequest{Owner: "dulytest", By: "dulytest", Queues: all})
	d.must(err)
}

// Trigger makes an occurrence now, as a person does, works on it, and answers
// its ID.
func (d *Duly) Trigger(schedule string) string {
	d.t.Helper()
	made, err := d.control.Trigger(context.Background(), control.TriggerRequest{Schedule: schedule, By: "dulytest"})
	d.must(err)
	d.Advance(0)
	return made.ID
}

// Control does what people do: pause, resume, backfill, retry, cancel, resolve.
// What it makes due is worked on by the next Advance.
func (d *Duly) Control() *control.Control { return d.control }

// Store is the store in memory, for reading what no assertion is there for.
func (d *Duly) Store() store.Store { return d.st }

// Takes says how long each attempt of a handler takes from now on: the handler
// is called in the beginning, and what it answered is reported when the time has
// passed, its lease renewed meanwhile. So occurrences overlap, and time out.
func (d *Duly) Takes(handler string, long time.Duration) { d.takes[handler] = long }
