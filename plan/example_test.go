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

func ExampleSimulate() {
	compile := func(cron string) *plan.Plan {
		p, faults := plan.Compile(duly.Schedule{
			ID: "report", Timing: duly.Timing{Cron: cron}, Timezone: "Europe/Berlin", Target: duly.Target{Handler: "report"},
		})
		if len(faults) > 0 {
			panic(faults[0])
		}
		return p
	}
	from := time.Date(2027, 3, 26, 0, 0, 0, 0, time.UTC)
	sim := plan.Simulate(compile("30 2 * * *"), compile("30 4 * * 1-5"), from, from, from.AddDate(0, 0, 4))
	fmt.Println(sim.Before, "before,", sim.After, "after")
	for _, c := range sim.Changes {
		fmt.Printf("%s: %q, then %q %q\n", c.Period, c.BeforeLocal, c.AfterLocal, c.Note)
	}
	// Output:
	// 4 before, 2 after
	// 2027-03-26: "2027-03-26T02:30:00+01:00", then "2027-03-26T04:30:00+01:00" ""
	// 2027-03-27: "2027-03-27T02:30:00+01:00", then "" ""
	// 2027-03-28: "2027-03-28T03:00:00+02:00", then "" "clocks go forward"
	// 2027-03-29: "2027-03-29T02:30:00+02:00", then "2027-03-29T04:30:00+02:00" ""
}
