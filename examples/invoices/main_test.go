//go:build unix

package main

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/effect"
	"github.com/duly-dev/duly/store"
)

const (
	demo      = "invoices-demo"
	every     = 5 * time.Second
	customers = 2
	// slow is how long a worker takes to bill, and again to report it, and
	// longestLife how long it has for that until kill -9.
	slow        = 400 * time.Millisecond
	longestLife = 600 * time.Millisecond
	// finishWithin bounds what the last worker, left alone, needs for the rest.
	finishWithin = 2 * time.Minute
)

func TestWorkersKilledAtRandomMomentsBillEveryCustomerOnceForEachPeriod(t *testing.T) {
	kills := 200
	if testing.Short() {
		kills = 30
	}
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	a := newApp(t)
	began := time.Now()
	for range kills {
		// One in four is already killed while it starts.
		a.killedAfter(time.Duration(random.Int64N(int64(longestLife))), random.IntN(4) > 0)
	}
	chaos := time.Since(began)
	summary := a.leftAlone()

	r := a.report()
	t.Logf("%d kills in %v (seed %d), then left alone:\n%s", kills, chaos.Round(time.Second), seed, r)
	if want := fmt.Sprintf("%d invoices: 0 repeated, 0 missing", r.invoices); !strings.Contains(summary, want) {
		t.Errorf("Ctrl-C printed %q, want %q", summary, want)
	}
	if r.invoices != customers*r.periods || r.repeated != 0 || r.missing != 0 {
		t.Errorf("invoices are not customers × periods, each once:\n%s", r)
	}
	if r.effects != r.invoices {
		t.Errorf("the ledger has %d effects and the application %d invoices", r.effects, r.invoices)
	}
	if r.lost == 0 || r.found == 0 {
		t.Errorf("no worker was killed at its work, or none found what another had made:\n%s", r)
	}
	if !testing.Short() && r.attempts <= r.effects {
		t.Errorf("%d attempts for %d effects: there must be more", r.attempts, r.effects)
	}
}

// app is the program, built once, with its databases.
type app struct {
	t    *testing.T
	exe  string
	data string
}

func newApp(t *testing.T) *app {
	t.Helper()
	a := &app{t: t, exe: filepath.Join(t.TempDir(), "invoices"), data: t.TempDir()}
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", a.exe, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	b := a.billing()
	if _, err := b.db.ExecContext(t.Context(), "DELETE FROM customers WHERE id > ?", customers); err != nil {
		t.Fatal(err)
	}
	return a
}

func (a *app) billing() *Billing {
	a.t.Helper()
	b, err := OpenBilling(a.t.Context(), filepath.Join(a.data, "app.db"), 0)
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { _ = b.Close() })
	return b
}

// worker is a running process.
type worker struct {
	cmd     *exec.Cmd
	out     said
	started <-chan struct{} // closed when it has said something
	ended   chan error
}

// said is what a process says.
type said struct {
	text  bytes.Buffer
	once  sync.Once
	began chan struct{}
}

func (s *said) Write(p []byte) (int, error) {
	defer s.once.Do(func() { close(s.began) })
	return s.text.Write(p)
}

// String is for when the process has ended.
func (s *said) String() string { return s.text.String() }

func (a *app) start() *worker {
	a.t.Helper()
	w := &worker{out: said{began: make(chan struct{})}, ended: make(chan error, 1)}
	w.started = w.out.began
	w.cmd = exec.Command(a.exe, "-data", a.data, "-listen", "127.0.0.1:0", "-every", every.String(), "-lease", "1s", "-slow", slow.String())
	w.cmd.Stdout, w.cmd.Stderr = &w.out, &w.out
	if err := w.cmd.Start(); err != nil {
		a.t.Fatal(err)
	}
	go func() { w.ended <- w.cmd.Wait() }()
	return w
}

// killedAfter starts a worker and kills it with kill -9, a while after it was
// asked to start, or after it has.
func (a *app) killedAfter(life time.Duration, once bool) {
	a.t.Helper()
	w := a.start()
	if once {
		select {
		case <-w.started:
		case err := <-w.ended:
			a.t.Fatalf("the worker did not start: %v\n%s", err, w.out.String())
		}
	}
	select {
	case err := <-w.ended:
		a.t.Fatalf("the worker ended by itself: %v\n%s", err, w.out.String())
	case <-time.After(life):
	}
	if err := w.cmd.Process.Kill(); err != nil {
		a.t.Fatal(err)
	}
	<-w.ended
	if status, ok := w.cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
		a.t.Fatalf("the worker ended with %v\n%s", w.cmd.ProcessState, w.out.String())
	}
}

// leftAlone starts a worker and, when nothing is left to do, ends it with
// Ctrl-C. It answers what that printed.
func (a *app) leftAlone() string {
	a.t.Helper()
	w := a.start()
	defer func() { _ = w.cmd.Process.Kill() }()
	ctx, cancel := context.WithTimeout(a.t.Context(), finishWithin)
	defer cancel()
	for a.unfinished() {
		select {
		case err := <-w.ended:
			a.t.Fatalf("the worker ended by itself: %v\n%s", err, w.out.String())
		case <-ctx.Done():
			a.t.Fatalf("not finished within %v", finishWithin)
		case <-time.After(100 * time.Millisecond):
		}
	}
	if err := w.cmd.Process.Signal(os.Interrupt); err != nil {
		a.t.Fatal(err)
	}
	if err := <-w.ended; err != nil {
		a.t.Fatalf("Ctrl-C: %v\n%s", err, w.out.String())
	}
	return w.out.String()
}

func (a *app) unfinished() bool {
	all := a.occurrences()
	for _, o := range all {
		if o.State.Open() {
			return true
		}
	}
	return len(all) == 0
}

// occurrences reads Duly's history, the newest first.
func (a *app) occurrences() []duly.Occurrence {
	a.t.Helper()
	ctx := a.t.Context()
	st, err := store.Open(ctx, "sqlite:"+filepath.Join(a.data, "duly.db"), store.Options{ReadOnly: true})
	if err != nil {
		a.t.Fatal(err)
	}
	defer st.Close()
	all, more, err := st.Occurrences(ctx, store.OccurrenceFilter{Schedule: demo}, store.Page{Limit: 1000})
	if err != nil || more != "" {
		a.t.Fatalf("more than a page of occurrences, or %v", err)
	}
	return all
}

// report is what happened, and what came of it.
type report struct {
	occurrences, attempts, lost, found int // history
	periods, missing                   int // of every, from the first to the last
	invoices, repeated, effects        int // the application
}

func (r report) String() string {
	return fmt.Sprintf(`  %d occurrences in %d attempts, of which %d were lost
  %d invoices = %d customers × %d periods, and as many effects
  %d repeated, %d missing; later attempts found %d done already`,
		r.occurrences, r.attempts, r.lost, r.invoices, customers, r.periods, r.repeated, r.missing, r.found)
}

func (a *app) report() report {
	a.t.Helper()
	var r report
	billed := map[string]int{} // by period
	var first, last time.Time
	for _, o := range a.occurrences() {
		r.occurrences++
		if o.State != duly.Succeeded {
			a.t.Errorf("%s is %s: %s", o.ID, o.State, o.Reason)
		}
		for _, p := range o.Covers {
			at, err := time.Parse(time.RFC3339, p)
			if err != nil {
				a.t.Fatal(err)
			}
			if first.IsZero() || at.Before(first) {
				first = at
			}
			if at.After(last) {
				last = at
			}
			billed[p]++
		}
		for _, at := range o.Attempts {
			r.attempts++
			r.found += at.Effects.Reused
			if at.Outcome == duly.AttemptLost {
				r.lost++
			}
		}
	}
	b := a.billing()
	for at := first; !at.After(last); at = at.Add(every) {
		period := at.Format(time.RFC3339)
		r.periods++
		if billed[period] != 1 {
			a.t.Errorf("%d occurrences cover the period %s", billed[period], period)
		}
		n := a.count(b.db, "SELECT count(DISTINCT customer) FROM invoices WHERE period = ?", period)
		r.missing += customers - n
		r.repeated += a.count(b.db, "SELECT count(*) FROM invoices WHERE period = ?", period) - n
	}
	r.invoices = a.count(b.db, "SELECT count(*) FROM invoices WHERE period LIKE '%T%'") // not those of midnight in Berlin
	for cursor := ""; ; {
		page, next, err := effect.List(a.t.Context(), b.ledger, effect.Filter{Prefix: "invoice/", State: effect.Done, Cursor: cursor})
		if err != nil {
			a.t.Fatal(err)
		}
		for _, e := range page {
			if strings.HasPrefix(e.Occurrence, demo+"@") {
				r.effects++
			}
		}
		if cursor = next; next == "" {
			return r
		}
	}
}

func (a *app) count(db *sql.DB, query string, args ...any) (n int) {
	a.t.Helper()
	if err := db.QueryRowContext(a.t.Context(), query, args...).Scan(&n); err != nil {
		a.t.Fatal(err)
	}
	return n
}
