//go:build unix

package chaos

import (
	"context"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/duly-dev/duly"
)

// TestVerifierSeesEachBrokenPromise has work done without a fault, and then
// breaks what is in the database, in each way there is.
func TestVerifierSeesEachBrokenPromise(t *testing.T) {
	dsn := servers.Postgres(t).DSN
	w := openWorld(t, dsn, dsn)
	start := time.Now().Add(2 * time.Second).Truncate(time.Second).UTC()
	p := newPlan(start, start.Add(6*time.Second))
	p.add("hopeless", time.Second, duly.OverlapAllow, "three")
	w.apply(p)
	worker := newProcess(t, order{Name: "worker", Slots: 10, Store: dsn, App: dsn, Home: dsn})
	worker.start()
	m := &mischief{t: t, members: []*member{{process: worker}}}
	w.awaitEnd(m)
	worker.end(syscall.SIGTERM)
	if broken := w.verify(p); len(broken) > 0 {
		w.tell(m, broken)
		return
	}
	succeeded, failed := w.example(duly.Succeeded, "allow-1"), w.example(duly.Failed, "hopeless")
	joined := w.example(duly.Succeeded, "joined-1")
	seq := func(o duly.Occurrence) string { return strconv.FormatInt(o.Seq, 10) }
	for _, c := range []struct{ name, breaks, want string }{
		{"AnOccurrenceThatIsNotThere", "UPDATE duly.occurrences SET period = period || 'x' WHERE seq = " + seq(succeeded), "covered by 0"},
		{"OneTooMany", "UPDATE duly.occurrences SET covers = '[\"" + succeeded.Period + "\",\"2001-01-01T00:00:00Z\"]' WHERE seq = " + seq(succeeded), "nobody owed"},
		{"OneWithoutAnEnd", "UPDATE duly.occurrences SET state = 0 WHERE seq = " + seq(succeeded), "it is pending"},
		{"OneWithAnotherEnd", "UPDATE duly.occurrences SET state = 2 WHERE seq = " + seq(failed), "it is succeeded"},
		{"ARepeatedEffect", "INSERT INTO made (key) VALUES ('" + effectKey(succeeded.Schedule, succeeded.Period) + "')", "happened 2 times"},
		{"AMissingEffect", "DELETE FROM made WHERE key = '" + effectKey(succeeded.Schedule, succeeded.Period) + "'", "happened 0 times"},
		{"AnEffectOfWhatFailed", "INSERT INTO made (key) VALUES ('" + effectKey(failed.Schedule, failed.Period) + "')", "happened 1 times"},
		{"AnEffectOfNothing", "INSERT INTO made (key) VALUES ('" + effectKey("wait-1", "2001-01-01T00:00:00Z") + "')", "nobody owed"},
		{"AnAttemptAfterACompletion", "UPDATE made SET attempt = 0 WHERE key = '" + effectKey(joined.Schedule, joined.Covers[len(joined.Covers)-1]) + "'", "had completed it"},
		{"TwoOwners", "UPDATE owned SET n = -n WHERE NOT began AND n = (SELECT min(n) FROM owned WHERE NOT began AND queue IS NULL)", "is still owned"},
		{"TwoOwnersAtOnce", `WITH first AS (SELECT seq, token FROM owned WHERE began AND queue = (SELECT queue FROM duly.queues WHERE name = 'one') ORDER BY n LIMIT 1)
			UPDATE owned o SET n = 1000000 FROM first WHERE NOT o.began AND o.token = first.token`, "owners at once"},
		{"AnotherOrder", `UPDATE owned o SET n = 1000000 + o.n WHERE o.seq = (SELECT min(a.seq) FROM owned a JOIN duly.schedules s ON s.sid = a.sid WHERE s.id = 'wait-1')`, "began again"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx := context.Background()
			const copies = "duly.occurrences, owned, made"
			for _, table := range strings.Split(copies, ", ") {
				w.exec("CREATE TABLE kept_" + strings.ReplaceAll(table, ".", "_") + " AS TABLE " + table)
			}
			w.exec("ALTER TABLE duly.occurrences DISABLE TRIGGER USER")
			tag, err := w.own.Exec(ctx, c.breaks)
			if err != nil || tag.RowsAffected() == 0 {
				t.Fatalf("it cannot be broken: %v %v", tag, err)
			}
			seen := false
			for _, b := range w.verify(p) {
				seen = seen || strings.Contains(b.what, c.want)
			}
			if !seen {
				t.Errorf("the verifier says nothing of %q: %v", c.want, w.verify(p))
			}
			for _, table := range strings.Split(copies, ", ") {
				kept := "kept_" + strings.ReplaceAll(table, ".", "_")
				w.exec("DELETE FROM " + table)
				w.exec("INSERT INTO " + table + " SELECT * FROM " + kept)
				w.exec("DROP TABLE " + kept)
			}
			w.exec("ALTER TABLE duly.occurrences ENABLE TRIGGER USER")
		})
	}
}

// example finds an occurrence in a state.
func (w *world) example(state duly.State, schedule string) duly.Occurrence {
	w.t.Helper()
	for _, o := range w.occurrences(schedule) {
		if o.State == state {
			return o
		}
	}
	w.t.Fatalf("no occurrence of %s is %s", schedule, state)
	return duly.Occurrence{}
}

func (w *world) exec(query string) {
	w.t.Helper()
	if _, err := w.own.Exec(context.Background(), query); err != nil {
		w.t.Fatal(err)
	}
}
