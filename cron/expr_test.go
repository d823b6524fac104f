package cron_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/duly-dev/duly/cron"
)

func mustParse(t testing.TB, expr string) *cron.Expr {
	t.Helper()
	e, err := cron.Parse(expr)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestStringIsNormal(t *testing.T) {
	for expr, want := range map[string]string{
		"0 9 * * mon-fri":         "0 9 * * MON-FRI",
		"  0\t9  *  jan,Feb ?  ":  "0 9 * JAN,FEB ?",
		"@Daily":                  "@daily",
		" @HOURLY ":               "@hourly",
		"007 09 l-3,lw,15w * *":   "007 09 L-3,LW,15W * *",
		"0 0 0 ? * fril,2#3 2030": "0 0 0 ? * FRIL,2#3 2030",
	} {
		e := mustParse(t, expr)
		if got := e.String(); got != want {
			t.Errorf("%q reads %q, want %q", expr, got, want)
		}
		if again := mustParse(t, e.String()); again.String() != e.String() {
			t.Errorf("%q is not stable", e)
		}
	}
}

// Two spellings of the same thing must be due at the same times.
func TestSpellingsAreEqual(t *testing.T) {
	from := parseTime(t, "2026-01-30T10:07:30Z")
	for _, c := range [][2]string{
		{"0 0 * * 0", "0 0 * * 7"},
		{"0 0 * * 0", "0 0 * * SUN"},
		{"0 0 * * 6-7", "0 0 * * SAT-SUN"},
		{"0 0 * * 5-7", "0 0 * * 0,5,6"},
		{"0 0 * * 0-7", "0 0 * * 0-6"},
		{"0 0 * * SUN-SUN", "0 0 * * SUN"},
		{"0 0 * * SUN-TUE", "0 0 * * 0-2"},
		{"0 0 * * 1/2", "0 0 * * 1,3,5"},
		{"0 0 * * 7/2", "0 0 * * SUN"},
		{"0 0 * * 5-7/2", "0 0 * * FRI,SUN"},
		{"0 0 * * 7#2", "0 0 * * SUN#2"},
		{"0 0 * * 7L", "0 0 * * sunL"},
		{"*/60 * * * *", "0 * * * *"},
		{"0 */24 * * *", "@daily"},
		{"0 0 */31 * *", "@monthly"},
		{"58/7 * * * *", "58 * * * *"},
		{"0 0 ? * ?", "0 0 * * *"},
		{"0 0 * * * *", "0 * * * *"},
		{"0 0 0 1 1 * 1970-9999", "0 0 0 1 1 ? *"},
		{"0 0 31W 1 *", "0 0 LW 1 *"},
		{"1,1,1-1 2 * * *", "1 2 * * *"},
		{"00000000000000005 0 * * *", "5 0 * * *"},
	} {
		a, b := mustParse(t, c[0]).In(nil, cron.DST{}), mustParse(t, c[1]).In(nil, cron.DST{})
		if got, want := forward(a, from, 40), forward(b, from, 40); strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%q gives %v\n%q gives %v", c[0], got, c[1], want)
		}
	}
}

func TestErrorsNameFieldColumnAndReason(t *testing.T) {
	for _, c := range []struct {
		expr, field string
		column      int
		reason      cron.Reason
		says        string
	}{
		{"0 0 30 2 *", "day-of-month", 5, cron.ReasonImpossibleDate, "30 never comes in FEB"},
		{" 0 0 1,32 * *", "day-of-month", 8, cron.ReasonOutOfRange, "1-31"},
		{"0 22-2 * * *", "hour", 3, cron.ReasonRangeReversed, "backwards"},
		{"*/90 * * * *", "minute", 1, cron.ReasonStepTooLarge, "interval"},
		{"0 0 * * TUES", "day-of-week", 9, cron.ReasonUnknownName, "TUE"},
		{"0 0 0 1 1 * 1969", "year", 13, cron.ReasonOutOfRange, "1970-9999"},
		{"0 0 1 1 * 2030", "day-of-week", 11, cron.ReasonOutOfRange, "seven fields"},
		{"0 0 L-0 * *", "day-of-month", 5, cron.ReasonBadModifier, "write L"},
		{"@every 15m", "", 1, cron.ReasonUnknownMacro, "every: 15m"},
		{"@reboot", "", 1, cron.ReasonUnknownMacro, "restart"},
		{"0 9 * *", "", 8, cron.ReasonTooFewFields, "five"},
		{"0 9 * * *\n", "", 10, cron.ReasonSyntax, "control"},
		{"TZ=UTC 0 9 * * *", "", 1, cron.ReasonZoneInExpression, "time zone"},
		{"0 0 * * *,1", "day-of-week", 9, cron.ReasonSyntax, "selects everything"},
		{"0 0 * * 7-1", "day-of-week", 9, cron.ReasonRangeReversed, "backwards"},
		{"0 0 * * 1#L", "day-of-week", 9, cron.ReasonBadModifier, "5#2"},
		{"0 0 L-3W * *", "day-of-month", 5, cron.ReasonBadModifier, "15W"},
		{"0 0 1W/2 * *", "day-of-month", 5, cron.ReasonBadModifier, "15W"},
		{"H * * * *", "minute", 1, cron.ReasonUnknownName, "not a number"},
		{strings.Repeat("1,", 600) + "1 * * * *", "", 1025, cron.ReasonSyntax, "1024"},
	} {
		_, err := cron.Parse(c.expr)
		var refused *cron.ParseError
		if !errors.As(err, &refused) {
			t.Errorf("%q: %v", c.expr, err)
			continue
		}
		if refused.Field != c.field || refused.Column != c.column || refused.Reason != c.reason || refused.Expr != c.expr {
			t.Errorf("%q: got %+v", c.expr, refused)
		}
		if !strings.Contains(refused.Error(), c.says) || !strings.Contains(refused.Error(), string(c.reason)) {
			t.Errorf("%q: %q does not say %q", c.expr, refused.Error(), c.says)
		}
	}
}

func TestOptionDayAnd(t *testing.T) {
	from := parseTime(t, "2027-01-08T00:00:00Z")
	s := sequence(t, "0 9 1-7,15-21 * 1", "UTC", cron.Options{DayAnd: true}, cron.DST{})
	want := "2027-01-18T09:00:00Z 2027-02-01T09:00:00Z 2027-02-15T09:00:00Z"
	if got := strings.Join(forward(s, from, 3), " "); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if _, err := cron.ParseWith("0 0 31 2 1", cron.Options{DayAnd: true}); err == nil {
		t.Error("a Monday 31 February is accepted")
	}
	if _, err := cron.ParseWith("0 0 8 * 1#1", cron.Options{DayAnd: true}); err == nil {
		t.Error("a first Monday on the 8th is accepted")
	}
}

func TestWarnings(t *testing.T) {
	for _, c := range []struct {
		expr string
		says []string // one for each warning
	}{
		{"0 9 * * *", nil},
		{"*/15 */6 * * *", nil},
		{"*/60 * * * *", nil},
		{"0 9-17/3 * * *", nil},
		{"5/15 * * * *", nil},
		{"0 0 1 * ?", nil},
		{"0 3 2 * 6", []string{"either field"}},
		{"0 0 * * */1", nil},
		{"0 0 13 * */1", []string{"either field"}},
		{"*/40 * * * *", []string{"every: 40m"}},
		{"*/7 */5 * * *", []string{"every: 7m", "every: 5h"}},
		{"*/45 * * * * *", []string{"every: 45s"}},
		{"0 0 */5 * *", []string{"every: 120h"}},
		{"0 0 1 */5 *", []string{"starts over every year"}},
		{"0 0 */2 * 1", []string{"either field", "day-of-month: */2"}},
		{"0 0 0 1 1 ? 2026/3", nil},
	} {
		got := mustParse(t, c.expr).Warnings()
		if len(got) != len(c.says) {
			t.Errorf("%q: got %q", c.expr, got)
			continue
		}
		for i, says := range c.says {
			if !strings.Contains(got[i], says) {
				t.Errorf("%q: %q does not say %q", c.expr, got[i], says)
			}
		}
	}
	e, err := cron.ParseWith("0 3 2 * 6", cron.Options{DayAnd: true})
	if err != nil || len(e.Warnings()) != 0 {
		t.Errorf("both fields asked for: %v, %v", e.Warnings(), err)
	}
}

func TestOncePerDayAndElapsed(t *testing.T) {
	for _, c := range []struct {
		expr          string
		once, elapsed bool
	}{
		{"0 9 * * *", true, false},
		{"@daily", true, false},
		{"@weekly", true, false},
		{"30 15 10 1 6 *", true, false},
		{"0 9 L * 1#2", true, false},
		{"0 9,17 * * *", false, false},
		{"0,30 9 * * *", false, false},
		{"*/30 0 9 * * *", false, false},
		{"@hourly", false, true},
		{"*/15 * 1 * *", false, true},
		{"0 0-23 * * *", false, true},
		{"0 */1 * * *", false, true},
		{"0 0-11,12/1 * * *", false, true},
		{"0 */2 * * *", false, false},
		{"* 0-22 * * *", false, false},
	} {
		e := mustParse(t, c.expr)
		if e.OncePerDay() != c.once || e.Elapsed() != c.elapsed {
			t.Errorf("%q: once a day %v, elapsed %v", c.expr, e.OncePerDay(), e.Elapsed())
		}
	}
}
