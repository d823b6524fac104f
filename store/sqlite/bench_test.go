//go:build unix

package sqlite

import (
	"context"
	"fmt"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// BenchmarkLifecycle measures whole lifecycles, each step durable
// (synchronous=full): a number of schedules come due together, are fired and
// claimed in one call and finished in another.
func BenchmarkLifecycle(b *testing.B) {
	for _, batch := range []int{1, 100, 1000} {
		b.Run(fmt.Sprintf("batch=%d", batch), func(b *testing.B) { lifecycles(b, batch, 0, 0) })
	}
}

// BenchmarkLifecycleInFullFile is the same beside 100,000 idle schedules and
// 1,000,000 finished occurrences: cost must follow what is due, not what
// exists.
func BenchmarkLifecycleInFullFile(b *testing.B) {
	for _, batch := range []int{1, 100, 1000} {
		b.Run(fmt.Sprintf("batch=%d", batch), func(b *testing.B) { lifecycles(b, batch, 100_000, 1_000_000) })
	}
}

func lifecycles(b *testing.B, batch, idle, history int) {
	ctx := context.Background()
	s := openBench(b)
	node, err := s.Join(ctx, store.NodeInfo{Name: "bench", TTL: 24 * time.Hour})
	if err != nil {
		b.Fatal(err)
	}
	now := time.Now().Truncate(time.Second)
	fill(b, s, idle, history)
	benchSchedules(b, s, batch, now)
	claim := store.ClaimRequest{Node: node, Max: batch, Capabilities: []string{"handler:h"}}
	var firing, finishing time.Duration
	n := 0
	b.ResetTimer()
	cpu := cpuTime(b)
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
		firing += t1.Sub(t0)
		finishing += time.Since(t1)
		n += batch
	}
	b.ReportMetric(float64((cpuTime(b)-cpu).Microseconds())/float64(n), "cpu-µs/lifecycle")
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "lifecycles/s")
	b.ReportMetric(float64(firing.Microseconds())/float64(n), "µs/fire+claim")
	b.ReportMetric(float64(finishing.Microseconds())/float64(n), "µs/finish")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkBacklog claims and finishes a thousand at a time of what has waited,
// beside 100,000 more that nobody here can run.
func BenchmarkBacklog(b *testing.B) {
	ctx := context.Background()
	s := openBench(b)
	node, err := s.Join(ctx, store.NodeInfo{Name: "bench", TTL: 24 * time.Hour})
	if err != nil {
		b.Fatal(err)
	}
	now := time.Now().Truncate(time.Second)
	benchSchedules(b, s, 1000, now)
	make1000 := func(capability string) {
		now = now.Add(time.Minute)
		_, err := s.Fire(ctx, store.FireRequest{Now: now, Node: node, Plan: func(now time.Time, due []store.DueSchedule) []store.Firing {
			all := everyMinute(now, due)
			for i := range all {
				all[i].Occurrences[0].Placement = store.Placement{Capability: capability, Lease: 30 * time.Second}
			}
			return all
		}})
		if err != nil {
			b.Fatal(err)
		}
	}
	for range 100 {
		make1000("handler:nobody")
	}
	n := 0
	cpu := time.Duration(0)
	for b.Loop() {
		b.StopTimer()
		make1000("handler:h")
		start := cpuTime(b)
		b.StartTimer()
		res, err := s.Claim(ctx, store.ClaimRequest{Now: now, Node: node, Max: 1000, Capabilities: []string{"handler:h"}})
		if err != nil || len(res.Claims) != 1000 {
			b.Fatal(len(res.Claims), err)
		}
		reports := make([]store.Report, len(res.Claims))
		for i, c := range res.Claims {
			reports[i] = store.Report{Seq: c.Seq, Token: c.Token, Outcome: duly.AttemptSucceeded, Next: store.Next{State: duly.Succeeded}}
		}
		if _, err := s.Finish(ctx, node, reports); err != nil {
			b.Fatal(err)
		}
		cpu += cpuTime(b) - start
		n += len(reports)
	}
	b.ReportMetric(float64(cpu.Microseconds())/float64(n), "cpu-µs/claim+finish")
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "claims+finishes/s")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkRenew renews a thousand leases at a time.
func BenchmarkRenew(b *testing.B) {
	ctx := context.Background()
	s := openBench(b)
	now := time.Now().Truncate(time.Second)
	benchSchedules(b, s, 1000, now)
	claim := store.ClaimRequest{Max: 1000, Capabilities: []string{"handler:h"}}
	res, err := s.Fire(ctx, store.FireRequest{Now: now.Add(time.Minute), Plan: everyMinute, Claim: &claim})
	if err != nil || len(res.Claims) != 1000 {
		b.Fatal(len(res.Claims), err)
	}
	items := make([]store.Renewal, len(res.Claims))
	for i, c := range res.Claims {
		items[i] = store.Renewal{Seq: c.Seq, Token: c.Token, Lease: time.Minute}
	}
	n := 0
	cpu := cpuTime(b)
	for b.Loop() {
		if _, err := s.Renew(ctx, 1, items); err != nil {
			b.Fatal(err)
		}
		n += len(items)
	}
	b.ReportMetric(float64((cpuTime(b)-cpu).Microseconds())/float64(n), "cpu-µs/renewal")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkIdle is what looking costs when there is nothing to do, in a full
// file.
func BenchmarkIdle(b *testing.B) {
	ctx := context.Background()
	s := openBench(b)
	fill(b, s, 100_000, 1_000_000)
	claim := store.ClaimRequest{Max: 1000, Capabilities: []string{"handler:h"}}
	for name, look := range map[string]func() error{
		"Horizon": func() error { _, err := s.Horizon(ctx); return err },
		"Claim":   func() error { _, err := s.Claim(ctx, claim); return err },
		"Fire":    func() error { _, err := s.Fire(ctx, store.FireRequest{Plan: everyMinute, Claim: &claim}); return err },
		"Stats":   func() error { _, err := s.Stats(ctx); return err },
		"List": func() error {
			_, _, err := s.Occurrences(ctx, store.OccurrenceFilter{Schedule: "idle/77"}, store.Page{})
			return err
		},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := look(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// cpuTime is what the process has used, which other work on the machine
// disturbs less than time on the wall.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func openBench(b *testing.B) *Store {
	b.Helper()
	s, err := Open(context.Background(), "sqlite:"+filepath.Join(b.TempDir(), "duly.db"), store.Options{})
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

func benchSchedules(b *testing.B, s *Store, n int, now time.Time) {
	b.Helper()
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
		b.Fatal(err)
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

// fill puts idle schedules and finished occurrences into the file.
func fill(b *testing.B, s *Store, idle, history int) {
	b.Helper()
	if idle == 0 {
		return
	}
	_, err := write(context.Background(), s, func(t *tx) (struct{}, error) {
		for _, q := range []string{
			"INSERT INTO definitions (definition, hash, content) VALUES (1000000, x'00', '{}')",
			fmt.Sprintf(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
				INSERT INTO schedules (id, owner, revision, revision_from, definition, wants, anchor, cursor, next_due, fired, newest, created_at, updated_at)
				SELECT 'idle/' || i, 'file:duly.yaml', 1, 0, 1000000, 0, 0, 0, 4102444800000000 + i, 10, NULL, 0, 0 FROM n`, idle),
			fmt.Sprintf(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
				INSERT INTO occurrences (seq, sid, period, due, state, origin, revision, definition, lane, priority, lease, serial, prev, interval_start, maker, created_at, finished_at,
					attempt, tries, token, holder, started_at, ended_at, outcome)
				SELECT i, 1 + i %% %d, strftime('%%Y-%%m-%%dT%%H:%%M:00Z', 1500000000 + i / %d * 60, 'unixepoch'), 1500000000000000 + i, 2, 0, 1, 1000000, 1, 0, 30000000, 1,
					nullif(max(0, i - %d), 0), 1, 1, 1500000000000000 + i, 1500000000000000 + i, 1, 1, i, 1, 1500000000000000 + i, 1500000000000000 + i, 1 FROM n`,
				history, idle, idle, idle),
			fmt.Sprintf("INSERT INTO counters VALUES ('seq', %d), ('token', %d), ('schedules', %d), ('state.succeeded', %d) ON CONFLICT DO UPDATE SET value = excluded.value",
				history, history, idle, history),
		} {
			if _, err := t.exec(q); err != nil {
				return struct{}{}, err
			}
		}
		t.known.counters = nil
		return struct{}{}, nil
	})
	if err != nil {
		b.Fatal(err)
	}
}
