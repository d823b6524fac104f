//go:build linux

package postgres

import (
	"context"
	commandline "flag"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// BenchmarkLifecycle measures whole lifecycles, each step durable: a number of
// schedules come due together, are fired and claimed in one call and finished
// in another.
func BenchmarkLifecycle(b *testing.B) {
	for _, batch := range []int{1, 100, 1000} {
		b.Run(fmt.Sprintf("batch=%d", batch), func(b *testing.B) { lifecycles(b, openBench(b), batch) })
	}
}

// BenchmarkLifecycleInFullStore is the same beside 100,000 idle schedules and
// 3,000,000 finished occurrences (-history), and again while old ones are trimmed: cost
// must follow what is due, not what exists.
func BenchmarkLifecycleInFullStore(b *testing.B) {
	s := openBench(b)
	fill(b, s, 100_000, *fullHistory)
	for _, batch := range []int{1, 1000} {
		b.Run(fmt.Sprintf("batch=%d", batch), func(b *testing.B) { lifecycles(b, s, batch) })
	}
	b.Run("batch=1000,trimming", func(b *testing.B) {
		ctx, cancel := context.WithCancel(b.Context())
		trimmed := make(chan int)
		go func() {
			n := 0
			for ctx.Err() == nil {
				some, err := s.Trim(context.Background(), time.UnixMicro(1_600_000_000_000_000), 1000) // all that was filled in
				if err != nil {
					b.Error(err)
				}
				n += some
			}
			trimmed <- n
		}()
		lifecycles(b, s, 1000)
		cancel()
		b.ReportMetric(float64(<-trimmed)/b.Elapsed().Seconds(), "trimmed/s")
	})
}

var fullHistory = commandline.Int("history", 3_000_000, "how many finished occurrences a full store has")

func lifecycles(b *testing.B, s *Store, batch int) {
	ctx := context.Background()
	node, err := s.Join(ctx, store.NodeInfo{Name: "bench", TTL: 24 * time.Hour})
	if err != nil {
		b.Fatal(err)
	}
	now := time.Now().Truncate(time.Second)
	var mark int64 // of an earlier one, which went ahead of the clock
	if err := s.pool.QueryRow(ctx, "SELECT mark FROM duly.marks").Scan(&mark); err != nil {
		b.Fatal(err)
	}
	if last := time.UnixMicro(mark); last.After(now) {
		now = last.Truncate(time.Second).Add(time.Minute)
	}
	benchSchedules(b, s, batch, now)
	claim := store.ClaimRequest{Node: node, Max: batch, Capabilities: []string{"handler:h"}}
	var firing, finishing []time.Duration
	n := 0
	b.ResetTimer()
	before := cpuTime(b, s)
	for b.Loop() {
		now = now.Add(time.Minute)
		t0 := time.Now()
		res, err := s.Fire(ctx, store.FireRequest{Now: now, Node: node, Limit: batch, Plan: everyMinute, Claim: &claim})
		if err != nil || len(res.Claims) != batch {
			b.Fatal(len(res.Claims), err)
		}
		t1 := time.Now()
		reports := make([]store.Report, batch)
		for i, c := range res.Claims {
			reports[i] = store.Report{Seq: c.Seq, Token: c.Token, Outcome: duly.AttemptSucceeded, Next: store.Next{State: duly.Succeeded}}
		}
		done, err := s.Finish(ctx, node, reports)
		if err != nil || done[batch-1].State != duly.Succeeded {
			b.Fatal(done, err)
		}
		firing, finishing = append(firing, t1.Sub(t0)), append(finishing, time.Since(t1))
		n += batch
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "lifecycles/s")
	used := cpuTime(b, s)
	b.ReportMetric(float64((used.client-before.client).Microseconds())/float64(n), "client-cpu-µs/lifecycle")
	b.ReportMetric(float64((used.server-before.server).Microseconds())/float64(n), "server-cpu-µs/lifecycle")
	b.ReportMetric(median(firing), "p50-µs/fire+claim")
	b.ReportMetric(median(finishing), "p50-µs/finish")
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(commits(b, s), "server-commits/s")
}

func median(all []time.Duration) float64 {
	slices.Sort(all)
	return float64(all[len(all)/2].Microseconds())
}

// commits is the server's own limit: how often one connection commits the
// smallest change.
func commits(b *testing.B, s *Store) float64 {
	b.Helper()
	b.StopTimer()
	const n = 300
	start := time.Now()
	for range n {
		if _, err := s.pool.Exec(context.Background(), "UPDATE duly.marks SET mark = mark"); err != nil {
			b.Fatal(err)
		}
	}
	return n / time.Since(start).Seconds()
}

// BenchmarkLifecycleTwoNodes has two nodes share the work: while one waits for a
// sync the other goes on.
func BenchmarkLifecycleTwoNodes(b *testing.B) {
	const batch = 1000
	ctx := context.Background()
	s := openBench(b)
	other := mustOpen(b, s.cfg.pool.ConnString())
	start := time.Now().Truncate(time.Second)
	benchSchedules(b, s, 2*batch, start)
	var minute, lifecycles atomic.Int64
	rounds := int64(40 * b.N)
	before := cpuTime(b, s)
	b.ResetTimer()
	var wg sync.WaitGroup
	for _, node := range []*Store{s, other} {
		wg.Go(func() {
			for n := minute.Add(1); n < rounds; n = minute.Add(1) {
				now := start.Add(time.Duration(n) * time.Minute)
				claim := &store.ClaimRequest{Max: batch, Capabilities: []string{"handler:h"}}
				res, err := node.Fire(ctx, store.FireRequest{Now: now, Limit: batch, Plan: everyMinute, Claim: claim})
				if err != nil {
					b.Error(err)
					return
				}
				reports := make([]store.Report, len(res.Claims))
				for i, c := range res.Claims {
					reports[i] = store.Report{Seq: c.Seq, Token: c.Token, Outcome: duly.AttemptSucceeded, Next: store.Next{State: duly.Succeeded}}
				}
				if _, err := node.Finish(ctx, 0, reports); err != nil {
					b.Error(err)
					return
				}
				lifecycles.Add(int64(len(reports)))
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(lifecycles.Load())/b.Elapsed().Seconds(), "lifecycles/s")
	used := cpuTime(b, s)
	b.ReportMetric(float64((used.client-before.client).Microseconds())/float64(lifecycles.Load()), "client-cpu-µs/lifecycle")
	b.ReportMetric(float64((used.server-before.server).Microseconds())/float64(lifecycles.Load()), "server-cpu-µs/lifecycle")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkFinishCrowd has 1,000 callers report one attempt each at the same
// time.
func BenchmarkFinishCrowd(b *testing.B) {
	const crowd = 1000
	ctx := context.Background()
	s := openBench(b)
	node, err := s.Join(ctx, store.NodeInfo{Name: "bench", TTL: 24 * time.Hour})
	if err != nil {
		b.Fatal(err)
	}
	now := time.Now().Truncate(time.Second)
	benchSchedules(b, s, crowd, now)
	claim := store.ClaimRequest{Node: node, Max: crowd, Capabilities: []string{"handler:h"}}
	var took time.Duration
	n := 0
	for b.Loop() {
		now = now.Add(time.Minute)
		res, err := s.Fire(ctx, store.FireRequest{Now: now, Node: node, Limit: crowd, Plan: everyMinute, Claim: &claim})
		if err != nil || len(res.Claims) != crowd {
			b.Fatal(len(res.Claims), err)
		}
		start := time.Now()
		errs := make(chan error, crowd)
		for _, c := range res.Claims {
			go func() {
				done, err := s.Finish(ctx, node, []store.Report{{Seq: c.Seq, Token: c.Token, Outcome: duly.AttemptSucceeded, Next: store.Next{State: duly.Succeeded}}})
				if err == nil {
					err = done[0].Err
				}
				errs <- err
			}()
		}
		for range crowd {
			if err := <-errs; err != nil {
				b.Fatal(err)
			}
		}
		took += time.Since(start)
		n += crowd
	}
	b.ReportMetric(float64(n)/took.Seconds(), "finishes/s")
	b.ReportMetric(0, "ns/op")
}

func openBench(b *testing.B) *Store {
	b.Helper()
	s, err := Open(context.Background(), durable.Postgres(b).DSN+"&statement_timeout=10m", store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	})
	return s
}

func benchSchedules(t testing.TB, s *Store, n int, now time.Time) {
	t.Helper()
	defs := make([]store.Definition, n)
	for i := range defs {
		defs[i] = store.Definition{
			Schedule: duly.Schedule{
				ID: fmt.Sprintf("bench/%06d", i), Timing: duly.Timing{Every: duly.Duration(time.Minute)}, Target: duly.Target{Handler: "h"},
			},
			Next: func(_, after time.Time) time.Time { return after.Add(time.Minute) },
		}
	}
	if _, err := s.Apply(context.Background(), store.ApplyRequest{Now: now, Owner: "bench", By: "bench", Schedules: defs}); err != nil {
		t.Fatal(err)
	}
}

// everyMinute makes one occurrence of each schedule.
func everyMinute(now time.Time, due []store.DueSchedule) []store.Firing {
	period := now.UTC().Format(time.RFC3339)
	all := make([]store.Firing, len(due))
	for i, d := range due {
		all[i] = store.Firing{
			Schedule: d.Schedule, Cursor: now, NextDue: now.Add(time.Minute), Occurrences: []store.NewOccurrence{{
				Period: period, Due: now, IntervalStart: now.Add(-time.Minute), State: duly.Pending, Origin: duly.OriginSchedule,
				Revision: d.Revisions[0].Number, Definition: d.Revisions[0].Definition,
				Placement: store.Placement{Capability: "handler:h", Serial: true, Lease: 30 * time.Second},
			}},
		}
	}
	return all
}

// fill puts idle schedules and finished occurrences into the store.
func fill(t testing.TB, s *Store, idle, history int) {
	t.Helper()
	if idle == 0 {
		return
	}
	for _, q := range []string{
		`INSERT INTO duly.definitions (hash, content) VALUES ('\x00', '{}')`,
		`INSERT INTO duly.schedules (sid, id, owner, created_at, updated_at) SELECT 1000000 + i, 'idle/' || i, 'file:duly.yaml', 0, 0 FROM generate_series(1, ?1::bigint) i`,
		`INSERT INTO duly.tracks (sid, id, next_due, cursor, newest, revision, revision_from, definition, anchor, wants)
			SELECT 1000000 + i, 'idle/' || i, 4102444800000000 + i, 0, ?2::bigint - ?1::bigint + i, 1, 0, (SELECT max(definition) FROM duly.definitions), 0, 0 FROM generate_series(1, ?1::bigint) i`,
		`INSERT INTO duly.occurrences (seq, sid, period, due, state, origin, revision, definition, lane, priority, lease, serial, prev, interval_start, maker, created_at, finished_at,
				attempt, tries, token, holder, started_at, ended_at, outcome)
			SELECT i, 1000001 + (i - 1) % ?1::bigint, to_char(to_timestamp(1500000000 + (i - 1) / ?1::bigint * 60), 'YYYY-MM-DD"T"HH24:MI:00Z'), 1500000000000000 + i, 2, 0, 1, 1, 1, 0, 30000000, true,
				nullif(greatest(0, i - ?1::bigint), 0), 1, 1, 1500000000000000 + i, 1500000000000000 + i, 1, 1, i, 1, 1500000000000000 + i, 1500000000000000 + i, 1
			FROM generate_series(1, ?2::bigint) i`,
		"SELECT setval('duly.seqs', ?2::bigint), setval('duly.tokens', ?2::bigint + ?1::bigint - ?1::bigint)",
	} {
		var args []any
		for i, n := range []int{idle, history} {
			if strings.Contains(q, fmt.Sprintf("?%d", i+1)) {
				args = append(args, n)
			}
		}
		if _, err := s.pool.Exec(context.Background(), s.dialect.sql(q), args...); err != nil {
			t.Fatal(err)
		}
	}
}
