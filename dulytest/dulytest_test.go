package dulytest_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/control"
	"github.com/duly-dev/duly/dulytest"
	"github.com/duly-dev/duly/effect"
	"github.com/duly-dev/duly/node"
	"github.com/duly-dev/duly/store"
)

func hourly(handler string) duly.Schedule {
	return duly.Schedule{ID: "hourly", Timing: duly.Timing{Cron: "0 * * * *"}, Period: duly.PeriodHour, Target: duly.Target{Handler: handler}}
}

func done(context.Context, *node.Occurrence) error { return nil }

// invoices is an application with a database of its own.
type invoices struct{ db *sql.DB }

func newInvoices(t *testing.T) *invoices {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "app.db")+"?_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if err := effect.Migrate(t.Context(), effect.SQLite.DB(db)); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("CREATE TABLE invoices (customer INTEGER, period TEXT)"); err != nil {
		t.Fatal(err)
	}
	return &invoices{db}
}

// send invoices three customers, each in a transaction of its own.
func (in *invoices) send(ctx context.Context, occ *node.Occurrence) error {
	for customer := range 3 {
		key := fmt.Sprintf("invoice/%s/%d", occ.Period, customer)
		_, _, err := effect.Do(ctx, effect.SQLite.DB(in.db), key, func(ctx context.Context, tx *sql.Tx) (int, error) {
			_, err := tx.ExecContext(ctx, "INSERT INTO invoices VALUES (?, ?)", customer, occ.Period)
			return customer, err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (in *invoices) count(t *testing.T) (n int) {
	t.Helper()
	if err := in.db.QueryRow("SELECT count(*) FROM invoices").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestAHandlerWithTheLedgerSurvivesEveryCrash(t *testing.T) {
	app := newInvoices(t)
	d := dulytest.New(t)
	d.Handle("send", app.send)
	d.Declare(hourly("send"))
	d.CrashAfterEffect("send")
	d.Advance(time.Hour + 10*time.Minute)
	d.Occurrence("hourly@2026-01-01T01+00:00").Succeeded().AfterAttempts(2).Created(0).Reused(3).Effect("invoice/2026-01-01T01+00:00/2")

	d.CrashAtEffect("send", 2)
	d.CrashAtEffect("send", 1)
	d.Advance(time.Hour)
	d.Occurrence("hourly@2026-01-01T02+00:00").Succeeded().AfterAttempts(3).Created(1).Reused(2)
	if n := app.count(t); n != 6 {
		t.Errorf("%d invoices, want 6", n)
	}
}

func TestAHandlerWithoutTheLedgerIsFoundOut(t *testing.T) {
	rows := 0
	d := dulytest.New(t)
	d.Handle("send", func(context.Context, *node.Occurrence) error { rows++; return nil })
	d.Declare(hourly("send"))
	d.CrashAfterEffect("send")
	d.Advance(time.Hour + 10*time.Minute)
	if rows != 2 {
		t.Errorf("%d rows: the second attempt should have written another", rows)
	}
}

func TestRetriesComeAfterTheirBackoff(t *testing.T) {
	var at []time.Time
	d := dulytest.New(t)
	d.Handle("fail", func(context.Context, *node.Occurrence) error {
		at = append(at, d.Now())
		return errors.New("boom")
	})
	s := hourly("fail")
	s.Retry = duly.Retry{MaxAttempts: 3, Backoff: duly.Duration(time.Minute), MaxBackoff: duly.Duration(time.Hour)}
	d.Declare(s)
	d.Advance(time.Hour + 59*time.Minute)
	d.Occurrence("hourly@2026-01-01T01+00:00").Failed().AfterAttempts(3)
	for i, want := range []time.Duration{0, time.Minute, 3 * time.Minute} {
		if got := at[i].Sub(at[0]); (got - want).Abs() > time.Second {
			t.Errorf("attempt %d came after %v, want %v", i+1, got, want)
		}
	}
}

func TestAnOutageIsCaughtUp(t *testing.T) {
	d := dulytest.New(t)
	d.Handle("work", done)
	s := hourly("work")
	s.CatchUp = duly.CatchUp{Policy: duly.CatchUpAll}
	d.Declare(s)
	d.Outage(3 * time.Hour)
	d.Advance(0)
	d.Ran("hourly", "2026-01-01T01+00:00", "2026-01-01T02+00:00", "2026-01-01T03+00:00")
}

func TestAPauseAndItsResume(t *testing.T) {
	d := dulytest.New(t)
	d.Handle("work", done)
	d.Declare(hourly("work"))
	ctx := t.Context()
	if err := d.Control().Pause(ctx, store.PauseRequest{Schedule: "hourly", By: "ann"}); err != nil {
		t.Fatal(err)
	}
	d.Advance(3 * time.Hour)
	d.Ran("hourly")
	if err := d.Control().Resume(ctx, store.ResumeRequest{Schedule: "hourly", By: "ann", Policy: duly.CatchUpLatest}); err != nil {
		t.Fatal(err)
	}
	d.Advance(0)
	d.Ran("hourly", "2026-01-01T03+00:00")
	d.Occurrence("hourly@2026-01-01T01+00:00").Is(duly.Skipped)
}

func TestATimeoutEndsLongWork(t *testing.T) {
	d := dulytest.New(t)
	d.Handle("work", done)
	d.Takes("work", 20*time.Minute)
	s := hourly("work")
	s.Timeout, s.Retry.MaxAttempts = duly.Duration(10*time.Minute), 1
	d.Declare(s)
	d.Advance(time.Hour + 5*time.Minute)
	d.Occurrence("hourly@2026-01-01T01+00:00").Is(duly.Running)
	d.Advance(5 * time.Minute)
	o := d.Occurrence("hourly@2026-01-01T01+00:00").Failed()
	if o.Attempts[0].Outcome != duly.AttemptTimedOut {
		t.Errorf("it ended %s", o.Attempts[0].Outcome)
	}
}

func TestLongWorkKeepsItsLease(t *testing.T) {
	d := dulytest.New(t)
	d.Handle("work", done)
	d.Takes("work", 20*time.Minute)
	d.Declare(hourly("work"))
	d.Advance(time.Hour + 30*time.Minute)
	d.Occurrence("hourly@2026-01-01T01+00:00").Succeeded().AfterAttempts(1)
}

func TestACancelEndsLongWork(t *testing.T) {
	d := dulytest.New(t)
	d.Handle("work", done)
	d.Takes("work", 20*time.Minute)
	d.Declare(hourly("work"))
	d.Advance(time.Hour + 2*time.Minute)
	if err := d.Control().Cancel(t.Context(), "hourly@2026-01-01T01+00:00", "ann", "wrong month"); err != nil {
		t.Fatal(err)
	}
	d.Advance(time.Minute)
	d.Occurrence("hourly@2026-01-01T01+00:00").Is(duly.Cancelled)
}

func TestAChangedDefinitionIsInForceFromNow(t *testing.T) {
	d := dulytest.New(t)
	d.Handle("work", done)
	d.Declare(hourly("work"))
	d.Advance(2 * time.Hour)
	s := hourly("work")
	s.Cron = "30 */2 * * *"
	d.Declare(s)
	d.Advance(3 * time.Hour)
	d.Ran("hourly", "2026-01-01T01+00:00", "2026-01-01T02+00:00", "2026-01-01T04+00:00")
}

func TestATriggerIsWorkedOnAtOnce(t *testing.T) {
	d := dulytest.New(t)
	d.Handle("work", done)
	d.Declare(hourly("work"))
	d.Occurrence(d.Trigger("hourly")).Succeeded()
}

func TestABackfillRunsWithTheNextAdvance(t *testing.T) {
	d := dulytest.New(t)
	d.Handle("work", done)
	d.Declare(hourly("work"))
	_, err := d.Control().Backfill(t.Context(), control.BackfillRequest{
		Schedule: "hourly", From: d.Now().Add(-2*time.Hour - time.Minute), To: d.Now().Add(-time.Minute), By: "ann",
	})
	if err != nil {
		t.Fatal(err)
	}
	d.Advance(0)
	d.Ran("hourly", "2025-12-31T22+00:00", "2025-12-31T23+00:00")
}

func TestWhatNobodyHandlesWaits(t *testing.T) {
	d := dulytest.New(t)
	d.Declare(hourly("elsewhere"))
	d.Advance(90 * time.Minute)
	d.Occurrence("hourly@2026-01-01T01+00:00").Is(duly.Pending).AfterAttempts(0)
}

// failing is a T that gathers what it is told.
type failing struct{ said []string }

func (f *failing) Helper()                        {}
func (f *failing) Errorf(msg string, args ...any) { f.said = append(f.said, fmt.Sprintf(msg, args...)) }
func (f *failing) Fatalf(msg string, args ...any) { f.Errorf(msg, args...); panic(f) }
func (f *failing) saying(do func()) (said string) {
	f.said = nil
	defer func() {
		if p := recover(); p != nil && p != any(f) {
			panic(p)
		}
		said = strings.Join(f.said, "\n")
	}()
	do()
	return ""
}

func TestWhatIsNotSoIsSaidInASentence(t *testing.T) {
	f := &failing{}
	d := dulytest.New(f)
	d.Handle("work", func(_ context.Context, occ *node.Occurrence) error {
		occ.RecordEffect("k", false, nil)
		return nil
	})
	d.Declare(hourly("work"))
	d.Advance(time.Hour)
	const id = "hourly@2026-01-01T01+00:00"
	for name, c := range map[string]struct {
		do   func()
		want string
	}{
		"state":     {func() { d.Occurrence(id).Failed() }, id + " should have failed, but at 2026-01-01T01:00:00Z " + id + " is succeeded"},
		"attempts":  {func() { d.Occurrence(id).AfterAttempts(2) }, "should have had 2 attempts and not 1"},
		"created":   {func() { d.Occurrence(id).Created(2) }, "should have made 2 effects in its last attempt and not 1"},
		"reused":    {func() { d.Occurrence(id).Reused(1) }, "should have found 1 effect done before in its last attempt and not 0"},
		"effect":    {func() { d.Occurrence(id).Effect("x") }, "should have the effect x once and not 0 times (it has [k])"},
		"covers":    {func() { d.Occurrence(id).Covers() }, "should cover no period and not 2026-01-01T01+00:00"},
		"none":      {func() { d.Occurrence("hourly@2026-01-02") }, "there should be an occurrence hourly@2026-01-02, but there is none at 2026-01-01T01:00:00Z; hourly has 2026-01-01T01+00:00 (succeeded)"},
		"ran":       {func() { d.Ran("hourly") }, "hourly should have succeeded for no period, but did for 2026-01-01T01+00:00"},
		"backwards": {func() { d.At("2025-01-01T00:00:00Z") }, "time does not go back"},
		"nonsense": {func() {
			d.Declare(duly.Schedule{ID: "x", Timing: duly.Timing{Cron: "nonsense"}, Target: duly.Target{Handler: "work"}})
		}, "schedule x"},
	} {
		if said := f.saying(c.do); !strings.Contains(said, c.want) {
			t.Errorf("%s: said %q, want %q", name, said, c.want)
		}
	}
	if said := f.saying(func() { d.Occurrence(id).Succeeded().AfterAttempts(1).Created(1); d.NothingNeedsAttention() }); said != "" {
		t.Errorf("what is so was denied: %s", said)
	}
}

func TestAttentionIsSaid(t *testing.T) {
	f := &failing{}
	d := dulytest.New(f)
	d.Handle("work", func(context.Context, *node.Occurrence) error { return duly.Permanent(errors.New("no such customer")) })
	d.Declare(hourly("work"))
	d.Advance(time.Hour)
	if said := f.saying(d.NothingNeedsAttention); !strings.Contains(said, "no such customer") {
		t.Errorf("said %q", said)
	}
}
