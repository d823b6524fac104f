package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/api"
	"github.com/duly-dev/duly/store"
)

func (b *bundle) join(t *testing.T) int64 {
	t.Helper()
	res, err := b.Join(b.ctx, api.JoinRequest{Name: "worker", Host: "h", PID: 1, Version: "1", Capabilities: []string{"handler:work"}, Slots: 10})
	if err != nil {
		t.Fatal(err)
	}
	return res.Node
}

// claimOne takes the one occurrence that there is to be taken.
func (b *bundle) claimOne(t *testing.T, node int64) api.Claim {
	t.Helper()
	res, err := b.Claim(b.ctx, api.ClaimRequest{Node: node, Max: 10, Capabilities: []string{"handler:work"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Claims) != 1 {
		t.Fatalf("there are %d claims", len(res.Claims))
	}
	return res.Claims[0]
}

func (b *bundle) finishOne(t *testing.T, node int64, c api.Claim, outcome duly.Outcome, d api.Details) api.Finished {
	t.Helper()
	res, err := b.Finish(b.ctx, node, []api.Report{{Seq: c.Seq, Token: c.Token, Outcome: outcome, Details: d}})
	if err != nil {
		t.Fatal(err)
	}
	return res[0]
}

func TestARemoteWorkerClaimsRenewsAndFinishes(t *testing.T) {
	b := setup(t)
	s := daily("invoices")
	s.Payload, s.Timeout = json.RawMessage(`{"region":"eu"}`), duly.Duration(10*time.Minute)
	b.put(t, s)
	node := b.join(t)
	made, err := b.Trigger(b.ctx, "invoices", api.TriggerRequest{Period: "2026-11-28", Why: "test"})
	if err != nil {
		t.Fatal(err)
	}
	c := b.claimOne(t, node)
	want := api.Claim{
		Seq: made.Occurrence.Seq, Token: c.Token, Schedule: "invoices", Occurrence: "invoices@2026-11-28", Period: "2026-11-28",
		Covers: []string{"2026-11-28"}, Due: time.Date(2026, 11, 28, 8, 0, 0, 0, time.UTC), IntervalStart: time.Date(2026, 11, 27, 8, 0, 0, 0, time.UTC),
		Origin: duly.OriginTrigger, Revision: 1, Attempt: 1, Tries: 1, FencingResource: "schedule/invoices", IdempotencyKey: "invoices@2026-11-28",
		Lease: duly.DefaultLease, LeaseUntil: c.LeaseUntil, Timeout: duly.Duration(10 * time.Minute),
		Payload: json.RawMessage(`{"region":"eu"}`), Target: duly.Target{Handler: "work"},
	}
	if got, want := fmt.Sprintf("%+v", c), fmt.Sprintf("%+v", want); got != want || c.Token == 0 || c.LeaseUntil.IsZero() {
		t.Errorf("the claim is\n%s, want\n%s", got, want)
	}
	renewed, err := b.Renew(b.ctx, node, []api.Renewal{
		{Seq: c.Seq, Token: c.Token, Lease: duly.Duration(time.Minute)},
		{Seq: c.Seq, Token: c.Token + 100, Lease: duly.Duration(time.Minute)},
	})
	if err != nil {
		t.Fatal(err)
	}
	if renewed[0].Lost || !renewed[0].Until.After(c.LeaseUntil) || !renewed[1].Lost {
		t.Errorf("renewed %+v", renewed)
	}
	if err := b.Beat(b.ctx, node, api.BeatRequest{Running: 1, ClockOffset: -1500}); err != nil {
		t.Fatal(err)
	}
	done := b.finishOne(t, node, c, duly.AttemptSucceeded, api.Details{
		Output: "42 invoices\x00", Result: json.RawMessage(`{"count":42}`),
		Effects: []store.EffectReport{{Key: "invoice/1"}, {Key: "invoice/2"}},
	})
	if done.Occurrence != "invoices@2026-11-28" || done.State != duly.Succeeded || done.Late || done.Error != nil {
		t.Errorf("finished: %+v", done)
	}
	occ, err := b.Occurrence(b.ctx, "invoices@2026-11-28")
	if err != nil {
		t.Fatal(err)
	}
	if occ.State != duly.Succeeded || len(occ.Attempts) != 1 || len(occ.Effects) != 2 || occ.Attempts[0].Output != "42 invoices\uFFFD" || occ.Attempts[0].Effects.Created != 2 {
		t.Errorf("the occurrence is %+v", occ)
	}
	effects, err := b.Effects(b.ctx, api.EffectQuery{Prefix: "invoice/"})
	if err != nil || len(effects.Items) != 2 || effects.Items[0].Occurrence != occ.ID {
		t.Errorf("the effects are %+v, %v", effects, err)
	}
	nodes, err := b.Nodes(b.ctx)
	if err != nil || len(nodes.Items) != 1 || nodes.Items[0].ClockOffset != -1500 || nodes.Items[0].Running != 1 || nodes.Items[0].State != api.NodeLive {
		t.Errorf("the nodes are %+v, %v", nodes, err)
	}
	if err := b.Leave(b.ctx, node); err != nil {
		t.Fatal(err)
	}
	wantCode(t, b.Beat(b.ctx, node, api.BeatRequest{}), duly.CodeNotFound)
}

func TestWhatFollowsAnAttemptIsDecidedByTheSchedulesPolicies(t *testing.T) {
	b := setup(t)
	s := daily("a")
	s.Retry = duly.Retry{MaxAttempts: 2, Backoff: duly.Duration(time.Millisecond), MaxBackoff: duly.Duration(time.Millisecond)}
	b.put(t, s)
	node := b.join(t)
	b.trigger(t, "a")
	c := b.claimOne(t, node)
	if f := b.finishOne(t, node, c, duly.AttemptFailed, api.Details{Error: "no paper"}); f.State != duly.Pending {
		t.Errorf("after the first failure: %+v", f)
	}
	// The same worker speaks to another server of the same store from here on:
	// what follows does not hang on what one server remembers.
	restarted := serve(t, b.store)
	c2, err := restarted.Claim(b.ctx, api.ClaimRequest{Node: node, Capabilities: []string{"handler:work"}, Wait: duly.Duration(10 * time.Second)})
	if err != nil || len(c2.Claims) != 1 || c2.Claims[0].Attempt != 2 || c2.Claims[0].Token <= c.Token {
		t.Fatalf("the second attempt is %+v, %v", c2, err)
	}
	again := serve(t, b.store)
	if f := again.finishOne(t, node, c2.Claims[0], duly.AttemptFailed, api.Details{Error: "still no paper"}); f.State != duly.Failed {
		t.Errorf("after the last failure: %+v", f)
	}
	occ, err := b.Occurrence(b.ctx, c.Occurrence)
	if err != nil || !strings.Contains(occ.Reason, "attempt 2 of 2 failed: still no paper") {
		t.Errorf("the reason is %q, %v", occ.Reason, err)
	}

	// A person asks for it again, and the tries count anew.
	if _, err := b.Retry(b.ctx, c.Occurrence, "paper is in"); err != nil {
		t.Fatal(err)
	}
	c3 := b.claimOne(t, node)
	if c3.Attempt != 3 || c3.Tries != 1 {
		t.Errorf("after a retry it is attempt %d, try %d", c3.Attempt, c3.Tries)
	}
	if f := b.finishOne(t, node, c3, duly.AttemptFailed, api.Details{Error: "jam", Permanent: true}); f.State != duly.Failed {
		t.Errorf("after a permanent failure: %+v", f)
	}
	list, err := b.Occurrences(b.ctx, api.OccurrenceQuery{Attention: true})
	if err != nil || len(list.Items) != 1 || list.Items[0].ID != c.Occurrence {
		t.Errorf("attention: %+v, %v", list, err)
	}
	if got, err := b.Cancel(b.ctx, c.Occurrence, "dealt with"); err != nil || got.State != duly.Cancelled {
		t.Errorf("dismissed: %+v, %v", got.State, err)
	}
}

func TestRetryAfterAndUncertainAreHeeded(t *testing.T) {
	b := setup(t)
	b.put(t, daily("a"))
	b.put(t, daily("b"))
	node := b.join(t)
	occ := b.trigger(t, "a")
	before := time.Now()
	b.finishOne(t, node, b.claimOne(t, node), duly.AttemptFailed, api.Details{Error: "busy", RetryAfter: duly.Duration(time.Hour)})
	got, err := b.Occurrence(b.ctx, occ.ID)
	if err != nil || got.NotBefore.Before(before.Add(55*time.Minute)) {
		t.Errorf("tried again at %v, %v", got.NotBefore, err)
	}
	b.trigger(t, "b")
	if f := b.finishOne(t, node, b.claimOne(t, node), duly.AttemptUncertain, api.Details{Error: "the bank did not answer"}); f.State != duly.Uncertain {
		t.Errorf("uncertain: %+v", f)
	}
}

func TestABatchOfReportsIsAnsweredOneByOne(t *testing.T) {
	b := setup(t)
	b.put(t, daily("a"))
	node := b.join(t)
	b.trigger(t, "a")
	c := b.claimOne(t, node)
	res, err := b.Finish(b.ctx, node, []api.Report{
		{Seq: c.Seq, Token: c.Token, Outcome: duly.AttemptLost},
		{Seq: c.Seq, Token: c.Token, Outcome: duly.AttemptSucceeded, Details: api.Details{Effects: []store.EffectReport{{Key: ""}}}},
		{Seq: 99999, Token: 1, Outcome: duly.AttemptSucceeded},
		{Seq: c.Seq, Token: c.Token, Outcome: duly.AttemptSucceeded},
	})
	if err != nil {
		t.Fatal(err)
	}
	wantCode(t, res[0].Error.Err(), duly.CodeInvalid, "reports[0].outcome")
	wantCode(t, res[1].Error.Err(), duly.CodeInvalid, "reports[1].effects[0].key")
	wantCode(t, res[2].Error.Err(), duly.CodeNotFound)
	if res[3].Error != nil || res[3].State != duly.Succeeded {
		t.Errorf("the good one: %+v", res[3])
	}
	// Again: answered alike, and nothing changes.
	if f := b.finishOne(t, node, c, duly.AttemptSucceeded, api.Details{}); f.Error != nil || f.State != duly.Succeeded {
		t.Errorf("again: %+v", f)
	}
}

func TestALateReportThatWasSupersededIsRefusedAndKept(t *testing.T) {
	b := setup(t)
	s := daily("a")
	s.Lease = duly.Duration(time.Second)
	b.put(t, s)
	node := b.join(t)
	b.trigger(t, "a")
	c1 := b.claimOne(t, node)
	// The lease runs out, and another attempt takes over.
	later := time.Now().Add(time.Minute)
	if _, err := b.store.Reap(b.ctx, store.ReapRequest{Now: later, Limit: 10, Decide: func(store.Expired) store.Next {
		return store.Next{State: duly.Pending, Reason: "lost"}
	}}); err != nil {
		t.Fatal(err)
	}
	taken, err := b.store.Claim(b.ctx, store.ClaimRequest{Now: later, Node: node, Max: 1, Capabilities: []string{"handler:work"}})
	if err != nil || len(taken.Claims) != 1 {
		t.Fatal(taken, err)
	}
	f := b.finishOne(t, node, c1, duly.AttemptSucceeded, api.Details{})
	wantCode(t, f.Error.Err(), duly.CodeStaleToken)
	occ, err := b.Occurrence(b.ctx, c1.Occurrence)
	if err != nil || occ.Attempts[0].Stale == nil || occ.State != duly.Running {
		t.Errorf("the occurrence is %+v, %v", occ, err)
	}
	b.problem(t, 412, "POST", fmt.Sprintf("/api/v1/callbacks/%d/%d", c1.Seq, c1.Token), "")
}

func TestACallbackEndsADetachedAttempt(t *testing.T) {
	b := setup(t)
	b.put(t, daily("a"))
	node := b.join(t)
	for _, tt := range []struct {
		body string
		want duly.State
	}{
		{``, duly.Succeeded},
		{`{"outcome":"failed","error":"no","permanent":true,"exit_code":500,"effects":[{"key":"k"}]}`, duly.Failed},
	} {
		b.trigger(t, "a")
		c := b.claimOne(t, node)
		resp, text := b.raw(t, "POST", fmt.Sprintf("/api/v1/callbacks/%d/%d", c.Seq, c.Token), tt.body)
		if resp.StatusCode != http.StatusOK || !strings.Contains(text, `"state":"`+string(tt.want)+`"`) {
			t.Errorf("%s was answered %d %s", tt.body, resp.StatusCode, text)
		}
	}
	b.problem(t, 404, "POST", "/api/v1/callbacks/99999/1", "")
	b.problem(t, 422, "POST", "/api/v1/callbacks/x/1", "")
	_, err := b.Callback(b.ctx, 99999, 1, api.CallbackRequest{})
	wantCode(t, err, duly.CodeNotFound)
}

func TestACancelledAttemptIsToldWhenItRenews(t *testing.T) {
	b := setup(t)
	b.put(t, daily("a"))
	node := b.join(t)
	occ := b.trigger(t, "a")
	c := b.claimOne(t, node)
	if got, err := b.Cancel(b.ctx, occ.ID, "wrong month"); err != nil || got.State != duly.Running {
		t.Fatal(got.State, err)
	}
	renewed, err := b.Renew(b.ctx, node, []api.Renewal{{Seq: c.Seq, Token: c.Token}})
	if err != nil || !renewed[0].Cancelled || renewed[0].Lost {
		t.Errorf("renewed %+v, %v", renewed, err)
	}
	if f := b.finishOne(t, node, c, duly.AttemptCancelled, api.Details{}); f.State != duly.Cancelled {
		t.Errorf("finished %+v", f)
	}
}

func TestWorkersThatAskForNonsenseAreTold(t *testing.T) {
	b := setup(t)
	node := b.join(t)
	tests := []struct {
		claim, path, body, location string
		status                      int
	}{
		{"no node", "/claims", `{"node":0,"capabilities":[]}`, "body.node", 422},
		{"too many at once", "/claims", fmt.Sprintf(`{"node":%d,"max":1001,"capabilities":[]}`, node), "body.max", 422},
		{"too long a wait", "/claims", fmt.Sprintf(`{"node":%d,"wait":"2m","capabilities":[]}`, node), "body.wait", 422},
		{"no capabilities", "/claims", fmt.Sprintf(`{"node":%d}`, node), "body.capabilities", 422},
		{"too short a lease", "/attempts/renew", `{"node":1,"items":[{"seq":1,"token":1,"lease":"1ms"}]}`, "body.items[0].lease", 422},
		{"too short a life", "/nodes", `{"name":"x","ttl":"1s"}`, "body.ttl", 422},
		{"no name", "/nodes", `{"name":""}`, "body.name", 422},
		{"a session that is none", "/nodes/4711/beat", ``, "", 404},
		{"leaving twice", "/nodes/4711/leave", ``, "", 404},
		{"too many reports", "/attempts/finish", `{"node":1,"reports":[` + strings.TrimSuffix(strings.Repeat(`{"seq":1,"token":1,"outcome":"failed"},`, 1001), ",") + `]}`, "body.reports", 422},
	}
	for _, tt := range tests {
		t.Run(tt.claim, func(t *testing.T) {
			p := b.problem(t, tt.status, "POST", "/api/v1"+tt.path, tt.body)
			if tt.location != "" && (len(p.Errors) != 1 || p.Errors[0].Location != tt.location) {
				t.Errorf("the errors are %+v, want one at %s", p.Errors, tt.location)
			}
		})
	}
}
