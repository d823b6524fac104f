package plan

import (
	"testing"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

func BenchmarkDecide(b *testing.B) {
	zone := func(expr, tz string, change func(*duly.Schedule)) duly.Schedule {
		s := duly.Schedule{Timezone: tz, Timing: duly.Timing{Cron: expr}}
		if change != nil {
			change(&s)
		}
		return s
	}
	for _, c := range []struct {
		name   string
		def    duly.Schedule
		outage time.Duration
	}{
		{"one due, every minute in UTC", zone("* * * * *", "UTC", nil), 2 * time.Second},
		{"one due, daily in Berlin", zone("0 0 * * *", "Europe/Berlin", nil), 2 * time.Second},
		{"one due, interval", duly.Schedule{Timing: duly.Timing{Every: duly.Duration(time.Minute)}}, 2 * time.Second},
		{"one due, business days", zone("0 0 * * *", "Europe/Berlin", func(s *duly.Schedule) { s.Calendar = &duly.CalendarRule{} }), 2 * time.Second},
		{"one due, next business day", zone("0 0 * * *", "Europe/Berlin", func(s *duly.Schedule) { s.Calendar = &duly.CalendarRule{Otherwise: "next"} }), 2 * time.Second},
		{"a year of minutes missed", zone("* * * * *", "Europe/Berlin", nil), 365 * 24 * time.Hour},
		{"a year of seconds missed", zone("* * * * * *", "Europe/Berlin", nil), 365 * 24 * time.Hour},
		{"a page of 500", zone("* * * * *", "Europe/Berlin", func(s *duly.Schedule) {
			s.CatchUp = duly.CatchUp{Policy: duly.CatchUpAll, Window: duly.Duration(1000 * time.Hour)}
		}), 900 * time.Hour},
	} {
		b.Run(c.name, func(b *testing.B) {
			p := mustCompile(b, c.def)
			now := time.Date(2026, 11, 30, 23, 0, 1, 0, time.UTC)
			s := store.DueSchedule{Schedule: "s", Cursor: now.Add(-c.outage), Anchor: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
			s.Revisions = []store.Revision{{Number: 1, Definition: 1, From: s.Anchor}}
			defs := func(int64) *Plan { return p }
			if f := Decide(now, s, defs); len(f.Occurrences) == 0 {
				b.Fatal("nothing is due")
			}
			b.ReportAllocs()
			for b.Loop() {
				Decide(now, s, defs)
			}
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	def := duly.Schedule{ID: "s", Timezone: "Europe/Berlin", Timing: duly.Timing{Cron: "0 9 * * 1-5"}, Target: duly.Target{Handler: "h"}}
	b.ReportAllocs()
	for b.Loop() {
		Compile(def)
	}
}
