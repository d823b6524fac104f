package plan

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

func TestOnTime(t *testing.T) {
	for _, c := range []struct {
		name    string
		policy  duly.CatchUpPolicy
		expr    string
		planned string
		fire    string
		want    []string
	}{
		{"5 ms late is on time, even for none", "none", "* * * * *", "2026-11-30T10:00:01Z", "2026-11-30T10:01:00.005Z", []string{"pending 2026-11-30T10:01"}},
		{"a busy planner makes every second that it slept over", "none", "* * * * * *", "2026-11-30T10:00:01.1Z", "2026-11-30T10:00:04.2Z", []string{"pending 2026-11-30T10:00:02Z", "pending 2026-11-30T10:00:03Z", "pending 2026-11-30T10:00:04Z"}},
		{"so it does for latest", "latest", "* * * * * *", "2026-11-30T10:00:01.1Z", "2026-11-30T10:00:03.2Z", []string{"pending 2026-11-30T10:00:02Z", "pending 2026-11-30T10:00:03Z"}},
		{"and for combine, which has nothing to combine", "combine", "* * * * * *", "2026-11-30T10:00:01.1Z", "2026-11-30T10:00:03.2Z", []string{"pending 2026-11-30T10:00:02Z", "pending 2026-11-30T10:00:03Z"}},
		{"after an outage the newest alone is on time", "none", "* * * * * *", "2026-11-30T10:00:01.1Z", "2026-11-30T10:00:09.2Z", []string{"missed 2026-11-30T10:00:02Z (catch-up none)", "missed 2026-11-30T10:00:03Z (catch-up none)", "missed 2026-11-30T10:00:04Z (catch-up none)", "missed 2026-11-30T10:00:05Z (catch-up none)", "missed 2026-11-30T10:00:06Z (catch-up none)", "missed 2026-11-30T10:00:07Z (catch-up none)", "missed 2026-11-30T10:00:08Z (catch-up none)", "pending 2026-11-30T10:00:09Z"}},
		{"nothing is due between two instants", "all", "0 * * * *", "2026-11-30T10:00:01Z", "2026-11-30T10:59:59Z", []string{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFixture(t, c.planned, cron(c.expr, c.policy))
			made := f.fire(c.fire)
			if diff := cmp.Diff(c.want, lines(made)); diff != "" {
				t.Error(diff)
			}
			for _, o := range made {
				if o.State == duly.Pending && o.Origin != duly.OriginSchedule {
					t.Errorf("%s has origin %s", o.Period, o.Origin)
				}
			}
		})
	}
}

func TestWhatIsLateIsACatchUp(t *testing.T) {
	f := newFixture(t, "2026-11-30T10:00:30Z", cron("* * * * *", "all"))
	var origins []duly.Origin
	for _, o := range f.fire("2026-11-30T10:03:02Z") {
		origins = append(origins, o.Origin)
	}
	if diff := cmp.Diff([]duly.Origin{"catch_up", "catch_up", "schedule"}, origins); diff != "" {
		t.Error(diff)
	}
}

func TestFieldCasesOfPauses(t *testing.T) { // B76
	for _, c := range []struct {
		name   string
		def    duly.Schedule
		policy duly.CatchUpPolicy
		from   string
		to     string
		want   map[string]int
		next   string
	}{
		{"none", cron("* * * * *", ""), "none", "2026-11-30T10:00:30Z", "2026-11-30T10:07:10Z", map[string]int{"skipped paused by ann": 7}, "2026-11-30T10:08:00Z"},
		{"latest", cron("* * * * *", ""), "latest", "2026-11-30T10:00:30Z", "2026-11-30T10:07:10Z", map[string]int{"skipped paused by ann": 6, "pending ": 1}, "2026-11-30T10:08:00Z"},
		{"all", cron("* * * * *", ""), "all", "2026-11-30T10:00:30Z", "2026-11-30T10:07:10Z", map[string]int{"pending ": 7}, "2026-11-30T10:08:00Z"},
		{"combine", cron("* * * * *", ""), "combine", "2026-11-30T10:00:30Z", "2026-11-30T10:07:10Z", map[string]int{"pending ": 7}, "2026-11-30T10:08:00Z"},
		{"all has no window", cron("0 0 * * *", ""), "all", "2026-11-01T12:00:00Z", "2026-11-30T12:00:00Z", map[string]int{"pending ": 29}, "2026-12-01T00:00:00Z"},
		{"a long pause is one record", cron("* * * * *", ""), "none", "2026-11-01T12:00:00Z", "2026-11-30T12:00:00Z", map[string]int{"skipped paused by ann": 29 * 1440}, "2026-11-30T12:01:00Z"},
		{"an interval of seconds, none", duly.Schedule{Timing: duly.Timing{Every: duly.Duration(5 * time.Second)}}, "none", "2026-11-30T10:00:00Z", "2026-11-30T10:00:10Z", map[string]int{"skipped paused by ann": 2}, "2026-11-30T10:00:15Z"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFixture(t, c.from, c.def)
			f.due.Resume = &store.Resume{From: instant(t, c.from), To: instant(t, c.to), Policy: c.policy, By: "ann"}
			made := f.fire(c.to)
			if diff := cmp.Diff(c.want, totals(made)); diff != "" {
				t.Error(diff)
			}
			if f.due.Resume != nil {
				t.Error("the resume is not done")
			}
			if again := f.fire(c.to); len(again) > 0 {
				t.Errorf("planned again: %v", lines(again))
			}
			if next := f.plans[1].Next(f.due.Anchor, f.due.Cursor); !next.Equal(instant(t, c.next)) {
				t.Errorf("next %v, want %s", next, c.next)
			}
		})
	}
}

func TestWhatWasDueBeforeAPauseKeepsItsOwnPolicy(t *testing.T) {
	f := newFixture(t, "2026-11-30T09:58:30Z", cron("* * * * *", "all"))
	f.due.Resume = &store.Resume{From: instant(t, "2026-11-30T10:00:30Z"), To: instant(t, "2026-11-30T10:02:30Z"), Policy: duly.CatchUpNone, By: "ann"}
	want := []string{
		"pending 2026-11-30T09:59", "pending 2026-11-30T10:00", "skipped 2026-11-30T10:01 (paused by ann)",
		"skipped 2026-11-30T10:02 (paused by ann)", "pending 2026-11-30T10:03",
	}
	if diff := cmp.Diff(want, lines(f.fire("2026-11-30T10:03:10Z"))); diff != "" {
		t.Error(diff)
	}
}

func TestOverlap(t *testing.T) {
	overlap := func(o duly.Overlap, policy duly.CatchUpPolicy) duly.Schedule {
		return with(cron("*/5 * * * *", policy), func(s *duly.Schedule) { s.Overlap = o })
	}
	for _, c := range []struct {
		name   string
		def    duly.Schedule
		state  func(*store.DueSchedule)
		fire   string
		want   []string
		merge  []int64
		cancel []int64
	}{
		{"B39 skip while the first goes on", overlap("skip", ""), func(s *store.DueSchedule) { s.Open, s.Running = 1, 1 }, "2026-11-30T00:05:01Z", []string{"skipped 2026-11-30T00:05 (overlap skip)"}, nil, nil},
		{"B39 not when it has ended", overlap("skip", ""), nil, "2026-11-30T00:05:01Z", []string{"pending 2026-11-30T00:05"}, nil, nil},
		{"B45 a retry that waits blocks", overlap("skip", ""), func(s *store.DueSchedule) { s.Open = 1 }, "2026-11-30T00:05:01Z", []string{"skipped 2026-11-30T00:05 (overlap skip)"}, nil, nil},
		{"skip counts what this decision makes", overlap("skip", "all"), nil, "2026-11-30T00:15:30Z", []string{"pending 2026-11-30T00:05", "skipped 2026-11-30T00:10 (overlap skip)", "skipped 2026-11-30T00:15 (overlap skip)"}, nil, nil},
		{"B39 wait keeps each", overlap("wait", "all"), func(s *store.DueSchedule) { s.Open, s.Running = 1, 1 }, "2026-11-30T00:10:30Z", []string{"pending 2026-11-30T00:05", "pending 2026-11-30T00:10"}, nil, nil},
		{"allow keeps each", overlap("allow", ""), func(s *store.DueSchedule) { s.Open, s.Running = 1, 1 }, "2026-11-30T00:05:01Z", []string{"pending 2026-11-30T00:05"}, nil, nil},
		{"B39 combine takes over what waits", overlap("combine", ""), func(s *store.DueSchedule) {
			s.Open, s.Running = 3, 1
			s.Waiting = []store.Waiting{{Seq: 7, Period: "2026-11-29T23:55:00Z", Covers: []string{"2026-11-29T23:50:00Z", "2026-11-29T23:55:00Z"}}, {Seq: 9, Period: "2026-11-30T00:00:00Z"}}
		}, "2026-11-30T00:05:01Z", []string{"pending 2026-11-30T00:05 4 covered"}, []int64{7, 9}, nil},
		{"combine makes one of several owed", overlap("combine", "all"), nil, "2026-11-30T00:15:30Z", []string{"pending 2026-11-30T00:15 3 covered"}, nil, nil},
		{"combine alone is itself", overlap("combine", ""), nil, "2026-11-30T00:05:01Z", []string{"pending 2026-11-30T00:05"}, nil, nil},
		{"replace cancels what runs", overlap("replace", ""), func(s *store.DueSchedule) { s.Open, s.Running, s.Active = 1, 1, []int64{4} }, "2026-11-30T00:05:01Z", []string{"pending 2026-11-30T00:05"}, nil, []int64{4}},
		{"replace makes only the newest", overlap("replace", "all"), func(s *store.DueSchedule) { s.Active = []int64{4} }, "2026-11-30T00:15:30Z", []string{"skipped 2026-11-30T00:05 (overlap replace)", "skipped 2026-11-30T00:10 (overlap replace)", "pending 2026-11-30T00:15"}, nil, []int64{4}},
		{"replace cancels nothing for what is missed", overlap("replace", "none"), func(s *store.DueSchedule) { s.Active = []int64{4} }, "2026-11-30T00:06:00Z", []string{"missed 2026-11-30T00:05 (catch-up none)"}, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFixture(t, "2026-11-30T00:00:01Z", c.def)
			if c.state != nil {
				c.state(&f.due)
			}
			got := f.decide(instant(t, c.fire))
			if diff := cmp.Diff(c.want, lines(got.Occurrences)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(c.merge, got.Merge); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(c.cancel, got.Cancel); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestACombinedOccurrenceNamesWhatItCoversInOrder(t *testing.T) {
	f := newFixture(t, "2026-11-30T00:00:01Z", with(cron("*/5 * * * *", "all"), func(s *duly.Schedule) { s.Overlap = duly.OverlapCombine }))
	f.due.Waiting = []store.Waiting{{Seq: 9, Period: "2026-11-29T23:55:00Z"}}
	o := f.decide(instant(t, "2026-11-30T00:10:30Z")).Occurrences[0]
	if diff := cmp.Diff([]string{"2026-11-29T23:55:00Z", "2026-11-30T00:05:00Z", "2026-11-30T00:10:00Z"}, o.Covers); diff != "" {
		t.Error(diff)
	}
	if want := instant(t, "2026-11-29T23:50:00Z"); !o.IntervalStart.Equal(want) {
		t.Errorf("interval from %v, want %v", o.IntervalStart, want)
	}
}

func TestCoversAreBounded(t *testing.T) {
	f := newFixture(t, "2026-11-30T00:00:01Z", with(cron("* * * * * *", "combine"), func(s *duly.Schedule) { s.CatchUp.Window = duly.Duration(1000 * time.Hour) }))
	made := f.fire("2026-11-30T10:00:00Z")
	if n := len(made[len(made)-1].Covers); n != MaxCovers {
		t.Errorf("%d covered", n)
	}
	f.due.Cursor = instant(t, "2026-11-30T10:00:00Z")
	f.plans[1].Def.Overlap = duly.OverlapCombine
	f.due.Waiting = []store.Waiting{{Seq: 1, Period: "x", Covers: make([]string, MaxCovers)}, {Seq: 2, Period: "2026-11-30T09:59:00Z"}}
	got := f.decide(instant(t, "2026-11-30T10:00:01Z"))
	if diff := cmp.Diff([]int64{2}, got.Merge); diff != "" {
		t.Error(diff)
	}
}

func TestLimitEndsASchedule(t *testing.T) {
	f := newFixture(t, "2026-11-30T10:00:30Z", with(cron("* * * * *", "all"), func(s *duly.Schedule) { s.Limit = 5 }))
	f.due.Fired = 2
	got := f.decide(instant(t, "2026-11-30T10:10:00Z"))
	if n := len(got.Occurrences); n != 3 || !got.NextDue.IsZero() {
		t.Errorf("%d made, next due %v", n, got.NextDue)
	}
	f.due.Fired = 5
	if got := f.decide(instant(t, "2026-11-30T10:20:00Z")); len(got.Occurrences) > 0 || !got.NextDue.IsZero() {
		t.Errorf("after the limit: %v, next due %v", lines(got.Occurrences), got.NextDue)
	}
}

func TestWhatIsReplacedDoesNotCountAgainstTheLimit(t *testing.T) {
	f := newFixture(t, "2026-11-30T10:00:30Z", with(cron("* * * * *", "all"), func(s *duly.Schedule) { s.Limit, s.Overlap = 3, duly.OverlapReplace }))
	f.due.Fired = 1
	got := f.decide(instant(t, "2026-11-30T10:04:00Z"))
	if len(got.Occurrences) != 4 || got.NextDue.IsZero() {
		t.Errorf("%v, next due %v", lines(got.Occurrences), got.NextDue)
	}
}

func TestTheEndOfATimingEndsASchedule(t *testing.T) {
	end := instant(t, "2026-11-30T10:02:30Z")
	f := newFixture(t, "2026-11-30T10:00:30Z", with(cron("* * * * *", "all"), func(s *duly.Schedule) { s.End = &end }))
	got := f.decide(instant(t, "2026-11-30T10:10:00Z"))
	if n := len(got.Occurrences); n != 2 || !got.NextDue.IsZero() {
		t.Errorf("%d made, next due %v", n, got.NextDue)
	}
}

func TestStartDeadline(t *testing.T) {
	f := newFixture(t, "2026-11-30T09:30:00Z", with(cron("0 * * * *", "all"), func(s *duly.Schedule) { s.StartDeadline = duly.Duration(90 * time.Minute) }))
	made := f.fire("2026-11-30T12:10:00Z")
	if diff := cmp.Diff([]string{"missed 2026-11-30T10:00 (start deadline)", "pending 2026-11-30T11:00", "pending 2026-11-30T12:00"}, lines(made)); diff != "" {
		t.Error(diff)
	}
	if want := instant(t, "2026-11-30T12:30:00Z"); !made[1].StartBy.Equal(want) {
		t.Errorf("start by %v, want %v", made[1].StartBy, want)
	}
}

func TestJitterSpreadsTheStartAndNothingElse(t *testing.T) {
	def := with(cron("0 * * * *", ""), func(s *duly.Schedule) { s.Jitter = duly.Duration(10 * time.Minute) })
	seen := map[time.Duration]bool{}
	for h := range 20 {
		at := instant(t, "2026-11-30T00:00:00Z").Add(time.Duration(h) * time.Hour)
		f := newFixture(t, at.Add(-time.Minute).Format(time.RFC3339), def)
		one := f.fire(at.Add(time.Millisecond).Format(time.RFC3339Nano))[0]
		wait := one.NotBefore.Sub(one.Due)
		if wait < 0 || wait >= 10*time.Minute || !one.Due.Equal(at) {
			t.Errorf("due %v, not before %v", one.Due, one.NotBefore)
		}
		seen[wait/time.Minute] = true
		if late := newFixture(t, at.Add(-time.Minute).Format(time.RFC3339), def).fire(at.Add(30 * time.Minute).Format(time.RFC3339))[0]; !late.NotBefore.IsZero() {
			t.Errorf("%v late and still put off to %v", 30*time.Minute, late.NotBefore)
		}
	}
	if len(seen) < 6 {
		t.Errorf("20 starts fall into %d of 10 minutes", len(seen))
	}
}

func TestSkipsAreRecordedWithTheirReason(t *testing.T) { // B101, B01
	f := newFixture(t, "2027-03-26T12:00:00Z", duly.Schedule{
		Timezone: "Europe/Berlin", Timing: duly.Timing{Cron: "30 2 * * *"}, DST: duly.DST{Gap: "skip"},
		Calendar: &duly.CalendarRule{Weekdays: []string{"mon", "tue", "wed", "thu", "fri", "sun"}, Name: "Berlin offices"},
	})
	var got []string
	for _, at := range []string{"2027-03-27T01:30:01Z", "2027-03-28T01:00:01Z", "2027-03-29T00:30:01Z"} {
		got = append(got, lines(f.fire(at))...)
	}
	if diff := cmp.Diff([]string{"skipped 2027-03-27 (calendar)", "skipped 2027-03-28 (dst gap)", "pending 2027-03-29"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestB90_IntervalsAreContiguous(t *testing.T) {
	f := newFixture(t, "2027-01-02T11:00:00Z", duly.Schedule{Timezone: "Europe/Berlin", Timing: duly.Timing{Cron: "1 0 * * *"}, CatchUp: duly.CatchUp{Policy: "all", Window: duly.Duration(7 * 24 * time.Hour)}})
	made := f.fire("2027-01-05T09:00:00Z")
	if diff := cmp.Diff([]string{"pending 2027-01-03", "pending 2027-01-04", "pending 2027-01-05"}, lines(made)); diff != "" {
		t.Fatal(diff)
	}
	from := instant(t, "2027-01-01T23:01:00Z")
	for _, o := range made {
		if !o.IntervalStart.Equal(from) {
			t.Errorf("%s: data from %v, want %v", o.Period, o.IntervalStart, from)
		}
		from = o.Due
	}
	if want := instant(t, "2027-01-04T23:01:00Z"); !from.Equal(want) {
		t.Errorf("last due %v, want %v", from, want)
	}
}

func TestAnIntervalBeginsWhereTheOldTimingEnded(t *testing.T) {
	f := newFixture(t, "2027-02-10T10:25:01Z", cron("25 * * * *", ""))
	f.revise("2027-02-10T10:26:00Z", cron("*/15 * * * *", ""))
	for at, want := range map[string]string{"2027-02-10T10:30:01Z": "2027-02-10T10:25:00Z", "2027-02-10T10:45:01Z": "2027-02-10T10:30:00Z"} {
		made := f.decide(instant(t, at)).Occurrences
		if o := made[len(made)-1]; !o.IntervalStart.Equal(instant(t, want)) {
			t.Errorf("%s: data from %v, want %s", o.Period, o.IntervalStart, want)
		}
	}
}

func TestARunOfMissedTimesIsOneRecordWithWhatItStandsFor(t *testing.T) {
	f := newFixture(t, "2026-01-01T00:00:30Z", duly.Schedule{Timezone: "Europe/Berlin", Timing: duly.Timing{Cron: "* * * * *"}})
	now := instant(t, "2027-01-01T00:00:30Z")
	began := time.Now()
	got := f.decide(now)
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("took %v", took)
	}
	if diff := cmp.Diff([]string{"missed 2026-01-01T00:01..2026-12-31T23:59 x525599 (catch-up latest)", "pending 2027-01-01T00:00"}, lines(got.Occurrences)); diff != "" {
		t.Fatal(diff)
	}
	run := got.Occurrences[0]
	if !run.Due.Equal(instant(t, "2026-12-31T23:59:00Z")) || !run.IntervalStart.Equal(instant(t, "2026-01-01T00:00:00Z")) || !run.Extend {
		t.Errorf("due %v, interval from %v, extend %v", run.Due, run.IntervalStart, run.Extend)
	}
}

func TestEachOccurrenceCarriesItsRevision(t *testing.T) { // B75
	f := newFixture(t, "2026-11-30T10:00:30Z", cron("* * * * *", "all"))
	f.revise("2026-11-30T10:02:30Z", with(cron("* * * * *", "all"), func(s *duly.Schedule) { s.Priority = 5 }))
	var got [][2]int64
	for _, o := range f.fire("2026-11-30T10:04:10Z") {
		got = append(got, [2]int64{o.Definition, int64(o.Priority)})
	}
	if diff := cmp.Diff([][2]int64{{1, 0}, {1, 0}, {2, 5}, {2, 5}}, got); diff != "" {
		t.Error(diff)
	}
}

func TestFieldCasesOfEdits(t *testing.T) {
	for _, c := range []struct {
		name     string
		old, new duly.Schedule
		planned  string
		edit     string
		fire     []string
		want     []string
	}{
		{"B69 an edit invents no time before itself", cron("0 11 * * 5", ""), cron("30 11 * * 5", ""), "2027-01-01T11:00:01Z", "2027-01-07T23:49:00Z", []string{"2027-01-07T23:49:01Z", "2027-01-08T11:30:01Z"}, []string{"pending 2027-01-08"}},
		{"B71 the old pattern is gone", cron("25 * * * *", ""), cron("*/15 * * * *", ""), "2027-02-10T10:25:01Z", "2027-02-10T10:26:00Z", []string{"2027-02-10T10:30:01Z", "2027-02-10T10:45:01Z", "2027-02-10T11:00:01Z", "2027-02-10T11:25:01Z"}, []string{"pending 2027-02-10T10:30", "pending 2027-02-10T10:45", "pending 2027-02-10T11:00", "pending 2027-02-10T11:15"}},
		{"what the old one owed is still owed", cron("0 10 * * *", "all"), cron("0 12 * * *", "all"), "2027-02-10T09:00:00Z", "2027-02-10T10:30:00Z", []string{"2027-02-10T10:31:00Z"}, []string{"pending 2027-02-10"}},
		{"a day that falls between two times is recorded", cron("0 18 * * *", ""), cron("0 6 * * *", ""), "2027-02-09T18:00:01Z", "2027-02-10T12:00:00Z", []string{"2027-02-11T06:00:01Z"}, []string{"missed 2027-02-10 (definition changed)", "pending 2027-02-11"}},
		{"a day that moves to later is not", cron("0 6 * * *", ""), cron("0 18 * * *", ""), "2027-02-09T18:00:01Z", "2027-02-10T05:00:00Z", []string{"2027-02-10T18:00:01Z"}, []string{"pending 2027-02-10"}},
		{"a schedule that becomes weekly drops its days on purpose", cron("0 18 * * *", ""), cron("0 6 * * 1", ""), "2027-02-09T18:00:01Z", "2027-02-10T12:00:00Z", []string{"2027-02-15T06:00:01Z"}, []string{"pending 2027-02-15"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFixture(t, c.planned, c.old)
			f.revise(c.edit, c.new)
			got := []string{}
			for _, at := range c.fire {
				got = append(got, lines(f.fire(at))...)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestARunOfMissedTimesEndsAtAnEdit(t *testing.T) {
	f := newFixture(t, "2026-11-30T10:00:30Z", cron("* * * * *", "none"))
	f.revise("2026-11-30T11:00:30Z", cron("* * * * *", "none"))
	made := f.fire("2026-11-30T12:00:30Z")
	if diff := cmp.Diff([]string{
		"missed 2026-11-30T10:01..2026-11-30T11:00 x60 (catch-up none)",
		"missed 2026-11-30T11:01..2026-11-30T12:00 x60 (catch-up none)",
	}, lines(made)); diff != "" {
		t.Fatal(diff)
	}
	if made[0].Definition != 1 || made[1].Definition != 2 {
		t.Errorf("definitions %d, %d", made[0].Definition, made[1].Definition)
	}
}

func TestARevisionThatIsNotYetInForceWaits(t *testing.T) { // after a clock was set back
	f := newFixture(t, "2026-11-30T10:00:30Z", cron("0 * * * *", ""))
	f.revise("2026-11-30T12:30:00Z", cron("*/5 * * * *", ""))
	for at, want := range map[string]string{"2026-11-30T11:00:01Z": "2026-11-30T12:00:00Z", "2026-11-30T12:00:01Z": "2026-11-30T12:35:00Z"} {
		f.due.Cursor = instant(t, "2026-11-30T10:30:00Z")
		if got := f.decide(instant(t, at)); !got.NextDue.Equal(instant(t, want)) {
			t.Errorf("at %s: next due %v, want %s", at, got.NextDue, want)
		}
	}
}

func TestAClockSetBackRepeatsNothingAndGoesOn(t *testing.T) { // B78
	f := newFixture(t, "2026-11-30T15:00:00Z", cron("* * * * *", "none"))
	first := lines(f.fire("2026-11-30T17:00:00.1Z"))
	f.due.Cursor = instant(t, "2026-11-30T15:01:00Z") // as Fire sets it back
	second := lines(f.fire("2026-11-30T15:02:00.1Z"))
	third := lines(f.fire("2026-11-30T15:03:00.1Z"))
	if diff := cmp.Diff([][]string{
		{"missed 2026-11-30T15:01..2026-11-30T16:59 x119 (catch-up none)", "pending 2026-11-30T17:00"},
		{"pending 2026-11-30T15:02"},
		{"pending 2026-11-30T15:03"},
	}, [][]string{first, second, third}); diff != "" {
		t.Error(diff)
	}
	// A now that lies before the cursor decides nothing.
	got := f.decide(instant(t, "2026-11-30T14:00:00Z"))
	if len(got.Occurrences) > 0 || !got.Cursor.Equal(f.due.Cursor) {
		t.Errorf("%v, cursor %v", lines(got.Occurrences), got.Cursor)
	}
}

func TestADefinitionThatCannotBeHadLosesNothing(t *testing.T) {
	f := newFixture(t, "2026-11-30T15:00:00Z", cron("* * * * *", "all"))
	now := instant(t, "2026-11-30T15:05:00Z")
	got := Decide(now, f.due, func(int64) *Plan { return nil })
	if len(got.Occurrences) > 0 || !got.Cursor.Equal(f.due.Cursor) || !got.NextDue.After(now) {
		t.Errorf("%+v", got)
	}
}

func TestSeveralInstantsOfAPeriodAreOneOccurrence(t *testing.T) {
	f := newFixture(t, "2026-11-30T09:00:00Z", with(cron("*/30 * * * *", "all"), func(s *duly.Schedule) {
		s.Period, s.CatchUp.Window = duly.PeriodDay, duly.Duration(48*time.Hour)
	}))
	var got []string
	for _, at := range []string{"2026-11-30T09:30:01Z", "2026-11-30T10:00:01Z", "2026-12-02T12:00:00Z"} {
		got = append(got, lines(f.fire(at))...)
	}
	// The day in which the schedule was made has its first instant after that.
	if diff := cmp.Diff([]string{"pending 2026-11-30", "pending 2026-12-01", "pending 2026-12-02"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestMovedWorkIsDueTogetherAndNamedApart(t *testing.T) {
	f := newFixture(t, "2027-01-01T10:00:00Z", with(cron("0 9 * * *", ""), func(s *duly.Schedule) { s.Calendar = &duly.CalendarRule{Otherwise: "next"} }))
	f.lim.page = 1
	if diff := cmp.Diff([]string{"pending 2027-01-02", "pending 2027-01-03", "pending 2027-01-04"}, lines(f.fire("2027-01-04T09:00:01Z"))); diff != "" {
		t.Error(diff)
	}
}
