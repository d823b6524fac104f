package server

import (
	"testing"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/api"
	"github.com/duly-dev/duly/store"
)

func TestApplyIsAllOrNothingAndNamesEachFaultByItsPlace(t *testing.T) {
	b := setup(t)
	bad := daily("bad")
	bad.Cron = "61 * * * *"
	_, err := b.Apply(b.ctx, api.ApplyRequest{
		Owner: "file:duly.yaml", Schedules: []duly.Schedule{daily("good"), bad}, Queues: []duly.Queue{{Name: "q", Concurrency: -1}},
	})
	wantCode(t, err, duly.CodeInvalid)
	var fields []string
	for _, f := range api.Faults(err) {
		fields = append(fields, f.Field)
	}
	if len(fields) != 2 || fields[0] != "schedules[1].cron" || fields[1] != "queues[0].concurrency" {
		t.Errorf("the faults are of %q: %v", fields, err)
	}
	_, err = b.Schedule(b.ctx, "good")
	wantCode(t, err, duly.CodeNotFound)
}

func TestApplyKeepsOwnersApart(t *testing.T) {
	b := setup(t)
	b.put(t, daily("a"))
	changed := daily("a")
	changed.Cron = "0 5 * * *"
	req := api.ApplyRequest{
		Owner: "file:duly.yaml", Schedules: []duly.Schedule{changed, daily("b")}, Queues: []duly.Queue{{Name: "q", Concurrency: 2}},
	}
	_, err := b.Apply(b.ctx, req)
	wantCode(t, err, duly.CodeConflict)

	req.Force, req.DryRun = true, true
	would, err := b.Apply(b.ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	if len(would.Changes) != 3 || would.Changes[0].Action != store.ActionUpdate || would.Changes[1].Action != store.ActionCreate {
		t.Errorf("it would change %+v", would.Changes)
	}
	if s, err := b.Schedule(b.ctx, "a"); err != nil || s.Owner != "api" {
		t.Errorf("after a dry run: %+v, %v", s.Owner, err)
	}
	req.DryRun = false
	if _, err := b.Apply(b.ctx, req); err != nil {
		t.Fatal(err)
	}
	if s, err := b.Schedule(b.ctx, "a"); err != nil || s.Owner != "file:duly.yaml" || s.Cron != "0 5 * * *" {
		t.Errorf("after taking over: %+v, %v", s, err)
	}
	_, err = b.PutSchedule(b.ctx, daily("a"), false)
	wantCode(t, err, duly.CodeConflict)
	err = b.DeleteSchedule(b.ctx, "a", false)
	wantCode(t, err, duly.CodeConflict)
	queues, err := b.Queues(b.ctx)
	if err != nil || len(queues.Items) != 1 || queues.Items[0].Name != "q" || queues.Items[0].Concurrency != 2 {
		t.Errorf("the queues are %+v, %v", queues, err)
	}
	res, err := b.Apply(b.ctx, api.ApplyRequest{Owner: "file:duly.yaml", Schedules: []duly.Schedule{changed}, Prune: true})
	if err != nil {
		t.Fatal(err)
	}
	removed := 0
	for _, c := range res.Changes {
		if c.Action == store.ActionRemove {
			removed++
		}
	}
	if removed != 2 {
		t.Errorf("pruning changed %+v", res.Changes)
	}
	p := b.problem(t, 422, "POST", "/api/v1/apply", `{"owner":"","schedules":[]}`)
	if len(p.Errors) != 1 || p.Errors[0].Location != "body.owner" {
		t.Errorf("without an owner: %+v", p)
	}
}

func TestSimulateShowsWhatAChangeWouldMove(t *testing.T) {
	b := setup(t)
	b.put(t, daily("a"))
	changed := daily("a")
	changed.Cron = "0 6 * * 1-5"
	from := time.Date(2027, 3, 26, 0, 0, 0, 0, time.UTC) // a Friday; the clocks change on Sunday
	res, err := b.Simulate(b.ctx, api.SimulateRequest{
		Schedules: []duly.Schedule{changed, daily("new")}, From: from, To: from.AddDate(0, 0, 4),
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Schedules) != 2 {
		t.Fatalf("got %+v", res)
	}
	a, fresh := res.Schedules[0], res.Schedules[1]
	if a.Action != store.ActionUpdate || a.Before != 4 || a.After != 2 || a.Moved != 2 || a.Dropped != 2 || a.Added != 0 {
		t.Errorf("a: %+v", a)
	}
	if len(a.Periods) != 4 {
		t.Fatalf("a lists %+v", a.Periods)
	}
	friday, sunday := a.Periods[0], a.Periods[2]
	if friday.Period != "2027-03-26" || friday.BeforeLocal != "2027-03-26T09:00:00+01:00" || friday.AfterLocal != "2027-03-26T06:00:00+01:00" {
		t.Errorf("friday: %+v", friday)
	}
	if sunday.Period != "2027-03-28" || !sunday.After.IsZero() || sunday.Note != "clocks go forward" {
		t.Errorf("sunday: %+v", sunday)
	}
	if fresh.Action != store.ActionCreate || fresh.Before != 0 || fresh.Added != 4 {
		t.Errorf("new: %+v", fresh)
	}
	if s, err := b.Schedule(b.ctx, "a"); err != nil || s.Revision != 1 {
		t.Errorf("simulating changed the schedule: %+v, %v", s.Revision, err)
	}
	bad := daily("bad")
	bad.Timezone = "Mars/Olympus"
	_, err = b.Simulate(b.ctx, api.SimulateRequest{Schedules: []duly.Schedule{bad}})
	wantCode(t, err, duly.CodeInvalid, "Mars/Olympus")
}

func TestASimulationIsBoundedAndSaysHowFarItGot(t *testing.T) {
	b := setup(t)
	fast := duly.Schedule{ID: "fast", Timing: duly.Timing{Every: duly.Duration(time.Second)}, Target: duly.Target{Handler: "work"}}
	from := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	res, err := b.Simulate(b.ctx, api.SimulateRequest{Schedules: []duly.Schedule{fast}, From: from, To: from.AddDate(1, 0, 0)})
	if err != nil {
		t.Fatal(err)
	}
	s := res.Schedules[0]
	if s.Added != 100_000 || len(s.Periods) != 1000 || s.Omitted != 99_000 || !s.To.Equal(from.Add(100_000*time.Second)) {
		t.Errorf("added %d, listed %d, omitted %d, to %v", s.Added, len(s.Periods), s.Omitted, s.To)
	}
}

func TestDeclaringLeavesFaultyDefinitionsOutAndKeepsTheRest(t *testing.T) { // B14, for code
	b := setup(t)
	joined, err := b.Join(b.ctx, api.JoinRequest{Name: "shop-1", Capabilities: []string{"handler:work"}})
	if err != nil {
		t.Fatal(err)
	}
	bad := daily("bad")
	bad.Timezone = "Europe/Atlantis"
	res, err := b.Declare(b.ctx, api.DeclareRequest{Node: joined.Node, App: "shop", Schedules: []duly.Schedule{daily("good"), bad}})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Changes) != 1 || res.Changes[0].ID != "good" || res.Changes[0].Action != store.ActionCreate {
		t.Errorf("the changes are %+v", res.Changes)
	}
	if len(res.Faults) != 1 || res.Faults[0].Schedule != "bad" || res.Faults[0].Field != "timezone" {
		t.Errorf("the faults are %+v", res.Faults)
	}
	if s, err := b.Schedule(b.ctx, "good"); err != nil || s.Owner != "code:shop" {
		t.Errorf("good is owned by %q, %v", s.Owner, err)
	}
	_, err = b.Declare(b.ctx, api.DeclareRequest{Node: joined.Node, Schedules: []duly.Schedule{daily("x")}})
	wantCode(t, err, duly.CodeInvalid, "app")
	_, err = b.Declare(b.ctx, api.DeclareRequest{Node: 4711, App: "shop", Schedules: []duly.Schedule{daily("x")}})
	wantCode(t, err, duly.CodeNotFound)
}
