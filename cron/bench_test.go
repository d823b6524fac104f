package cron_test

import (
	"testing"
	"time"

	"github.com/duly-dev/duly/cron"
)

var benchmarks = []struct{ name, expr, zone string }{
	{"Minute", "* * * * *", "UTC"},
	{"Minute", "* * * * *", "Europe/Berlin"},
	{"Quarter", "*/15 * * * *", "America/New_York"},
	{"Daily", "30 2 * * *", "UTC"},
	{"Daily", "30 2 * * *", "Europe/Berlin"},
	{"Weekdays", "0 9 * * MON-FRI", "America/New_York"},
	{"Monthly", "0 0 1 * *", "Europe/Berlin"},
	{"LastWeekday", "0 18 LW * *", "Europe/Berlin"},
	{"LeapDay", "0 0 29 2 *", "Europe/Berlin"},
}

// The clock is a year ahead, beyond the piece of the zone that the standard
// library keeps at hand, so that these are not the best case.
var ahead = time.Now().AddDate(1, 0, 0)

func BenchmarkNext(b *testing.B) {
	for _, c := range benchmarks {
		b.Run(c.name+"/"+c.zone, func(b *testing.B) {
			s := sequence(b, c.expr, c.zone, cron.Options{}, cron.DST{}).(cron.Zoned)
			b.ReportAllocs()
			t := ahead
			for b.Loop() {
				next, _ := s.Next(t)
				if t = next; t.Year() > 2400 {
					t = ahead
				}
			}
		})
	}
}

func BenchmarkPrev(b *testing.B) {
	for _, c := range benchmarks {
		b.Run(c.name+"/"+c.zone, func(b *testing.B) {
			s := sequence(b, c.expr, c.zone, cron.Options{}, cron.DST{}).(cron.Zoned)
			b.ReportAllocs()
			t := ahead
			for b.Loop() {
				prev, _ := s.Prev(t)
				if t = prev; t.Year() < 1980 {
					t = ahead
				}
			}
		})
	}
}

// The next due time from now, as a planner asks for it.
func BenchmarkNextFromNow(b *testing.B) {
	s := sequence(b, "30 2 * * *", "Europe/Berlin", cron.Options{}, cron.DST{}).(cron.Zoned)
	now := time.Now()
	b.ReportAllocs()
	for b.Loop() {
		s.Next(now)
	}
}

func BenchmarkParse(b *testing.B) {
	for _, expr := range []string{"*/15 * * * *", "0 9 1-7,15-21 JAN-JUN MON-FRI", "0 0 0 LW * FRI#2 2026-2030"} {
		b.Run(expr, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := cron.Parse(expr); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkLoadZone(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := cron.LoadZone("Europe/Berlin"); err != nil {
			b.Fatal(err)
		}
	}
}
