package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/duly-dev/duly"
)

func TestSimulate(t *testing.T) {
	in := func(expr, zone string) duly.Schedule {
		return with(cron(expr, ""), func(s *duly.Schedule) { s.Timezone = zone })
	}
	for _, c := range []struct {
		name     string
		old, new duly.Schedule
		from, to string
		counts   [4]int // kept, added, dropped, moved
		first    string
	}{
		{"the same", in("0 9 * * *", "UTC"), in("0 9 * * *", "UTC"), "2027-01-01T00:00:00Z", "2028-01-01T00:00:00Z", [4]int{365, 0, 0, 0}, ""},
		{"every day moves", in("0 9 * * *", "UTC"), in("0 10 * * *", "UTC"), "2027-01-01T00:00:00Z", "2028-01-01T00:00:00Z", [4]int{0, 0, 0, 365}, "moved 2027-01-01"},
		{"weekends are dropped", in("0 9 * * *", "UTC"), in("0 9 * * 1-5", "UTC"), "2027-01-01T00:00:00Z", "2027-01-15T00:00:00Z", [4]int{10, 0, 4, 0}, "dropped 2027-01-02"},
		{"by a calendar too", in("0 9 * * *", "UTC"), with(in("0 9 * * *", "UTC"), func(s *duly.Schedule) { s.Calendar = &duly.CalendarRule{} }), "2027-01-01T00:00:00Z", "2027-01-15T00:00:00Z", [4]int{10, 0, 4, 0}, "dropped 2027-01-02"},
		{"or moved by it", in("0 9 * * *", "UTC"), with(in("0 9 * * *", "UTC"), func(s *duly.Schedule) { s.Calendar = &duly.CalendarRule{Otherwise: "next"} }), "2027-01-01T00:00:00Z", "2027-01-15T00:00:00Z", [4]int{10, 0, 0, 4}, "moved 2027-01-02"},
		{"instants are added", in("0 * * * *", "UTC"), in("0,30 * * * *", "UTC"), "2027-01-01T00:00:00Z", "2027-01-01T03:00:00Z", [4]int{3, 3, 0, 0}, "added 2027-01-01T00:30:00Z"},
		{"instants are another set", in("0 * * * *", "UTC"), in("30 * * * *", "UTC"), "2027-01-01T00:00:00Z", "2027-01-01T03:00:00Z", [4]int{0, 3, 3, 0}, "added 2027-01-01T00:30:00Z"},
		{"another unit renames all", in("0 9 * * *", "UTC"), in("0 9,10 * * *", "UTC"), "2027-01-01T00:00:00Z", "2027-01-03T00:00:00Z", [4]int{0, 4, 2, 0}, "dropped 2027-01-01"},
		{"another zone moves days", in("0 9 * * *", "UTC"), in("0 9 * * *", "Europe/Berlin"), "2027-01-01T00:00:00Z", "2027-01-03T00:00:00Z", [4]int{0, 0, 0, 2}, "moved 2027-01-01"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := Simulate(mustCompile(t, c.old), mustCompile(t, c.new), instant(t, c.from), instant(t, c.from), instant(t, c.to))
			if got := [4]int{s.Kept, s.Added, s.Dropped, s.Moved}; got != c.counts {
				t.Errorf("kept, added, dropped, moved: %v, want %v", got, c.counts)
			}
			if len(s.Changes) != s.Added+s.Dropped+s.Moved {
				t.Errorf("%d rows", len(s.Changes))
			}
			first := ""
			if len(s.Changes) > 0 {
				first = s.Changes[0].Action + " " + s.Changes[0].Period
			}
			if first != c.first {
				t.Errorf("first %q, want %q", first, c.first)
			}
		})
	}
}

func TestSimulateMarksClocksAndCalendar(t *testing.T) {
	def := with(cron("30 2 * * *", ""), func(s *duly.Schedule) {
		s.Timezone, s.Calendar = "Europe/Berlin", &duly.CalendarRule{Weekdays: []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}, Holidays: []string{"2027-12-25"}, Name: "holidays"}
	})
	from, to := instant(t, "2027-01-01T00:00:00Z"), instant(t, "2028-01-01T00:00:00Z")
	s := Simulate(nil, mustCompile(t, def), from, from, to)
	if s.Added != 364 || s.Kept+s.Dropped+s.Moved != 0 {
		t.Errorf("%d added", s.Added)
	}
	want := []ClockMark{
		{At: instant(t, "2027-03-28T01:00:00Z"), Date: "2027-03-28", Shift: "+1h0m0s"},
		{At: instant(t, "2027-10-31T01:00:00Z"), Date: "2027-10-31", Shift: "-1h0m0s"},
	}
	want[0].Due = append(want[0].Due, instant(t, "2027-03-28T01:00:00Z"))
	want[1].Due = append(want[1].Due, instant(t, "2027-10-31T00:30:00Z"))
	if diff := cmp.Diff(want, s.Clocks); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]CalendarMark{{Period: "2027-12-25", Nominal: instant(t, "2027-12-25T01:30:00Z"), Why: "calendar: holidays"}}, s.Calendar); diff != "" {
		t.Error(diff)
	}
	marked := 0
	for _, c := range s.Changes {
		if c.ClockChange {
			marked++
		}
	}
	if marked != 2 {
		t.Errorf("%d rows on days with clock changes", marked)
	}
}

func TestASimulationIsBounded(t *testing.T) {
	from, to := instant(t, "2027-01-01T00:00:00Z"), instant(t, "2029-01-01T00:00:00Z")
	s := Simulate(mustCompile(t, cron("* * * * *", "")), mustCompile(t, cron("*/2 * * * *", "")), from, from, to)
	if !s.Cut || s.Added != 0 || len(s.Changes) != MaxChanges || s.Omitted == 0 || s.Dropped != s.Kept && s.Dropped != s.Kept-1 && s.Dropped != s.Kept+1 {
		t.Errorf("cut %v, %d rows, %d omitted, %d kept, %d dropped", s.Cut, len(s.Changes), s.Omitted, s.Kept, s.Dropped)
	}
}
