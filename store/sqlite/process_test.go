package sqlite

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// The tests of this package are also the other processes that some of them
// need: a child is this very binary with its part and the store's URL in its
// environment.
const (
	envPart = "DULY_TEST_PART"
	envURL  = "DULY_TEST_URL"
)

func TestMain(m *testing.M) {
	part := os.Getenv(envPart)
	if part == "" {
		os.Exit(m.Run())
	}
	if err := play(part, os.Getenv(envURL)); err != nil {
		fmt.Fprintln(os.Stderr, part+":", err)
		os.Exit(1)
	}
}

// play is what a child does.
func play(part, url string) error {
	ctx := context.Background()
	s, err := Open(ctx, url, store.Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	switch part {
	case "open":
		_, err := s.Join(ctx, store.NodeInfo{Name: "child"})
		return err
	case "insert":
		return insertForEver(ctx, s)
	case "work":
		return workUntilDone(ctx, s)
	}
	return fmt.Errorf("no such part")
}

// insertForEver says the ID of each occurrence once it is acknowledged.
func insertForEver(ctx context.Context, s *Store) error {
	pid := os.Getpid()
	for i := 0; ; i++ {
		res, err := s.Insert(ctx, store.InsertRequest{Schedule: "a", By: "child", Occurrences: []store.NewOccurrence{{
			Period: fmt.Sprintf("manual-%d-%d", pid, i), Due: time.Now(), State: duly.Pending, Origin: duly.OriginTrigger, Placement: place,
		}}})
		if err != nil {
			return err
		}
		fmt.Println(res[0].ID)
	}
}

var place = store.Placement{Capability: "handler:h", Lease: time.Minute}

// workUntilDone fires, claims and finishes until nothing is left, and says
// what it claimed.
func workUntilDone(ctx context.Context, s *Store) error {
	node, err := s.Join(ctx, store.NodeInfo{Name: fmt.Sprint("child-", os.Getpid()), TTL: time.Minute})
	if err != nil {
		return err
	}
	claim := store.ClaimRequest{Node: node, Max: 3, Capabilities: []string{"handler:h"}}
	for idle := 0; idle < 5; {
		fired, err := s.Fire(ctx, store.FireRequest{Node: node, Limit: 2, Plan: backlog, Claim: &claim})
		if err != nil {
			return err
		}
		claims := fired.Claims
		if len(claims) == 0 {
			res, err := s.Claim(ctx, claim)
			if err != nil {
				return err
			}
			claims = res.Claims
		}
		if len(claims) == 0 {
			idle++
		}
		var reports []store.Report
		for _, c := range claims {
			fmt.Println(c.Seq, c.Token)
			reports = append(reports, store.Report{Seq: c.Seq, Token: c.Token, Outcome: duly.AttemptSucceeded, Next: store.Next{State: duly.Succeeded}})
		}
		answers, err := s.Finish(ctx, node, reports)
		if err != nil {
			return err
		}
		for _, a := range answers {
			if a.Err != nil {
				return a.Err
			}
		}
	}
	return nil
}

// backlogSize is how many occurrences each schedule of a backlog owes.
const backlogSize = 20

// backlog plans the occurrences of a schedule all at once.
func backlog(now time.Time, due []store.DueSchedule) []store.Firing {
	all := make([]store.Firing, len(due))
	for i, d := range due {
		all[i] = store.Firing{Schedule: d.Schedule, Cursor: now}
		for n := range backlogSize {
			all[i].Occurrences = append(all[i].Occurrences, store.NewOccurrence{
				Period: fmt.Sprint("p", n), Due: d.Cursor, State: duly.Pending, Origin: duly.OriginSchedule, Revision: 1, Definition: d.Revisions[0].Definition, Placement: place,
			})
		}
	}
	return all
}

// child is another process on a store.
type child struct {
	*exec.Cmd
	lines *bufio.Scanner
	said  *strings.Builder // on stderr
}

func startChild(t *testing.T, part, url string) *child {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := &child{Cmd: exec.Command(exe), said: &strings.Builder{}}
	c.Env = append(os.Environ(), envPart+"="+part, envURL+"="+url)
	c.Stderr = c.said
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.lines = bufio.NewScanner(out)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() })
	return c
}

// end waits for a child that ends by itself, and answers what it said.
func (c *child) end(t *testing.T) (lines []string) {
	t.Helper()
	for c.lines.Scan() {
		lines = append(lines, c.lines.Text())
	}
	if err := c.Wait(); err != nil {
		t.Fatalf("%v: %s", err, c.said)
	}
	return lines
}

// openTest opens a store that is closed with the test.
func openTest(t testing.TB, url string) *Store {
	t.Helper()
	s, err := Open(context.Background(), url, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// applyTest makes schedules that are due right away.
func applyTest(t testing.TB, s *Store, ids ...string) {
	t.Helper()
	req := store.ApplyRequest{Now: time.Now().Add(-time.Minute), Owner: "test", By: "test"}
	for _, id := range ids {
		req.Schedules = append(req.Schedules, store.Definition{
			Schedule: duly.Schedule{ID: id, Timing: duly.Timing{Every: duly.Duration(time.Second)}, Target: duly.Target{Handler: "h"}},
			Next:     func(_, after time.Time) time.Time { return after.Add(time.Second) },
		})
	}
	if _, err := s.Apply(context.Background(), req); err != nil {
		t.Fatal(err)
	}
}

func checkIntegrity(t *testing.T, s *Store) {
	t.Helper()
	var verdict string
	_, err := read(context.Background(), s, func(c *conn) (bool, error) {
		return c.one(context.Background(), "PRAGMA integrity_check", nil, func(r row) { verdict = r.str(0) })
	})
	if err != nil || verdict != "ok" {
		t.Fatalf("integrity: %q, %v", verdict, err)
	}
}

func TestKillingTheProcessLosesNothingAcknowledged(t *testing.T) {
	url := fresh(t)
	s := openTest(t, url)
	applyTest(t, s, "a")
	var acknowledged []string
	for round := range 5 {
		c := startChild(t, "insert", url)
		for range 50 + 37*round {
			if !c.lines.Scan() {
				t.Fatalf("the child ended by itself: %s", c.said)
			}
			acknowledged = append(acknowledged, c.lines.Text())
		}
		if err := c.Process.Kill(); err != nil { // SIGKILL, in the middle of writes
			t.Fatal(err)
		}
		for c.lines.Scan() {
			acknowledged = append(acknowledged, c.lines.Text())
		}
		_ = c.Wait()
		for _, id := range acknowledged {
			if _, err := s.Occurrence(context.Background(), id); err != nil {
				t.Fatalf("acknowledged and gone: %v", err)
			}
		}
	}
	checkIntegrity(t, s)
	stats, err := s.Stats(context.Background())
	if err != nil || stats.Pending < len(acknowledged) {
		t.Fatalf("%d are counted, %d were acknowledged (%v)", stats.Pending, len(acknowledged), err)
	}
}

func TestProcessesShareOneFile(t *testing.T) {
	url := fresh(t)
	s := openTest(t, url)
	var ids []string
	for i := range 15 {
		ids = append(ids, fmt.Sprint("s", i))
	}
	applyTest(t, s, ids...)
	children := []*child{startChild(t, "work", url), startChild(t, "work", url), startChild(t, "work", url)}
	claimed, tokens := map[string]int{}, map[string]int{}
	for _, c := range children {
		for _, line := range c.end(t) {
			seq, token, _ := strings.Cut(line, " ")
			claimed[seq]++
			tokens[token]++
		}
	}
	if want := len(ids) * backlogSize; len(claimed) != want || len(tokens) != want {
		t.Errorf("%d occurrences and %d tokens, want %d of each", len(claimed), len(tokens), want)
	}
	for seq, n := range claimed {
		if n != 1 {
			t.Errorf("occurrence %s was claimed %d times", seq, n)
		}
	}
	stats, err := s.Stats(context.Background())
	if err != nil || stats.Occurrences[duly.Succeeded] != int64(len(claimed)) || stats.Pending+stats.Running != 0 {
		t.Errorf("stats %+v, %v", stats, err)
	}
	checkIntegrity(t, s)
}

func TestProcessesOpenOneNewFileTogether(t *testing.T) {
	for range 3 {
		url := fresh(t)
		var children []*child
		for range 6 {
			children = append(children, startChild(t, "open", url))
		}
		for _, c := range children {
			c.end(t)
		}
		nodes, err := openTest(t, url).NodeList(context.Background())
		if err != nil || len(nodes) != len(children) {
			t.Fatalf("%d nodes joined, %v", len(nodes), err)
		}
	}
}
