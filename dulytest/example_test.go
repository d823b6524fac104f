package dulytest_test

import (
	"context"
	"fmt"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/dulytest"
	"github.com/duly-dev/duly/node"
)

// printer stands in for the *testing.T that a test would give.
type printer struct{}

func (printer) Helper()                      {}
func (printer) Errorf(f string, args ...any) { fmt.Printf(f+"\n", args...) }
func (printer) Fatalf(f string, args ...any) { panic(fmt.Sprintf(f, args...)) }

var t printer

// Four nights of invoices, in no time.
func Example() {
	d := dulytest.New(t)
	d.At("2026-11-27T12:00:00+01:00")
	d.Handle("send-invoices", func(_ context.Context, occ *node.Occurrence) error {
		fmt.Println("invoices of", occ.Period)
		return nil
	})
	d.Declare(duly.Schedule{
		ID: "invoices", Timing: duly.Timing{Cron: "0 0 * * *"}, Timezone: "Europe/Berlin", Period: duly.PeriodDay, PeriodOffset: -1,
		Target: duly.Target{Handler: "send-invoices"},
	})
	d.Advance(4 * 24 * time.Hour)

	d.Ran("invoices", "2026-11-27", "2026-11-28", "2026-11-29", "2026-11-30")
	d.Occurrence("invoices@2026-11-29").Succeeded().AfterAttempts(1)
	d.NothingNeedsAttention()
	// Output:
	// invoices of 2026-11-27
	// invoices of 2026-11-28
	// invoices of 2026-11-29
	// invoices of 2026-11-30
}

// The process dies after the effect; a handler that does not look does it again.
func ExampleDuly_CrashAfterEffect() {
	sent := map[string]int{}
	d := dulytest.New(t)
	d.Handle("send", func(_ context.Context, occ *node.Occurrence) error {
		sent[occ.Period]++
		return nil
	})
	d.Declare(duly.Schedule{ID: "report", Timing: duly.Timing{Cron: "0 6 * * *"}, Target: duly.Target{Handler: "send"}})
	d.CrashAfterEffect("send")
	d.Advance(24 * time.Hour)

	d.Occurrence("report@2026-01-01").Succeeded().AfterAttempts(2)
	fmt.Println("sent", sent["2026-01-01"], "times")
	// Output: sent 2 times
}

// A failed assertion tells the story.
func ExampleOccurrence_Succeeded() {
	d := dulytest.New(t)
	d.Handle("send", func(context.Context, *node.Occurrence) error { return fmt.Errorf("the mail server is away") })
	d.Declare(duly.Schedule{
		ID: "report", Timing: duly.Timing{Cron: "0 6 * * *"}, Retry: duly.Retry{MaxAttempts: 2}, Target: duly.Target{Handler: "send"},
	})
	d.Advance(24 * time.Hour)

	d.Occurrence("report@2026-01-01").Succeeded()
	// Output: report@2026-01-01 should have succeeded, but at 2026-01-02T00:00:00Z report@2026-01-01 is failed (attempt 2 of 2 failed: the mail server is away); attempt 1 failed: the mail server is away; attempt 2 failed: the mail server is away
}

// Work that takes longer than its interval.
func ExampleDuly_Takes() {
	d := dulytest.New(t)
	d.Handle("import", func(_ context.Context, occ *node.Occurrence) error {
		fmt.Println(occ.Covers)
		return nil
	})
	d.Takes("import", 25*time.Minute)
	d.Declare(duly.Schedule{
		ID: "import", Timing: duly.Timing{Cron: "*/10 * * * *"}, Overlap: duly.OverlapCombine, Target: duly.Target{Handler: "import"},
	})
	d.Advance(time.Hour)
	// Output:
	// [2026-01-01T00:10:00Z]
	// [2026-01-01T00:20:00Z 2026-01-01T00:30:00Z]
	// [2026-01-01T00:40:00Z 2026-01-01T00:50:00Z 2026-01-01T01:00:00Z]
}
