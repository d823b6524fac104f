package server

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/api"
	"github.com/duly-dev/duly/store"
)

// TestAnswersAreWhatTheDescriptionPromises asks a store in which a good deal
// has happened for everything, and holds each answer against its schema: no
// field that is not described, none that is required and missing.
func TestAnswersAreWhatTheDescriptionPromises(t *testing.T) {
	b := setup(t)
	s := daily("invoices")
	anchor := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s.Cron, s.Every, s.Anchor = "", duly.Duration(time.Hour), &anchor
	s.Timings = []duly.Timing{{At: "2026-12-24T18:00"}}
	s.Except = []duly.Exclusion{{Dates: []string{"2026-12-25"}, Note: "holiday"}}
	s.Calendar = &duly.CalendarRule{Name: "de", Otherwise: "next"}
	s.Payload = json.RawMessage(`{"a":[1,2]}`)
	b.put(t, s)
	web := daily("hook")
	web.Target = duly.Target{HTTP: &duly.HTTPTarget{URL: "https://example.org", Headers: map[string]string{"X": "y"}}}
	b.put(t, web)
	session := b.join(t)
	failed := b.trigger(t, "invoices")
	code := 3
	b.finishOne(t, session, b.claimOne(t, session), duly.AttemptFailed, api.Details{
		Error: "no", Permanent: true, ExitCode: &code, Output: "x", Result: json.RawMessage(`[1]`),
		Effects: []store.EffectReport{{Key: "invoice/1", Result: json.RawMessage(`{"n":1}`)}},
	})
	b.trigger(t, "invoices")
	if _, err := b.Pause(b.ctx, "hook", api.PauseRequest{Why: "w", Until: time.Now().Add(time.Hour), Policy: duly.CatchUpNone}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Apply(b.ctx, api.ApplyRequest{Owner: "file:x", Queues: []duly.Queue{{Name: "q", Concurrency: 2, Rate: duly.Rate{Count: 1, Per: duly.Duration(time.Second)}}}}); err != nil {
		t.Fatal(err)
	}
	owner := strings.Repeat("o", 16)
	if _, err := b.AcquireLease(b.ctx, "l", api.AcquireRequest{Owner: owner}); err != nil {
		t.Fatal(err)
	}
	const post = "POST"
	for _, tt := range []struct{ method, path, body, schema string }{
		{"GET", "/schedules", "", "ScheduleStatusList"},
		{"GET", "/schedules/invoices", "", "ScheduleStatus"},
		{"GET", "/schedules/invoices/upcoming?n=3", "", "UpcomingList"},
		{"GET", "/occurrences", "", "OccurrenceList"},
		{"GET", "/occurrences/" + failed.ID, "", "Occurrence"},
		{"GET", "/effects", "", "EffectStatusList"},
		{"GET", "/queues", "", "QueueStatusList"},
		{"GET", "/nodes", "", "NodeList"},
		{"GET", "/leases", "", "LeaseList"},
		{"GET", "/audit", "", "AuditRowList"},
		{"GET", "/stats", "", "Stats"},
		{post, "/simulate", `{"schedules":[{"id":"invoices","cron":"@daily","target":{"handler":"work"}}]}`, "SimulateResult"},
		{post, "/apply", `{"owner":"file:x","dry_run":true,"schedules":[{"id":"n","cron":"@daily","target":{"handler":"work"}}]}`, "Changes"},
		{post, "/schedules/invoices/trigger", `{"why":"x"}`, "TriggerResult"},
		{post, "/schedules/invoices/backfill", `{"from":"2026-11-01T00:00:00Z","to":"2026-11-02T00:00:00Z","dry_run":true}`, "BackfillResult"},
		{post, "/claims", `{"node":` + itoa(int(session)) + `,"max":5,"capabilities":["handler:work"]}`, "ClaimResult"},
		{post, "/attempts/renew", `{"node":1,"items":[{"seq":9999,"token":1,"lease":"30s"}]}`, "RenewResult"},
		{post, "/attempts/finish", `{"node":1,"reports":[{"seq":9999,"token":1,"outcome":"failed"}]}`, "FinishResult"},
		{post, "/leases/l/acquire", `{"owner":"another-one-who-waits"}`, "Problem"},
		{post, "/leases/l/renew", `{"owner":"` + owner + `"}`, "Lease"},
		{post, "/nodes", `{"name":"x"}`, "JoinResult"},
		{"GET", "/schedules/nobody", "", "Problem"},
	} {
		t.Run(tt.method+" "+tt.path, func(t *testing.T) {
			resp, text := b.raw(t, tt.method, "/api/v1"+tt.path, tt.body)
			if good := resp.StatusCode < http.StatusBadRequest; good == (tt.schema == "Problem") {
				t.Fatalf("answered %d: %s", resp.StatusCode, text)
			}
			b.fits(t, tt.schema, text)
		})
	}
}

// fits holds a JSON text against a schema of the description.
func (b *bundle) fits(t *testing.T, schema, text string) {
	t.Helper()
	registry := b.server.api.OpenAPI().Components.Schemas
	s := registry.Map()[schema]
	if s == nil {
		t.Fatalf("there is no schema %s", schema)
	}
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	if m, ok := v.(map[string]any); ok && m["items"] != nil && len(m["items"].([]any)) == 0 {
		t.Error("an empty list proves nothing")
	}
	res := &huma.ValidateResult{}
	huma.Validate(registry, s, huma.NewPathBuffer(nil, 0), huma.ModeReadFromServer, v, res)
	for _, err := range res.Errors {
		t.Errorf("%s: %v", schema, err)
	}
	noNulls(t, schema, v)
}

// noNulls finds values that are there and null, which no schema speaks of.
func noNulls(t *testing.T, where string, v any) {
	switch v := v.(type) {
	case nil:
		t.Errorf("%s is null", where)
	case []any:
		for i, item := range v {
			noNulls(t, where+"["+itoa(i)+"]", item)
		}
	case map[string]any:
		for key, item := range v {
			noNulls(t, where+"."+key, item)
		}
	}
}
