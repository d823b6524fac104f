package main

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/api"
)

// onDemand is a schedule that is due when somebody asks.
func onDemand(id, more, script string) string {
	return fmt.Sprintf("schedules:\n  %s:\n    cron: \"0 0 1 1 *\"\n%s    target: { exec: { command: [sh, -c, %q] } }\n", id, more, script)
}

// longAtFirst works for a minute at the first attempt, saying that it began.
const longAtFirst = `echo began >> began; if [ $DULY_ATTEMPT = 1 ]; then sleep 60; fi; echo done`

func (s *site) began() bool {
	_, err := os.Stat(filepath.Join(s.dir, "began"))
	return err == nil
}

// triggered starts an occurrence and waits until its command has begun.
func (s *site) triggered(client *api.Client, schedule string) string {
	s.t.Helper()
	res, err := client.Trigger(s.t.Context(), schedule, api.TriggerRequest{})
	if err != nil {
		s.t.Fatal(err)
	}
	eventually(s.t, readyWithin, "the command begins", s.began)
	return res.Occurrence.ID
}

func (s *site) occurrence(client *api.Client, id string) duly.Occurrence {
	s.t.Helper()
	o, err := client.Occurrence(s.t.Context(), id)
	if err != nil {
		s.t.Fatal(err)
	}
	return o
}

func TestSIGTERMLetsRunningAttemptsEnd(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.write("duly.yaml", onDemand("slow", "", "touch began; sleep 1; echo done"), 0o644)
	p, client := s.serve("-f", "duly.yaml")
	s.triggered(client, "slow")

	if err := p.terminate(); err != nil {
		t.Fatal(err)
	}
	all := s.occurrences("slow")
	if len(all) != 1 || all[0].State != duly.Succeeded || len(all[0].Attempts) != 1 {
		t.Fatalf("after the drain: %+v", all)
	}
}

func TestADrainThatTakesTooLongGivesTheWorkBack(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.write("duly.yaml", onDemand("slow", "", longAtFirst), 0o644)
	p, client := s.serve("-f", "duly.yaml", "--drain", "300ms")
	s.triggered(client, "slow")

	if err := p.terminate(); err != nil {
		t.Fatal(err)
	}
	all := s.occurrences("slow")
	if len(all) != 1 || all[0].State != duly.Pending || all[0].Attempts[0].Outcome != duly.AttemptReleased {
		t.Fatalf("after the drain: %+v", all)
	}
}

func TestASecondSignalEndsAtOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.write("duly.yaml", onDemand("slow", "", longAtFirst), 0o644)
	p, client := s.serve("-f", "duly.yaml", "--drain", "10m")
	s.triggered(client, "slow")

	signalled := func() {
		if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
	}
	signalled()
	signalled() // so soon after the first, it is the same one
	select {
	case <-p.done:
		t.Fatal("the first signal ended the process in the middle of its drain")
	case <-time.After(time.Second):
	}
	signalled()
	select {
	case <-p.done:
	case <-time.After(readyWithin):
		t.Fatal("the second signal did not end the process")
	}
	if code := p.cmd.ProcessState.ExitCode(); code != 128+int(syscall.SIGTERM) {
		t.Errorf("exit code %d", code)
	}
}

func TestAnAttemptThatDiedWithItsNodeIsTriedAgain(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.write("duly.yaml", onDemand("invoices", "    lease: 2s\n", longAtFirst), 0o644)
	p, client := s.serve("-f", "duly.yaml", "--name", "first")
	id := s.triggered(client, "invoices")
	if err := p.kill(); err != nil {
		t.Fatal(err)
	}

	_, client = s.serve("--name", "second")
	eventually(t, readyWithin, "the occurrence succeeds", func() bool { return s.occurrence(client, id).State == duly.Succeeded })

	o := s.occurrence(client, id)
	if len(o.Attempts) != 2 || o.Attempts[0].Outcome != duly.AttemptLost || o.Attempts[1].Outcome != duly.AttemptSucceeded {
		t.Fatalf("attempts: %+v", o.Attempts)
	}
	if o.Attempts[1].Token <= o.Attempts[0].Token {
		t.Errorf("the fencing token went from %d to %d; it must grow", o.Attempts[0].Token, o.Attempts[1].Token)
	}
	told := s.duly("occurrences", "show", id)
	inOrder(t, told, "State", "succeeded", "Attempts", "1  lost on first", "2  succeeded on second", "Output", "done", "Effects", "none recorded")
}

func TestAPausedNodeCannotEndWhatAnotherHasTakenOver(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.write("duly.yaml", onDemand("invoices", "    lease: 2s\n", "echo began >> began; if [ $DULY_ATTEMPT = 1 ]; then sleep 1; else sleep 4; fi"), 0o644)
	paused, client := s.serve("-f", "duly.yaml", "--name", "paused")
	id := s.triggered(client, "invoices")
	signal := func(sig syscall.Signal) {
		t.Helper()
		if err := paused.cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
	}
	signal(syscall.SIGSTOP)
	_, client = s.serve("--name", "other")
	eventually(t, readyWithin, "the other node takes over", func() bool { return len(s.occurrence(client, id).Attempts) == 2 })
	signal(syscall.SIGCONT)

	eventually(t, readyWithin, "it succeeds", func() bool { return s.occurrence(client, id).State == duly.Succeeded })
	o := s.occurrence(client, id)
	if o.Attempts[0].Outcome != duly.AttemptLost || o.Attempts[0].Stale == nil || o.Attempts[1].Node != "other" {
		t.Fatalf("attempts: %+v", o.Attempts)
	}
	told := s.duly("occurrences", "show", id)
	inOrder(t, told, "1  lost on paused", "Stale", "the report was refused and changed nothing", "2  succeeded on other", "Effects")
}

func TestAServerWaitsForItsStore(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	db, err := sql.Open("sqlite", filepath.Join(s.dir, "duly.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	hold := func(statement string) {
		t.Helper()
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	hold("BEGIN EXCLUSIVE")

	p := &process{dir: s.dir, store: "sqlite:duly.db?busy_timeout=50ms"}
	started := make(chan error, 1)
	go func() {
		_, err := p.start()
		started <- err
	}()
	eventually(t, readyWithin, "it says what it waits for", func() bool { return strings.Contains(p.log.String(), "the store does not answer") })
	hold("ROLLBACK")
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	if err := p.terminate(); err != nil {
		t.Fatal(err)
	}
}

// inOrder wants parts of a text to come one after the other.
func inOrder(t *testing.T, text string, parts ...string) {
	t.Helper()
	rest := text
	for _, part := range parts {
		_, after, found := strings.Cut(rest, part)
		if !found {
			t.Fatalf("%q is missing, or not in its place, in:\n%s", part, text)
		}
		rest = after
	}
}

func TestTwoServersMakeEachSecondOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.write("duly.yaml", everySecond("beat", "    overlap: allow\n", "true"), 0o644)
	_, _ = s.serve("-f", "duly.yaml", "--name", "a")
	_, _ = s.serve("-f", "duly.yaml", "--name", "b")

	const seconds = 8
	eventually(t, readyWithin, "some seconds pass", func() bool { return len(s.succeeded("beat")) >= seconds })
	all := s.occurrences("beat")
	consecutive(t, all)
	nodes := map[string]int{}
	for _, o := range all[:seconds-2] {
		if o.State != duly.Succeeded || len(o.Attempts) != 1 {
			t.Errorf("%s is %s after %d attempts", o.ID, o.State, len(o.Attempts))
		}
		nodes[o.Attempts[0].Node]++
	}
	t.Logf("attempts by node: %v", nodes)
}

// everySecond is a schedule that is due every second.
func everySecond(id, more, script string) string {
	return fmt.Sprintf("schedules:\n  %s:\n    cron: \"* * * * * *\"\n%s    target: { exec: { command: [sh, -c, %q] } }\n", id, more, script)
}

func (s *site) succeeded(schedule string) []duly.Occurrence {
	s.t.Helper()
	var done []duly.Occurrence
	for _, o := range s.occurrences(schedule) {
		if o.State == duly.Succeeded {
			done = append(done, o)
		}
	}
	return done
}

// consecutive wants one occurrence for each second, without a gap.
func consecutive(t *testing.T, all []duly.Occurrence) {
	t.Helper()
	for i := 1; i < len(all); i++ {
		if d := all[i].Due.Sub(all[i-1].Due); d != time.Second {
			t.Errorf("%s comes %v after %s", all[i].ID, d, all[i-1].ID)
		}
	}
}

func TestABadFileEndsTheServerBeforeItServes(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.write("duly.yaml", onDemand("x", "    overlap: sometimes\n", "true"), 0o644)
	p := &process{dir: s.dir}
	_, err := p.start("-f", "duly.yaml")
	if err == nil {
		t.Fatal("it serves")
	}
	if code := p.cmd.ProcessState.ExitCode(); code != 5 || !strings.Contains(err.Error(), "overlap") {
		t.Fatalf("exit code %d: %v", code, err)
	}
}

func TestAServerOutlivesTheReaderOfItsOutput(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.write("duly.yaml", onDemand("quick", "", "true"), 0o644)
	p, client := s.serveThroughABrokenPipe("-f", "duly.yaml", "--debug")
	for range 3 {
		if _, err := client.Schedules(t.Context(), api.ScheduleQuery{}); err != nil { // each writes a line to the log
			t.Fatal(err)
		}
	}
	if err := p.terminate(); err != nil {
		t.Fatal(err)
	}
}
