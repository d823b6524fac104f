package calendar_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/duly-dev/duly/calendar"
	"github.com/duly-dev/duly/cron"
)

func ExampleBounds() {
	berlin, _ := cron.LoadZone("Europe/Berlin")
	start, end, _ := calendar.Bounds(calendar.Day, "2026-10-25", berlin)
	fmt.Println(start, end.Sub(start)) // the clocks go back
	// Output: 2026-10-24 22:00:00 +0000 UTC 25h0m0s
}

func ExampleCalendar_Next() {
	c, _ := calendar.New(calendar.Rules{
		Holidays: []calendar.Date{{2026, 12, 25}},
	})
	d, _ := c.Next(calendar.Date{2026, 12, 25}) // a Friday
	fmt.Println(d)
	// Output: 2026-12-28
}

func ExampleKey() {
	berlin, _ := cron.LoadZone("Europe/Berlin")
	due := time.Date(2026, 11, 29, 2, 0, 0, 0, berlin)
	fmt.Println(calendar.Key(calendar.Day, -1, due, berlin)) // last night's work is for yesterday
	fmt.Println(calendar.Key(calendar.Week, 0, due, berlin))
	fmt.Println(calendar.Key(calendar.Hour, 0, due, berlin))
	// Output:
	// 2026-11-28
	// 2026-W48
	// 2026-11-29T02+01:00
}

func ExampleNeighbour() {
	apia, _ := cron.LoadZone("Pacific/Apia")
	fmt.Println(calendar.Neighbour(calendar.Day, "2011-12-29", 1, apia)) // Samoa had no 30 December that year
	// Output: 2011-12-31 <nil>
}

func ExampleParseICS() {
	file := `BEGIN:VCALENDAR
BEGIN:VEVENT
SUMMARY:Christmas
DTSTART;VALUE=DATE:20251225
DTEND;VALUE=DATE:20251227
RRULE:FREQ=YEARLY
END:VEVENT
END:VCALENDAR
`
	dates, err := calendar.ParseICS(strings.NewReader(file), calendar.ICSOptions{FromYear: 2026, ToYear: 2027})
	fmt.Println(dates, err)
	// Output: [2026-12-25 2026-12-26 2027-12-25 2027-12-26] <nil>
}
