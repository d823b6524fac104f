package timing

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/duly-dev/duly"
)

func at(t testing.TB, text string) time.Time {
	t.Helper()
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04Z07:00", time.DateOnly} {
		if v, err := time.Parse(layout, text); err == nil {
			return v.UTC()
		}
	}
	t.Fatalf("%q is no time", text)
	return time.Time{}
}

func mustCompile(t testing.TB, s duly.Schedule) *Timing {
	t.Helper()
	tm, faults := Compile(s)
	if len(faults) > 0 {
		t.Fatal(faults[0])
	}
	return tm
}

// show writes a due as At, with its period, nominal instant and skip where
// they say more.
func show(d Due) string {
	s := d.At.Format("2006-01-02T15:04:05Z")
	s = strings.TrimSuffix(s, ":00Z") + map[bool]string{true: "Z"}[strings.HasSuffix(s, ":00Z")]
	if !d.Nominal.Equal(d.At) {
		s += " for " + d.Period
	}
	if d.Skip != "" {
		why, _, _ := strings.Cut(d.Skip, ":")
		s += " skip " + why
	}
	return s
}

// following lists the next n dues by stepping through Between.
func following(s Sequence, from time.Time, n int) (out []string) {
	for d := range s.Between(from, from.AddDate(100, 0, 0)) {
		if out = append(out, show(d)); len(out) == n {
			break
		}
	}
	return out
}

func cronIn(zone, expr string) duly.Schedule {
	return duly.Schedule{Timezone: zone, Timing: duly.Timing{Cron: expr}}
}

func TestDueInstants(t *testing.T) {
	end := at(t, "2027-01-03T00:00Z")
	start := at(t, "2027-01-05T00:00Z")
	with := func(s duly.Schedule, change func(*duly.Schedule)) duly.Schedule { change(&s); return s }
	for _, c := range []struct {
		name string
		s    duly.Schedule
		from string
		want []string
	}{
		{"B01 a skipped wall time is due after the gap", cronIn("America/Los_Angeles", "0 2 * * *"), "2027-03-13T12:00Z", []string{"2027-03-14T10:00Z", "2027-03-15T09:00Z", "2027-03-16T09:00Z"}},
		{"B01 gap skip leaves a record", with(cronIn("America/Los_Angeles", "0 2 * * *"), func(s *duly.Schedule) { s.DST.Gap = "skip" }), "2027-03-13T12:00Z", []string{"2027-03-14T10:00Z skip dst gap", "2027-03-15T09:00Z"}},
		{"B02 shift", with(cronIn("America/New_York", "30 2 * * *"), func(s *duly.Schedule) { s.DST.Gap = "shift" }), "2027-03-14T06:30Z", []string{"2027-03-14T07:30Z", "2027-03-15T06:30Z"}},
		{"B60 an interval is steady", duly.Schedule{Timing: duly.Timing{Every: duly.Duration(40 * time.Minute), Anchor: ptr(at(t, "2027-01-04T03:00Z"))}}, "2027-01-04T03:05Z", []string{"2027-01-04T03:40Z", "2027-01-04T04:20Z", "2027-01-04T05:00Z"}},
		{"several timings are one sequence", duly.Schedule{Timing: duly.Timing{Cron: "0 9 * * *"}, Timings: []duly.Timing{{Cron: "0 9,17 * * 1"}, {At: "2027-01-04T12:30"}}}, "2027-01-04T00:00Z", []string{"2027-01-04T09:00Z", "2027-01-04T12:30Z", "2027-01-04T17:00Z", "2027-01-05T09:00Z"}},
		{"at is local time of the zone", duly.Schedule{Timezone: "Europe/Berlin", Timing: duly.Timing{At: "2027-07-01T09:00"}}, "2027-01-01", []string{"2027-07-01T07:00Z"}},
		{"an excluded instant is not due", with(cronIn("UTC", "0 * * * *"), func(s *duly.Schedule) { s.Except = []duly.Exclusion{{Timing: duly.Timing{Cron: "0 2,3 * * *"}}} }), "2027-01-01T00:30Z", []string{"2027-01-01T01:00Z", "2027-01-01T04:00Z"}},
		{"a window opened by a timing", with(cronIn("UTC", "*/30 * * * *"), func(s *duly.Schedule) {
			s.Except = []duly.Exclusion{{Timing: duly.Timing{Cron: "0 1 * * *"}, For: duly.Duration(time.Hour)}}
		}), "2027-01-01T00:10Z", []string{"2027-01-01T00:30Z", "2027-01-01T02:00Z"}},
		{"a window from and to, the end outside", with(cronIn("Europe/Berlin", "0 * * * *"), func(s *duly.Schedule) {
			s.Except = []duly.Exclusion{{From: "2027-01-01T02:00", To: "2027-01-01T05:00"}}
		}), "2026-12-31T23:30Z", []string{"2027-01-01T00:00Z", "2027-01-01T04:00Z"}},
		{"local dates", with(cronIn("Europe/Berlin", "*/30 * * * *"), func(s *duly.Schedule) { s.Except = []duly.Exclusion{{Dates: []string{"2027-03-28", "2027-03-29"}}} }), "2027-03-27T22:10Z", []string{"2027-03-27T22:30Z", "2027-03-29T22:00Z"}},
		{"start is due, end is not", with(cronIn("UTC", "0 0 * * *"), func(s *duly.Schedule) { s.Start, s.End = ptr(at(t, "2027-01-02T00:00Z")), &end }), "2027-01-01T00:00Z", []string{"2027-01-02T00:00Z"}},
		{"nothing is due before start", with(cronIn("UTC", "0 6 * * *"), func(s *duly.Schedule) { s.Start = &start }), "2027-01-01T00:00Z", []string{"2027-01-05T06:00Z", "2027-01-06T06:00Z"}},
		{"a calendar skips with a record", with(cronIn("UTC", "0 9 * * *"), func(s *duly.Schedule) { s.Calendar = &duly.CalendarRule{Holidays: []string{"2027-01-04"}} }), "2027-01-01T00:00Z", []string{"2027-01-01T09:00Z", "2027-01-02T09:00Z skip calendar", "2027-01-03T09:00Z skip calendar", "2027-01-04T09:00Z skip calendar", "2027-01-05T09:00Z"}},
		{"next business day keeps the name", with(cronIn("UTC", "0 9 * * *"), func(s *duly.Schedule) { s.Calendar = &duly.CalendarRule{Otherwise: "next"} }), "2027-01-01T00:00Z", []string{"2027-01-01T09:00Z", "2027-01-04T09:00Z for 2027-01-02", "2027-01-04T09:00Z for 2027-01-03", "2027-01-04T09:00Z", "2027-01-05T09:00Z"}},
		{"previous business day keeps the wall time", with(cronIn("Europe/Berlin", "0 9 28 * *"), func(s *duly.Schedule) { s.Calendar = &duly.CalendarRule{Otherwise: "previous"} }), "2027-03-01", []string{"2027-03-26T08:00Z for 2027-03-28", "2027-04-28T07:00Z"}},
		{"several a day are moved in order", with(cronIn("UTC", "0 7,19 * * 0,1"), func(s *duly.Schedule) { s.Calendar = &duly.CalendarRule{Otherwise: "next"} }), "2027-01-02", []string{"2027-01-04T07:00Z for 2027-01-03T07:00:00Z", "2027-01-04T07:00Z", "2027-01-04T19:00Z for 2027-01-03T19:00:00Z", "2027-01-04T19:00Z"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := mustCompile(t, c.s).Sequence(at(t, "2027-01-01"))
			from := at(t, c.from)
			if diff := cmp.Diff(c.want, following(s, from, len(c.want))); diff != "" {
				t.Error(diff)
			}
			if d, ok := s.Next(from); !ok || show(d) != c.want[0] {
				t.Errorf("Next answers %s, %v; want %s", show(d), ok, c.want[0])
			}
		})
	}
}

func ptr[T any](v T) *T { return &v }

func TestPeriodNamesTheNominalDay(t *testing.T) {
	for _, c := range []struct {
		name string
		s    duly.Schedule
		unit duly.PeriodUnit
		want string
	}{
		{"once a day", cronIn("Europe/Berlin", "30 0 * * *"), "day", "2027-01-02"},
		{"several times a day", cronIn("UTC", "0 1,2 * * *"), "instant", "2027-01-02T01:00:00Z"},
		{"an offset", duly.Schedule{Timing: duly.Timing{Cron: "0 0 * * *"}, PeriodOffset: -1}, "day", "2027-01-01"},
		{"months", duly.Schedule{Timing: duly.Timing{Cron: "0 0 2 * *"}, Period: "month", PeriodOffset: -1}, "month", "2026-12"},
		{"once", duly.Schedule{Timing: duly.Timing{At: "2027-01-02T09:00"}}, "day", "2027-01-02"},
		{"both passes of an hour may be two on a day", duly.Schedule{Timing: duly.Timing{Cron: "0 2 * * *"}, DST: duly.DST{Overlap: "both"}}, "instant", "2027-01-02T02:00:00Z"},
		{"an interval of a day may drift", duly.Schedule{Timing: duly.Timing{Every: duly.Duration(24 * time.Hour)}}, "instant", "2027-01-02T00:00:00Z"},
		{"two timings", duly.Schedule{Timing: duly.Timing{Cron: "0 9 * * *"}, Timings: []duly.Timing{{Cron: "0 9 * * 1"}}}, "instant", "2027-01-02T09:00:00Z"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tm := mustCompile(t, c.s)
			d, _ := tm.Sequence(at(t, "2027-01-01T00:00Z")).Next(at(t, "2027-01-01T23:10Z"))
			if tm.Unit() != c.unit || d.Period != c.want {
				t.Errorf("unit %s, period %s; want %s, %s", tm.Unit(), d.Period, c.unit, c.want)
			}
		})
	}
}

func TestTheLastDueLiesBeforeTheEnd(t *testing.T) {
	s := cronIn("UTC", "0 6 * * *")
	s.Start, s.End = ptr(at(t, "2027-01-02T06:00Z")), ptr(at(t, "2027-01-05T06:00Z"))
	seq := mustCompile(t, s).Sequence(time.Time{})
	if d, ok := seq.Prev(at(t, "2028-01-01")); !ok || show(d) != "2027-01-04T06:00Z" {
		t.Errorf("last %s", show(d))
	}
	if d, ok := seq.Prev(at(t, "2027-01-02T06:00Z")); ok {
		t.Errorf("%s lies before the start", show(d))
	}
}

func TestCountBeginsRightAfterAClockChange(t *testing.T) {
	seq := mustCompile(t, cronIn("Europe/Berlin", "10 1-3 * * *")).Sequence(time.Time{})
	// 02:10 has had its turn on the first pass; only 03:10 is left.
	if n, _ := seq.Count(at(t, "2027-10-31T01:05Z"), at(t, "2027-10-31T02:30Z"), 0); n != 1 {
		t.Errorf("%d, want 1", n)
	}
}

func TestAPeriodCountsAnewFromSince(t *testing.T) {
	s := cronIn("UTC", "0 6,12,18 * * *")
	s.Period = duly.PeriodDay
	seq := mustCompile(t, s).Sequence(time.Time{}).PerPeriod(at(t, "2027-01-02T13:00Z"))
	want := []string{"2027-01-01T06:00Z", "2027-01-02T06:00Z", "2027-01-02T18:00Z", "2027-01-03T06:00Z"}
	if diff := cmp.Diff(want, following(seq, at(t, "2027-01-01T00:00Z"), 4)); diff != "" {
		t.Error(diff)
	}
}

func TestFaultsNameFieldAndPlace(t *testing.T) {
	for _, c := range []struct {
		name  string
		s     duly.Schedule
		field string
		says  []string
	}{
		{"an unknown zone", cronIn("Europe/Atlantis", "0 9 * * *"), "timezone", []string{"Europe/Atlantis"}},
		{"an impossible date", cronIn("UTC", "0 0 30 2 *"), "cron", []string{"column 5", "30"}},
		{"a later timing", duly.Schedule{Timing: duly.Timing{Cron: "0 0 * * *"}, Timings: []duly.Timing{{Cron: "61 * * * *"}}}, "timings[0].cron", []string{"column 1"}},
		{"a date that does not exist", duly.Schedule{Timing: duly.Timing{At: "2027-02-30T09:00"}}, "at", []string{"does not exist"}},
		{"a time that is none", duly.Schedule{Timing: duly.Timing{At: "tomorrow"}}, "at", []string{"tomorrow"}},
		{"a time in a gap that is skipped", duly.Schedule{Timezone: "Europe/Berlin", DST: duly.DST{Gap: "skip"}, Timing: duly.Timing{At: "2027-03-28T02:30"}}, "at", []string{"clocks jump"}},
		{"a window the wrong way round", duly.Schedule{Timing: duly.Timing{Cron: "0 0 * * *"}, Except: []duly.Exclusion{{From: "2027-01-02T00:00", To: "2027-01-01T00:00"}}}, "except[0].to", []string{"not after"}},
		{"exclusions that leave nothing", duly.Schedule{Timing: duly.Timing{Cron: "0 0 * * *"}, Except: []duly.Exclusion{{Timing: duly.Timing{Cron: "0 0 * * *"}}}}, "except", []string{"nothing is left"}},
		{"exclusions that are too many", duly.Schedule{Timing: duly.Timing{Cron: "* * * * * *"}, Except: []duly.Exclusion{{Timing: duly.Timing{Cron: "* 1 * * * *"}}, {Timing: duly.Timing{Cron: "* * 1 * * *"}}}}, "except[1].cron", []string{"for"}},
		{"an offset without a unit", duly.Schedule{Timing: duly.Timing{Cron: "0 1,2 * * *"}, PeriodOffset: -1}, "period_offset", []string{"period: day"}},
		{"moving every minute", duly.Schedule{Timing: duly.Timing{Cron: "* * * * * *"}, Calendar: &duly.CalendarRule{Otherwise: "next"}}, "calendar.otherwise", []string{"86400"}},
		{"an anchor before time", duly.Schedule{Timing: duly.Timing{Every: duly.Duration(time.Hour), Anchor: ptr(time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC))}}, "every", []string{"1970"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, faults := Compile(c.s)
			if len(faults) == 0 {
				t.Fatal("accepted")
			}
			last := faults[len(faults)-1]
			if last.Field != c.field {
				t.Errorf("field %q, want %q (%v)", last.Field, c.field, last)
			}
			for _, s := range c.says {
				if !strings.Contains(last.Message, s) {
					t.Errorf("%q does not say %q", last.Message, s)
				}
			}
		})
	}
}

func TestAllFaultsComeAtOnce(t *testing.T) {
	_, faults := Compile(duly.Schedule{
		Timing: duly.Timing{Cron: "x"}, Timings: []duly.Timing{{At: "y"}},
		Except: []duly.Exclusion{{From: "z", To: "z"}},
	})
	var fields []string
	for _, f := range faults {
		fields = append(fields, f.Field)
	}
	if got := fmt.Sprint(fields); got != "[cron timings[0].at except[0].from]" {
		t.Error(got)
	}
}

func TestWarningsNameTheTiming(t *testing.T) {
	tm := mustCompile(t, duly.Schedule{Timing: duly.Timing{Cron: "0 9 1-7,15-21 * 1"}, Timings: []duly.Timing{{Cron: "*/40 * * * *"}}})
	all := strings.Join(tm.Warnings(), "\n")
	for _, want := range []string{"cron: day-of-month and day-of-week", "timings[0].cron: ", "every: 40m"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not in\n%s", want, all)
		}
	}
}

func TestAnIntervalIsAnchoredWhereTheStoreMetIt(t *testing.T) {
	tm := mustCompile(t, duly.Schedule{Timing: duly.Timing{Every: duly.Duration(6 * time.Hour)}})
	got := following(tm.Sequence(at(t, "2027-01-01T00:10Z")), at(t, "2027-01-01T05:00Z"), 3)
	if diff := cmp.Diff([]string{"2027-01-01T06:10Z", "2027-01-01T12:10Z", "2027-01-01T18:10Z"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestAScheduleWithoutTimingIsNeverDue(t *testing.T) {
	tm := mustCompile(t, duly.Schedule{External: true})
	s := tm.Sequence(at(t, "2027-01-01"))
	if _, ok := s.Next(at(t, "2027-01-01")); ok || !tm.IsZero() {
		t.Error("it is due")
	}
	if n, _ := s.Count(at(t, "2027-01-01"), at(t, "2028-01-01"), 10); n != 0 {
		t.Error("it was due", n)
	}
}

func TestTheCacheSharesAndForgets(t *testing.T) {
	c := Cache{Max: 4}
	first, _ := c.Compile(duly.Schedule{ID: "a", Timing: duly.Timing{Cron: "0 9 * * *"}})
	second, _ := c.Compile(duly.Schedule{ID: "b", Timing: duly.Timing{Cron: "0 9 * * *"}, Priority: 3})
	other, _ := c.Compile(duly.Schedule{ID: "b", Timezone: "Asia/Tokyo", Timing: duly.Timing{Cron: "0 9 * * *"}})
	if first != second || first == other {
		t.Error("equal timings are one value, different ones are not")
	}
	for i := range 100 {
		c.Compile(cronIn("UTC", fmt.Sprintf("%d 9 * * *", i%60)))
		if n := len(c.fresh) + len(c.old); n > 4 {
			t.Fatalf("%d timings are kept", n)
		}
	}
	if _, faults := c.Compile(cronIn("UTC", "x")); len(faults) == 0 {
		t.Error("a fault was swallowed")
	}
}
