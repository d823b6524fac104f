package plan

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

var base = time.Date(2027, 3, 25, 10, 0, 0, 0, time.UTC)

// anySchedule draws definitions that meet clock changes, calendars, exclusions,
// shared periods and every policy.
func anySchedule(t *rapid.T) duly.Schedule {
	s := duly.Schedule{ID: "s", Target: duly.Target{Handler: "h"}}
	s.Timezone = rapid.SampledFrom([]string{"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe"}).Draw(t, "zone")
	switch rapid.IntRange(0, 3).Draw(t, "kind") {
	case 0:
		s.Every = duly.Duration(rapid.SampledFrom([]time.Duration{time.Minute, 7 * time.Minute, time.Hour, 5 * time.Second}).Draw(t, "every"))
	default:
		s.Cron = rapid.SampledFrom([]string{"* * * * *", "*/15 * * * *", "30 2 * * *", "0 7,19 * * *", "0 0 * * 1", "0 * * * *", "*/20 * * * * *", "* * * * * *", "10 1-3 * * *"}).Draw(t, "cron")
	}
	if rapid.IntRange(0, 4).Draw(t, "second timing") == 0 {
		s.Timings = []duly.Timing{{Cron: "5 2,12 * * *"}}
	}
	if rapid.IntRange(0, 4).Draw(t, "except") == 0 {
		s.Except = []duly.Exclusion{{Timing: duly.Timing{Cron: "0 12 * * *"}, For: duly.Duration(3 * time.Hour)}}
	}
	if rapid.IntRange(0, 4).Draw(t, "calendar") == 0 {
		s.Calendar = &duly.CalendarRule{Holidays: []string{"2027-03-29"}}
	}
	s.Period = rapid.SampledFrom([]duly.PeriodUnit{"", "", "instant", "day", "hour", "week"}).Draw(t, "period")
	s.DST.Gap = rapid.SampledFrom([]string{"", "shift", "skip"}).Draw(t, "gap")
	s.Overlap = rapid.SampledFrom([]duly.Overlap{"", "skip", "combine", "allow", "replace"}).Draw(t, "overlap")
	s.CatchUp.Policy = rapid.SampledFrom([]duly.CatchUpPolicy{"none", "latest", "all", "combine"}).Draw(t, "catch up")
	s.CatchUp.Window = duly.Duration(rapid.SampledFrom([]time.Duration{0, time.Hour, 7 * 24 * time.Hour}).Draw(t, "window"))
	s.CatchUp.Max = rapid.SampledFrom([]int{0, 1, 3, 100}).Draw(t, "max")
	return s
}

// world is what a decision rests on, drawn.
func anyDue(t *rapid.T, defs int) (store.DueSchedule, time.Time) {
	at := func(label string, from, to time.Duration) time.Time {
		return base.Add(time.Duration(rapid.Int64Range(int64(from), int64(to)).Draw(t, label)))
	}
	s := store.DueSchedule{Schedule: "s", Anchor: base.Add(-time.Hour), Cursor: at("cursor", 0, 6*24*time.Hour)}
	longest := rapid.SampledFrom([]time.Duration{20 * time.Second, 20 * time.Minute, 50 * time.Hour}).Draw(t, "longest outage")
	now := s.Cursor.Add(time.Duration(rapid.Int64Range(1, int64(longest)).Draw(t, "outage")))
	span := now.Sub(s.Cursor)
	s.Revisions = []store.Revision{{Number: 1, Definition: 1, From: base.Add(-time.Hour)}}
	for n := 2; n <= defs; n++ {
		from := s.Cursor.Add(span * time.Duration(n-1) / time.Duration(defs))
		s.Revisions = append(s.Revisions, store.Revision{Number: int64(n), Definition: int64(n), From: from})
	}
	if rapid.IntRange(0, 3).Draw(t, "paused") == 0 {
		s.Resume = &store.Resume{
			From: s.Cursor.Add(span / 4), To: s.Cursor.Add(span / 2), By: "ann",
			Policy: rapid.SampledFrom([]duly.CatchUpPolicy{"none", "latest", "all", "combine"}).Draw(t, "resume"),
		}
	}
	return s, now
}

func anyPlans(t *rapid.T, n int) map[int64]*Plan {
	plans := map[int64]*Plan{}
	for len(plans) < n {
		p, faults := Compile(anySchedule(t))
		if len(faults) > 0 {
			t.Fatal(faults[0])
		}
		plans[int64(len(plans)+1)] = p
	}
	return plans
}

// settle decides until nothing is left, as nodes do.
func settle(t *rapid.T, now time.Time, s store.DueSchedule, plans map[int64]*Plan, lim limits) (all []store.NewOccurrence, end store.DueSchedule) {
	for range 1_000_000 {
		f := answered(now, s, plans, lim, nil)
		all = append(all, f.Occurrences...)
		s.Cursor = f.Cursor
		if f.ResumeDone {
			s.Resume = nil
		}
		if !f.NextDue.Equal(now) {
			return all, s
		}
	}
	t.Fatal("no end")
	return nil, s
}

// owed lists the names of all that was due, once each.
func owed(now time.Time, s store.DueSchedule, plans map[int64]*Plan) []string {
	line, _ := trace(now, s, func(d int64) *Plan { return plans[d] })
	var names []string
	line.each(s.Cursor, now, func(x due) bool {
		names = append(names, fmt.Sprint(x.seg.revision.Number, " ", x.Period))
		return true
	})
	return names
}

func TestEveryInstantIsAccountedForOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 2).Draw(t, "revisions")
		plans := anyPlans(t, n)
		s, now := anyDue(t, n)
		lim := limits{page: rapid.SampledFrom([]int{1, 7, MaxPage}).Draw(t, "page"), scan: rapid.SampledFrom([]int{1, 50, maxScan}).Draw(t, "scan")}
		all, end := settle(t, now, s, plans, lim)

		if !end.Cursor.Equal(now) || end.Resume != nil {
			t.Fatalf("cursor %v, resume %v; want all up to %v decided", end.Cursor, end.Resume, now)
		}
		accounted, single := 0, map[string]bool{}
		for _, o := range all {
			if o.Reason == droppedByChange {
				continue
			}
			names := o.Covers
			switch {
			case o.Count > 1:
				accounted += o.Count
				continue
			case len(names) == 0:
				names = []string{o.Period}
			}
			for _, name := range names {
				accounted++
				key := fmt.Sprint(o.Revision, " ", name)
				if single[key] && n == 1 {
					t.Errorf("%s is there twice", key)
				}
				single[key] = true
			}
		}
		want := owed(now, s, plans)
		if accounted != len(want) {
			t.Errorf("%d accounted for, %d due\n%v\n%v", accounted, len(want), lines(all), want)
		}
	})
}

func TestOccurrencesComeInOrderOfDue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 3).Draw(t, "revisions")
		plans := anyPlans(t, n)
		s, now := anyDue(t, n)
		f := answered(now, s, plans, limits{page: MaxPage, scan: maxScan}, nil)
		for i := 1; i < len(f.Occurrences); i++ {
			a, b := f.Occurrences[i-1], f.Occurrences[i]
			if b.Due.Before(a.Due) && i < len(f.Occurrences)-1 {
				t.Errorf("%s (%v) comes after %s (%v)", b.Period, b.Due, a.Period, a.Due)
			}
		}
	})
}

// totals counts what became of the periods, whatever the records' shape.
func totals(all []store.NewOccurrence) map[string]int {
	sums := map[string]int{}
	for _, o := range all {
		sums[string(o.State)+" "+o.Reason] += max(1, o.Count, len(o.Covers))
	}
	return sums
}

func TestPageSizeChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 2).Draw(t, "revisions")
		plans := anyPlans(t, n)
		for _, p := range plans {
			if p.Def.Overlap == duly.OverlapCombine || p.Def.Overlap == duly.OverlapReplace || p.Def.Overlap == duly.OverlapSkip {
				p.Def.Overlap = duly.OverlapWait // these look at what is open, which a page makes
			}
			if p.Def.CatchUp.Policy == duly.CatchUpCombine {
				p.Def.CatchUp.Policy = duly.CatchUpAll
			}
		}
		s, now := anyDue(t, n)
		if s.Resume != nil && s.Resume.Policy == duly.CatchUpCombine {
			s.Resume.Policy = duly.CatchUpAll
		}
		whole, _ := settle(t, now, s, plans, limits{page: 1 << 30, scan: 1 << 30})
		least := 1 + len(owed(now, s, plans))/500 // a test of some hundred pages at most
		paged, _ := settle(t, now, s, plans, limits{
			page: rapid.IntRange(least, least+20).Draw(t, "page"), scan: rapid.IntRange(least, least+100).Draw(t, "scan"),
		})
		if a, b := fmt.Sprint(totals(whole)), fmt.Sprint(totals(paged)); a != b {
			t.Errorf("whole %s\npaged %s", a, b)
		}
	})
}

func TestSmallStepsMakeWhatOneBigStepMakes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plans := anyPlans(t, 1)
		plans[1].Def.Overlap, plans[1].Def.CatchUp = duly.OverlapWait, duly.CatchUp{Policy: duly.CatchUpAll, Window: duly.Duration(1000 * time.Hour)}
		s, now := anyDue(t, 1)
		s.Resume = nil
		names := func(all []store.NewOccurrence) (out []string) {
			for _, o := range all {
				out = append(out, string(o.State)+" "+o.Period)
			}
			return out
		}
		whole, _ := settle(t, now, s, plans, limits{page: MaxPage, scan: maxScan})
		var steps []store.NewOccurrence
		at := s.Cursor
		for at.Before(now) {
			at = earlier(now, at.Add(time.Duration(rapid.Int64Range(1, int64(3*time.Hour)).Draw(t, "step"))))
			var made []store.NewOccurrence
			made, s = settle(t, at, s, plans, limits{page: MaxPage, scan: maxScan})
			steps = append(steps, made...)
		}
		a, b := names(whole), names(steps)
		// A long run of skips is one record in one step and may be several in
		// many; compare what is to be done.
		if fmt.Sprint(pending(a)) != fmt.Sprint(pending(b)) {
			t.Errorf("one step %v\nmany %v", a, b)
		}
	})
}

func pending(names []string) (out []string) {
	for _, n := range names {
		if n[:7] == string(duly.Pending) {
			out = append(out, n)
		}
	}
	return out
}
