package plan

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// setBack sets the clock back, as Fire does. The time of day is that of all
// tests here.
func (f *fixture) setBack(to string) {
	f.t.Helper()
	f.due.Ahead = later(f.due.Ahead, f.due.Cursor)
	f.due.Cursor = instant(f.t, to)
}

func TestWhatWasMadeBeforeAClockWasSetBackIsNotMadeAgain(t *testing.T) {
	minutes := func(policy duly.CatchUpPolicy, o duly.Overlap) duly.Schedule {
		return with(cron("* * * * *", policy), func(s *duly.Schedule) { s.Overlap = o })
	}
	for _, c := range []struct {
		name  string
		def   duly.Schedule
		fired []string // before
		then  string   // after an outage: the clock was set back to 10:00:30
		want  []string
	}{
		{"combine covers what is new", minutes("combine", ""), []string{"10:01:01", "10:02:01", "10:03:01"}, "10:06:01", []string{"pending 2026-11-30T10:06 3 covered"}},
		{"combine has nothing to cover", minutes("combine", ""), []string{"10:01:01", "10:02:01", "10:03:01"}, "10:03:30", []string{}},
		{"combine covers what lies between", minutes("combine", ""), []string{"10:01:01", "10:04:01"}, "10:07:31", []string{"pending 2026-11-30T10:07 3 covered"}},
		{"what was covered is not made on time", minutes("combine", ""), []string{"10:04:30"}, "10:03:01", []string{}},
		{"what was covered is not made by all", minutes("all", "combine"), []string{"10:04:30"}, "10:06:10", []string{"pending 2026-11-30T10:06 2 covered"}},
		{"what was covered is not missed", minutes("combine", ""), []string{"10:04:30"}, "10:03:30", []string{}},
		{"overlap combine takes none that is covered", minutes("latest", "combine"), []string{"10:01:01", "10:02:01"}, "10:04:10", []string{"missed 2026-11-30T10:03 (catch-up latest)", "pending 2026-11-30T10:04"}},
		{"nothing is late that exists", cron("*/2 * * * * *", "latest"), []string{"10:00:33", "10:00:36", "10:00:39"}, "10:00:43", []string{"pending 2026-11-30T10:00:40Z", "pending 2026-11-30T10:00:42Z"}},
		{"what was missed in a run may still be done", minutes("latest", ""), []string{"10:40:01"}, "10:01:02", []string{"pending 2026-11-30T10:01"}},
		{"no run stands for what was done", minutes("latest", ""), []string{"10:40:01"}, "11:20:01", []string{
			"missed 2026-11-30T10:41..2026-11-30T11:19 x39 (catch-up latest)", "pending 2026-11-30T11:20",
		}},
		{"replace makes none that exists", minutes("all", "replace"), []string{"10:01:01", "10:02:01"}, "10:02:30", []string{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			day := func(clock string) string { return "2026-11-30T" + clock + "Z" }
			f := newFixture(t, day("10:00:30"), c.def)
			for _, at := range c.fired {
				f.fire(day(at))
			}
			f.setBack(day("10:00:30"))
			if diff := cmp.Diff(c.want, lines(f.fire(day(c.then)))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWhatExistsIsNoReasonToSkipAndUsesUpNoLimit(t *testing.T) {
	f := newFixture(t, "2026-11-30T10:00:30Z", with(cron("* * * * *", "all"), func(s *duly.Schedule) { s.Overlap, s.Limit = duly.OverlapSkip, 3 }))
	f.fire("2026-11-30T10:01:01Z")
	f.fire("2026-11-30T10:02:01Z")
	f.setBack("2026-11-30T10:00:30Z")
	if diff := cmp.Diff([]string{"pending 2026-11-30T10:03"}, lines(f.fire("2026-11-30T10:03:30Z"))); diff != "" {
		t.Error(diff)
	}
}

// A timing that is moved within a day has the day once more. Its name keeps it
// from being made twice; where one occurrence covers several days, that has to
// be asked.
func TestCombineCoversNoPeriodThatAnEarlierTimingHad(t *testing.T) {
	daily := func(hour string) duly.Schedule {
		return with(cron("0 "+hour+" * * *", "combine"), func(s *duly.Schedule) { s.CatchUp.Window = duly.Duration(72 * time.Hour) })
	}
	f := newFixture(t, "2026-11-29T10:00:00Z", daily("0"))
	made := lines(f.fire("2026-11-30T00:00:01Z"))
	f.revise("2026-11-30T05:00:00Z", daily("6"))
	made = append(made, lines(f.fire("2026-12-02T07:00:00Z"))...)
	if diff := cmp.Diff([]string{"pending 2026-11-30", "pending 2026-12-02 2 covered"}, made); diff != "" {
		t.Error(diff)
	}
}

func TestAChangeDropsNoPeriodThatIsDone(t *testing.T) {
	f := newFixture(t, "2026-11-29T10:00:00Z", cron("0 18 * * *", "combine"))
	f.due.Ahead = instant(t, "2026-11-30T20:00:00Z") // when both days were made, as that of the 30th
	f.revise("2026-11-29T12:00:00Z", cron("0 6 * * *", "combine"))
	now := instant(t, "2026-11-29T13:00:00Z")
	if diff := cmp.Diff([]string{"missed 2026-11-29 (definition changed)"}, lines(f.decide(now).Occurrences)); diff != "" {
		t.Error("where neither is:", diff)
	}
	f.made["2026-11-29"], f.made["2026-11-30"] = true, true
	if made := lines(f.decide(now).Occurrences); len(made) > 0 {
		t.Error(made)
	}
}

func TestCombineCoversNoPeriodThatAPersonHasAskedFor(t *testing.T) {
	for _, def := range []duly.Schedule{cron("0 * * * *", "combine"), with(cron("0 * * * *", "all"), func(s *duly.Schedule) { s.Overlap = duly.OverlapCombine })} {
		f := newFixture(t, "2026-11-30T10:30:00Z", def)
		f.made["2026-11-30T12:00:00Z"] = true
		if diff := cmp.Diff([]string{"2026-11-30T11:00:00Z", "2026-11-30T13:00:00Z"}, f.fire("2026-11-30T13:10:00Z")[0].Covers); diff != "" {
			t.Error(diff)
		}
	}
}

func TestNoRunStandsForWhatIsDone(t *testing.T) {
	f := newFixture(t, "2026-11-30T10:00:30Z", with(cron("* * * * *", "none"), func(s *duly.Schedule) { s.Overlap = duly.OverlapCombine }))
	f.due.Resume = &store.Resume{From: instant(t, "2026-11-30T10:03:30Z"), To: instant(t, "2026-11-30T10:04:30Z"), Policy: duly.CatchUpLatest, By: "ann"}
	if diff := cmp.Diff([]string{
		"missed 2026-11-30T10:01 (catch-up none)", "missed 2026-11-30T10:02 (catch-up none)", "missed 2026-11-30T10:03 (catch-up none)",
		"pending 2026-11-30T10:04", "missed 2026-11-30T10:05..2026-11-30T10:40 x36 (catch-up none)",
	}, lines(f.fire("2026-11-30T10:40:30Z"))); diff != "" {
		t.Error(diff)
	}
}

func TestNoRunGoesOnPastWhatIsDone(t *testing.T) {
	f := newFixture(t, "2026-11-30T10:00:30Z", cron("* * * * *", "none"))
	f.fire("2026-11-30T10:40:01Z")
	f.fire("2026-11-30T10:41:01Z")
	f.setBack("2026-11-30T10:05:30Z")
	made := lines(f.fire("2026-11-30T10:39:30Z"))
	next := f.decide(instant(t, "2026-11-30T11:20:30Z")).Occurrences
	if diff := cmp.Diff([]string{"missed 2026-11-30T10:06..2026-11-30T10:39 x34 (catch-up none)", "missed 2026-11-30T10:42..2026-11-30T11:20 x39 (catch-up none)"}, append(made, lines(next)...)); diff != "" {
		t.Error(diff)
	}
	if next[0].Extend {
		t.Error("it would stand for 10:40 too")
	}
	f.due.Cursor = instant(t, "2026-11-30T11:20:30Z")
	if next := f.decide(instant(t, "2026-11-30T12:20:30Z")).Occurrences; !next[0].Extend {
		t.Error("later runs do not go on")
	}
}

func TestNothingIsAskedInOrdinaryTimes(t *testing.T) {
	for _, s := range []duly.Schedule{cron("* * * * *", "combine"), with(cron("* * * * *", "all"), func(s *duly.Schedule) { s.Overlap = duly.OverlapCombine })} {
		f := newFixture(t, "2026-11-30T10:00:30Z", s)
		f.due.Ahead = instant(t, "2026-11-30T10:00:30Z") // long past
		if ask := Decide(instant(t, "2026-11-30T10:01:01Z"), f.due, func(int64) *Plan { return f.plans[1] }).Ask; len(ask) > 0 {
			t.Errorf("asked for %v", ask)
		}
	}
}

func TestQuestionsAreBounded(t *testing.T) {
	f := newFixture(t, "2026-11-30T00:00:30Z", cron("* * * * * *", "none"))
	f.due.Ahead = instant(t, "2027-11-30T00:00:30Z")
	got := Decide(instant(t, "2027-01-30T00:00:30Z"), f.due, func(int64) *Plan { return f.plans[1] })
	if n := len(got.Ask); n != maxScan {
		t.Errorf("asked for %d", n)
	}
	f.lim.scan = 100
	pages := lines(f.fire("2026-11-30T00:10:30Z"))
	if diff := cmp.Diff("missed 2026-11-30T00:00:31Z..2026-11-30T00:02:10Z x100 (catch-up none)", pages[0]); diff != "" {
		t.Error(diff)
	}
	if n := len(pages); n != 7 { // the newest is on time
		t.Errorf("%d pages of 600", n)
	}
}

// history is what became of one schedule's periods, as a store keeps it.
type history struct {
	order []string // the names of all dues
	names map[string]int
	made  map[string]bool
	runs  map[string]bool
	last  store.NewOccurrence
}

// run lists the names that a run stands for.
func (h *history) run(period string) []string {
	first, last, _ := strings.Cut(period, "..")
	return h.order[h.names[first] : h.names[last]+1]
}

// keep notes what a firing made, and complains where a period is told of twice.
func (h *history) keep(t *rapid.T, all []store.NewOccurrence) {
	for _, o := range all {
		if h.made[o.Period] || h.runs[o.Period] {
			continue
		}
		if o.Extend && h.last.Count > 1 && h.last.State == o.State && h.last.Reason == o.Reason {
			first, _, _ := strings.Cut(h.last.Period, "..")
			_, end, _ := strings.Cut(o.Period, "..")
			o.Period, o.Count = first+".."+end, o.Count+h.last.Count
		}
		h.last = o
		if o.Count > 1 {
			all := h.run(o.Period)
			if len(all) != o.Count {
				t.Errorf("%s is of %d, and stands for %d", o.Period, len(all), o.Count)
			}
			h.runs[o.Period] = true
			for _, name := range all {
				if h.made[name] {
					t.Errorf("%s stands for %s, which exists", o.Period, name)
				}
			}
			continue
		}
		for _, name := range covered(o.Period, o.Covers) {
			if h.made[name] {
				t.Errorf("%s is covered twice, the second time by %s", name, o.Period)
			}
			h.made[name] = true
		}
	}
}

// However often the clock is set back, and whatever outages and pauses there
// are, every period is accounted for and none by two.
func TestClocksSetBackRepeatNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plans := anyPlans(t, 1)
		s, _ := anyDue(t, 1)
		resume := s.Resume
		s.Resume = nil
		lim := limits{page: rapid.SampledFrom([]int{1, 7, MaxPage}).Draw(t, "page"), scan: rapid.SampledFrom([]int{1, 50, maxScan}).Draw(t, "scan")}
		h := &history{names: map[string]int{}, made: map[string]bool{}, runs: map[string]bool{}}
		start, now := s.Cursor, s.Cursor
		const steps, most = 8, 10 * time.Hour
		line, _ := trace(now.Add(steps*most), s, func(d int64) *Plan { return plans[d] })
		line.each(s.Cursor, now.Add(steps*most), func(x due) bool {
			h.names[x.Period] = len(h.order)
			h.order = append(h.order, x.Period)
			return true
		})
		least := len(h.order) / 1000 // pages are some hundreds at most
		lim = limits{page: max(lim.page, least), scan: max(lim.scan, least)}
		for range rapid.IntRange(1, steps).Draw(t, "steps") {
			step := time.Duration(rapid.Int64Range(1, int64(most)).Draw(t, "step"))
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0: // set back
				now = later(start, now.Add(-step))
				if s.Cursor.After(now) {
					s.Ahead, s.Cursor = later(s.Ahead, s.Cursor), now
				}
				continue
			case 1: // a moment
				step = step / 100
			case 2: // a pause has ended
				if resume != nil {
					s.Resume = &store.Resume{From: now, To: now.Add(step / 2), By: "ann", Policy: resume.Policy}
				}
			}
			now = now.Add(step)
			for {
				f := answered(now, s, plans, lim, h.made)
				h.keep(t, f.Occurrences)
				s.Cursor = f.Cursor
				if f.ResumeDone {
					s.Resume = nil
				}
				if !f.NextDue.Equal(now) {
					break
				}
			}
		}
		if t.Failed() {
			return
		}
		for run := range h.runs {
			for _, name := range h.run(run) {
				h.made[name] = true
			}
		}
		line.each(start, now, func(x due) bool {
			if !h.made[x.Period] {
				t.Errorf("nothing tells of %s", x.Period)
			}
			return true
		})
	})
}
