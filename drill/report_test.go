package drill

import (
	"encoding/json"
	"encoding/xml"
	"io"
	"strings"
	"testing"

	"github.com/duly-dev/duly"
)

func TestAFailedRoundOutranksThoseThatPassed(t *testing.T) {
	pass := Result{Verdict: Pass, Occurrences: 3, Attempts: 4, Effects: 6, RecoveryMS: 1000, Why: []string{"fine"}}
	fail := Result{Verdict: Fail, Occurrences: 3, Attempts: 4, Effects: 7, RepeatedEffects: 1, RecoveryMS: 500, Why: []string{WhyNoKey + ": one", WhyNoKey + ": two"}, Timeline: Timeline{Nodes: []string{"node-9"}}}
	var all Result
	for _, r := range []Result{pass, fail, pass, fail} {
		all.add(r)
	}
	if all.Verdict != Fail || all.Rounds != 4 || all.Failed != 2 || all.Effects != 26 || all.RepeatedEffects != 2 || all.RecoveryMS != 1000 {
		t.Errorf("got %+v", all)
	}
	if len(all.Why) != 1 || all.Why[0] != WhyNoKey+": one" || len(all.Timeline.Nodes) != 1 {
		t.Errorf("why %q, timeline of %q", all.Why, all.Timeline.Nodes)
	}
}

// nasty is what a key or an error of a user's own may hold.
const nasty = `</title><script>alert("1" & '2')</script>` + "\x1b[31m"

func nastyReport() *Report {
	return &Report{
		Verdict: Fail, Store: "sqlite", Job: nasty, StartedAt: second(0),
		Scenarios: []Result{{
			Name: "nodes", Title: "t", Verdict: Fail, Rounds: 1, Why: []string{nasty},
			Timeline: Timeline{
				Start: second(0), End: second(3), Nodes: []string{"node-1"},
				Attempts: []Span{{Node: "node-1", Occurrence: nasty, Attempt: 1, Token: 1, From: second(1), To: second(2), Outcome: duly.AttemptLost, Error: nasty, Refused: duly.AttemptSucceeded, RefusedAt: second(2.5)}},
				Marks: []Mark{
					{At: second(0), Kind: MarkStart, Node: "node-1"},
					{At: second(1), Kind: MarkEffect, Node: "node-1", Key: nasty},
					{At: second(1.2), Kind: MarkCut, Text: "1s"},
					{At: second(2.2), Kind: MarkBack},
					{At: second(1.5), Kind: MarkStop, Node: "node-1"},
					{At: second(2), Kind: MarkContinue, Node: "node-1"},
					{At: second(3), Kind: MarkKill, Node: "node-1"},
				},
			},
		}},
	}
}

func TestAReportHoldsNothingThatItsReaderWouldRun(t *testing.T) {
	var page strings.Builder
	if err := nastyReport().WriteHTML(&page); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(page.String(), "<script") {
		t.Error("the page has a script of its data's making")
	}
	for _, want := range []string{`class="attempt lost"`, `class="effect"`, "stale report refused", `class="outage"`, `class="frozen"`, "SIGKILL", `class="life"`} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the picture has no %s", want)
		}
	}
}

func TestJUnitIsValidWhateverAJobPrints(t *testing.T) {
	var out strings.Builder
	if err := nastyReport().WriteJUnit(&out); err != nil {
		t.Fatal(err)
	}
	dec := xml.NewDecoder(strings.NewReader(out.String()))
	failures := 0
	for {
		token, err := dec.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == "failure" {
			failures++
		}
	}
	if failures != 1 {
		t.Errorf("%d failures", failures)
	}
}

func TestTheJSONHasTheShapeThatIsPromised(t *testing.T) {
	text, err := json.Marshal(nastyReport())
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Verdict   string           `json:"verdict"`
		Scenarios []map[string]any `json:"scenarios"`
	}
	if err := json.Unmarshal(text, &got); err != nil || got.Verdict != "fail" || len(got.Scenarios) != 1 {
		t.Fatalf("%v: %s", err, text)
	}
	for _, name := range []string{"name", "occurrences", "attempts", "effects", "repeated_effects", "lost_occurrences", "recovery_ms", "verdict", "why"} {
		if _, there := got.Scenarios[0][name]; !there {
			t.Errorf("a scenario has no %s", name)
		}
	}
}

func TestATimelineIsToldInOrder(t *testing.T) {
	r := nastyReport()
	r.Scenarios[0].Timeline.Attempts[0].Occurrence = "invoices@2026-11-28"
	var out strings.Builder
	if err := r.Scenarios[0].Timeline.WriteText(&out); err != nil {
		t.Fatal(err)
	}
	last := -1
	for _, want := range []string{"0.000s  node-1   starts", "1.000s  node-1   EFFECT", "is granted", "1.200s  store    cannot be reached, for 1s", "1.500s  node-1   SIGSTOP", "ends: lost", "2.500s  node-1   attempt 1 of invoices@2026-11-28 (token 1) reports succeeded and is refused: stale", "3.000s  node-1   SIGKILL"} {
		at := strings.Index(out.String(), want)
		if at < last || at < 0 {
			t.Errorf("%q is missing or out of order in\n%s", want, out.String())
		}
		last = max(last, at)
	}
}

func TestEveryScenarioIsExplained(t *testing.T) {
	for _, s := range Scenarios() {
		if s.Title == "" || s.Does == "" || s.Expects == "" || s.Why == "" || s.play == nil || s.URL && !s.Exec {
			t.Errorf("%s is not explained: %+v", s.Name, s)
		}
	}
}
