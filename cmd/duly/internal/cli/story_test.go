package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/cron"
)

func TestAStoryTellsAttemptsAndEffectsApart(t *testing.T) {
	zone, err := cron.LoadZone("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	at := func(s string) time.Time {
		t.Helper()
		parsed, err := time.Parse(time.RFC3339Nano, s)
		if err != nil {
			t.Fatal(err)
		}
		return parsed
	}
	code := 1
	o := duly.Occurrence{
		ID: "invoices@2026-11-28", Schedule: "invoices", Revision: 3, Period: "2026-11-28",
		Covers: []string{"2026-11-27", "2026-11-28"}, Count: 1,
		Due: at("2026-11-28T23:00:00Z"), IntervalStart: at("2026-11-27T23:00:00Z"),
		State: duly.Succeeded, Origin: duly.OriginCatchUp, Queue: "billing", Priority: 5,
		CreatedAt: at("2026-11-28T23:07:00Z"), FinishedAt: at("2026-11-28T23:09:40Z"), FiredBy: "web-1", TZData: "2026f",
		Attempts: []duly.Attempt{
			{
				Number: 1, Outcome: duly.AttemptLost, Node: "web-1", Token: 41,
				StartedAt: at("2026-11-28T23:07:00.02Z"), FinishedAt: at("2026-11-28T23:07:30.02Z"),
				Stale:   &duly.StaleReport{Outcome: duly.AttemptSucceeded, At: at("2026-11-28T23:08:10Z"), Error: "too late"},
				Effects: duly.EffectCounts{Created: 1},
			},
			{
				Number: 2, Outcome: duly.AttemptFailed, Node: "web-2", Token: 42,
				StartedAt: at("2026-11-28T23:07:31Z"), FinishedAt: at("2026-11-28T23:07:33.5Z"),
				Error: "exit status 1", ExitCode: &code, Output: "sending\n\x1b[31mno answer\x1b[0m\n",
			},
			{
				Number: 3, Outcome: duly.AttemptSucceeded, Node: "web-2", Token: 44, Late: true,
				StartedAt: at("2026-11-28T23:09:00Z"), FinishedAt: at("2026-11-28T23:09:40Z"),
				Result: json.RawMessage(`{"sent":2}`), Effects: duly.EffectCounts{Created: 1, Reused: 1},
			},
		},
		Effects: []duly.Effect{
			{Key: "invoice/42/2026-11", Attempt: 1, Token: 41, CreatedAt: at("2026-11-28T23:07:10Z"), Result: json.RawMessage(`{"no":7}`)},
			{Key: "invoice/43/2026-11", Attempt: 3, Token: 44, CreatedAt: at("2026-11-28T23:09:30Z")},
			{Key: "charge/43/2026-11", CreatedAt: at("2026-11-28T23:09:40Z")},
		},
	}
	const want = `invoices@2026-11-28

  Business date  2026-11-28
  Covers         2026-11-27, 2026-11-28
  Due            2026-11-29T00:00:00+01:00 (12h ago)
  Data since     2026-11-28T00:00:00+01:00
  State          succeeded
  Origin         caught up with: it came due while nothing could fire; made 2026-11-29T00:07:00+01:00 by web-1, zone data 2026f, revision 3
  Queue          billing, priority 5
  Ended          2026-11-29T00:09:40+01:00 (12h ago)

Attempts

  1  lost on web-1 with token 41
     Started     2026-11-29T00:07:00.020+01:00
     Ended       2026-11-29T00:07:30.020+01:00, after 30s
     Stale       at 2026-11-29T00:08:10+01:00 it reported succeeded, after a newer token had been granted; the report was refused and changed nothing
                 it said: too late
     Effects     1 created

  2  failed on web-2 with token 42
     Started     2026-11-29T00:07:31+01:00
     Ended       2026-11-29T00:07:33.500+01:00, after 2.5s
     Error       exit status 1
     Exit code   1
     Output      sending
                 no answer

  3  succeeded on web-2 with token 44
     Started     2026-11-29T00:09:00+01:00
     Ended       2026-11-29T00:09:40+01:00, after 40s
     Late        it reported after its lease had run out; nobody had taken over, so the report was accepted
     Effects     1 created, 1 found done already
     Result      {"sent":2}

Effects

  invoice/42/2026-11
     Recorded    by attempt 1 with token 41, 2026-11-29T00:07:10+01:00
     Result      {"no":7}
  invoice/43/2026-11
     Recorded    by attempt 3 with token 44, 2026-11-29T00:09:30+01:00
  charge/43/2026-11
     Recorded    found done by an attempt that could not tell who had made it, 2026-11-29T00:09:40+01:00
`
	var b strings.Builder
	story{sheet: newSheet(&b), zone: zone, now: at("2026-11-29T11:10:00Z")}.tell(o)
	if got := ansi.Strip(b.String()); got != want {
		t.Errorf("the story is:\n%s", got)
	}
}

func TestAStoryListsAFewEffectsAndCountsTheRest(t *testing.T) {
	o := duly.Occurrence{ID: "a@2026-11-28", Attempts: []duly.Attempt{{Number: 1, Effects: duly.EffectCounts{Created: 10_000}}}}
	for i := range 10_000 {
		o.Effects = append(o.Effects, duly.Effect{Key: fmt.Sprintf("invoice/%d", i), Attempt: 1})
	}
	var b strings.Builder
	s := story{sheet: newSheet(&b), zone: time.UTC}
	s.tell(o)
	told := ansi.Strip(b.String())
	if !strings.Contains(told, "10000 created") || !strings.Contains(told, "… and 9980 more: duly effects ls --occurrence a@2026-11-28") || strings.Count(told, "invoice/") != 20 {
		t.Errorf("told:\n%s", told)
	}
	b.Reset()
	s.effects(duly.Occurrence{Attempts: []duly.Attempt{{Effects: duly.EffectCounts{Reused: 1}}}})
	if told := ansi.Strip(b.String()); !strings.Contains(told, "none of its own") {
		t.Errorf("told:\n%s", told)
	}
}

func TestAStoryTellsWhatNoLeaseOwned(t *testing.T) {
	started := time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC)
	code := 3
	o := duly.Occurrence{
		ID: "probe@2026-11-28", Period: "2026-11-28",
		Unowned: []duly.Unowned{
			{Period: "2026-11-27", Node: "web-1", StartedAt: started, FinishedAt: started.Add(time.Second), Outcome: duly.AttemptSucceeded},
			{Period: "2026-11-28", Node: "web-2", StartedAt: started, FinishedAt: started.Add(2 * time.Second), Outcome: duly.AttemptFailed, ExitCode: &code, Error: "no answer"},
		},
	}
	var b strings.Builder
	story{sheet: newSheet(&b), zone: time.UTC, now: started}.tell(o)
	told := ansi.Strip(b.String())
	for _, want := range []string{
		"Unowned: done while the store was out of reach",
		"2026-11-27: succeeded on web-1, started 2026-11-28T09:00:00Z, took 1.0s",
		"failed on web-2, started 2026-11-28T09:00:00Z, took 2.0s, exit or status 3: no answer",
	} {
		if !strings.Contains(told, want) {
			t.Errorf("%q is not told in:\n%s", want, told)
		}
	}
}
