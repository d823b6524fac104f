package plan

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// A page that ends within Grace would leave to the next one what looks as if
// nothing had been interrupted.
func TestNoPageEndsBetweenWhatIsLateAndWhatIsOnTime(t *testing.T) {
	seconds := func(policy duly.CatchUpPolicy, most int) duly.Schedule {
		return with(cron("* * * * * *", policy), func(s *duly.Schedule) { s.CatchUp.Max = most })
	}
	for _, c := range []struct {
		name string
		def  duly.Schedule
		want map[string]int
	}{
		{"latest", seconds("latest", 0), map[string]int{"missed catch-up latest: a newer one was due": 7, "pending ": 1}},
		{"none", seconds("none", 0), map[string]int{"missed catch-up none: came due while nothing could fire": 7, "pending ": 1}},
		{"all, but two at most", seconds("all", 2), map[string]int{"missed catch-up max: only the newest 2 run": 6, "pending ": 2}},
		{"all", seconds("all", 0), map[string]int{"pending ": 8}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for n := 1; n <= 9; n++ {
				for _, lim := range []limits{{page: MaxPage, scan: n}, {page: n, scan: maxScan}} {
					f := newFixture(t, "2026-11-30T10:00:01.1Z", c.def)
					f.lim = lim
					if diff := cmp.Diff(c.want, totals(f.fire("2026-11-30T10:00:09.2Z"))); diff != "" {
						t.Errorf("%+v: %s", lim, diff)
					}
				}
			}
		})
	}
}

func TestAPageThatComesLaterStillKnowsOfTheInterruption(t *testing.T) {
	f := newFixture(t, "2026-11-30T10:00:00.1Z", cron("* * * * * *", "latest"))
	f.lim.scan = 6
	now := instant(t, "2026-11-30T10:00:20.2Z") // too few to be counted
	var made []store.NewOccurrence
	for pages := 1; ; pages++ {
		got := f.decide(now)
		made = append(made, got.Occurrences...)
		f.due.Cursor = got.Cursor
		if !got.NextDue.Equal(now) {
			if pages < 3 {
				t.Errorf("%d pages", pages)
			}
			break
		}
		now = now.Add(time.Second)
	}
	if n := totals(made)["pending "]; n != 1 {
		t.Error(lines(made))
	}
}

func TestALongBacklogComesByThePage(t *testing.T) {
	f := newFixture(t, "2026-11-01T00:00:30Z", with(cron("* * * * *", "all"), func(s *duly.Schedule) { s.CatchUp.Window = duly.Duration(366 * 24 * time.Hour) }))
	now := instant(t, "2026-11-30T00:00:30Z")
	got := f.decide(now)
	if n := len(got.Occurrences); n != MaxPage || !got.NextDue.Equal(now) || !got.Cursor.Equal(got.Occurrences[n-1].Due) {
		t.Errorf("%d made, next due %v, cursor %v", n, got.NextDue, got.Cursor)
	}
}

func TestWhatCannotBeCountedIsListedByThePage(t *testing.T) {
	f := newFixture(t, "2026-11-01T00:00:30Z", with(cron("* * * * *", ""), func(s *duly.Schedule) {
		s.Except = []duly.Exclusion{{Timing: duly.Timing{Cron: "0 12 * * *"}, For: duly.Duration(time.Hour)}}
	}))
	now := instant(t, "2026-11-30T00:00:30Z")
	got := f.decide(now)
	if len(got.Occurrences) != 1 || got.Occurrences[0].Count != maxScan || !got.NextDue.Equal(now) {
		t.Errorf("%v, next due %v", lines(got.Occurrences), got.NextDue)
	}
	f.due.Cursor = got.Cursor
	if next := f.decide(now); !next.Occurrences[0].Extend {
		t.Error("the second page does not go on with the first")
	}
}

// However many dues a holiday skips, the newest is the last one before it, and
// the definition in force then has it.
func TestTheNewestIsFoundBeyondALongHoliday(t *testing.T) {
	seconds := func(policy duly.CatchUpPolicy, most int) duly.Schedule {
		return with(cron("* * * * * *", policy), func(s *duly.Schedule) {
			s.Calendar = &duly.CalendarRule{Holidays: []string{"2026-12-01"}}
			s.CatchUp.Max = most
		})
	}
	for _, c := range []struct {
		name string
		def  duly.Schedule
		want []string
	}{
		{"latest", seconds("latest", 0), []string{"pending 2026-11-30T23:59:59Z"}},
		{"all, but two at most", seconds("all", 2), []string{"pending 2026-11-30T23:59:58Z", "pending 2026-11-30T23:59:59Z"}},
	} {
		for _, scan := range []int{1000, maxScan, 1 << 30} {
			f := newFixture(t, "2026-11-30T22:00:00Z", c.def)
			f.revise("2026-11-30T23:00:00Z", c.def)
			f.lim.scan = scan
			if diff := cmp.Diff(c.want, pending(lines(f.fire("2026-12-01T14:00:00Z")))); diff != "" {
				t.Errorf("%s, by %d: %s", c.name, scan, diff)
			}
		}
	}
}
