package main

import (
	"testing"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/api"
	"github.com/duly-dev/duly/store"
)

// handled is a schedule that code on a node declares.
func handled(id, cron string) duly.Schedule {
	return duly.Schedule{ID: id, Timing: duly.Timing{Cron: cron}, Target: duly.Target{Handler: id}, Lease: duly.Duration(2e9)}
}

// joined opens a session of a worker that speaks the protocol itself.
func joined(t *testing.T, client *api.Client, name string, schedules ...duly.Schedule) int64 {
	t.Helper()
	session, err := client.Join(t.Context(), api.JoinRequest{Name: name, Slots: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Declare(t.Context(), api.DeclareRequest{Node: session.Node, App: "billing", Schedules: schedules}); err != nil {
		t.Fatal(err)
	}
	return session.Node
}

// B72: a schedule that was removed in code kept running from the store, with
// nobody to handle it.
func TestFieldCase_B72(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	_, client := s.serve()

	// In code: what no live node declares any more is shown as orphaned.
	before := joined(t, client, "before", handled("a", "0 0 * * *"), handled("b", "0 0 * * *"))
	after := joined(t, client, "after", handled("a", "0 0 * * *"), handled("c", "0 0 * * *"))
	if err := client.Leave(t.Context(), before); err != nil {
		t.Fatal(err)
	}
	status := func(id string) store.ScheduleStatus {
		got, err := client.Schedule(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	for id, orphaned := range map[string]bool{"a": false, "b": true, "c": false} {
		got := status(id)
		if got.Orphaned != orphaned || orphaned == got.OrphanedAt.IsZero() {
			t.Errorf("%s: orphaned %v since %v, want %v", id, got.Orphaned, got.OrphanedAt, orphaned)
		}
	}
	if err := client.Leave(t.Context(), after); err != nil {
		t.Fatal(err)
	}

	// In a file: --prune removes it, its open occurrences with it; history stays.
	s.write("duly.yaml", "schedules:\n  x: { cron: \"0 0 * * *\", target: { exec: { command: [\"true\"] } } }\n  y: { cron: \"0 0 * * *\", target: { handler: nobody } }\n", 0o644)
	s.duly("apply")
	s.duly("schedules", "trigger", "y")
	s.write("duly.yaml", "schedules:\n  x: { cron: \"0 0 * * *\", target: { exec: { command: [\"true\"] } } }\n  z: { cron: \"0 0 * * *\", target: { exec: { command: [\"true\"] } } }\n", 0o644)
	s.duly("apply")
	status("y")
	s.duly("apply", "--prune")
	if _, err := client.Schedule(t.Context(), "y"); duly.CodeOf(err) != duly.CodeNotFound {
		t.Errorf("y after --prune: %v", err)
	}
	status("z")
	if left := s.occurrences("y"); len(left) != 1 || left[0].State != duly.Cancelled {
		t.Errorf("history of y: %+v", left)
	}
}

// B102: "fired" was recorded and the last run advanced although the work never
// happened. A worker takes it and is gone.
func TestFieldCase_B102(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	_, client := s.serve()
	worker := joined(t, client, "worker", handled("report", "0 0 1 1 *"))
	asked, err := client.Trigger(t.Context(), "report", api.TriggerRequest{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := client.Claim(t.Context(), api.ClaimRequest{Node: worker, Capabilities: []string{"handler:report"}, Wait: duly.Duration(10e9)})
	if err != nil || len(got.Claims) != 1 {
		t.Fatalf("claimed %+v, %v", got.Claims, err)
	}

	id := asked.Occurrence.ID
	eventually(t, readyWithin, "the attempt is lost", func() bool {
		o := s.occurrence(client, id)
		return len(o.Attempts) == 1 && o.Attempts[0].Outcome == duly.AttemptLost
	})
	if o := s.occurrence(client, id); o.State != duly.Pending {
		t.Errorf("the occurrence is %s, want pending", o.State)
	}
	schedule, err := client.Schedule(t.Context(), "report")
	if err != nil {
		t.Fatal(err)
	}
	if !schedule.LastSuccess.IsZero() {
		t.Errorf("a last success is recorded: %v", schedule.LastSuccess)
	}
	// A report that comes late is judged by its token, which nobody superseded.
	done, err := client.Finish(t.Context(), worker, []api.Report{{Seq: got.Claims[0].Seq, Token: got.Claims[0].Token, Outcome: duly.AttemptSucceeded}})
	if err != nil || done[0].Error != nil || !done[0].Late {
		t.Fatalf("the late report: %+v, %v", done, err)
	}
	if o := s.occurrence(client, id); o.State != duly.Succeeded || !o.Attempts[0].Late {
		t.Errorf("after the late report: %+v", o)
	}
}
