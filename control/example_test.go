package control_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/control"
	"github.com/duly-dev/duly/store"
	_ "github.com/duly-dev/duly/store/sqlite"
)

// What a person asks for: apply, trigger, backfill.
func Example() {
	dir, err := os.MkdirTemp("", "duly-example-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	st, err := store.Open(ctx, "sqlite:"+filepath.Join(dir, "duly.db"), store.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer st.Close()

	ctl := control.New(st)
	applied, err := ctl.Apply(ctx, control.ApplyRequest{
		Owner: "file:duly.yaml", By: "ann",
		Schedules: []duly.Schedule{{ID: "invoices", Timing: duly.Timing{Cron: "0 0 * * *"}, Target: duly.Target{Handler: "send-invoices"}}},
	})
	if err != nil {
		fmt.Println(err) // all that is wrong with all of them
		return
	}
	fmt.Println(applied.Changes[0].Action, applied.Changes[0].ID)

	for range 2 { // asking twice makes one
		made, err := ctl.Trigger(ctx, control.TriggerRequest{Schedule: "invoices", By: "ann", Period: "2026-11-28"})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(made.ID, "existed:", made.Existing)
	}

	day := time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC)
	filled, err := ctl.Backfill(ctx, control.BackfillRequest{Schedule: "invoices", From: day, To: day.AddDate(0, 0, 2), By: "ann", DryRun: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, item := range filled.Items {
		fmt.Println("would", item.Action, item.ID)
	}
	// Output:
	// create invoices
	// invoices@2026-11-28 existed: false
	// invoices@2026-11-28 existed: true
	// would create invoices@2026-11-27
	// would keep invoices@2026-11-28
}
