package sqlite

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// Tables that grow with history, or with how many schedules there are, must
// never be walked through by a step: its cost would follow what exists, not
// what is due. SQLite says how it means to run a statement, so each statement
// that a busy store has prepared is asked.
func TestNoStepWalksThroughATableThatGrows(t *testing.T) {
	s := openTest(t, fresh(t))
	readers := exercise(t, s)
	grows := regexp.MustCompile(`^SCAN (occurrences|schedules|attempts|reports|effects|revisions|successes|skips|o|s|a|e|k)\b`)
	// These indexes hold what is open or needs attention alone, or are read
	// with a limit.
	allowed := []string{
		"USING COVERING INDEX occurrences_blocked", "USING INDEX occurrences_front", "USING INDEX occurrences_attention", "USING COVERING INDEX skips_count",
	}
	rare := []string{"WHERE cursor > ?1", "lease_until > ?1 + lease"} // once, after the clock was set back
	check := func(c *conn) {
		for _, query := range slices.Sorted(maps.Keys(c.stmts)) {
			if slices.ContainsFunc(rare, func(r string) bool { return strings.Contains(query, r) }) || strings.HasPrefix(query, "PRAGMA") {
				continue
			}
			args := make([]any, strings.Count(query, "?"))
			err := c.query(context.Background(), "EXPLAIN QUERY PLAN "+query, args, func(r row) error {
				step := r.str(3)
				if grows.MatchString(step) && !slices.ContainsFunc(allowed, func(a string) bool { return strings.Contains(step, a) }) {
					t.Errorf("%s\n\tin: %s", step, query)
				}
				return nil
			})
			if err != nil {
				t.Errorf("%v\n\tin: %s", err, query)
			}
		}
	}
	_, err := write(context.Background(), s, func(t *tx) (int, error) {
		before := maps.Clone(t.stmts)
		check(t.conn)
		t.stmts = before
		return 0, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range readers {
		check(c)
	}
}

// exercise takes every step once and answers the connections that read.
func exercise(t *testing.T, s *Store) []*conn {
	t.Helper()
	ctx := context.Background()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	node, err := s.Join(ctx, store.NodeInfo{Name: "n", TTL: time.Hour})
	must(err)
	applyTest(t, s, "a", "b", "c")
	_, err = s.Apply(ctx, store.ApplyRequest{Owner: "test", By: "test", Queues: []duly.Queue{{Name: "q", Concurrency: 50, Rate: duly.Rate{Count: 1000, Per: duly.Duration(time.Second)}}}})
	must(err)
	plan := func(now time.Time, due []store.DueSchedule) []store.Firing {
		all := backlog(now, due)
		for i := range all {
			if due[i].Exists == nil {
				all[i].Ask = []string{"p1"}
			}
			for j := range all[i].Occurrences {
				o := &all[i].Occurrences[j]
				o.Serial = due[i].Schedule == "a"
				if due[i].Schedule == "b" {
					o.Queue = "q"
				}
			}
		}
		return all
	}
	claim := store.ClaimRequest{Node: node, Max: 10, Capabilities: []string{"handler:h"}}
	fired, err := s.Fire(ctx, store.FireRequest{Node: node, Plan: plan, Claim: &claim})
	must(err)
	more, err := s.Claim(ctx, claim)
	must(err)
	claims := append(fired.Claims, more.Claims...)
	if len(claims) < 15 {
		t.Fatalf("only %d were claimed", len(claims))
	}
	ends := []store.Next{
		{State: duly.Succeeded}, {State: duly.Pending}, {State: duly.Failed, Hold: true}, {State: duly.Uncertain}, {State: duly.Pending, Delay: time.Hour},
	}
	for i, c := range claims[:10] {
		r := store.Report{Seq: c.Seq, Token: c.Token, Outcome: duly.AttemptFailed, Error: "boom", Next: ends[i%len(ends)], Effects: []store.EffectReport{{Key: "k"}, {Key: "l", Reused: true}}}
		_, err := s.Finish(ctx, node, []store.Report{r})
		must(err)
	}
	_, err = s.Claim(ctx, claim)
	must(err)
	_, err = s.Renew(ctx, node, []store.Renewal{{Seq: claims[11].Seq, Token: claims[11].Token, Lease: time.Minute}})
	must(err)
	must(s.Cancel(ctx, duly.OccurrenceID(claims[12].Schedule, claims[12].Period), "ann", ""))
	_, err = s.Reap(ctx, store.ReapRequest{Now: time.Now().Add(10 * time.Minute), Decide: func(store.Expired) store.Next { return store.Next{State: duly.Failed} }})
	must(err)
	must(insertTest(s, "manual-1", 10))
	must(s.Pause(ctx, store.PauseRequest{Schedule: "a", By: "ann"}))
	must(s.Resume(ctx, store.ResumeRequest{Schedule: "a", By: "ann"}))
	_, err = s.Declare(ctx, store.DeclareRequest{Node: node, Owner: "code:app", Schedules: []store.Definition{{
		Schedule: duly.Schedule{ID: "d", Timing: duly.Timing{Every: duly.Duration(time.Hour)}}, Next: func(_, after time.Time) time.Time { return after.Add(time.Hour) },
	}}})
	must(err)
	must(s.Beat(ctx, node, time.Hour, store.NodeLoad{}))
	_, err = s.Acquire(ctx, store.AcquireRequest{Name: "l", Owner: "o", TTL: time.Hour})
	must(err)
	must(s.ReleaseLease(ctx, "l", "o"))
	_, err = s.Trim(ctx, time.Now().Add(time.Hour), 3)
	must(err)
	_, err = s.Horizon(ctx)
	must(err)
	_, err = s.Stats(ctx)
	must(err)
	_, err = s.Queues(ctx)
	must(err)
	for _, f := range []store.OccurrenceFilter{{Schedule: "a"}, {Attention: true}, {States: []duly.State{duly.Running}}} {
		_, _, err = s.Occurrences(ctx, f, store.Page{})
		must(err)
	}
	_, err = s.Occurrence(ctx, "a@manual-1")
	must(err)
	for _, f := range []store.EffectFilter{{Key: "k"}, {Prefix: "k"}, {Occurrence: "a@p1"}} {
		_, _, err = s.Effects(ctx, f, store.Page{})
		must(err)
	}
	s.readers.mu.Lock()
	defer s.readers.mu.Unlock()
	return s.readers.idle
}
