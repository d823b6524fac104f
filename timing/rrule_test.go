package timing

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/teambition/rrule-go"
	"pgregory.net/rapid"

	"github.com/duly-dev/duly"
)

func ruleIn(zone, text string) duly.Schedule {
	return duly.Schedule{Timezone: zone, Timing: duly.Timing{RRule: text}}
}

func TestRecurrenceRules(t *testing.T) {
	for _, c := range []struct {
		name, zone, rule, from string
		want                   []string
	}{
		{"daily at DTSTART's time", "UTC", "DTSTART:20270104T093000\nRRULE:FREQ=DAILY", "2027-01-01", []string{"2027-01-04T09:30Z", "2027-01-05T09:30Z"}},
		{"lower case, CRLF and no prefix", "UTC", "dtstart:20270104T093000\r\nfreq=daily;interval=2\r\n", "2027-01-01", []string{"2027-01-04T09:30Z", "2027-01-06T09:30Z"}},
		{"every other week counts from DTSTART's week", "UTC", "DTSTART:20270106T090000\nFREQ=WEEKLY;INTERVAL=2;BYDAY=MO,WE", "2027-01-01", []string{"2027-01-06T09:00Z", "2027-01-18T09:00Z", "2027-01-20T09:00Z"}},
		{"the start of the week matters", "UTC", "DTSTART:19970805T090000\nFREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=SU", "1997-01-01", []string{"1997-08-05T09:00Z", "1997-08-17T09:00Z", "1997-08-19T09:00Z", "1997-08-31T09:00Z"}},
		{"the last work day of the month", "UTC", "DTSTART:20270101T170000\nFREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1", "2027-01-01", []string{"2027-01-29T17:00Z", "2027-02-26T17:00Z", "2027-03-31T17:00Z"}},
		{"a first week cut short by DTSTART does not shift BYSETPOS", "UTC", "DTSTART:20270106T090000\nFREQ=WEEKLY;BYDAY=MO,WE,FR;BYSETPOS=1", "2027-01-01", []string{"2027-01-11T09:00Z", "2027-01-18T09:00Z"}},
		{"a plain and a numbered weekday together are either", "UTC", "DTSTART:20270101T090000\nFREQ=MONTHLY;BYDAY=1MO,FR", "2027-01-01", []string{"2027-01-01T09:00Z", "2027-01-04T09:00Z", "2027-01-08T09:00Z", "2027-01-15T09:00Z"}},
		{"Friday the 13th", "UTC", "DTSTART:19970902T090000\nFREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13", "1997-09-02", []string{"1998-02-13T09:00Z", "1998-03-13T09:00Z", "1998-11-13T09:00Z", "1999-08-13T09:00Z"}},
		{"months without the day are left out", "UTC", "DTSTART:20270131T000000\nFREQ=MONTHLY", "2027-01-01", []string{"2027-01-31T00:00Z", "2027-03-31T00:00Z", "2027-05-31T00:00Z"}},
		{"a leap day", "UTC", "DTSTART:20280229T090000\nFREQ=YEARLY", "2027-01-01", []string{"2028-02-29T09:00Z", "2032-02-29T09:00Z"}},
		{"a week of the year across New Year", "UTC", "DTSTART:20241201T090000\nFREQ=YEARLY;BYWEEKNO=1;BYDAY=MO", "2024-12-01", []string{"2024-12-30T09:00Z", "2025-12-29T09:00Z", "2027-01-04T09:00Z"}},
		{"COUNT is exact from anywhere", "UTC", "DTSTART:20270101T090000\nFREQ=DAILY;COUNT=3", "2027-01-02T09:00Z", []string{"2027-01-03T09:00Z"}},
		{"UNTIL belongs to it", "Europe/Berlin", "DTSTART:20270101T090000\nFREQ=DAILY;UNTIL=20270103T080000Z", "2027-01-01T12:00Z", []string{"2027-01-02T08:00Z", "2027-01-03T08:00Z"}},
		{"UNTIL in local time", "Europe/Berlin", "DTSTART:20270101T090000\nFREQ=DAILY;UNTIL=20270102T090000", "2027-01-01T12:00Z", []string{"2027-01-02T08:00Z"}},
		{"a skipped wall time is due after the gap", "Europe/Berlin", "DTSTART:20270327T023000\nFREQ=DAILY", "2027-03-27T00:00Z", []string{"2027-03-27T01:30Z", "2027-03-28T01:00Z", "2027-03-29T00:30Z"}},
		{"a repeated wall time is due once", "Europe/Berlin", "DTSTART:20271030T023000\nFREQ=DAILY", "2027-10-30T00:00Z", []string{"2027-10-30T00:30Z", "2027-10-31T00:30Z", "2027-11-01T01:30Z"}},
		{"hours follow elapsed time over a gap", "Europe/Berlin", "DTSTART:20270327T220000\nFREQ=HOURLY;INTERVAL=2", "2027-03-27T22:00Z", []string{"2027-03-27T23:00Z", "2027-03-28T01:00Z", "2027-03-28T03:00Z"}},
		{"hours follow elapsed time over an overlap", "Europe/Berlin", "DTSTART:20271031T003000\nFREQ=HOURLY", "2027-10-30T23:00Z", []string{"2027-10-30T23:30Z", "2027-10-31T00:30Z", "2027-10-31T01:30Z", "2027-10-31T02:30Z"}},
		{"minutes counted from DTSTART", "UTC", "DTSTART:20270104T030000\nFREQ=MINUTELY;INTERVAL=40", "2027-01-04T03:05Z", []string{"2027-01-04T03:40Z", "2027-01-04T04:20Z", "2027-01-04T05:00Z"}},
		{"work hours", "Europe/Berlin", "DTSTART:20270104T000000\nFREQ=MINUTELY;INTERVAL=30;BYDAY=MO;BYHOUR=9,10", "2027-01-04T08:10Z", []string{"2027-01-04T08:30Z", "2027-01-04T09:00Z", "2027-01-04T09:30Z", "2027-01-11T08:00Z"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := mustCompile(t, ruleIn(c.zone, c.rule)).Sequence(time.Time{})
			if diff := cmp.Diff(c.want, following(s, at(t, c.from), len(c.want))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestARuleBeginsAtTheStart(t *testing.T) {
	s := ruleIn("Europe/Berlin", "FREQ=WEEKLY")
	s.Start = ptr(at(t, "2027-01-05T08:00Z"))
	got := following(mustCompile(t, s).Sequence(time.Time{}), at(t, "2027-01-01"), 2)
	if diff := cmp.Diff([]string{"2027-01-05T08:00Z", "2027-01-12T08:00Z"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestARuleAndACronExpressionMeetClockChangesAlike(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pair := rapid.SampledFrom([][2]string{
			{"FREQ=DAILY;BYHOUR=2;BYMINUTE=30", "30 2 * * *"},
			{"FREQ=DAILY;BYHOUR=0;BYMINUTE=0", "0 0 * * *"},
			{"FREQ=DAILY;BYHOUR=1,2,3;BYMINUTE=10", "10 1-3 * * *"},
			{"FREQ=WEEKLY;BYDAY=SU;BYHOUR=23;BYMINUTE=30", "30 23 * * 0"},
			{"FREQ=DAILY;BYHOUR=0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23;BYMINUTE=0", "0 * * * *"},
			{"FREQ=HOURLY;BYMINUTE=0,15,30,45", "*/15 * * * *"},
			{"FREQ=MINUTELY", "* * * * *"},
			{"FREQ=MINUTELY;BYHOUR=0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23", "* * * * *"},
		}).Draw(t, "pair")
		s := anySchedule(t)
		r := s
		s.Cron = pair[1]
		r.Cron, r.RRule = "", "DTSTART:20000101T000000\n"+pair[0]
		a, faults := Compile(s)
		if len(faults) > 0 {
			t.Fatal(faults[0])
		}
		b, faults := Compile(r)
		if len(faults) > 0 {
			t.Fatal(faults[0])
		}
		from, to := anySpan(t, 5*24*time.Hour)
		var want, got []string
		for d := range a.Sequence(from).Between(from, to) {
			want = append(want, show(d))
		}
		for d := range b.Sequence(from).Between(from, to) {
			got = append(got, show(d))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

// anyRule draws a rule on which an independent library can be trusted: it
// hangs on hours that an interval never meets, mixes up plain and numbered
// weekdays, and cuts the first week short under BYSETPOS.
func anyRule(t *rapid.T) string {
	ints := func(label string, lo, hi int, negative bool) string {
		var out []string
		for range rapid.IntRange(1, 3).Draw(t, label+" n") {
			n := rapid.IntRange(lo, hi).Draw(t, label)
			if negative && rapid.Bool().Draw(t, label+" sign") {
				n = -n
			}
			if item := fmt.Sprint(n); !slices.Contains(out, item) { // the library would repeat times
				out = append(out, item)
			}
		}
		return ";" + label + "=" + strings.Join(out, ",")
	}
	maybe := func(label string) bool { return rapid.IntRange(0, 2).Draw(t, label+"?") == 0 }
	freq := rapid.SampledFrom(frequencies).Draw(t, "FREQ")
	rule := "FREQ=" + freq
	if maybe("INTERVAL") {
		rule += fmt.Sprint(";INTERVAL=", rapid.SampledFrom([]int{2, 3, 5, 7, 11}).Draw(t, "INTERVAL"))
	}
	if maybe("BYMONTH") {
		rule += ints("BYMONTH", 1, 12, false)
	}
	if freq != "WEEKLY" && maybe("BYMONTHDAY") {
		rule += ints("BYMONTHDAY", 1, 31, true)
	}
	if freq != "WEEKLY" && freq != "MONTHLY" && freq != "DAILY" && maybe("BYYEARDAY") {
		rule += ints("BYYEARDAY", 1, 366, true)
	}
	if maybe("BYDAY") {
		days := map[string]bool{}
		numbered := (freq == "MONTHLY" || freq == "YEARLY") && rapid.Bool().Draw(t, "numbered")
		for range rapid.IntRange(1, 3).Draw(t, "BYDAY n") {
			day := rapid.SampledFrom(weekdays).Draw(t, "BYDAY")
			if numbered {
				day = rapid.SampledFrom([]string{"1", "2", "+3", "-1", "-2", "5", "-5"}).Draw(t, "nth") + day
			}
			days[day] = true
		}
		var list []string
		for d := range days {
			list = append(list, d)
		}
		rule += ";BYDAY=" + strings.Join(list, ",")
	}
	if freq != "HOURLY" && freq != "MINUTELY" && freq != "SECONDLY" && maybe("BYHOUR") {
		rule += ints("BYHOUR", 0, 23, false)
	}
	if freq != "MINUTELY" && freq != "SECONDLY" && maybe("BYMINUTE") {
		rule += ints("BYMINUTE", 0, 59, false)
	}
	if freq != "SECONDLY" && maybe("BYSECOND") {
		rule += ints("BYSECOND", 0, 59, false)
	}
	if (freq == "MONTHLY" || freq == "YEARLY" || freq == "DAILY") && strings.Contains(rule, ";BY") && maybe("BYSETPOS") {
		rule += ints("BYSETPOS", 1, 6, true)
	}
	return rule
}

func TestRulesAgreeWithAnIndependentLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := "DTSTART:" + time.Date(2024, 1, 1, 0, 0, rapid.IntRange(0, 366*86400).Draw(t, "DTSTART"), 0, time.UTC).Format("20060102T150405") + "\nRRULE:" + anyRule(t)
		opt, err := rrule.StrToROption(text)
		if err != nil {
			t.Fatal(err)
		}
		opt.Until = time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC)
		lib, err := rrule.NewRRule(*opt)
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		next := lib.Iterator()
		for len(want) < 12 {
			v, ok := next()
			if !ok {
				break
			}
			want = append(want, v.Format(time.RFC3339))
		}
		tm, faults := Compile(ruleIn("UTC", text))
		if len(faults) > 0 {
			if len(want) > 0 {
				t.Fatalf("%s: %v, want %v", text, faults[0], want)
			}
			return
		}
		var got []string
		for d := range tm.Sequence(time.Time{}).Between(time.Unix(0, 0), opt.Until) {
			if got = append(got, d.At.Format(time.RFC3339)); len(got) == 12 {
				break
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s\n%s", text, diff)
		}
	})
}

func TestRulesReadTheSameBackwards(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := "DTSTART:20260203T041500\n" + anyRule(t)
		if rapid.Bool().Draw(t, "end") {
			text += rapid.SampledFrom([]string{";COUNT=20", ";UNTIL=20260801T000000Z", ";UNTIL=20260801T000000"}).Draw(t, "end by")
		}
		s := ruleIn(rapid.SampledFrom(someZones).Draw(t, "zone"), text)
		tm, faults := Compile(s)
		if len(faults) > 0 {
			t.Skip(faults[0].Message)
		}
		seq := tm.Sequence(time.Time{})
		at := time.Date(2026, 1, 1, 0, 0, rapid.IntRange(0, 700*86400).Draw(t, "from"), 0, time.UTC)
		for range 20 {
			d, ok := seq.Next(at)
			if !ok {
				break
			}
			if back, ok := seq.Prev(d.At.Add(1)); !ok || !back.At.Equal(d.At) {
				t.Fatalf("%s: Next(%v) = %v, but Prev of it is %v", text, at, d.At, back.At)
			}
			if before, ok := seq.Prev(d.At); ok && before.At.After(at) {
				t.Fatalf("%s: Next(%v) = %v passes over %v", text, at, d.At, before.At)
			}
			at = d.At
		}
	})
}

func TestRulesThatAreRefused(t *testing.T) {
	const dtstart = "DTSTART:20270104T090000\n"
	for _, c := range []struct{ name, rule, says string }{
		{"no rule", "DTSTART:20270104T090000", "no rule"},
		{"no beginning", "FREQ=DAILY", "DTSTART"},
		{"no frequency", dtstart + "INTERVAL=2", "FREQ is missing"},
		{"an unknown frequency", dtstart + "FREQ=FORTNIGHTLY", "FORTNIGHTLY"},
		{"a part twice", dtstart + "FREQ=DAILY;FREQ=WEEKLY", "twice"},
		{"an unknown part", dtstart + "FREQ=DAILY;BYEASTER=0", "not supported"},
		{"a part of another RFC", dtstart + "FREQ=MONTHLY;SKIP=FORWARD", "not supported"},
		{"an empty part", dtstart + "FREQ=DAILY;", "NAME=VALUE"},
		{"an empty value", dtstart + "FREQ=DAILY;COUNT=", "NAME=VALUE"},
		{"interval zero", dtstart + "FREQ=DAILY;INTERVAL=0", "INTERVAL"},
		{"a huge count", dtstart + "FREQ=DAILY;COUNT=4000000000", "COUNT"},
		{"count and until", dtstart + "FREQ=DAILY;COUNT=2;UNTIL=20280101T000000Z", "exclude"},
		{"until as a date", dtstart + "FREQ=DAILY;UNTIL=20280101", "UNTIL"},
		{"until that does not exist", dtstart + "FREQ=DAILY;UNTIL=20270230T000000Z", "UNTIL"},
		{"a leap second", dtstart + "FREQ=DAILY;BYSECOND=60", "BYSECOND"},
		{"hour 24", dtstart + "FREQ=DAILY;BYHOUR=24", "BYHOUR"},
		{"month day 0", dtstart + "FREQ=MONTHLY;BYMONTHDAY=0", "BYMONTHDAY"},
		{"an empty item", dtstart + "FREQ=MONTHLY;BYMONTHDAY=1,,2", "BYMONTHDAY"},
		{"a weekday with number in a week", dtstart + "FREQ=WEEKLY;BYDAY=1MO", "BYDAY"},
		{"a sixth Monday", dtstart + "FREQ=MONTHLY;BYDAY=6MO", "BYDAY"},
		{"a 53rd Monday of a month", dtstart + "FREQ=YEARLY;BYMONTH=3;BYDAY=53MO", "BYDAY"},
		{"weekday zero", dtstart + "FREQ=MONTHLY;BYDAY=0MO", "BYDAY"},
		{"no weekday", dtstart + "FREQ=WEEKLY;BYDAY=MON", "weekday"},
		{"month days of a week", dtstart + "FREQ=WEEKLY;BYMONTHDAY=3", "BYMONTHDAY"},
		{"year days of a month", dtstart + "FREQ=MONTHLY;BYYEARDAY=3", "BYYEARDAY"},
		{"weeks of a month", dtstart + "FREQ=MONTHLY;BYWEEKNO=3;BYDAY=MO", "BYWEEKNO"},
		{"weeks without a day", dtstart + "FREQ=YEARLY;BYWEEKNO=3", "BYWEEKNO"},
		{"positions of nothing", dtstart + "FREQ=MONTHLY;BYSETPOS=1", "BYSETPOS"},
		{"positions below a day", dtstart + "FREQ=HOURLY;BYMINUTE=1,2;BYSETPOS=1", "BYSETPOS"},
		{"30 February", dtstart + "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "never due"},
		{"an hour that the interval never meets", dtstart + "FREQ=HOURLY;INTERVAL=24;BYHOUR=5", "never due"},
		{"a second that is never second", dtstart + "FREQ=MONTHLY;BYMONTHDAY=1;BYSETPOS=2", "never due"},
		{"two rules", dtstart + "FREQ=DAILY\nRRULE:FREQ=WEEKLY", "more than one"},
		{"dates beside the rule", dtstart + "FREQ=DAILY\nEXDATE:20270105T090000", "except"},
		{"another zone", "DTSTART;TZID=America/New_York:20270104T090000\nFREQ=DAILY", "zone"},
		{"a beginning in UTC", "DTSTART:20270104T090000Z\nFREQ=DAILY", "UTC"},
		{"a beginning that does not exist", "DTSTART:20270230T090000\nFREQ=DAILY", "DTSTART"},
		{"two beginnings", dtstart + dtstart + "FREQ=DAILY", "once"},
		{"a long text", dtstart + "FREQ=DAILY;BYHOUR=" + strings.Repeat("1,", 5000) + "1", "bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			began := time.Now()
			_, faults := Compile(ruleIn("Europe/Berlin", c.rule))
			if len(faults) == 0 {
				t.Fatal("accepted")
			}
			if f := faults[0]; f.Field != "rrule" || !strings.Contains(f.Message, c.says) {
				t.Errorf("%s: %q does not say %q", f.Field, f.Message, c.says)
			}
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

func TestARuleWarnsOfWhatMayNotBeMeant(t *testing.T) {
	tm := mustCompile(t, ruleIn("UTC", "DTSTART:20270131T090000\nFREQ=MONTHLY;BYMONTHDAY=30"))
	all := strings.Join(tm.Warnings(), "\n")
	for _, want := range []string{"DTSTART (2027-01-31T09:00:00) does not match", "without a day 30"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not in %q", want, all)
		}
	}
}

func TestARuleOnceADayIsForTheDay(t *testing.T) {
	for rule, want := range map[string]duly.PeriodUnit{
		"FREQ=DAILY":             duly.PeriodDay,
		"FREQ=MONTHLY;BYDAY=1MO": duly.PeriodDay,
		"FREQ=DAILY;BYHOUR=1,2":  duly.PeriodInstant,
		"FREQ=HOURLY":            duly.PeriodInstant,
	} {
		if got := mustCompile(t, ruleIn("UTC", "DTSTART:20270104T090000\n"+rule)).Unit(); got != want {
			t.Errorf("%s: %s, want %s", rule, got, want)
		}
	}
}

func FuzzRecurrenceRule(f *testing.F) {
	for _, seed := range []string{
		"DTSTART:20270104T090000\nRRULE:FREQ=MONTHLY;BYDAY=-1FR;BYSETPOS=1", "FREQ=SECONDLY;INTERVAL=7;BYHOUR=3",
		"DTSTART;TZID=Europe/Berlin:20270104T090000\nFREQ=YEARLY;BYWEEKNO=53;BYDAY=MO;WKST=SU", "FREQ=HOURLY;INTERVAL=999983;BYMONTH=2;BYMONTHDAY=29",
		"FREQ=DAILY;BYSETPOS=-1;BYHOUR=1,2;COUNT=99999", "FREQ=YEARLY;BYYEARDAY=-366,366;INTERVAL=100;UNTIL=99991231T235959Z",
	} {
		f.Add(seed)
	}
	start := time.Date(2027, 1, 4, 8, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		began := time.Now()
		s := ruleIn("Europe/Berlin", text)
		s.Start = &start
		tm, faults := Compile(s)
		if len(faults) == 0 {
			seq := tm.Sequence(start)
			last := start.Add(-1)
			for range 5 {
				d, ok := seq.Next(last)
				if !ok {
					break
				}
				if !d.At.After(last) {
					t.Fatalf("%q: Next(%v) = %v", text, last, d.At)
				}
				if back, ok := seq.Prev(d.At.Add(1)); !ok || !back.At.Equal(d.At) {
					t.Fatalf("%q: %v is not found backwards", text, d.At)
				}
				last = d.At
			}
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("%q took %v", text, took)
		}
	})
}
