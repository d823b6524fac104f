package plan

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// fixture is one schedule as a store holds it, fired by hand.
type fixture struct {
	t     *testing.T
	plans map[int64]*Plan
	due   store.DueSchedule
	lim   limits
	made  map[string]bool // what exists, by name or covered
}

func newFixture(t *testing.T, created string, def duly.Schedule) *fixture {
	t.Helper()
	f := &fixture{t: t, plans: map[int64]*Plan{}, lim: limits{page: MaxPage, scan: maxScan}, made: map[string]bool{}}
	at := instant(t, created)
	f.due = store.DueSchedule{Schedule: "s", Cursor: at, Anchor: at.Truncate(time.Second)}
	f.revise(created, def)
	return f
}

// revise puts a new definition into force.
func (f *fixture) revise(at string, def duly.Schedule) {
	f.t.Helper()
	n := int64(len(f.due.Revisions) + 1)
	f.plans[n] = mustCompile(f.t, def)
	f.due.Revisions = append(f.due.Revisions, store.Revision{Number: n, Definition: n, From: instant(f.t, at)})
}

// decide decides, and tells what it asks for, as stores do.
func (f *fixture) decide(now time.Time) store.Firing {
	f.t.Helper()
	return answered(now, f.due, f.plans, f.lim, f.made)
}

// answered decides, telling of what is asked for whether it is among what was
// made.
func answered(now time.Time, s store.DueSchedule, plans map[int64]*Plan, lim limits, made map[string]bool) store.Firing {
	s.Exists = map[string]bool{}
	for {
		firing := decide(now, s, func(d int64) *Plan { return plans[d] }, lim)
		if len(firing.Ask) == 0 {
			return firing
		}
		for _, p := range firing.Ask {
			if _, known := s.Exists[p]; known {
				panic("asked twice for " + p)
			}
			s.Exists[p] = made[p]
		}
	}
}

// keep notes what was made. What exists is not made again.
func (f *fixture) keep(all []store.NewOccurrence) (kept []store.NewOccurrence) {
	for _, o := range all {
		if f.made[o.Period] {
			continue
		}
		kept = append(kept, o)
		for _, p := range append([]string{o.Period}, o.Covers...) {
			f.made[p] = true
		}
	}
	return kept
}

// fire decides at an instant, and again while there is more.
func (f *fixture) fire(at string) []store.NewOccurrence {
	f.t.Helper()
	now := instant(f.t, at)
	var all []store.NewOccurrence
	for range 10_000 {
		firing := f.decide(now)
		kept := f.keep(firing.Occurrences)
		all = append(all, kept...)
		f.due.Cursor = firing.Cursor
		for _, o := range kept {
			if o.State == duly.Pending {
				f.due.Fired++
			}
		}
		if firing.ResumeDone {
			f.due.Resume = nil
		}
		if !firing.NextDue.Equal(now) {
			return all
		}
	}
	f.t.Fatal("Decide does not come to an end")
	return nil
}

func instant(t testing.TB, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatal(err)
	}
	return at.UTC()
}

func mustCompile(t testing.TB, def duly.Schedule) *Plan {
	t.Helper()
	def.ID = "s"
	def.Target.Handler = "h"
	p, faults := Compile(def)
	if len(faults) > 0 {
		t.Fatal(faults[0])
	}
	return p
}

// lines writes down occurrences in short: state, period, count, covers, reason.
func lines(all []store.NewOccurrence) []string {
	out := []string{}
	for _, o := range all {
		s := fmt.Sprintf("%s %s", o.State, strings.ReplaceAll(o.Period, ":00Z", ""))
		if o.Count > 1 {
			s += fmt.Sprintf(" x%d", o.Count)
		}
		if len(o.Covers) > 0 {
			s += fmt.Sprintf(" %d covered", len(o.Covers))
		}
		if why, _, _ := strings.Cut(o.Reason, ":"); why != "" {
			s += " (" + why + ")"
		}
		out = append(out, s)
	}
	return out
}

func cron(expr string, policy duly.CatchUpPolicy) duly.Schedule {
	return duly.Schedule{Timing: duly.Timing{Cron: expr}, CatchUp: duly.CatchUp{Policy: policy}}
}

func with(s duly.Schedule, change func(*duly.Schedule)) duly.Schedule {
	change(&s)
	return s
}

func TestFieldCasesOfMissedTimes(t *testing.T) {
	minute := func(state, why string, hour, from, to int) (all []string) {
		for m := from; m <= to; m++ {
			all = append(all, strings.TrimSpace(fmt.Sprintf("%s 2026-11-30T%02d:%02d %s", state, hour, m, why)))
		}
		return all
	}
	for _, c := range []struct {
		name    string
		def     duly.Schedule
		created string
		fire    string
		want    []string
		next    string
	}{
		{"B16 none misses the one slot of an outage", cron("0 15 * * *", "none"), "2026-11-30T14:57:00Z", "2026-11-30T15:03:00Z", []string{"missed 2026-11-30 (catch-up none)"}, "2026-12-01T15:00:00Z"},
		{"B16 latest makes it late", cron("0 15 * * *", "latest"), "2026-11-30T14:57:00Z", "2026-11-30T15:03:00Z", []string{"pending 2026-11-30"}, "2026-12-01T15:00:00Z"},
		{"B16 all makes it late", cron("0 15 * * *", "all"), "2026-11-30T14:57:00Z", "2026-11-30T15:03:00Z", []string{"pending 2026-11-30"}, "2026-12-01T15:00:00Z"},
		{"B17 none misses seven", cron("* * * * *", "none"), "2026-11-30T10:00:30Z", "2026-11-30T10:07:10Z", minute("missed", "(catch-up none)", 10, 1, 7), "2026-11-30T10:08:00Z"},
		{"B17 latest makes the seventh", cron("* * * * *", "latest"), "2026-11-30T10:00:30Z", "2026-11-30T10:07:10Z", append(minute("missed", "(catch-up latest)", 10, 1, 6), "pending 2026-11-30T10:07"), "2026-11-30T10:08:00Z"},
		{"B17 all makes seven in order", cron("* * * * *", "all"), "2026-11-30T10:00:30Z", "2026-11-30T10:07:10Z", minute("pending", "", 10, 1, 7), "2026-11-30T10:08:00Z"},
		{"B17 four minutes", cron("* * * * *", "all"), "2026-11-30T15:43:10Z", "2026-11-30T15:47:33Z", minute("pending", "", 15, 44, 47), "2026-11-30T15:48:00Z"},
		{"B18 latest of 112", cron("* * * * *", "latest"), "2026-11-30T08:29:30Z", "2026-11-30T10:21:10Z", []string{"missed 2026-11-30T08:30..2026-11-30T10:20 x111 (catch-up latest)", "pending 2026-11-30T10:21"}, "2026-11-30T10:22:00Z"},
		{"B18 all with a limit keeps the newest hundred", with(cron("* * * * *", "all"), func(s *duly.Schedule) { s.CatchUp.Max = 100 }), "2026-11-30T08:29:30Z", "2026-11-30T10:21:10Z", append(append(minute("missed", "(catch-up max)", 8, 30, 41), minute("pending", "", 8, 42, 59)...), append(minute("pending", "", 9, 0, 59), minute("pending", "", 10, 0, 21)...)...), "2026-11-30T10:22:00Z"},
		{"combine makes one of all", cron("* * * * *", "combine"), "2026-11-30T10:00:30Z", "2026-11-30T10:07:10Z", []string{"pending 2026-11-30T10:07 7 covered"}, "2026-11-30T10:08:00Z"},
		{"all leaves what is older than the window", with(cron("0 * * * *", "all"), func(s *duly.Schedule) { s.CatchUp.Window = duly.Duration(2 * time.Hour) }), "2026-11-30T05:30:00Z", "2026-11-30T10:00:30Z", []string{"missed 2026-11-30T06:00 (catch-up window)", "missed 2026-11-30T07:00 (catch-up window)", "missed 2026-11-30T08:00 (catch-up window)", "pending 2026-11-30T09:00", "pending 2026-11-30T10:00"}, "2026-11-30T11:00:00Z"},
		{"latest is not wanted when it is older than the window", cron("0 0 1 * *", "latest"), "2026-10-15T00:00:00Z", "2026-11-30T10:00:00Z", []string{"missed 2026-11-01 (catch-up window)"}, "2026-12-01T00:00:00Z"},
		{"B20 an interval keeps its anchor", duly.Schedule{Timing: duly.Timing{Every: duly.Duration(time.Hour)}}, "2026-11-30T14:20:00Z", "2026-11-30T15:20:01Z", []string{"pending 2026-11-30T15:20"}, "2026-11-30T16:20:00Z"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFixture(t, c.created, c.def)
			if diff := cmp.Diff(c.want, lines(f.fire(c.fire))); diff != "" {
				t.Error(diff)
			}
			next := f.decide(instant(t, c.fire)).NextDue
			if !next.Equal(instant(t, c.next)) {
				t.Errorf("next due %v, want %s", next, c.next)
			}
		})
	}
}
