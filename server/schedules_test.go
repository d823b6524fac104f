package server

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/api"
	"github.com/duly-dev/duly/store"
)

func TestPuttingAScheduleCreatesItAndTheSameAgainChangesNothing(t *testing.T) {
	b := setup(t)
	body := `{"cron":"0 9 * * *","timezone":"Europe/Berlin","target":{"handler":"work"}}`
	resp, text := b.raw(t, "PUT", "/api/v1/schedules/billing%2Finvoices", body, "Duly-Actor", "anna")
	if resp.StatusCode != http.StatusCreated || resp.Header.Get("Location") != "/api/v1/schedules/billing%2Finvoices" {
		t.Fatalf("answered %d, Location %q: %s", resp.StatusCode, resp.Header.Get("Location"), text)
	}
	resp, _ = b.raw(t, "PUT", "/api/v1/schedules/billing%2Finvoices", body)
	if resp.StatusCode != http.StatusOK {
		t.Errorf("the same again was answered %d", resp.StatusCode)
	}
	got, err := b.Schedule(b.ctx, "billing/invoices")
	if err != nil {
		t.Fatal(err)
	}
	if got.ID != "billing/invoices" || got.Owner != "api" || got.Revision != 1 || got.NextDue.IsZero() || got.Cron != "0 9 * * *" {
		t.Errorf("got %+v", got)
	}
	audit, err := b.Audit(b.ctx, api.AuditQuery{Object: "schedule/billing/invoices"})
	if err != nil {
		t.Fatal(err)
	}
	if len(audit.Items) != 1 || audit.Items[0].By != "anna" || audit.Items[0].Action != "create" {
		t.Errorf("the audit says %+v", audit.Items)
	}
	changed := daily("billing/invoices")
	changed.Cron = "0 6 * * *"
	if got := b.put(t, changed); got.Revision != 2 || got.Cron != "0 6 * * *" {
		t.Errorf("after a change it is %+v", got)
	}
}

func TestAFaultyDefinitionIsRefusedWithEveryFaultAndHarmsNoOther(t *testing.T) { // B14
	b := setup(t)
	b.put(t, daily("a"))
	bad := daily("b")
	bad.Timezone = "Europe/Atlantis"
	_, err := b.PutSchedule(b.ctx, bad, false)
	wantCode(t, err, duly.CodeInvalid, "Europe/Atlantis")
	if f := api.Faults(err); len(f) != 1 || f[0].Field != "timezone" {
		t.Errorf("the faults are %v", f)
	}
	if _, err := b.Schedule(b.ctx, "b"); duly.CodeOf(err) != duly.CodeNotFound {
		t.Errorf("reading it: %v", err)
	}
	upcoming, err := b.Upcoming(b.ctx, "a", api.UpcomingQuery{N: 3, From: time.Date(2027, 1, 4, 12, 0, 0, 0, time.UTC)})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, u := range upcoming.Items {
		got = append(got, u.Due.Format(time.RFC3339)+" "+u.Local+" "+u.Period)
	}
	want := []string{
		"2027-01-05T08:00:00Z 2027-01-05T09:00:00+01:00 2027-01-05",
		"2027-01-06T08:00:00Z 2027-01-06T09:00:00+01:00 2027-01-06",
		"2027-01-07T08:00:00Z 2027-01-07T09:00:00+01:00 2027-01-07",
	}
	if !slices.Equal(got, want) {
		t.Errorf("a is due at %q, want %q", got, want)
	}

	several := daily("c")
	several.Lease, several.Priority, several.Retry.MaxAttempts = duly.Duration(time.Millisecond), 1000, -1
	_, err = b.PutSchedule(b.ctx, several, false)
	var fields []string
	for _, f := range api.Faults(err) {
		fields = append(fields, f.Field)
	}
	if slices.Sort(fields); !slices.Equal(fields, []string{"lease", "priority", "retry.max_attempts"}) {
		t.Errorf("the faults are of %q: %v", fields, err)
	}
}

func TestBadRequestsAreProblemsThatNameTheField(t *testing.T) {
	b := setup(t)
	b.put(t, daily("a"))
	tests := []struct {
		claim, method, path, body string
		status                    int
		code                      duly.Code
		location                  string
	}{
		{"no JSON", "PUT", "/api/v1/schedules/x", `{"cron":`, 400, duly.CodeInvalid, "body"},
		{"no body", "PUT", "/api/v1/schedules/x", ``, 400, duly.CodeInvalid, ""},
		{"an unknown key", "PUT", "/api/v1/schedules/x", `{"corn":"0 9 * * *","target":{"handler":"w"}}`, 422, duly.CodeInvalid, "body.corn"},
		{"a wrong type", "PUT", "/api/v1/schedules/x", `{"cron":5,"target":{"handler":"w"}}`, 422, duly.CodeInvalid, "body.cron"},
		{"an unknown choice", "PUT", "/api/v1/schedules/x", `{"cron":"@daily","overlap":"both","target":{"handler":"w"}}`, 422, duly.CodeInvalid, "body.overlap"},
		{"a bare number for a duration", "PUT", "/api/v1/schedules/x", `{"cron":"@daily","lease":30,"target":{"handler":"w"}}`, 422, duly.CodeInvalid, "body.lease"},
		{"a duration without a unit", "PUT", "/api/v1/schedules/x", `{"cron":"@daily","lease":"30","target":{"handler":"w"}}`, 422, duly.CodeInvalid, "body.lease"},
		{"no target", "PUT", "/api/v1/schedules/x", `{"cron":"@daily"}`, 422, duly.CodeInvalid, "body.target"},
		{"another ID than the path's", "PUT", "/api/v1/schedules/x", `{"id":"y","cron":"@daily","target":{"handler":"w"}}`, 422, duly.CodeInvalid, "body.id"},
		{"an ID that cannot be", "PUT", "/api/v1/schedules/a%20b", `{"cron":"@daily","target":{"handler":"w"}}`, 422, duly.CodeInvalid, "body.id"},
		{"an unknown schedule", "GET", "/api/v1/schedules/x", ``, 404, duly.CodeNotFound, ""},
		{"removing an unknown one", "DELETE", "/api/v1/schedules/x", ``, 404, duly.CodeNotFound, ""},
		{"an unknown parameter", "GET", "/api/v1/schedules?prefx=a", ``, 422, duly.CodeInvalid, "query.prefx"},
		{"too large a page", "GET", "/api/v1/schedules?limit=1001", ``, 422, duly.CodeInvalid, "query.limit"},
		{"a flag that is none", "GET", "/api/v1/schedules?paused=maybe", ``, 422, duly.CodeInvalid, "query.paused"},
		{"a made-up cursor", "GET", "/api/v1/occurrences?cursor=zzz", ``, 422, duly.CodeInvalid, "query.cursor"},
		{"too many upcoming", "GET", "/api/v1/schedules/a/upcoming?n=0", ``, 422, duly.CodeInvalid, "query.n"},
		{"a time that is none", "GET", "/api/v1/schedules/a/upcoming?from=tomorrow", ``, 422, duly.CodeInvalid, "query.from"},
		{"pausing until yesterday", "POST", "/api/v1/schedules/a/pause", `{"until":"2020-01-01T00:00:00Z"}`, 422, duly.CodeInvalid, "body.until"},
		{"resuming what is not paused", "POST", "/api/v1/schedules/a/resume", ``, 409, duly.CodeConflict, ""},
		{"a period and a due time", "POST", "/api/v1/schedules/a/trigger", `{"period":"2026-01-01","due":"2026-01-01T08:00:00Z"}`, 422, duly.CodeInvalid, "body.period"},
		{"a time at which it is not due", "POST", "/api/v1/schedules/a/trigger", `{"due":"2026-01-01T08:00:01Z"}`, 422, duly.CodeInvalid, "body.due"},
		{"a backfill backwards", "POST", "/api/v1/schedules/a/backfill", `{"from":"2026-01-02T00:00:00Z","to":"2026-01-01T00:00:00Z"}`, 422, duly.CodeInvalid, "body.to"},
		{"a backfill without an end", "POST", "/api/v1/schedules/a/backfill", `{"from":"2026-01-02T00:00:00Z"}`, 422, duly.CodeInvalid, "body.to"},
		{"a page that is not there", "GET", "/api/v2/schedules", ``, 404, duly.CodeNotFound, ""},
		{"a method that is not possible", "PATCH", "/api/v1/schedules/a", `{}`, 405, duly.CodeInvalid, ""},
		{"too large a body", "PUT", "/api/v1/schedules/x", `{"description":"` + strings.Repeat("x", 1<<20) + `"}`, 413, duly.CodeInvalid, ""},
		{"another content type", "PUT", "/api/v1/schedules/x", `cron: "@daily"`, 415, duly.CodeInvalid, "body"},
	}
	for _, tt := range tests {
		t.Run(tt.claim, func(t *testing.T) {
			var header []string
			if tt.status == 415 {
				header = []string{"Content-Type", "application/yaml"}
			}
			p := b.problem(t, tt.status, tt.method, tt.path, tt.body, header...)
			if p.Code != tt.code {
				t.Errorf("the code is %q, want %q", p.Code, tt.code)
			}
			if tt.location == "" {
				return
			}
			if !slices.ContainsFunc(p.Errors, func(e api.ProblemError) bool { return e.Location == tt.location && e.Message != "" }) {
				t.Errorf("the errors are %+v, want one at %s", p.Errors, tt.location)
			}
		})
	}
}

func TestSchedulesAreListedByPageAndFilter(t *testing.T) {
	b := setup(t)
	for _, id := range []string{"a/1", "a/2", "a/3", "b/1"} {
		b.put(t, daily(id))
	}
	if _, err := b.Pause(b.ctx, "a/2", api.PauseRequest{Why: "maintenance"}); err != nil {
		t.Fatal(err)
	}
	ids := func(q api.ScheduleQuery) []string {
		t.Helper()
		var got []string
		for s, err := range api.All(func(cursor string) (api.List[store.ScheduleStatus], error) {
			q.Cursor, q.Limit = cursor, 2
			page, err := b.Schedules(b.ctx, q)
			if len(page.Items) > 2 {
				t.Errorf("a page of two has %d items", len(page.Items))
			}
			return page, err
		}) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, s.ID)
		}
		return got
	}
	yes, no := true, false
	for claim, tt := range map[string]struct {
		q    api.ScheduleQuery
		want []string
	}{
		"all":              {api.ScheduleQuery{}, []string{"a/1", "a/2", "a/3", "b/1"}},
		"by prefix":        {api.ScheduleQuery{Prefix: "a/"}, []string{"a/1", "a/2", "a/3"}},
		"paused":           {api.ScheduleQuery{Paused: &yes}, []string{"a/2"}},
		"not paused":       {api.ScheduleQuery{Paused: &no}, []string{"a/1", "a/3", "b/1"}},
		"of an owner":      {api.ScheduleQuery{Owner: "api"}, []string{"a/1", "a/2", "a/3", "b/1"}},
		"of nobody":        {api.ScheduleQuery{Owner: "file:x"}, nil},
		"orphaned":         {api.ScheduleQuery{Orphaned: &yes}, nil},
		"of another queue": {api.ScheduleQuery{Queue: "q"}, nil},
	} {
		if got := ids(tt.q); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, want %q", claim, got, tt.want)
		}
	}
	if _, text := b.raw(t, "GET", "/api/v1/schedules?prefix=zzz", ""); strings.TrimSpace(text) != `{"items":[]}` {
		t.Errorf("an empty list is %s", text)
	}
}

func TestAPauseSaysWhoAndWhyAndEndsWithAResume(t *testing.T) {
	b := setup(t)
	b.put(t, daily("a"))
	until := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	s, err := b.Pause(b.ctx, "a", api.PauseRequest{Why: "closing the books", Until: until, Policy: duly.CatchUpAll})
	if err != nil {
		t.Fatal(err)
	}
	if s.Paused == nil || s.Paused.By != "anna" || s.Paused.Why != "closing the books" || !s.Paused.Until.Equal(until) || s.Paused.Policy != duly.CatchUpAll {
		t.Errorf("paused is %+v", s.Paused)
	}
	upcoming, err := b.Upcoming(b.ctx, "a", api.UpcomingQuery{N: 1, From: time.Now()})
	if err != nil || len(upcoming.Items) != 1 {
		t.Fatal(upcoming, err)
	}
	if s, err = b.Resume(b.ctx, "a", api.ResumeRequest{}); err != nil || s.Paused != nil {
		t.Errorf("after a resume: %+v, %v", s.Paused, err)
	}
	_, err = b.Resume(b.ctx, "a", api.ResumeRequest{})
	wantCode(t, err, duly.CodeConflict)
	_, err = b.Pause(b.ctx, "nobody", api.PauseRequest{})
	wantCode(t, err, duly.CodeNotFound)
}

func TestTwentyTriggersOfOneDueTimeMakeOneOccurrence(t *testing.T) { // B35
	b := setup(t)
	b.put(t, duly.Schedule{ID: "daily-invoice", Timing: duly.Timing{Cron: "0 0 * * *"}, Target: duly.Target{Handler: "work"}})
	req := api.TriggerRequest{Due: time.Date(2027, 1, 5, 0, 0, 0, 0, time.UTC)}
	results := make([]api.TriggerResult, 20)
	var all sync.WaitGroup
	for i := range results {
		all.Go(func() {
			var err error
			if results[i], err = b.Trigger(b.ctx, "daily-invoice", req); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	created := 0
	for _, r := range results {
		if r.Occurrence.ID != "daily-invoice@2027-01-05" {
			t.Errorf("an answer is %+v", r)
		}
		if r.Status == api.TriggerCreated {
			created++
		}
	}
	if created != 1 {
		t.Errorf("%d of twenty answers say created", created)
	}
	list, err := b.Occurrences(b.ctx, api.OccurrenceQuery{Schedule: "daily-invoice"})
	if err != nil || len(list.Items) != 1 {
		t.Errorf("there are %d occurrences, %v", len(list.Items), err)
	}
}

func TestB93_ADuplicateIsAnsweredAsOneWithWhatBecameOfTheFirst(t *testing.T) {
	b := setup(t)
	b.put(t, daily("a"))
	resp, first := b.raw(t, "POST", "/api/v1/schedules/a/trigger", "", "Idempotency-Key", "order-7")
	if resp.StatusCode != http.StatusCreated || !strings.Contains(first, `"status":"created"`) {
		t.Fatalf("answered %d: %s", resp.StatusCode, first)
	}
	link := resp.Header.Get("Location")
	id := strings.TrimPrefix(link, "/api/v1/occurrences/")
	if _, err := b.Cancel(b.ctx, id, "a mistake"); err != nil {
		t.Fatal(err)
	}
	again, err := b.Trigger(b.ctx, "a", api.TriggerRequest{Once: "order-7"})
	if err != nil {
		t.Fatal(err)
	}
	if again.Status != api.TriggerDuplicate || again.Occurrence.ID != id || again.Occurrence.State != duly.Cancelled {
		t.Errorf("the duplicate was answered %+v", again)
	}
	other, err := b.Trigger(b.ctx, "a", api.TriggerRequest{Once: "order-8"})
	if err != nil || other.Status != api.TriggerCreated || other.Occurrence.ID == id {
		t.Errorf("another key was answered %+v, %v", other, err)
	}
	p := b.problem(t, 422, "POST", "/api/v1/schedules/a/trigger", `{"once":"x"}`, "Idempotency-Key", "y")
	if p.Errors[0].Location != "body.once" {
		t.Errorf("two keys: %+v", p)
	}
	if _, text := b.raw(t, "GET", "/metrics", ""); !strings.Contains(text, "duly_trigger_duplicates_total 1\n") {
		t.Error("no metric counts the duplicate")
	}
}

func TestABackfillShowsFirstAndThenDoes(t *testing.T) {
	b := setup(t)
	b.put(t, daily("a"))
	req := api.BackfillRequest{
		From: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), To: time.Date(2026, 3, 4, 0, 0, 0, 0, time.UTC), DryRun: true, Why: "the importer was broken",
	}
	for _, dry := range []bool{true, false} {
		req.DryRun = dry
		res, err := b.Backfill(b.ctx, "a", req)
		if err != nil {
			t.Fatal(err)
		}
		if res.Created != 3 || len(res.Items) != 3 || res.Items[0].ID != "a@2026-03-01" || res.Items[0].Action != api.BackfillCreate {
			t.Errorf("dry run %v: %+v", dry, res)
		}
	}
	res, err := b.Backfill(b.ctx, "a", req)
	if err != nil || res.Kept != 3 || res.Created != 0 || res.Items[0].State != duly.Pending {
		t.Errorf("again: %+v, %v", res, err)
	}
}

func TestADeletedScheduleIsGoneAndItsHistoryStays(t *testing.T) {
	b := setup(t)
	b.put(t, daily("a"))
	occ := b.trigger(t, "a")
	if err := b.DeleteSchedule(b.ctx, "a", false); err != nil {
		t.Fatal(err)
	}
	_, err := b.Schedule(b.ctx, "a")
	wantCode(t, err, duly.CodeNotFound)
	if got, err := b.Occurrence(b.ctx, occ.ID); err != nil || got.State != duly.Cancelled {
		t.Errorf("its open occurrence is %+v, %v", got.State, err)
	}
}

func TestUpcomingSaysWhyNothingWillHappen(t *testing.T) {
	b := setup(t)
	s := daily("a")
	s.Cron, s.Limit = "30 2 * * *", 4
	s.Calendar = &duly.CalendarRule{Weekdays: []string{"mon", "tue", "wed", "thu", "fri", "sun"}}
	b.put(t, s)
	list, err := b.Upcoming(b.ctx, "a", api.UpcomingQuery{N: 10, From: time.Date(2027, 3, 26, 12, 0, 0, 0, time.UTC)})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, u := range list.Items {
		got = append(got, u.Local+" "+u.Skip)
	}
	want := []string{ // of a limit of four; the clocks jump over 02:30 on the 28th
		"2027-03-27T02:30:00+01:00 calendar: no business day", "2027-03-28T03:00:00+02:00 ", "2027-03-29T02:30:00+02:00 ",
		"2027-03-30T02:30:00+02:00 ", "2027-03-31T02:30:00+02:00 ",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	until := time.Date(2027, 3, 30, 0, 0, 0, 0, time.UTC)
	if _, err := b.Pause(b.ctx, "a", api.PauseRequest{Until: until}); err != nil {
		t.Fatal(err)
	}
	list, err = b.Upcoming(b.ctx, "a", api.UpcomingQuery{From: time.Date(2027, 3, 29, 0, 0, 0, 0, time.UTC)})
	if err != nil || list.Items[0].Skip != "paused by anna" || list.Items[1].Skip != "" {
		t.Errorf("paused: %+v, %v", list.Items, err)
	}
}
