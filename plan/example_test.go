package plan_test

import (
	"fmt"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/plan"
	"github.com/duly-dev/duly/store"
)

func ExampleDecide() {
	p, faults := plan.Compile(duly.Schedule{
		ID: "invoices", Timing: duly.Timing{Cron: "0 0 * * *"}, PeriodOffset: -1,
		CatchUp: duly.CatchUp{Policy: duly.CatchUpAll}, Target: duly.Target{Handler: "send"},
	})
	if len(faults) > 0 {
		fmt.Println(faults[0])
		return
	}
	created := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	firing := plan.Decide(created.Add(48*time.Hour), store.DueSchedule{
		Schedule: "invoices", Anchor: created, Cursor: created,
		Revisions: []store.Revision{{Number: 1, Definition: 1, From: created}},
	}, func(int64) *plan.Plan { return p })
	for _, o := range firing.Occurrences {
		fmt.Println(o.State, o.Period, o.Origin)
	}
	fmt.Println("next", firing.NextDue.Format(time.DateOnly))
	// Output:
	// missed 2026-11-27 schedule
	// pending 2026-11-28 catch_up
	// next 2026-11-30
}
