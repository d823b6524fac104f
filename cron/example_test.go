package cron_test

import (
	"fmt"
	"time"

	"github.com/duly-dev/duly/cron"
)

func ExampleAt() {
	s := cron.At(time.Date(2026, 12, 31, 23, 59, 0, 0, time.UTC))
	fmt.Println(s.Next(time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC)))
	// Output: 2026-12-31 23:59:00 +0000 UTC true
}

func ExampleBetween() {
	e, _ := cron.Parse("0 */6 * * *")
	from := time.Date(2026, 11, 28, 3, 0, 0, 0, time.UTC)
	for due := range cron.Between(e.In(time.UTC, cron.DST{}), from, from.Add(15*time.Hour)) {
		fmt.Println(due.Format(time.RFC3339))
	}
	// Output:
	// 2026-11-28T06:00:00Z
	// 2026-11-28T12:00:00Z
	// 2026-11-28T18:00:00Z
}

func ExampleEvery() {
	every, _ := cron.ParseEvery("40m")
	s, _ := cron.Every(every, time.Date(2027, 1, 4, 3, 0, 0, 0, time.UTC))
	due, _ := s.Next(time.Date(2027, 1, 4, 3, 50, 0, 0, time.UTC))
	fmt.Println(due)
	// Output: 2027-01-04 04:20:00 +0000 UTC
}

// The clocks of Berlin go from 02:00 to 03:00 on 28 March 2027.
func ExampleExpr_In() {
	e, _ := cron.Parse("30 2 * * *")
	berlin, _ := cron.LoadZone("Europe/Berlin")
	noon := time.Date(2027, 3, 27, 12, 0, 0, 0, berlin)

	for _, gap := range []cron.Gap{cron.GapNext, cron.GapShift, cron.GapSkip} {
		due, _ := e.In(berlin, cron.DST{Gap: gap}).Next(noon)
		fmt.Println(gap, due.In(berlin).Format("02 Jan 15:04"))
	}
	// Output:
	// next 28 Mar 03:00
	// shift 28 Mar 03:30
	// skip 29 Mar 02:30
}

func ExampleExpr_Warnings() {
	e, _ := cron.Parse("*/40 9 13 * FRI")
	for _, w := range e.Warnings() {
		fmt.Println(w)
	}
	// Output:
	// day-of-month and day-of-week are both set: a day that matches either field is due, not only days that match both
	// minute: */40 starts over every hour, so the last distance before that is not 40; for a steady distance use an interval (every: 40m)
}

func ExampleLoadZone() {
	_, err := cron.LoadZone("berlin")
	fmt.Println(err.(*cron.ParseError).Reason)
	// Output: unknown_zone
}

func ExampleParse() {
	e, err := cron.Parse("0 18 LW * ?") // the last working day of each month
	if err != nil {
		fmt.Println(err)
		return
	}
	due, _ := e.In(time.UTC, cron.DST{}).Next(time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC))
	fmt.Println(due)

	_, err = cron.Parse("0 0 30 2 *")
	fmt.Println(err)
	// Output:
	// 2026-11-30 18:00:00 +0000 UTC
	// "0 0 30 2 *": day-of-month, column 5: 30 never comes in FEB; choose a day that exists there, or L for the last day of a month (impossible_date)
}

// In the autumn 02:30 comes twice in Berlin.
func ExampleResolve() {
	berlin, _ := cron.LoadZone("Europe/Berlin")
	for _, t := range cron.Resolve(berlin, cron.DST{Overlap: cron.OverlapBoth}, 2026, time.October, 25, 2, 30, 0) {
		fmt.Println(t.In(berlin))
	}
	// Output:
	// 2026-10-25 02:30:00 +0200 CEST
	// 2026-10-25 02:30:00 +0100 CET
}
