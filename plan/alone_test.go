package plan_test

import (
	"slices"
	"testing"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/plan"
)

func TestWhatANodeDoesAloneIsWhatTheStoreWouldOwe(t *testing.T) {
	at := func(clock string) time.Time {
		t.Helper()
		parsed, err := time.Parse("2006-01-02T15:04:05", "2026-11-27T"+clock) // a Friday
		if err != nil {
			t.Fatal(err)
		}
		return parsed
	}
	anchor := at("00:00:00")
	hourly := func(change func(*duly.Schedule)) duly.Schedule {
		s := duly.Schedule{ID: "a", Timing: duly.Timing{Cron: "0 * * * *"}, Period: duly.PeriodHour, Target: duly.Target{Handler: "h"}, WhenUnavailable: duly.UnavailableRun}
		if change != nil {
			change(&s)
		}
		return s
	}
	for _, c := range []struct {
		name       string
		def        duly.Schedule
		after, now string
		due        string // empty: nothing yet
		covers     int
		start      string // of what comes next, where there is nothing yet
	}{
		{name: "TheOldestFirst", def: hourly(nil), after: "08:30:00", now: "11:10:00", due: "09:00:00", covers: 1},
		{name: "NothingBeforeItsTime", def: hourly(nil), after: "09:00:00", now: "09:59:59", start: "10:00:00"},
		{name: "AtItsTime", def: hourly(nil), after: "09:00:00", now: "10:00:00", due: "10:00:00", covers: 1},
		{name: "CombineCoversAll", def: hourly(func(s *duly.Schedule) { s.Overlap = duly.OverlapCombine }), after: "08:30:00", now: "11:10:00", due: "11:00:00", covers: 3},
		{name: "ReplaceTakesTheNewest", def: hourly(func(s *duly.Schedule) { s.Overlap = duly.OverlapReplace }), after: "08:30:00", now: "11:10:00", due: "11:00:00", covers: 1},
		{
			name: "AStartDeadlineGivesUp", def: hourly(func(s *duly.Schedule) { s.StartDeadline = duly.Duration(time.Minute) }),
			after: "08:30:00", now: "10:00:30", due: "10:00:00", covers: 1,
		},
		{
			name: "ACalendarSkips", def: hourly(func(s *duly.Schedule) { s.Calendar = &duly.CalendarRule{Holidays: []string{"2026-11-27"}} }),
			after: "08:30:00", now: "11:10:00", start: "2026-11-30",
		},
		{name: "TheFirstOfAPeriodNamesIt", def: hourly(func(s *duly.Schedule) { s.Cron = "*/20 * * * *" }), after: "09:00:00", now: "09:50:00", start: "10:00:00"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, faults := plan.Compile(c.def)
			if len(faults) > 0 {
				t.Fatal(faults)
			}
			got, ok := p.NextAlone("a", anchor, anchor, at(c.after), at(c.now))
			if ok != (c.due != "") {
				t.Fatalf("got %+v", got)
			}
			if !ok {
				if len(c.start) == len(time.TimeOnly) && !got.Start.Equal(at(c.start)) {
					t.Errorf("next at %v, want %s", got.Start, c.start)
				}
				return
			}
			if !got.Due.Equal(at(c.due)) || len(got.Covers) != c.covers || got.Covers[c.covers-1] != got.Period || !got.IntervalStart.Equal(got.Due.Add(-time.Duration(c.covers)*time.Hour)) {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// Jitter is where the store would put it, so that a node alone does not move
// what it does.
func TestAloneKeepsTheJitter(t *testing.T) {
	s := duly.Schedule{ID: "a", Timing: duly.Timing{Cron: "0 * * * *"}, Jitter: duly.Duration(30 * time.Minute), Target: duly.Target{Handler: "h"}}
	p, faults := plan.Compile(s)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	after := time.Date(2026, 11, 27, 8, 30, 0, 0, time.UTC)
	var starts []time.Duration
	for range 5 {
		due := after.Truncate(time.Hour).Add(time.Hour)
		early, ok := p.NextAlone("a", after, after, after, due)
		if ok && early.Start.After(due) {
			t.Fatalf("begun too early: %+v", early)
		}
		got, ok := p.NextAlone("a", after, after, after, due.Add(31*time.Minute))
		if !ok || got.Start.Before(got.Due) || got.Start.After(got.Due.Add(30*time.Minute)) || !got.Due.Equal(due) {
			t.Fatalf("got %+v", got)
		}
		starts = append(starts, got.Start.Sub(got.Due))
		after = got.Due
	}
	if slices.Equal(starts[:4], starts[1:]) {
		t.Errorf("every start is %v after due", starts)
	}
}
