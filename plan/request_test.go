package plan

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

func TestATriggerHasANameOfItsOwn(t *testing.T) {
	p := mustCompile(t, with(cron("0 0 * * *", ""), func(s *duly.Schedule) { s.Queue, s.Priority = "billing", 7 }))
	now := instant(t, "2026-11-30T10:00:00.5Z")
	o := Manual(p, now, "k3x9qa")
	if o.Period != "manual-20261130T100000Z-k3x9qa" || !o.Due.Equal(now) || o.Origin != duly.OriginTrigger || o.State != duly.Pending {
		t.Errorf("%+v", o)
	}
	want := store.Placement{Capability: "handler:h", Queue: "billing", Serial: true, Priority: 7, Lease: 30 * time.Second}
	if o.Placement != want {
		t.Errorf("%+v, want %+v", o.Placement, want)
	}
}

func TestTheOccurrenceOfAGivenPeriod(t *testing.T) {
	daily := with(cron("30 2 * * *", ""), func(s *duly.Schedule) { s.Timezone, s.PeriodOffset = "Europe/Berlin", -1 })
	monthly := with(cron("0 6 1 * *", ""), func(s *duly.Schedule) { s.Period, s.PeriodOffset = duly.PeriodMonth, -1 })
	moved := with(cron("0 9 * * *", ""), func(s *duly.Schedule) { s.Calendar = &duly.CalendarRule{Otherwise: "next"} })
	external := duly.Schedule{External: true, Period: duly.PeriodDay, PeriodOffset: -1, Timezone: "Europe/Berlin"}
	for _, c := range []struct {
		name, period string
		def          duly.Schedule
		due, from    string
		err          string
	}{
		{"last night's work is for yesterday", "2027-03-27", daily, "2027-03-28T01:00:00Z", "2027-03-27T01:30:00Z", ""},
		{"a month", "2026-11", monthly, "2026-12-01T06:00:00Z", "2026-11-01T06:00:00Z", ""},
		{"an instant", "2026-11-30T10:15:00Z", cron("*/15 * * * *", ""), "2026-11-30T10:15:00Z", "2026-11-30T10:00:00Z", ""},
		{"an instant with an offset", "2026-11-30T11:15:00+01:00", cron("*/15 * * * *", ""), "2026-11-30T10:15:00Z", "2026-11-30T10:00:00Z", ""},
		{"a moved day", "2027-01-02", moved, "2027-01-04T09:00:00Z", "2027-01-01T09:00:00Z", ""},
		{"the platform's own", "2026-11-28", external, "2026-11-28T23:00:00Z", "", ""},
		{"one that the schedule does not have", "2026-11-30T10:10:00Z", cron("*/15 * * * *", ""), "", "", "the nearest are 2026-11-30T10:00:00Z and 2026-11-30T10:15:00Z"},
		{"a day of the week that it is not", "2026-11-30", cron("0 9 * * 2", ""), "", "", "the nearest are 2026-11-24 and 2026-12-01"},
		{"one that is none", "yesterday", cron("0 9 * * *", ""), "", "", "write it as 2026-11-28"},
		{"a date that does not exist", "2026-02-30", cron("0 9 * * *", ""), "", "", "2026-02-30"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := mustCompile(t, c.def)
			o, err := ForPeriod(p, instant(t, "2026-01-01T00:00:00Z"), c.period)
			if c.err != "" {
				if err == nil || duly.CodeOf(err) != duly.CodeInvalid || !strings.Contains(err.Error(), c.err) {
					t.Errorf("%v, want %q", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if !o.Due.Equal(instant(t, c.due)) || c.from != "" && !o.IntervalStart.Equal(instant(t, c.from)) {
				t.Errorf("due %v, data from %v", o.Due, o.IntervalStart)
			}
			if back, err := ForDue(p, instant(t, "2026-01-01T00:00:00Z"), o.Due); err == nil && c.name != "a moved day" && back.Period != o.Period {
				t.Errorf("its due time is that of %s", back.Period)
			}
		})
	}
}

func TestTheOccurrenceOfADueTime(t *testing.T) {
	p := mustCompile(t, cron("0 9 * * *", ""))
	anchor := instant(t, "2026-01-01T00:00:00Z")
	if o, err := ForDue(p, anchor, instant(t, "2026-11-30T09:00:00Z")); err != nil || o.Period != "2026-11-30" {
		t.Errorf("%s, %v", o.Period, err)
	}
	_, err := ForDue(p, anchor, instant(t, "2026-11-30T09:30:00Z"))
	if err == nil || !strings.Contains(err.Error(), "2026-11-30T09:00:00Z and next at 2026-12-01T09:00:00Z") {
		t.Error(err)
	}
	external := mustCompile(t, duly.Schedule{External: true})
	o, err := ForDue(external, anchor, instant(t, "2026-11-30T09:30:12.5Z"))
	if err != nil || o.Period != "2026-11-30T09:30:12Z" || o.Origin != duly.OriginExternal {
		t.Errorf("%+v, %v", o, err)
	}
}

func TestARangeForABackfill(t *testing.T) {
	p := mustCompile(t, with(cron("0 0 * * *", ""), func(s *duly.Schedule) { s.Calendar = &duly.CalendarRule{} }))
	var got []string
	for o := range Range(p, time.Time{}, instant(t, "2027-01-01T00:00:00Z"), instant(t, "2027-01-06T00:00:00Z")) {
		got = append(got, string(o.Origin)+" "+o.Period)
	}
	if diff := cmp.Diff([]string{"backfill 2027-01-01", "backfill 2027-01-04", "backfill 2027-01-05"}, got); diff != "" {
		t.Error(diff)
	}
	hourly := mustCompile(t, with(cron("*/30 * * * *", ""), func(s *duly.Schedule) { s.Period = duly.PeriodHour }))
	n := len(slices.Collect(Range(hourly, time.Time{}, instant(t, "2027-01-01T00:00:00Z"), instant(t, "2027-01-01T05:00:00Z"))))
	if n != 5 {
		t.Errorf("%d hours, want 5", n)
	}
	for range Range(mustCompile(t, cron("* * * * * *", "")), time.Time{}, time.Unix(0, 0), instant(t, "9000-01-01T00:00:00Z")) {
		break // computed one at a time
	}
}

func TestCompileAnswersAllFaults(t *testing.T) {
	_, faults := Compile(duly.Schedule{ID: "a b", Timing: duly.Timing{Cron: "0 0 * * *"}, Overlap: "often"})
	if len(faults) != 3 { // id, overlap, target
		t.Error(faults)
	}
	_, faults = Compile(duly.Schedule{ID: "a", Timing: duly.Timing{Cron: "0 0 30 2 *"}, Target: duly.Target{Handler: "h"}})
	if len(faults) != 1 || faults[0].Field != "cron" {
		t.Error(faults)
	}
}

func TestCompileShowsWarnings(t *testing.T) { // B58, B60
	for expr, want := range map[string]string{"0 9 1-7,15-21 * 1": "either", "*/40 * * * *": "every: 40m"} {
		if got := mustCompile(t, cron(expr, "")).Warnings(); len(got) != 1 || !strings.Contains(got[0], want) {
			t.Errorf("%s: %v", expr, got)
		}
	}
}
