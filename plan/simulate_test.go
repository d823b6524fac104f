package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/duly-dev/duly"
)

// inZone is a schedule of an expression in a zone.
func inZone(expr, zone string) duly.Schedule {
	return with(cron(expr, ""), func(s *duly.Schedule) { s.Timezone = zone })
}

// toMonday moves what is due at weekends to the next Monday.
func toMonday(s *duly.Schedule) { s.Calendar = &duly.CalendarRule{Otherwise: "next"} }

func TestSimulateCountsWhatDiffers(t *testing.T) {
	for _, c := range []struct {
		name     string
		old, new duly.Schedule
		from, to string
		counts   [5]int // before, after, added, dropped, moved
		first    string
	}{
		{"the same", inZone("0 9 * * *", "UTC"), inZone("0 9 * * *", "UTC"), "2027-01-01T00:00:00Z", "2028-01-01T00:00:00Z", [5]int{365, 365, 0, 0, 0}, ""},
		{"the end does not count", inZone("0 0 * * *", "UTC"), inZone("0 0 * * *", "UTC"), "2027-01-01T00:00:00Z", "2027-01-02T00:00:00Z", [5]int{1, 1, 0, 0, 0}, ""},
		{"every day moves", inZone("0 9 * * *", "UTC"), inZone("0 10 * * *", "UTC"), "2027-01-01T00:00:00Z", "2028-01-01T00:00:00Z", [5]int{365, 365, 0, 0, 365}, "2027-01-01"},
		{"weekends are dropped", inZone("0 9 * * *", "UTC"), inZone("0 9 * * 1-5", "UTC"), "2027-01-01T00:00:00Z", "2027-01-15T00:00:00Z", [5]int{14, 10, 0, 4, 0}, "2027-01-02"},
		{"by a calendar too", inZone("0 9 * * *", "UTC"), with(inZone("0 9 * * *", "UTC"), func(s *duly.Schedule) { s.Calendar = &duly.CalendarRule{} }), "2027-01-01T00:00:00Z", "2027-01-15T00:00:00Z", [5]int{14, 10, 0, 4, 0}, "2027-01-02"},
		{"or moved by it", inZone("0 9 * * *", "UTC"), with(inZone("0 9 * * *", "UTC"), toMonday), "2027-01-01T00:00:00Z", "2027-01-15T00:00:00Z", [5]int{14, 14, 0, 0, 4}, "2027-01-02"},
		{"instants are added", inZone("0 * * * *", "UTC"), inZone("0,30 * * * *", "UTC"), "2027-01-01T00:00:00Z", "2027-01-01T03:00:00Z", [5]int{3, 6, 3, 0, 0}, "2027-01-01T00:30:00Z"},
		{"instants are another set", inZone("0 * * * *", "UTC"), inZone("30 * * * *", "UTC"), "2027-01-01T00:00:00Z", "2027-01-01T03:00:00Z", [5]int{3, 3, 3, 3, 0}, "2027-01-01T00:00:00Z"},
		{"another unit renames all", inZone("0 9 * * *", "UTC"), inZone("0 9,10 * * *", "UTC"), "2027-01-01T00:00:00Z", "2027-01-03T00:00:00Z", [5]int{2, 4, 4, 2, 0}, "2027-01-01"},
		{"another zone moves days", inZone("0 9 * * *", "UTC"), inZone("0 9 * * *", "Europe/Berlin"), "2027-01-01T00:00:00Z", "2027-01-03T00:00:00Z", [5]int{2, 2, 0, 0, 2}, "2027-01-01"},

		{"what happened before the change is not added by moving it", inZone("0 9 * * *", "UTC"), with(inZone("0 9 * * *", "UTC"), toMonday), "2027-01-03T12:00:00Z", "2027-01-05T00:00:00Z", [5]int{1, 1, 0, 0, 0}, ""},
		{"nor by a later time of the same day", inZone("0 0 * * *", "UTC"), inZone("0 6 * * *", "UTC"), "2027-01-04T05:00:00Z", "2027-01-06T05:00:00Z", [5]int{2, 1, 0, 0, 2}, "2027-01-05"},
		{"what the new definition has before the change is dropped", inZone("0 6 * * *", "UTC"), inZone("0 0 * * *", "UTC"), "2027-01-04T05:00:00Z", "2027-01-06T05:00:00Z", [5]int{2, 2, 0, 1, 2}, "2027-01-04"},
		{"what moves out of the span is moved", inZone("0 9 * * *", "UTC"), with(inZone("0 9 * * *", "UTC"), toMonday), "2027-01-02T00:00:00Z", "2027-01-03T00:00:00Z", [5]int{1, 0, 0, 0, 1}, "2027-01-02"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := Simulate(mustCompile(t, c.old), mustCompile(t, c.new), instant(t, c.from), instant(t, c.from), instant(t, c.to))
			if got := [5]int{s.Before, s.After, s.Added, s.Dropped, s.Moved}; got != c.counts {
				t.Errorf("before, after, added, dropped, moved: %v, want %v", got, c.counts)
			}
			if len(s.Changes) != s.Added+s.Dropped+s.Moved || s.Omitted != 0 || !s.To.Equal(instant(t, c.to)) {
				t.Errorf("%d rows, %d omitted, up to %v", len(s.Changes), s.Omitted, s.To)
			}
			first := ""
			if len(s.Changes) > 0 {
				first = s.Changes[0].Period
			}
			if first != c.first {
				t.Errorf("first %q, want %q", first, c.first)
			}
		})
	}
}

func TestASimulationSaysWhy(t *testing.T) {
	monday := mustCompile(t, with(inZone("30 2 * * *", "Europe/Berlin"), toMonday))
	holidays := mustCompile(t, with(inZone("30 2 * * *", "Europe/Berlin"), func(s *duly.Schedule) {
		s.Calendar = &duly.CalendarRule{Name: "holidays", Weekdays: []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}, Holidays: []string{"2027-03-26"}}
	}))
	plain := mustCompile(t, inZone("30 2 * * *", "Europe/Berlin"))
	later := mustCompile(t, inZone("30 4 * * *", "Europe/Berlin"))
	early := mustCompile(t, inZone("30 1 * * *", "Europe/Berlin"))
	friday, tuesday := "2027-03-26T00:00:00Z", "2027-03-30T00:00:00Z"
	for _, c := range []struct {
		name     string
		old, new *Plan
		from, to string
		want     []PeriodChange
	}{
		{"a holiday drops", plain, holidays, friday, tuesday, []PeriodChange{
			{Period: "2027-03-26", Before: instant(t, "2027-03-26T01:30:00Z"), BeforeLocal: "2027-03-26T02:30:00+01:00", Note: "calendar: holidays"},
		}},
		{"and without it, it is added", holidays, plain, friday, tuesday, []PeriodChange{
			{Period: "2027-03-26", After: instant(t, "2027-03-26T01:30:00Z"), AfterLocal: "2027-03-26T02:30:00+01:00", Note: "calendar: holidays"},
		}},
		{"a calendar moves, and the clocks change", plain, monday, friday, tuesday, []PeriodChange{
			{Period: "2027-03-27", Before: instant(t, "2027-03-27T01:30:00Z"), BeforeLocal: "2027-03-27T02:30:00+01:00", After: instant(t, "2027-03-29T00:30:00Z"), AfterLocal: "2027-03-29T02:30:00+02:00", Note: "its calendar moves it from Sat 2027-03-27"},
			{Period: "2027-03-28", Before: instant(t, "2027-03-28T01:00:00Z"), BeforeLocal: "2027-03-28T03:00:00+02:00", After: instant(t, "2027-03-29T01:00:00Z"), AfterLocal: "2027-03-29T03:00:00+02:00", Note: "its calendar moves it from Sun 2027-03-28; clocks go forward"},
		}},
		{"a new schedule on the day when the clocks go back", nil, later, "2027-10-31T00:00:00Z", "2027-11-01T00:00:00Z", []PeriodChange{
			{Period: "2027-10-31", After: instant(t, "2027-10-31T03:30:00Z"), AfterLocal: "2027-10-31T04:30:00+01:00", Note: "clocks go back"},
		}},
		{"a time that has passed", later, early, "2027-04-01T00:00:00Z", "2027-04-01T20:00:00Z", []PeriodChange{
			{Period: "2027-04-01", Before: instant(t, "2027-04-01T02:30:00Z"), BeforeLocal: "2027-04-01T04:30:00+02:00", Note: "it would have been due 2027-04-01T01:30:00+02:00, which has passed"},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := Simulate(c.old, c.new, instant(t, c.from), instant(t, c.from), instant(t, c.to))
			if diff := cmp.Diff(c.want, s.Changes); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestASimulationIsBounded(t *testing.T) {
	from, to := instant(t, "2027-01-01T00:00:00Z"), instant(t, "2029-01-01T00:00:00Z")
	s := Simulate(mustCompile(t, cron("* * * * *", "")), mustCompile(t, cron("*/2 * * * *", "")), from, from, to)
	if s.Before != maxSimulated || s.After != maxSimulated/2 || s.Dropped != maxSimulated/2 || s.Added != 0 {
		t.Errorf("%d before, %d after, %d dropped, %d added", s.Before, s.After, s.Dropped, s.Added)
	}
	if len(s.Changes) != MaxChanges || s.Omitted != s.Dropped-MaxChanges || !s.To.Equal(instant(t, "2027-03-11T10:40:00Z")) {
		t.Errorf("%d rows, %d omitted, up to %v", len(s.Changes), s.Omitted, s.To)
	}
	if cap(s.Changes) > 2*MaxChanges {
		t.Errorf("%d rows are kept in memory", cap(s.Changes))
	}
}
