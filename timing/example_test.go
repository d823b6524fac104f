package timing_test

import (
	"fmt"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/timing"
)

func ExampleCompile() {
	t, faults := timing.Compile(duly.Schedule{
		Timezone: "Europe/Berlin",
		Timing:   duly.Timing{RRule: "DTSTART:20270101T170000\nFREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1"},
		Period:   duly.PeriodMonth,
	})
	if len(faults) > 0 {
		fmt.Println(faults[0])
		return
	}
	from := time.Date(2027, 3, 1, 0, 0, 0, 0, time.UTC)
	for due := range t.Sequence(from).Between(from, from.AddDate(0, 2, 0)) {
		fmt.Println(due.Period, due.At.Format(time.RFC3339))
	}
	// Output:
	// 2027-03 2027-03-31T15:00:00Z
	// 2027-04 2027-04-30T15:00:00Z
}
