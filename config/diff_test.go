package config_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/duly-dev/duly/config"
	"github.com/duly-dev/duly/store"
	"github.com/google/go-cmp/cmp"
)

func change(action store.Action, kind, id, before, after string) store.Change {
	c := store.Change{Kind: kind, ID: id, Action: action}
	if before != "" {
		c.Before = json.RawMessage(before)
	}
	if after != "" {
		c.After = json.RawMessage(after)
	}
	return c
}

func TestDiffReadsLikeAPlan(t *testing.T) {
	created := change(store.ActionCreate, "schedule", "invoices", "", `{"id":"invoices"}`)
	created.NextDue = time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)
	ignored := change(store.ActionIgnore, "schedule", "ping", `{}`, `{}`)
	ignored.Reason = "owned by code:billing"
	changes := []store.Change{
		change(store.ActionKeep, "schedule", "same", "{}", "{}"),
		change(store.ActionRemove, "queue", "gone", "{}", ""),
		change(store.ActionUpdate, "schedule", "reports",
			`{"cron":"0 0 * * *","timezone":"UTC","retry":{"max_attempts":5},"payload":{"n":1,"list":[1,2],"token":"old"},"target":{"http":{"url":"https://a.example","secret":"whsec_old","headers":{"Accept":"a","Authorization":"Bearer old"}}}}`,
			`{"cron":"0 6 * * *","timezone":"UTC","retry":{"max_attempts":5,"backoff":"10s"},"payload":{"n":1.50,"list":[1,2,3],"token":"new"},"target":{"http":{"url":"https://a.example","secret":"whsec_new","headers":{"Accept":"b","Authorization":"Bearer new"}}}}`),
		change(store.ActionUpdate, "schedule", "moved",
			`{"target":{"handler":"h"},"description":"<a> & \u001b[31mb"}`,
			`{"target":{"exec":{"command":["./x","y"],"env":{"API_KEY":"abc","LEVEL":"info"}}}}`),
		change(store.ActionUpdate, "queue", "billing", `{"concurrency":1}`, `{"concurrency":2}`),
		change(store.ActionUpdate, "schedule", "holidays",
			`{"calendar":{"holidays":["2026-01-01","2026-04-03","2026-04-06","2026-05-01","2026-05-14","2026-12-25"]}}`,
			`{"calendar":{"holidays":["2026-01-01","2026-04-03","2026-04-06","2026-05-01","2026-12-25","2026-12-26"]}}`),
		change(store.ActionCreate, "queue", "new", "", "{}"),
		change(store.ActionKeep, "queue", "same", "{}", "{}"),
		change(store.ActionRemove, "schedule", "old", "{}", ""),
		ignored,
		created,
	}
	const want = `+ create invoices (next due 2026-11-29T00:00:00Z)
+ create queue new
~ update holidays
    calendar.holidays: -"2026-05-14", +"2026-12-26" (6 → 6 entries)
~ update moved
    description: "<a> & \u001b[31mb" → (unset)
    target.exec.command: (unset) → ["./x","y"]
    target.exec.env.API_KEY: changed (not shown)
    target.exec.env.LEVEL: (unset) → "info"
    target.handler: "h" → (unset)
~ update reports
    cron: "0 0 * * *" → "0 6 * * *"
    payload.list: [1,2] → [1,2,3]
    payload.n: 1 → 1.50
    payload.token: changed (not shown)
    retry.backoff: (unset) → "10s"
    target.http.headers.Accept: "a" → "b"
    target.http.headers.Authorization: changed (not shown)
    target.http.secret: changed (not shown)
~ update queue billing
    concurrency: 1 → 2
- remove old
- remove queue gone
! ignore ping: owned by code:billing
= 2 unchanged
`
	if diff := cmp.Diff(want, config.Diff(changes)); diff != "" {
		t.Error(diff)
	}
	slices.Reverse(changes)
	if diff := cmp.Diff(want, config.Diff(changes)); diff != "" {
		t.Errorf("the order of the changes shows:\n%s", diff)
	}
}

func TestDiffOfNothing(t *testing.T) {
	if got := config.Diff(nil); got != "= 0 unchanged\n" {
		t.Errorf("%q", got)
	}
}

func TestDiffNeverShowsControlCharacters(t *testing.T) {
	c := change(store.ActionUpdate, "schedule", "a\u009b31m", `{"payload":"x"}`, "{\"payload\":\"\u009b31m \u202e\", \"k\u007f\": 1}")
	c.Reason = "line\nbreak"
	got := config.Diff([]store.Change{c})
	if strings.ContainsAny(got, "\u009b\u202e\u007f") || strings.Count(got, "\n") != 3 {
		t.Errorf("%q", got)
	}
}
