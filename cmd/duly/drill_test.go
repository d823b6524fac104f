//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/duly-dev/duly/drill"
)

// drilled runs `duly drill` to its end and answers its report and exit code.
func drilled(t *testing.T, args ...string) (drill.Report, int) {
	t.Helper()
	// Twice the shortest lease: these processes share the machine with others.
	cmd := exec.CommandContext(t.Context(), binary(), append([]string{"drill", "-o", "json", "--lease", "2s"}, args...)...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "DULY_STORE=sqlite:/does/not/exist/and/is/not/used.db", "DULY_SERVER=")
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	code := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	var r drill.Report
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatalf("exit code %d, %v\n%s%s", code, err, out, errs.String())
	}
	return r, code
}

// tell shows what went wrong with scenarios that were to pass.
func tell(r drill.Report) string {
	var b strings.Builder
	for _, s := range r.Scenarios {
		if s.Verdict != drill.Pass {
			fmt.Fprintf(&b, "%s:\n  %s\n", s.Name, strings.Join(s.Why, "\n  "))
			_ = s.Timeline.WriteText(&b)
		}
	}
	return b.String()
}

// keptEverything checks what a drill of the sample must have found.
func keptEverything(t *testing.T, r drill.Report, code int) {
	t.Helper()
	if code != 0 || r.Verdict != drill.Pass {
		t.Errorf("exit code %d, verdict %s\n%s", code, r.Verdict, tell(r))
	}
	names := drill.Names()
	if len(r.Scenarios) != len(names) {
		t.Fatalf("%d scenarios, want %d", len(r.Scenarios), len(names))
	}
	for i, s := range r.Scenarios {
		if s.Name != names[i] || s.RepeatedEffects != 0 || s.MissingEffects != 0 || s.LostOccurrences != 0 {
			t.Errorf("%s: %d repeated, %d missing, %d lost", s.Name, s.RepeatedEffects, s.MissingEffects, s.LostOccurrences)
		}
		if s.Occurrences == 0 || s.Attempts == 0 || s.Effects == 0 || len(s.Why) == 0 || len(s.Timeline.Attempts) != s.Attempts {
			t.Errorf("%s says too little to be believed: %d occurrences, %d attempts (%d in the timeline), %d effects, why %q", s.Name, s.Occurrences, s.Attempts, len(s.Timeline.Attempts), s.Effects, s.Why)
		}
	}
	// These must have hit something, or they prove nothing.
	for name, want := range map[string][]drill.MarkKind{
		"crash-before-effect": {drill.MarkKill}, "crash-after-effect": {drill.MarkKill, drill.MarkReused},
		"pause-past-lease": {drill.MarkStop, drill.MarkContinue}, "store-lost": {drill.MarkCut, drill.MarkBack},
		"drain": {drill.MarkTerm, drill.MarkExit}, "duplicate-delivery": {drill.MarkReused}, "crash-loop": {drill.MarkKill},
	} {
		s := scenario(t, r, name)
		if strings.HasPrefix(name, "crash") || name == "pause-past-lease" {
			if s.RecoveryMS <= 0 {
				t.Errorf("%s recovered in no time", name)
			}
		}
		for _, kind := range want {
			if !marked(s, kind) {
				t.Errorf("%s has no %s in its timeline", name, kind)
			}
		}
	}
	refused := 0
	for _, a := range scenario(t, r, "pause-past-lease").Timeline.Attempts {
		if a.Refused != "" {
			refused++
		}
	}
	if refused != 1 {
		t.Errorf("pause-past-lease: %d reports were refused as stale, want 1", refused)
	}
}

func scenario(t *testing.T, r drill.Report, name string) drill.Result {
	t.Helper()
	for _, s := range r.Scenarios {
		if s.Name == name {
			return s
		}
	}
	t.Fatalf("the report has no %s", name)
	return drill.Result{}
}

func marked(s drill.Result, kind drill.MarkKind) bool {
	for _, m := range s.Timeline.Marks {
		if m.Kind == kind {
			return true
		}
	}
	return false
}

func TestDrillKeepsEveryPromiseOnSQLite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	page, suite := filepath.Join(dir, "drill.html"), filepath.Join(dir, "drill.xml")
	r, code := drilled(t, "--html", page, "--junit", suite)
	keptEverything(t, r, code)

	html, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	xmlText, err := os.ReadFile(suite)
	if err != nil {
		t.Fatal(err)
	}
	var junit struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Cases    []struct {
			Name string `xml:"name,attr"`
		} `xml:"testcase"`
	}
	if err := xml.Unmarshal(xmlText, &junit); err != nil {
		t.Fatal(err)
	}
	if junit.Tests != len(drill.Names()) || junit.Failures != 0 || len(junit.Cases) != junit.Tests {
		t.Errorf("JUnit: %+v", junit)
	}
	for _, name := range drill.Names() {
		if !bytes.Contains(html, []byte(`<section id="`+name+`"`)) {
			t.Errorf("the page has no section on %s", name)
		}
	}
	for _, outside := range []string{"http://", "https://", "<script", "<link", "src="} {
		if bytes.Contains(html, []byte(outside)) {
			t.Errorf("the page is not self-contained: it has %s", outside)
		}
	}
}

func TestDrillKeepsEveryPromiseOnPostgresAndLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	d := servers.Postgres(t)
	r, code := drilled(t, "--store", d.DSN)
	keptEverything(t, r, code)
	var left int
	if err := d.Open(t).QueryRowContext(t.Context(), "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'duly%'").Scan(&left); err != nil {
		t.Fatal(err)
	}
	if left != 0 {
		t.Errorf("%d schemas are left behind", left)
	}
}

// naiveJob is examples/naive, built once, with a database of its own.
type naiveJob struct{ exe, db string }

func newNaiveJob(t *testing.T) naiveJob {
	t.Helper()
	dir := t.TempDir()
	j := naiveJob{filepath.Join(dir, "naive"), filepath.Join(dir, "app.db")}
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", j.exe, "../../examples/naive").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return j
}

// slowly makes its attempts long enough to be hit before their effect, however
// busy the machine.
const slowly = "-work 1500ms"

func (j naiveJob) line(args string) string { return j.exe + " -db " + j.db + " " + args }

func (j naiveJob) drill(t *testing.T, flags string, args ...string) (drill.Report, int) {
	t.Helper()
	return drilled(t, append([]string{"--exec", j.line(flags + " bill"), "--count", j.line("count")}, args...)...)
}

func TestDrillSaysInWordsWhatANaiveJobIsMissing(t *testing.T) {
	t.Parallel()
	j := newNaiveJob(t)
	r, code := j.drill(t, slowly, "nodes", "crash-before-effect", "crash-after-effect", "pause-past-lease", "missed-dates")
	if code != 1 || r.Verdict != drill.Fail {
		t.Errorf("exit code %d, verdict %s: it must fail", code, r.Verdict)
	}
	for _, want := range []struct {
		scenario, why    string
		or               string
		repeated, missed bool
	}{
		{"crash-after-effect", drill.WhyNoKey, drill.WhyNoKey, true, false},
		// It lacks both. On a crowded machine the pause can come after the effect
		// that it was meant to come before, and then it is the key that is missed.
		{"pause-past-lease", drill.WhyNoFence, drill.WhyNoKey, true, false},
		{"missed-dates", drill.WhyCoversUnread, drill.WhyCoversUnread, false, true},
	} {
		s := scenario(t, r, want.scenario)
		said := strings.Join(s.Why, "\n")
		if s.Verdict != drill.Fail || !strings.HasPrefix(said, want.why+": ") && !strings.HasPrefix(said, want.or+": ") {
			t.Errorf("%s: %s, %q; it must begin with %q", want.scenario, s.Verdict, s.Why, want.why)
		}
		if (s.RepeatedEffects > 0) != want.repeated || (s.MissingEffects > 0) != want.missed || s.LostOccurrences != 0 {
			t.Errorf("%s: %d repeated, %d missing, %d lost", want.scenario, s.RepeatedEffects, s.MissingEffects, s.LostOccurrences)
		}
	}
	for _, quiet := range []string{"nodes", "crash-before-effect"} { // as on a quiet day
		if s := scenario(t, r, quiet); s.Verdict != drill.Pass {
			t.Errorf("%s: %q", quiet, s.Why)
		}
	}
}

func TestDrillFindsAJobThatEndsWellBecauseALockIsHeld(t *testing.T) {
	t.Parallel()
	j := newNaiveJob(t)
	r, code := j.drill(t, slowly+" -lock 1m", "crash-before-effect")
	s := scenario(t, r, "crash-before-effect")
	if code != 1 || s.MissingEffects == 0 || !strings.HasPrefix(s.Why[0], drill.WhyMissing+": ") {
		t.Errorf("exit code %d, %d missing, %q", code, s.MissingEffects, s.Why)
	}
}

func TestDrillPassesTheSameJobWithKeysAndAFence(t *testing.T) {
	t.Parallel()
	j := newNaiveJob(t)
	r, code := j.drill(t, "-guarded")
	if code != 0 || r.Verdict != drill.Pass || len(r.Scenarios) != 9 {
		t.Errorf("exit code %d, verdict %s, %d scenarios\n%s", code, r.Verdict, len(r.Scenarios), tell(r))
	}
}

func TestRepeatSpreadsTheStrikesOverTheAttempt(t *testing.T) {
	t.Parallel()
	j := newNaiveJob(t)
	r, code := j.drill(t, "-guarded", "--repeat", "3", "crash-before-effect")
	s := scenario(t, r, "crash-before-effect")
	if code != 0 || s.Rounds != 3 || s.Failed != 0 || s.Occurrences != 3*3 || s.Effects != 3*3*3 {
		t.Errorf("exit code %d, %d rounds, %d failed, %d occurrences, %d effects\n%s", code, s.Rounds, s.Failed, s.Occurrences, s.Effects, tell(r))
	}
}

func TestDrillReachesAJobBehindAURL(t *testing.T) {
	t.Parallel()
	j := newNaiveJob(t)
	for _, tt := range []struct {
		flags []string
		want  drill.Verdict
	}{{[]string{"-guarded"}, drill.Pass}, {nil, drill.Fail}} {
		address := freeAddress(t)
		service := exec.Command(j.exe, append(tt.flags, "-db", j.db, "-listen", address, "serve")...)
		if err := service.Start(); err != nil {
			t.Fatal(err)
		}
		eventually(t, 30*time.Second, "the service listens", func() bool {
			c, err := net.Dial("tcp", address)
			if err == nil {
				_ = c.Close()
			}
			return err == nil
		})
		r, _ := drilled(t, "--url", "http://"+address+"/jobs/invoices", "--count", j.line("count"), "crash-after-effect")
		_ = service.Process.Kill()
		_ = service.Wait()
		s := scenario(t, r, "crash-after-effect")
		if s.Verdict != tt.want || tt.want == drill.Fail && !strings.HasPrefix(s.Why[0], drill.WhyNoKey) {
			t.Errorf("%v: %s, %q", tt.flags, s.Verdict, s.Why)
		}
	}
}

// freeAddress is one that nobody listens on just now.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
