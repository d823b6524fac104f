package timing

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/duly-dev/duly"
)

var (
	someZones = []string{"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Santiago", "Africa/Cairo", "Antarctica/Troll", "Pacific/Apia"}
	someCrons = []string{"* * * * *", "*/15 * * * *", "30 2 * * *", "0 0 * * *", "0 7,19 * * *", "10 1-3 * * *", "0 */2 * * *", "*/20 * * * * *", "* * 2 * * *", "0 12 1 * *", "30 23 * * 0", "59 23 * * *", "0 0 L * *"}
)

func anySchedule(t *rapid.T) duly.Schedule {
	s := cronIn(rapid.SampledFrom(someZones).Draw(t, "zone"), rapid.SampledFrom(someCrons).Draw(t, "cron"))
	s.DST.Gap = rapid.SampledFrom([]string{"", "shift", "skip"}).Draw(t, "gap")
	s.DST.Overlap = rapid.SampledFrom([]string{"", "last", "both"}).Draw(t, "overlap")
	return s
}

func anySpan(t *rapid.T, most time.Duration) (from, to time.Time) {
	// Around changes of most of the zones above.
	near := rapid.SampledFrom([]string{"2027-03-28", "2027-10-31", "2027-03-14", "2027-11-07", "2027-04-03", "2027-09-04", "2011-12-30", "2027-04-30", "2027-06-15"}).Draw(t, "near")
	day, _ := time.Parse(time.DateOnly, near)
	from = day.Add(time.Duration(rapid.Int64Range(-int64(60*time.Hour), int64(60*time.Hour)).Draw(t, "from")))
	return from, from.Add(time.Duration(rapid.Int64Range(0, int64(most)).Draw(t, "length")))
}

func TestCountIsTheNumberOfInstants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anySchedule(t)
		if rapid.Bool().Draw(t, "interval") {
			s.Cron, s.Every = "", duly.Duration(rapid.SampledFrom([]time.Duration{time.Second * 7, time.Minute, time.Hour}).Draw(t, "every"))
		}
		from, to := anySpan(t, 10*24*time.Hour)
		if loc, err := time.LoadLocation(s.Timezone); err == nil && rapid.Bool().Draw(t, "beside a change") {
			if change, _, ok := nextChange(loc, from, from.AddDate(1, 0, 0)); ok {
				from = change.Add(time.Duration(rapid.Int64Range(-int64(3*time.Hour), int64(3*time.Hour)).Draw(t, "beside")))
				to = from.Add(time.Duration(rapid.Int64Range(0, int64(4*time.Hour)).Draw(t, "short")))
			}
		}
		if rapid.Bool().Draw(t, "bounds") {
			s.Start, s.End = ptr(from.Add(to.Sub(from)/3)), ptr(from.Add(to.Sub(from)/2+time.Second))
		}
		tm, faults := Compile(s)
		if len(faults) > 0 {
			t.Skip(faults[0])
		}
		seq := tm.Sequence(from)
		want := 0
		for range seq.Between(from, to) {
			want++
		}
		if got, capped := seq.Count(from, to, 1<<30); got != want || capped {
			t.Errorf("%d (%v), want %d", got, capped, want)
		}
	})
}

// anyMoved draws what moves, repeats and is taken away.
func anyMoved(t *rapid.T) duly.Schedule {
	s := anySchedule(t)
	s.Cron = rapid.SampledFrom([]string{"0 0 * * *", "30 2 * * *", "0 7,19 * * *", "10 1-3 * * *", "0 12 1,15 * *", "0 */2 * * *"}).Draw(t, "rare cron")
	if rapid.Bool().Draw(t, "second") {
		s.Timings = []duly.Timing{{Cron: "15 2,4 * * 6"}}
	}
	if otherwise := rapid.SampledFrom([]string{"", "skip", "next", "previous"}).Draw(t, "otherwise"); otherwise != "" {
		s.Calendar = &duly.CalendarRule{Otherwise: otherwise, Holidays: []string{"2027-03-29", "2027-11-01"}, Workdays: []string{"2027-04-03"}}
	}
	if rapid.Bool().Draw(t, "except") {
		s.Except = []duly.Exclusion{{Dates: []string{"2027-03-27", "2027-10-30"}}, {Timing: duly.Timing{Cron: "0 4 * * *"}, For: duly.Duration(time.Hour)}}
	}
	s.Period = rapid.SampledFrom([]duly.PeriodUnit{"", "hour", "day", "week", "month"}).Draw(t, "period")
	return s
}

func TestForwardsAndBackwardsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tm, faults := Compile(anyMoved(t))
		if len(faults) > 0 {
			t.Fatal(faults[0])
		}
		from, to := anySpan(t, 20*24*time.Hour)
		seq := tm.Sequence(from)
		if rapid.Bool().Draw(t, "per period") {
			seq = seq.PerPeriod(from.Add(24 * time.Hour))
		}
		all := slices.Collect(seq.Between(from, to))
		for i, d := range all {
			if i > 0 && (d.At.Before(all[i-1].At) || d.At.Equal(all[i-1].At) && !d.Nominal.After(all[i-1].Nominal)) {
				t.Errorf("%s comes after %s", show(d), show(all[i-1]))
			}
		}
		// Next answers the first of those at one instant, Prev the last.
		at, i := from, 0
		for d, ok := seq.Next(at); ok && !d.At.After(to); d, ok = seq.Next(at) {
			for i < len(all) && all[i].At.Equal(at) {
				i++
			}
			if i >= len(all) || all[i] != d {
				t.Fatalf("Next(%v) = %s", at, show(d))
			}
			at = d.At
		}
		at, i = to.Add(1), len(all)
		for d, ok := seq.Prev(at); ok && d.At.After(from); d, ok = seq.Prev(at) {
			for i > 0 && all[i-1].At.Equal(at) {
				i--
			}
			if i == 0 || all[i-1] != d {
				t.Fatalf("Prev(%v) = %s", at, show(d))
			}
			at, i = d.At, i-1
		}
		for i > 0 && all[i-1].At.Equal(at) {
			i--
		}
		if i != 0 {
			t.Errorf("Prev stops before %s", show(all[0]))
		}
		for i, d := range all {
			ran := slices.DeleteFunc(slices.Clone(all[:i]), func(b Due) bool { return b.Skip != "" || !b.At.Before(d.At) })
			if len(ran) == 0 {
				continue
			}
			want := ran[len(ran)-1]
			if got, ok := seq.PrevRun(d.At); !ok || got != want {
				t.Errorf("PrevRun(%v) = %s %v, want %s", d.At, show(got), ok, show(want))
			}
		}
	})
}

func TestPerPeriodNamesEachPeriodOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tm, faults := Compile(anyMoved(t))
		if len(faults) > 0 {
			t.Fatal(faults[0])
		}
		from, to := anySpan(t, 20*24*time.Hour)
		raw := tm.Sequence(from)
		want := map[string]Due{}
		var order []string
		for d := range raw.ByNominal(from, to) {
			if _, known := want[d.Period]; !known {
				want[d.Period] = d
				order = append(order, d.Period)
			}
		}
		var got []string
		for d := range raw.PerPeriod(from).ByNominal(from, to) {
			got = append(got, d.Period)
			if want[d.Period] != d {
				t.Errorf("%s is %s, want %s", d.Period, show(d), show(want[d.Period]))
			}
		}
		if !slices.Equal(got, order) {
			t.Errorf("got %v, want %v", got, order)
		}
	})
}

func TestFindIsTheInverseOfPeriod(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anyMoved(t)
		if s.Period != "" {
			s.PeriodOffset = rapid.IntRange(-2, 2).Draw(t, "offset")
		}
		tm, faults := Compile(s)
		if len(faults) > 0 {
			t.Fatal(faults[0])
		}
		from, to := anySpan(t, 5*24*time.Hour)
		seq := tm.Sequence(from).PerPeriod(time.Time{})
		for d := range seq.ByNominal(from, to) {
			if found, ok := seq.Find(d.Period); !ok || found != d {
				t.Errorf("Find(%s) = %s %v, want %s", d.Period, show(found), ok, show(d))
			}
		}
	})
}
