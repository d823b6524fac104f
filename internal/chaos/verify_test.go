//go:build unix

package chaos

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// broken is a promise that was not kept, and of which occurrence, where one
// is concerned.
type broken struct{ what, occurrence string }

// verify holds the databases to what was due.
func (w *world) verify(p *plan) (all []broken) {
	w.t.Helper()
	for _, s := range p.schedules {
		all = append(all, w.verifySchedule(p, s)...)
	}
	all = append(all, w.verifyOwners(p)...)
	return append(all, w.verifyOrder(p)...)
}

// verifySchedule: every period is covered by one occurrence that ended as its
// work does, and has its effect once.
func (w *world) verifySchedule(p *plan, s duly.Schedule) (all []broken) {
	w.t.Helper()
	effects, maker := map[string]int{}, map[string]int{}
	for _, r := range collect[struct {
		Key            string
		Count, Attempt int
	}](w, w.effectsOf(s.ID), "SELECT key, count(*), coalesce(max(attempt), 0) AS attempt FROM made WHERE key LIKE $1 GROUP BY key", effectKey(s.ID, "%")) {
		effects[r.Key], maker[r.Key] = r.Count, r.Attempt
	}
	covered := map[string][]string{}
	for _, o := range w.occurrences(s.ID) {
		want := duly.Succeeded
		switch {
		case o.State == duly.Merged:
			continue
		case natureOf(s.ID, o.Period) == hopeless:
			want = duly.Failed
		}
		// Where the commit of the last effect completes the attempt, none comes
		// after the one that had it.
		if by, n := maker[effectKey(s.ID, o.Covers[len(o.Covers)-1])], len(o.Attempts); joins(s.ID) && want == duly.Succeeded && by != n {
			all = append(all, broken{fmt.Sprintf("attempt %d had completed it, and %d were made", by, n), o.ID})
		}
		if o.State != want {
			all = append(all, broken{fmt.Sprintf("it is %s, not %s", o.State, want), o.ID})
		}
		for _, period := range o.Covers {
			covered[period] = append(covered[period], o.ID)
			wanted := 1
			if want == duly.Failed {
				wanted = 0
			}
			if n := effects[effectKey(s.ID, period)]; n != wanted {
				all = append(all, broken{fmt.Sprintf("the effect for %s happened %d times, not %d", period, n, wanted), o.ID})
			}
			delete(effects, effectKey(s.ID, period))
		}
	}
	for _, period := range p.periods(s) {
		if by := covered[period]; len(by) != 1 {
			id := duly.OccurrenceID(s.ID, period)
			all = append(all, broken{fmt.Sprintf("%s is covered by %d occurrences: %v", id, len(by), by), id})
		}
		delete(covered, period)
	}
	for period, by := range covered {
		all = append(all, broken{"nobody owed " + period, by[0]})
	}
	for key, n := range effects {
		all = append(all, broken{what: fmt.Sprintf("nobody owed %s, which happened %d times", key, n)})
	}
	return all
}

type change struct {
	N, Sid, Queue, Seq, Token int64
	Began                     bool
	Schedule, Period          string
}

// changes lists who owned what, in order.
func (w *world) changes() []change {
	w.t.Helper()
	return collect[change](w, w.own, `SELECT a.n, a.sid, coalesce(a.queue, 0) AS queue, a.seq, a.token, a.began, s.id AS schedule, o.period
		FROM owned a JOIN duly.occurrences o ON o.seq = a.seq JOIN duly.schedules s ON s.sid = a.sid ORDER BY a.n`)
}

// verifyOwners: at no time had a queue more owners than it may, and tokens grew
// with each new one of an exclusive queue.
func (w *world) verifyOwners(p *plan) (all []broken) {
	w.t.Helper()
	limits := map[string]int{}
	for _, q := range p.queues {
		limits[q.Name] = q.Concurrency
	}
	limitOf := map[string]int{}
	queueOf := map[string]string{}
	for _, s := range p.schedules {
		queueOf[s.ID], limitOf[s.ID] = "schedule "+s.ID, 1
		if s.Queue != "" {
			queueOf[s.ID], limitOf[s.ID] = "queue "+s.Queue, limits[s.Queue]
		}
	}
	owners, tokens := map[string]map[int64]string{}, map[string]int64{}
	granted := 0
	for _, c := range w.changes() {
		queue, id := queueOf[c.Schedule], duly.OccurrenceID(c.Schedule, c.Period)
		if owners[queue] == nil {
			owners[queue] = map[int64]string{}
		}
		if !c.Began {
			delete(owners[queue], c.Token)
			continue
		}
		granted++
		owners[queue][c.Token] = id
		if len(owners[queue]) > limitOf[c.Schedule] {
			all = append(all, broken{fmt.Sprintf("%s had %d owners at once: %v", queue, len(owners[queue]), owners[queue]), id})
		}
		if limitOf[c.Schedule] == 1 && c.Token <= tokens[queue] {
			all = append(all, broken{fmt.Sprintf("token %d was granted in %s after %d", c.Token, queue, tokens[queue]), id})
		}
		tokens[queue] = max(tokens[queue], c.Token)
	}
	for queue, left := range owners {
		for token, id := range left {
			all = append(all, broken{fmt.Sprintf("token %d of %s is still owned", token, queue), id})
		}
	}
	w.t.Logf("%d attempts were granted", granted)
	return all
}

// verifyOrder: where an occurrence waits for the earlier ones of its schedule,
// none began before they had ended.
func (w *world) verifyOrder(p *plan) (all []broken) {
	w.t.Helper()
	serial := map[string]bool{}
	for _, s := range p.schedules {
		serial[s.ID] = s.Overlap == duly.OverlapWait
	}
	newest := map[string]string{}
	for _, c := range w.changes() {
		if !serial[c.Schedule] || !c.Began {
			continue
		}
		if before := newest[c.Schedule]; c.Period < before { // RFC 3339 in UTC sorts
			all = append(all, broken{fmt.Sprintf("it began again after %s had", before), duly.OccurrenceID(c.Schedule, c.Period)})
		}
		newest[c.Schedule] = max(newest[c.Schedule], c.Period)
	}
	return all
}

func (w *world) occurrences(schedule string) (all []duly.Occurrence) {
	w.t.Helper()
	page := store.Page{Limit: 1000}
	for {
		items, next, err := w.st.Occurrences(context.Background(), store.OccurrenceFilter{Schedule: schedule}, page)
		if err != nil {
			w.t.Fatal(err)
		}
		all = append(all, items...)
		if page.Cursor = next; next == "" {
			return all
		}
	}
}

func collect[T any](w *world, db *pgxpool.Pool, query string, args ...any) []T {
	w.t.Helper()
	rows, err := db.Query(context.Background(), query, args...)
	if err != nil {
		w.t.Fatal(err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByName[T])
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

// tell fails the test with what broke, the history of the occurrences concerned
// and what was done to the nodes.
func (w *world) tell(m *mischief, all []broken) {
	w.t.Helper()
	const most = 5
	told := map[string]bool{}
	for _, b := range all {
		w.t.Errorf("%s %s", b.occurrence, b.what)
		if b.occurrence == "" || told[b.occurrence] || len(told) == most {
			continue
		}
		told[b.occurrence] = true
		w.t.Log(w.history(b.occurrence))
		for _, p := range m.members {
			for _, line := range p.log.lines(b.occurrence) {
				w.t.Logf("%s: %s", p.order.Name, line)
			}
		}
	}
	w.t.Log("the faults:\n" + strings.Join(m.diary, "\n"))
	for _, p := range m.members {
		lines := p.log.lines("")
		for _, line := range lines[max(0, len(lines)-8):] {
			w.t.Logf("the last words of %s: %s", p.order.Name, line)
		}
	}
}

// history is all that the databases know of an occurrence.
func (w *world) history(id string) string {
	var b strings.Builder
	o, err := w.st.Occurrence(context.Background(), id)
	if err != nil {
		return fmt.Sprintf("%s: %v", id, err)
	}
	fmt.Fprintf(&b, "%s is %s (%s), covers %v, merged into %q, due %v, finished %v\n", o.ID, o.State, o.Reason, o.Covers, o.MergedInto, o.Due, o.FinishedAt)
	for _, a := range o.Attempts {
		fmt.Fprintf(&b, "  attempt %d on %s, token %d: %s %v to %v late=%v stale=%+v effects=%+v %s\n",
			a.Number, a.Node, a.Token, a.Outcome, a.StartedAt.Format("15:04:05.000"), a.FinishedAt.Format("15:04:05.000"), a.Late, a.Stale, a.Effects, a.Error)
	}
	schedule, _, _ := duly.SplitOccurrenceID(id)
	for _, period := range o.Covers {
		for _, r := range collect[struct {
			N                  int64
			Occurrence, Worker string
			Attempt            int
			Token              int64
		}](w, w.effectsOf(schedule), "SELECT n, occurrence, worker, attempt, token FROM made WHERE key = $1 ORDER BY n", effectKey(schedule, period)) {
			fmt.Fprintf(&b, "  effect for %s: row %d by attempt %d of %s on %s, token %d\n", period, r.N, r.Attempt, r.Occurrence, r.Worker, r.Token)
		}
	}
	for _, c := range collect[struct {
		N     int64
		Token int64
		Began bool
		At    string
	}](w, w.own, `SELECT n, token, began, to_char(at, 'HH24:MI:SS.MS') AS at FROM owned WHERE seq = $1 ORDER BY n`, o.Seq) {
		fmt.Fprintf(&b, "  owned %d: token %d began=%v %s\n", c.N, c.Token, c.Began, c.At)
	}
	return b.String()
}
