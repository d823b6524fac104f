//go:build unix

package postgres

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// everyDue owes one occurrence for each minute, placed as the schedule's name
// says: serial/, parallel/ or queued/.
func everyDue(now time.Time, due []store.DueSchedule) []store.Firing {
	all := make([]store.Firing, len(due))
	for i, d := range due {
		all[i] = store.Firing{Schedule: d.Schedule, Cursor: now, NextDue: now.Truncate(time.Minute).Add(time.Minute)}
		place := store.Placement{Capability: "handler:h", Serial: d.Schedule[0] == 's', Lease: time.Minute}
		if d.Schedule[0] == 'q' {
			place.Queue = "shared"
		}
		for at := d.Cursor.Truncate(time.Minute).Add(time.Minute); !at.After(now); at = at.Add(time.Minute) {
			all[i].Occurrences = append(all[i].Occurrences, store.NewOccurrence{
				Period: at.UTC().Format(time.RFC3339), Due: at, State: duly.Pending, Origin: duly.OriginSchedule,
				Revision: d.Revisions[0].Number, Definition: d.Revisions[0].Definition, Placement: place,
			})
		}
	}
	return all
}

func crowdSchedules(t testing.TB, s *Store, now time.Time, each int) (ids []string) {
	t.Helper()
	req := store.ApplyRequest{Now: now, Owner: "test", By: "test", Queues: []duly.Queue{{Name: "shared", Concurrency: 3}}}
	for _, kind := range []string{"serial", "parallel", "queued"} {
		for i := range each {
			ids = append(ids, fmt.Sprintf("%s/%d", kind, i))
			req.Schedules = append(req.Schedules, store.Definition{
				Schedule: duly.Schedule{ID: ids[len(ids)-1], Timing: duly.Timing{Every: duly.Duration(time.Minute)}, Target: duly.Target{Handler: "h"}},
				Next:     func(_, after time.Time) time.Time { return after.Truncate(time.Minute).Add(time.Minute) },
			})
		}
	}
	if _, err := s.Apply(context.Background(), req); err != nil {
		t.Fatal(err)
	}
	return ids
}

// TestACrowdOfNodesIsExact has eight nodes, each with connections of its own,
// fire, claim, fail, finish and reap at the same time.
func TestACrowdOfNodesIsExact(t *testing.T) {
	const nodes, each, minutes = 8, 4, 6
	ctx := t.Context()
	dsn := servers.Postgres(t).DSN
	first := mustOpen(t, dsn)
	start := time.Now().Truncate(time.Minute)
	ids := crowdSchedules(t, first, start, each)
	c := &crowd{t: t, running: map[string]int{}, tokens: map[string]int64{}}
	var wg sync.WaitGroup
	for range nodes {
		s := mustOpen(t, dsn)
		wg.Go(func() { c.node(ctx, s, start, minutes, int64(len(ids)*minutes)) })
	}
	wg.Wait()
	if got := c.done.Load(); got != int64(len(ids)*minutes) {
		t.Errorf("%d occurrences succeeded, want %d", got, len(ids)*minutes)
	}
	checkCounts(t, first)
}

// crowd is what all nodes together do.
type crowd struct {
	t       *testing.T
	mu      sync.Mutex
	running map[string]int   // by what is exclusive or bounded
	tokens  map[string]int64 // the newest of a resource
	done    atomic.Int64
}

func (c *crowd) node(ctx context.Context, s *Store, start time.Time, minutes int, total int64) {
	node, err := s.Join(ctx, store.NodeInfo{Name: "n", TTL: time.Hour})
	if err != nil {
		c.t.Error(err)
		return
	}
	claim := store.ClaimRequest{Node: node, Max: 5, Capabilities: []string{"handler:h"}}
	for round := 0; c.done.Load() < total; round++ {
		now := start.Add(time.Duration(min(round/2+1, minutes)) * time.Minute)
		claim.Now = now
		var claims []store.Claim
		if round%2 == 0 {
			res, err := s.Fire(ctx, store.FireRequest{Now: now, Node: node, Limit: 5, Plan: everyDue, Claim: &claim})
			if err != nil {
				c.t.Error(err)
				return
			}
			claims = res.Claims
		} else {
			res, err := s.Claim(ctx, claim)
			if err != nil {
				c.t.Error(err)
				return
			}
			claims = res.Claims
		}
		c.began(claims)
		if err := c.finish(ctx, s, node, claims, round); err != nil {
			c.t.Error(err)
			return
		}
		if c.t.Failed() || ctx.Err() != nil {
			return
		}
	}
}

// began checks what the store promises of claims: exclusive things are, and
// tokens grow.
func (c *crowd) began(claims []store.Claim) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, cl := range claims {
		key, most := cl.Schedule, 1
		switch cl.Schedule[0] {
		case 'q':
			key, most = "shared", 3
		case 'p':
			key = cl.Schedule + cl.Period
		}
		if c.running[key]++; c.running[key] > most {
			c.t.Errorf("%d of %s run at once", c.running[key], key)
		}
		if cl.Token <= c.tokens[cl.Resource()] {
			c.t.Errorf("token %d of %s after %d", cl.Token, cl.Resource(), c.tokens[cl.Resource()])
		}
		c.tokens[cl.Resource()] = cl.Token
	}
}

// finish ends claims, a few of them in order to be tried again.
func (c *crowd) finish(ctx context.Context, s *Store, node int64, claims []store.Claim, round int) error {
	if len(claims) == 0 {
		return nil
	}
	reports := make([]store.Report, len(claims))
	c.mu.Lock()
	for i, cl := range claims {
		switch cl.Schedule[0] {
		case 'q':
			c.running["shared"]--
		case 'p':
			c.running[cl.Schedule+cl.Period]--
		default:
			c.running[cl.Schedule]--
		}
		reports[i] = store.Report{Seq: cl.Seq, Token: cl.Token, Outcome: duly.AttemptSucceeded, Next: store.Next{State: duly.Succeeded}}
		if cl.Attempt == 1 && (i+round)%3 == 0 {
			reports[i].Outcome, reports[i].Next = duly.AttemptFailed, store.Next{State: duly.Pending}
		}
	}
	c.mu.Unlock()
	done, err := finishAll(ctx, s, node, reports)
	if err != nil {
		return err
	}
	for i, d := range done {
		if d.Err != nil {
			return d.Err
		}
		if reports[i].Next.State == duly.Succeeded {
			c.done.Add(1)
		}
	}
	return nil
}

// checkCounts holds what is counted against what there is.
func checkCounts(t *testing.T, s *Store) {
	t.Helper()
	ctx := context.Background()
	var wrong int
	if err := s.pool.QueryRow(ctx, `SELECT count(*) FROM duly.tracks t WHERE t.open <> (SELECT count(*) FROM duly.occurrences o WHERE o.sid = t.sid AND o.state < 2)`).Scan(&wrong); err != nil || wrong != 0 {
		t.Errorf("%d schedules have a wrong count of open occurrences (%v)", wrong, err)
	}
	if err := s.pool.QueryRow(ctx, `WITH RECURSIVE chain (sid, seq, prev) AS (
			SELECT t.sid, o.seq, o.prev FROM duly.tracks t JOIN duly.occurrences o ON o.seq = t.newest
			UNION ALL SELECT c.sid, o.seq, o.prev FROM chain c JOIN duly.occurrences o ON o.seq = c.prev AND o.sid = c.sid)
		SELECT (SELECT count(*) FROM duly.occurrences) - (SELECT count(*) FROM chain)`).Scan(&wrong); err != nil || wrong != 0 {
		t.Errorf("%d occurrences are not in their schedule's chain (%v)", wrong, err)
	}
	stats, err := s.Stats(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for code, state := range stateCodes {
		var n int64
		if err := s.pool.QueryRow(ctx, "SELECT count(*) FROM duly.occurrences WHERE state = $1", code).Scan(&n); err != nil {
			t.Fatal(err)
		}
		if stats.Occurrences[state] != n {
			t.Errorf("counted %d as %s, and there are %d", stats.Occurrences[state], state, n)
		}
	}
}

func mustOpen(t testing.TB, url string) *Store {
	t.Helper()
	s, err := Open(context.Background(), url, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// TestClaimersAtTheSameInstantShareAQueueExactly has eight nodes ask at once for
// all that a queue of concurrency 3 holds.
func TestClaimersAtTheSameInstantShareAQueueExactly(t *testing.T) {
	const claimers, rounds = 8, 12
	dsn := servers.Postgres(t).DSN
	first := mustOpen(t, dsn)
	start := time.Now().Truncate(time.Minute)
	crowdSchedules(t, first, start, 2*rounds)
	now := start.Add(2 * time.Minute)
	if _, err := first.Fire(t.Context(), store.FireRequest{Now: now, Plan: everyDue}); err != nil {
		t.Fatal(err)
	}
	if _, err := first.pool.Exec(t.Context(), "DELETE FROM duly.occurrences WHERE queue IS NULL"); err != nil {
		t.Fatal(err)
	}
	nodes := []*Store{first}
	for len(nodes) < claimers {
		nodes = append(nodes, mustOpen(t, dsn))
	}
	for range rounds {
		begin := make(chan struct{})
		claimed := make(chan []store.Claim, claimers)
		for _, s := range nodes {
			go func() {
				<-begin
				res, err := s.Claim(context.Background(), store.ClaimRequest{Now: now, Max: 10, Capabilities: []string{"handler:h"}})
				if err != nil {
					t.Error(err)
				}
				claimed <- res.Claims
			}()
		}
		close(begin)
		var reports []store.Report
		for range claimers {
			for _, c := range <-claimed {
				reports = append(reports, store.Report{Seq: c.Seq, Token: c.Token, Outcome: duly.AttemptSucceeded, Next: store.Next{State: duly.Succeeded}})
			}
		}
		if len(reports) != 3 {
			t.Fatalf("%d were handed out of a queue of concurrency 3", len(reports))
		}
		if _, err := first.Finish(t.Context(), 0, reports); err != nil {
			t.Fatal(err)
		}
	}
}

// finishAll gives reports again for as long as others hold what they are about.
func finishAll(ctx context.Context, s *Store, node int64, reports []store.Report) ([]store.Finished, error) {
	for {
		done, err := s.Finish(ctx, node, reports)
		if err != nil || !slices.ContainsFunc(done, func(f store.Finished) bool { return duly.CodeOf(f.Err) == duly.CodeUnavailable }) {
			return done, err
		}
	}
}
