//go:build linux

package postgres

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// planLog gathers the plans that the server has run, as auto_explain tells
// them, each with what it really read.
type planLog struct {
	mu    sync.Mutex
	plans []string
}

func (l *planLog) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := l.plans
	l.plans = nil
	return all
}

// explained opens a store whose server tells every plan.
func explained(t *testing.T, dsn string) (*Store, *planLog) {
	t.Helper()
	cfg, err := parse(dsn + "&session_preload_libraries=auto_explain&auto_explain.log_min_duration=0&auto_explain.log_analyze=on&auto_explain.log_timing=off&client_min_messages=log")
	if err != nil {
		t.Fatal(err)
	}
	l := &planLog{}
	cfg.pool.ConnConfig.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		if strings.Contains(n.Message, "plan:") {
			l.mu.Lock()
			l.plans = append(l.plans, n.Message)
			l.mu.Unlock()
		}
	}
	s, err := open(t.Context(), cfg, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, l
}

// Tables that grow. Everything else has a bounded number of rows, or as many as
// there are nodes.
var growing = regexp.MustCompile(`(Seq Scan|Index Scan|Index Only Scan|Bitmap Heap Scan)[^\n]* on (occurrences|tracks|schedules|attempts|reports|effects|audit|revisions|definitions)\b[^\n]*actual rows=(\d+) loops=(\d+)\)\n((?:\s+[A-Z][^\n>]*: [^\n]*\n)*)`)

var removed = regexp.MustCompile(`Rows Removed by (?:Index Recheck|Filter): (\d+)`)

// TestPlansStayFlat runs every hot statement beside 20,000 idle schedules and
// 200,000 finished occurrences that the server has no statistics of, with plans
// that were made when the store was empty, and again with those made then. No
// statement may read more rows than it is about.
func TestPlansStayFlat(t *testing.T) {
	const bound = 3000
	dsn := servers.Postgres(t).DSN
	early, earlyLog := explained(t, dsn)
	now := time.Now().Truncate(time.Minute)
	ids := crowdSchedules(t, early, now, 5)
	for i := range 7 { // plans are kept from now on
		useEverything(t, early, ids, now.Add(time.Duration(i+1)*time.Minute))
	}
	if _, err := early.pool.Exec(t.Context(), "ALTER TABLE duly.occurrences SET (autovacuum_enabled = off); ALTER TABLE duly.tracks SET (autovacuum_enabled = off)"); err != nil {
		t.Fatal(err)
	}
	full := mustOpen(t, dsn+"&statement_timeout=5m")
	shiftNumbers(t, full, 200_000)
	fill(t, full, 20_000, 200_000)
	late, lateLog := explained(t, dsn)
	earlyLog.take()
	for _, s := range []*Store{early, late} {
		now = now.Add(10 * time.Minute)
		useEverything(t, s, ids, now)
	}
	seen := 0
	plans := slices.Concat(earlyLog.take(), lateLog.take())
	if n := len(slices.DeleteFunc(slices.Clone(plans), func(plan string) bool { return !strings.Contains(plan, "CTE counted") })); n < 2 {
		t.Errorf("finishing in one statement was seen %d times", n)
	}
	for _, plan := range plans {
		for _, node := range growing.FindAllStringSubmatch(plan+"\n", -1) {
			seen++
			rows, _ := strconv.Atoi(node[3])
			loops, _ := strconv.Atoi(node[4])
			read := rows * loops
			for _, r := range removed.FindAllStringSubmatch(node[5], -1) {
				n, _ := strconv.Atoi(r[1])
				read += n * loops
			}
			if node[1] == "Seq Scan" || read > bound {
				t.Errorf("%s on %s reads %d rows:\n%s", node[1], node[2], read, plan)
			}
		}
	}
	if seen < 50 {
		t.Fatalf("only %d scans were told of: the test sees nothing", seen)
	}
}

// shiftNumbers makes room below the numbers that are in use.
func shiftNumbers(t *testing.T, s *Store, by int64) {
	t.Helper()
	for _, q := range []string{
		"UPDATE duly.occurrences SET seq = seq + $1, prev = prev + $1", "UPDATE duly.tracks SET newest = newest + $1, held = held + $1",
		"UPDATE duly.attempts SET seq = seq + $1", "UPDATE duly.reports SET seq = seq + $1",
	} {
		if _, err := s.pool.Exec(t.Context(), q, by); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.pool.Exec(t.Context(), "SELECT setval('duly.seqs', (SELECT max(seq) FROM duly.occurrences))"); err != nil {
		t.Fatal(err)
	}
}

// useEverything goes through the methods that have to be quick.
func useEverything(t *testing.T, s *Store, ids []string, now time.Time) {
	t.Helper()
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	node, err := s.Join(ctx, store.NodeInfo{Name: "n"})
	must(err)
	must(s.Beat(ctx, node, time.Minute, store.NodeLoad{}))
	_, err = s.Horizon(ctx)
	must(err)
	claim := &store.ClaimRequest{Now: now, Node: node, Max: 4, Capabilities: []string{"handler:h"}}
	asking := func(now time.Time, due []store.DueSchedule) []store.Firing {
		all := everyDue(now, due)
		for i := range all {
			if due[i].Exists == nil {
				all[i].Ask = []string{all[i].Occurrences[0].Period, now.AddDate(0, 0, -1).Format(time.RFC3339)}
			}
		}
		return all
	}
	fired, err := s.Fire(ctx, store.FireRequest{Now: now, Node: node, Plan: asking, Claim: claim})
	must(err)
	more, err := s.Claim(ctx, *claim)
	must(err)
	claims := append(fired.Claims, more.Claims...)
	if len(claims) < 3 {
		t.Fatalf("claimed %d", len(claims))
	}
	_, err = s.Renew(ctx, node, []store.Renewal{{Seq: claims[0].Seq, Token: claims[0].Token, Lease: time.Minute}})
	must(err)
	tx, err := s.pool.Begin(ctx)
	must(err)
	_, err = s.FinishIn(ctx, tx, store.Report{
		Seq: claims[1].Seq, Token: claims[1].Token, Outcome: duly.AttemptSucceeded, Next: store.Next{State: duly.Succeeded}, Effects: []store.EffectReport{{Key: "joined " + claims[1].Period}},
	})
	must(err)
	must(tx.Commit(ctx))
	next := []store.Next{{State: duly.Succeeded}, {State: duly.Pending}, {State: duly.Failed}}
	var reports []store.Report
	for i, c := range claims[:len(claims)-1] {
		reports = append(reports, store.Report{
			Seq: c.Seq, Token: c.Token, Outcome: duly.AttemptSucceeded, Output: "said", Next: next[i%3], Effects: []store.EffectReport{{Key: c.Period}, {Key: c.Period, Reused: true}},
		})
	}
	_, err = s.Finish(ctx, node, reports)
	must(err)
	_, err = s.Reap(ctx, store.ReapRequest{Now: now.Add(2 * time.Minute), Decide: func(store.Expired) store.Next { return store.Next{State: duly.Failed} }})
	must(err)
	last := claims[len(claims)-1]
	lastID := duly.OccurrenceID(last.Schedule, last.Period)
	must(s.Retry(ctx, lastID, "ann", ""))
	must(s.Cancel(ctx, lastID, "ann", ""))
	_, err = s.Occurrence(ctx, lastID)
	must(err)
	_, err = s.Insert(ctx, store.InsertRequest{Schedule: ids[0], Once: now.String(), Occurrences: []store.NewOccurrence{{Period: "manual-" + now.Format(time.RFC3339), Due: now, State: duly.Pending, Placement: store.Placement{Capability: "handler:h", Serial: true}}}})
	must(err)
	made, err := s.Insert(ctx, store.InsertRequest{Schedule: ids[0], Claim: claim, Occurrences: []store.NewOccurrence{{Period: "now-" + now.Format(time.RFC3339), Due: now, State: duly.Pending, Placement: store.Placement{Capability: "handler:h"}}}})
	must(err)
	if c := made[0].Claim; c != nil {
		_, err = s.Finish(ctx, node, []store.Report{{Seq: c.Seq, Token: c.Token, Outcome: duly.AttemptSucceeded, Next: store.Next{State: duly.Succeeded}}})
		must(err)
	}
	_, err = s.Definitions(ctx, []int64{last.Definition})
	must(err)
	for _, f := range []store.OccurrenceFilter{{}, {Schedule: ids[0]}, {Attention: true}, {States: []duly.State{duly.Pending}}} {
		_, _, err = s.Occurrences(ctx, f, store.Page{Limit: 20})
		must(err)
	}
	_, err = s.Schedule(ctx, ids[0])
	must(err)
	_, _, err = s.Schedules(ctx, store.ScheduleFilter{Prefix: "serial/"}, store.Page{Limit: 20})
	must(err)
	_, err = s.Attempts(ctx, []store.AttemptKey{{Seq: last.Seq, Token: last.Token}})
	must(err)
	_, err = s.Queues(ctx)
	must(err)
	_, err = s.Stats(ctx)
	must(err)
	_, _, err = s.Audit(ctx, "", store.Page{Limit: 20})
	must(err)
	_, err = s.Trim(ctx, time.UnixMicro(1_500_000_000_000_010), 5) // the oldest of what was filled in
	must(err)
}
