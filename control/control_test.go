package control_test

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/control"
	"github.com/duly-dev/duly/internal/plans"
	"github.com/duly-dev/duly/plan"
	"github.com/duly-dev/duly/store"
	_ "github.com/duly-dev/duly/store/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a Control over a real SQLite store, inside a bubble of fake time
// that begins at midnight of 2000-01-01 UTC, a Saturday.
type world struct {
	*testing.T
	*control.Control
	ctx   context.Context
	st    store.Store
	plans *plans.Cache
}

func inBubble(t *testing.T, test func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background() // not the test's, which ends before the store is closed
		st, err := store.Open(ctx, "sqlite:"+filepath.Join(t.TempDir(), "duly.db")+"?synchronous=off&poll=0", store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := st.Close(); err != nil {
				t.Error(err)
			}
		}()
		test(&world{T: t, Control: control.New(st), ctx: ctx, st: st, plans: plans.New(st)})
	})
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// wantCode wants an error with a code that says some words.
func (w *world) wantCode(err error, code duly.Code, words ...string) {
	w.Helper()
	if duly.CodeOf(err) != code {
		w.Errorf("got %v (%s), want %s", err, duly.CodeOf(err), code)
		return
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			w.Errorf("%q does not say %q", err, word)
		}
	}
}

func (w *world) apply(schedules ...duly.Schedule) {
	w.Helper()
	_, err := w.Apply(w.ctx, control.ApplyRequest{Owner: "test", By: "ann", Schedules: schedules})
	w.must(err)
}

func (w *world) occurrence(id string) duly.Occurrence {
	w.Helper()
	o, err := w.st.Occurrence(w.ctx, id)
	w.must(err)
	return o
}

// list gives the occurrences of a schedule, oldest first, as "period state".
func (w *world) list(schedule string) []string {
	w.Helper()
	all, _, err := w.st.Occurrences(w.ctx, store.OccurrenceFilter{Schedule: schedule}, store.Page{Limit: 1000})
	w.must(err)
	texts := make([]string, len(all))
	for i, o := range all {
		texts[len(all)-1-i] = o.Period + " " + string(o.State)
	}
	return texts
}

// join makes a session for who can do some kinds of work.
func (w *world) join(capabilities ...string) int64 {
	w.Helper()
	node, err := w.st.Join(w.ctx, store.NodeInfo{Name: "tester", Capabilities: capabilities, Slots: 10, TTL: 1000 * time.Hour})
	w.must(err)
	return node
}

// fire makes what is due, as a node would.
func (w *world) fire() {
	w.Helper()
	_, err := w.st.Fire(w.ctx, store.FireRequest{Plan: func(now time.Time, due []store.DueSchedule) []store.Firing {
		firings := make([]store.Firing, len(due))
		for i, d := range due {
			firings[i] = plan.Decide(now, d, func(definition int64) *plan.Plan {
				p, err := w.plans.Get(w.ctx, definition)
				w.must(err)
				return p
			})
		}
		return firings
	}})
	w.must(err)
}

// claim takes what may start of a kind of work.
func (w *world) claim(node int64, capability string) []store.Claim {
	w.Helper()
	res, err := w.st.Claim(w.ctx, store.ClaimRequest{Node: node, Max: 10, Capabilities: []string{capability}})
	w.must(err)
	return res.Claims
}

// finish reports how an attempt ended, for good.
func (w *world) finish(node int64, c store.Claim, outcome duly.Outcome) {
	w.Helper()
	p, err := w.plans.Get(w.ctx, c.Definition)
	w.must(err)
	next := plan.After(p, plan.Attempt{Number: c.Attempt, Tries: c.Tries, Outcome: outcome, Permanent: true})
	res, err := w.st.Finish(w.ctx, node, []store.Report{{Seq: c.Seq, Token: c.Token, Outcome: outcome, Next: next}})
	w.must(err)
	w.must(res[0].Err)
}

// daily is due at nine; hourly at each full hour, and once in an hour.
func daily(id string) duly.Schedule {
	return duly.Schedule{ID: id, Timing: duly.Timing{Cron: "0 9 * * *"}, Target: duly.Target{Handler: "work"}}
}

func hourly(id string) duly.Schedule {
	return duly.Schedule{ID: id, Timing: duly.Timing{Cron: "0 * * * *"}, Period: duly.PeriodHour, Target: duly.Target{Handler: "work"}}
}

func at(text string) time.Time {
	t, err := time.Parse("2006-01-02T15:04", text)
	if err != nil {
		panic(err)
	}
	return t
}

func until(text string) { time.Sleep(time.Until(at(text))) }

func TestApplyGathersAllFaultsAndDoesNothing(t *testing.T) {
	inBubble(t, func(w *world) {
		cron, zone := daily("a"), daily("b")
		cron.Cron, zone.Timezone = "0 9 30 2 *", "Mars/Olympus"
		_, err := w.Apply(w.ctx, control.ApplyRequest{
			Owner: "test", By: "ann", Schedules: []duly.Schedule{cron, daily("good"), zone, daily("good")},
			Queues: []duly.Queue{{Name: "q", Concurrency: -1}},
		})
		w.wantCode(err, duly.CodeInvalid, "schedule a", "and 3 more faults")
		var faults *control.Faults
		if !errors.As(err, &faults) || len(faults.List) != 4 {
			w.Fatalf("got %#v", err)
		}
		want := []control.Fault{
			{Kind: "schedule", Index: 0, ID: "a", Field: "cron"},
			{Kind: "schedule", Index: 2, ID: "b", Field: "timezone"},
			{Kind: "schedule", Index: 3, ID: "good", Field: "id"},
			{Kind: "queue", Index: 0, ID: "q", Field: "concurrency"},
		}
		for i, f := range faults.List {
			if f.Err == nil || f.Err.Message == "" {
				w.Errorf("fault %d says nothing", i)
			}
			if f.Err = nil; f != want[i] {
				w.Errorf("fault %d: %+v, want %+v", i, f, want[i])
			}
		}
		_, err = w.st.Schedule(w.ctx, "good")
		w.wantCode(err, duly.CodeNotFound)
	})
}

func TestApplyRespectsOwners(t *testing.T) {
	inBubble(t, func(w *world) {
		w.apply(daily("a"))
		changed := daily("a")
		changed.Cron = "0 10 * * *"
		req := control.ApplyRequest{Owner: "file:duly.yaml", By: "bob", Schedules: []duly.Schedule{daily("b"), changed}}
		_, err := w.Apply(w.ctx, req)
		w.wantCode(err, duly.CodeConflict, "a", "test")
		if _, err := w.st.Schedule(w.ctx, "b"); duly.CodeOf(err) != duly.CodeNotFound {
			w.Errorf("a refused request made something: %v", err)
		}

		req.Force, req.DryRun = true, true
		res, err := w.Apply(w.ctx, req)
		w.must(err)
		if len(res.Changes) != 2 || res.Changes[0].Action != store.ActionCreate || res.Changes[1].Action != store.ActionUpdate {
			w.Errorf("a dry run says %+v", res.Changes)
		}
		if s, err := w.st.Schedule(w.ctx, "a"); err != nil || s.Owner != "test" || s.Cron != "0 9 * * *" {
			w.Errorf("a dry run changed %+v, %v", s, err)
		}

		req.DryRun = false
		_, err = w.Apply(w.ctx, req)
		w.must(err)
		if s, err := w.st.Schedule(w.ctx, "a"); err != nil || s.Owner != "file:duly.yaml" || s.Cron != "0 10 * * *" || s.Revision != 2 {
			w.Errorf("after force: %+v, %v", s, err)
		}
		res, err = w.Apply(w.ctx, control.ApplyRequest{Owner: "file:duly.yaml", By: "bob", Schedules: []duly.Schedule{changed}, Prune: true})
		w.must(err)
		if _, err := w.st.Schedule(w.ctx, "b"); duly.CodeOf(err) != duly.CodeNotFound {
			w.Errorf("prune left b: %+v, %v", res, err)
		}
	})
}

func TestDeclareLeavesOutWhatIsFaultyOrOwnedByOthers(t *testing.T) { // B14, for code
	inBubble(t, func(w *world) {
		w.apply(daily("held"))
		node := w.join("handler:work")
		bad, held := daily("bad"), daily("held")
		bad.Timezone, held.Cron = "Mars/Olympus", "0 10 * * *"
		res, faults, err := w.Declare(w.ctx, control.DeclareRequest{Node: node, App: "shop", Schedules: []duly.Schedule{bad, daily("good"), held}})
		w.must(err)
		if len(faults) != 1 || faults[0].ID != "bad" || faults[0].Field != "timezone" || faults[0].Index != 0 {
			w.Errorf("faults: %+v", faults)
		}
		if len(res.Changes) != 2 || res.Changes[0].Action != store.ActionCreate || res.Changes[1].Action != store.ActionIgnore {
			w.Errorf("changes: %+v", res.Changes)
		}
		if s, err := w.st.Schedule(w.ctx, "good"); err != nil || s.Owner != "code:shop" || !s.NextDue.Equal(at("2000-01-01T09:00")) {
			w.Errorf("good: %+v, %v", s, err)
		}
		if s, err := w.st.Schedule(w.ctx, "held"); err != nil || s.Cron != "0 9 * * *" {
			w.Errorf("held: %+v, %v", s, err)
		}
		_, _, err = w.Declare(w.ctx, control.DeclareRequest{Node: node, App: "my shop", Schedules: []duly.Schedule{daily("x")}})
		w.wantCode(err, duly.CodeInvalid, "app")
	})
}

func TestRetryAndCancelReachTheStore(t *testing.T) {
	inBubble(t, func(w *world) {
		w.apply(daily("a"))
		made, err := w.Trigger(w.ctx, control.TriggerRequest{Schedule: "a", By: "ann"})
		w.must(err)
		w.must(w.Cancel(w.ctx, made.ID, "ann", "not now"))
		if o := w.occurrence(made.ID); o.State != duly.Cancelled || !strings.Contains(o.Reason, "ann") {
			w.Errorf("cancelled: %s, %q", o.State, o.Reason)
		}
		w.must(w.Retry(w.ctx, made.ID, "bob", "now"))
		if o := w.occurrence(made.ID); o.State != duly.Pending {
			w.Errorf("retried: %s", o.State)
		}
		w.wantCode(w.Retry(w.ctx, made.ID, "bob", "again"), duly.CodeConflict)
	})
}

// payload is what a claim carries, or else its definition.
func (w *world) payload(c store.Claim) string {
	w.Helper()
	if len(c.Payload) > 0 {
		return string(c.Payload)
	}
	def, err := w.st.Definition(w.ctx, c.Definition)
	w.must(err)
	text, err := json.Marshal(def.Payload)
	w.must(err)
	return string(text)
}
