package server

import (
	"context"
	"encoding/json"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/api"
	"github.com/duly-dev/duly/control"
	"github.com/duly-dev/duly/node"
	"github.com/duly-dev/duly/plan"
	"github.com/duly-dev/duly/store"
)

func TestEverySkipIsCountedByScheduleAndReason(t *testing.T) { // B101
	b := setup(t)
	node := b.join(t)
	every := duly.Schedule{ID: "s", Timing: duly.Timing{Every: duly.Duration(time.Hour)}, Target: duly.Target{Handler: "work"}}
	status := b.put(t, every)
	p, faults := plan.Compile(every)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	reasons := []string{"overlap: the one before is unfinished", "catch-up window", "limit", "paused by anna"}
	// The store is real; what it is told to record is given here, one skip of
	// each kind, each at its own due time.
	_, err := b.store.Fire(b.ctx, store.FireRequest{Node: node, Now: status.NextDue.Add(5 * time.Hour), Limit: 10, Plan: func(now time.Time, due []store.DueSchedule) []store.Firing {
		f := store.Firing{Schedule: "s", Cursor: now, NextDue: now.Add(time.Hour)}
		for i, reason := range reasons {
			state := duly.Skipped
			if i == 1 {
				state = duly.Missed
			}
			at := status.NextDue.Add(time.Duration(i) * time.Hour)
			f.Occurrences = append(f.Occurrences, store.NewOccurrence{
				Period: at.Format("2006-01-02T15:04:05Z"), Due: at, State: state, Reason: reason, Origin: duly.OriginSchedule,
				Revision: 1, Definition: due[0].Revisions[0].Definition, Placement: plan.Place(p.Def),
			})
		}
		return []store.Firing{f}
	}})
	if err != nil {
		t.Fatal(err)
	}
	_, metrics := b.raw(t, "GET", "/metrics", "")
	for _, reason := range reasons {
		if line := `duly_skipped_total{reason="` + reason + `",schedule="s"} 1` + "\n"; !strings.Contains(metrics, line) {
			t.Errorf("there is no line %s in %s", line, regexp.MustCompile(`(?m)^duly_skipped.*$`).FindAllString(metrics, -1))
		}
	}
	list, err := b.Occurrences(b.ctx, api.OccurrenceQuery{Schedule: "s", States: []duly.State{duly.Skipped, duly.Missed}})
	if err != nil || len(list.Items) != 4 {
		t.Fatalf("history has %d rows, %v", len(list.Items), err)
	}
	for i, o := range list.Items {
		if want := status.NextDue.Add(time.Duration(3-i) * time.Hour); !o.Due.Equal(want) || o.Reason != reasons[3-i] {
			t.Errorf("row %d is due %v, %q", i, o.Due, o.Reason)
		}
	}
}

func TestMetricsCountWhatHappened(t *testing.T) {
	st := openStore(t)
	n := node.New(st, node.Options{Name: "n"})
	s := New(st, control.New(st), Options{Node: n, Version: "1.2.3"})
	t.Cleanup(s.Close)
	b := serve(t, st)
	b.put(t, daily("a"))
	session := b.join(t)
	b.trigger(t, "a")
	b.finishOne(t, session, b.claimOne(t, session), duly.AttemptSucceeded, api.Details{})
	_, text := b.raw(t, "GET", "/metrics", "")
	for _, line := range []string{
		`duly_store_up 1`, `duly_schedules 1`, `duly_nodes 1`, `duly_pending 0`, `duly_running 0`, `duly_attention 0`,
		`duly_occurrences_total{state="succeeded"} 1`, `duly_attempts_total{outcome="succeeded"} 1`, `duly_attempts_total{outcome="lost"} 0`,
		`duly_start_lateness_seconds_count 1`, `duly_start_lateness_seconds_bucket{le="+Inf"} 1`, `duly_event_streams 0`,
	} {
		if !strings.Contains(text, "\n"+line+"\n") {
			t.Errorf("there is no line %q", line)
		}
	}
	for _, name := range []string{"go_goroutines", "duly_build_info{"} {
		if !strings.Contains(text, "\n"+name) {
			t.Errorf("there is no %s", name)
		}
	}
	var out strings.Builder
	families, err := s.metrics().Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		out.WriteString(f.GetName() + "\n")
	}
	for _, name := range []string{"duly_handlers_abandoned_total", "duly_node_running", "duly_node_reports_held", "duly_renew_failures_total"} {
		if !strings.Contains(out.String(), name+"\n") {
			t.Errorf("with a node there is no %s", name)
		}
	}
}

func TestStatsCountsWhatIsThere(t *testing.T) {
	b := setup(t)
	b.put(t, daily("a"))
	b.trigger(t, "a")
	stats, err := b.Stats(b.ctx)
	if err != nil || stats.Schedules != 1 || stats.Pending != 1 || stats.Now.IsZero() || stats.Skips == nil {
		t.Errorf("got %+v, %v", stats, err)
	}
}

func TestTheDescriptionIsGivenOut(t *testing.T) {
	b := setup(t)
	resp, text := b.raw(t, "GET", "/openapi.json", "")
	var spec map[string]any
	if err := json.Unmarshal([]byte(text), &spec); err != nil || spec["openapi"] != "3.1.0" || resp.Header.Get("Content-Type") != "application/openapi+json" {
		t.Errorf("got %v of %s, %v", spec["openapi"], resp.Header.Get("Content-Type"), err)
	}
	b.problem(t, 404, "GET", "/docs", "")
}

func TestTheStatusPageShowsWhatMattersAndRunsNothing(t *testing.T) {
	b := setup(t)
	s := daily("invoices")
	s.Description = `<script>alert("hello")</script>`
	b.put(t, s)
	session := b.join(t)
	occ := b.trigger(t, "invoices")
	b.finishOne(t, session, b.claimOne(t, session), duly.AttemptFailed, api.Details{
		Error: `<img src=x onerror=alert(1)>`, Permanent: true, Output: "first line\n</pre><script>x</script>",
	})
	resp, text := b.raw(t, "GET", "/", "")
	if resp.StatusCode != 200 || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") {
		t.Fatalf("answered %d of %s", resp.StatusCode, resp.Header.Get("Content-Type"))
	}
	csp := resp.Header.Get("Content-Security-Policy")
	if !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") || strings.Contains(csp, "script-src") {
		t.Errorf("the policy is %q", csp)
	}
	for _, want := range []string{occ.ID, "Next due", "09:00:00 CET", "failed", "attention", `http-equiv="refresh"`, `name="viewport"`, "prefers-color-scheme: dark"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not show %q", want)
		}
	}
	link := regexp.MustCompile(`href="(/occurrences/[^"]+)"`).FindStringSubmatch(text)
	if link == nil {
		t.Fatal("the page has no link to an occurrence")
	}
	resp, story := b.raw(t, "GET", link[1], "")
	if resp.StatusCode != 200 {
		t.Fatalf("%s was answered %d", link[1], resp.StatusCode)
	}
	for _, want := range []string{occ.ID, "first line", "Attempts", "Effects", "worker"} {
		if !strings.Contains(story, want) {
			t.Errorf("the story does not tell %q", want)
		}
	}
	for _, page := range []string{text, story} {
		if strings.Contains(page, "<script") || strings.Contains(page, "<img") {
			t.Error("text from outside became part of the page")
		}
		for _, m := range regexp.MustCompile(`(?:src|href|url)\s*[=(]\s*["']?([^"')\s>]+)`).FindAllStringSubmatch(page, -1) {
			if strings.Contains(m[1], "//") {
				t.Errorf("the page takes something from elsewhere: %s", m[0])
			}
		}
	}
	if resp, _ := b.raw(t, "GET", "/occurrences/nobody@never", ""); resp.StatusCode != 404 {
		t.Errorf("an unknown occurrence was answered %d", resp.StatusCode)
	}
}

func TestThePolicyAllowsThePagesOwnStyle(t *testing.T) {
	v := newViews()
	var out strings.Builder
	if err := v.status.Execute(&out, statusView{}); err != nil {
		t.Fatal(err)
	}
	css, err := pages.ReadFile("pages/style.css")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "<style>"+string(css)+"</style>") {
		t.Error("the style is not word for word what the policy has the sum of")
	}
}

func TestANodeInTheSameProcessDoesTheWorkAndIsCounted(t *testing.T) {
	st := openStore(t)
	n := node.New(st, node.Options{Name: "inside", Logger: slog.New(slog.DiscardHandler)})
	done := make(chan string, 10)
	n.Handle("work", func(_ context.Context, o *node.Occurrence) error {
		done <- o.Assignment.Occurrence
		return nil
	})
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := n.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	defer running.Wait()
	defer stop()
	s := New(st, control.New(st), Options{Node: n})
	t.Cleanup(s.Close)
	client := api.InProcess(s.Handler())
	if _, err := client.PutSchedule(ctx, daily("a"), false); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{}, 100)
	var following sync.WaitGroup
	defer following.Wait()
	defer stop()
	following.Go(func() {
		if err := client.Events(ctx, []store.Topic{store.TopicOccurrences}, func(store.Event) { ended <- struct{}{} }); err != context.Canceled {
			t.Error(err)
		}
	})
	<-ended
	made, err := client.Trigger(ctx, "a", api.TriggerRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if id := <-done; id != made.Occurrence.ID {
		t.Errorf("the node did %s", id)
	}
	for occ := made.Occurrence; occ.State != duly.Succeeded; <-ended {
		if occ, err = client.Occurrence(ctx, made.Occurrence.ID); err != nil {
			t.Fatal(err)
		}
		if occ.State == duly.Succeeded {
			break
		}
	}
	families, err := s.metrics().Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == "duly_start_lateness_seconds" && f.GetMetric()[0].GetHistogram().GetSampleCount() != 1 {
			t.Errorf("the start was counted %v", f)
		}
	}
}
