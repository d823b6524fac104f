package calendar_test

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/duly-dev/duly/calendar"
)

func date(t testing.TB, s string) calendar.Date {
	t.Helper()
	d, err := calendar.ParseDate(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func dates(t testing.TB, texts ...string) []calendar.Date {
	t.Helper()
	var all []calendar.Date
	for _, s := range texts {
		all = append(all, date(t, s))
	}
	return all
}

func TestParseDate(t *testing.T) {
	for _, s := range []string{"2026-11-28", "0001-01-01", "9999-12-31", "2028-02-29"} {
		if d := date(t, s); d.String() != s || !d.Valid() {
			t.Errorf("%s reads %v", s, d)
		}
	}
	for _, s := range []string{"", "2026-02-30", "2026-2-3", "26-11-28", "0000-01-01", "2026-11-28T00:00:00Z", " 2026-11-28", "2027-02-29", "10000-01-01"} {
		if d, err := calendar.ParseDate(s); err == nil {
			t.Errorf("%q reads %v", s, d)
		}
	}
}

func TestDateArithmetic(t *testing.T) {
	d := date(t, "2028-02-28")
	if got := d.AddDays(1).String() + " " + d.AddDays(2).String() + " " + d.AddDays(-59).String(); got != "2028-02-29 2028-03-01 2027-12-31" {
		t.Error(got)
	}
	if d.Weekday() != time.Monday {
		t.Error(d.Weekday())
	}
	ordered := dates(t, "2027-12-31", "2028-01-01", "2028-01-31", "2028-02-01")
	for i, a := range ordered {
		for j, b := range ordered {
			if want := map[bool]int{i < j: -1, i > j: 1}[true]; a.Compare(b) != want {
				t.Errorf("%v compared with %v is %d", a, b, a.Compare(b))
			}
		}
	}
	berlin := zone(t, "Europe/Berlin")
	at := time.Date(2026, 11, 28, 23, 30, 0, 0, time.UTC)
	if got := calendar.DateOf(at, berlin).String() + calendar.DateOf(at, nil).String(); got != "2026-11-292026-11-28" {
		t.Error(got)
	}
	for _, bad := range []calendar.Date{{}, {2026, 2, 29}, {2026, 13, 1}, {2026, 1, 0}, {10000, 1, 1}} {
		if bad.Valid() {
			t.Errorf("%v is valid", bad)
		}
	}
}

func TestDateIsTextInJSON(t *testing.T) {
	var v struct{ Day calendar.Date }
	if err := json.Unmarshal([]byte(`{"Day":"2026-11-28"}`), &v); err != nil {
		t.Fatal(err)
	}
	if out, _ := json.Marshal(v); string(out) != `{"Day":"2026-11-28"}` {
		t.Errorf("%s", out)
	}
	before := v
	if err := json.Unmarshal([]byte(`{"Day":"2026-02-30"}`), &v); err == nil || v != before {
		t.Errorf("%v, %v", v, err)
	}
}

func TestBusinessDays(t *testing.T) {
	german, err := calendar.New(calendar.Rules{
		Holidays: dates(t, "2026-12-25", "2026-12-26", "2027-01-01", "2026-12-19"),
		Workdays: dates(t, "2026-12-19", "2026-12-27"),
	})
	if err != nil {
		t.Fatal(err)
	}
	saturdays, err := calendar.New(calendar.Rules{Weekdays: []time.Weekday{time.Saturday}})
	if err != nil {
		t.Fatal(err)
	}
	once, err := calendar.New(calendar.Rules{Weekdays: []time.Weekday{}, Workdays: dates(t, "2026-06-01")})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name           string
		calendar       *calendar.Calendar
		date           string
		business       bool
		next, previous string // empty: none
	}{
		{"a Monday", german, "2026-11-30", true, "2026-11-30", "2026-11-30"},
		{"a Saturday", german, "2026-11-28", false, "2026-11-30", "2026-11-27"},
		{"a holiday", german, "2026-12-25", false, "2026-12-27", "2026-12-24"},
		{"a workday wins over the weekend", german, "2026-12-27", true, "2026-12-27", "2026-12-27"},
		{"a workday wins over a holiday", german, "2026-12-19", true, "2026-12-19", "2026-12-19"},
		{"a holiday across the year", german, "2027-01-01", false, "2027-01-04", "2026-12-31"},
		{"Saturdays only", saturdays, "2026-11-27", false, "2026-11-28", "2026-11-21"},
		{"a year ahead", once, "2025-06-01", false, "2026-06-01", ""},
		{"366 days ahead is still found", once, "2025-05-31", false, "2026-06-01", ""},
		{"more than 366 days ahead is not", once, "2025-05-30", false, "", ""},
		{"366 days back", once, "2027-06-02", false, "", "2026-06-01"},
		{"more than 366 days back", once, "2027-06-03", false, "", ""},
	} {
		d := date(t, c.date)
		if got := c.calendar.IsBusinessDay(d); got != c.business {
			t.Errorf("%s: business day %v", c.name, got)
		}
		for verb, got := range map[string]func(calendar.Date) (calendar.Date, bool){c.next + " next": c.calendar.Next, c.previous + " previous": c.calendar.Previous} {
			found, ok := got(d)
			text := ""
			if ok {
				text = found.String()
			}
			if verb != text+" next" && verb != text+" previous" {
				t.Errorf("%s: got %q, want %s", c.name, text, verb)
			}
		}
	}
}

func TestRulesThatCannotBeMeantAreRefused(t *testing.T) {
	for name, r := range map[string]calendar.Rules{
		"no business day at all":     {Weekdays: []time.Weekday{}},
		"only holidays":              {Weekdays: []time.Weekday{}, Holidays: dates(t, "2026-12-25")},
		"a weekday that is none":     {Weekdays: []time.Weekday{7}},
		"a holiday that is no date":  {Holidays: []calendar.Date{{2026, 2, 30}}},
		"a workday that is no date":  {Workdays: []calendar.Date{{}}},
		"a negative weekday":         {Weekdays: []time.Weekday{-1}},
		"a date beyond the calendar": {Holidays: []calendar.Date{{10000, 1, 1}}},
	} {
		if _, err := calendar.New(r); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

// Next and Previous against their definition, on random calendars.
func TestNextAndPreviousAreTheNearest(t *testing.T) {
	r := rand.New(rand.NewPCG(2026, 11))
	base := date(t, "2026-01-01")
	for range 2000 {
		var rules calendar.Rules
		for w := range 7 {
			if r.IntN(3) > 0 {
				rules.Weekdays = append(rules.Weekdays, time.Weekday(w))
			}
		}
		for range r.IntN(60) {
			rules.Holidays = append(rules.Holidays, base.AddDays(r.IntN(90)))
		}
		for range 1 + r.IntN(5) {
			rules.Workdays = append(rules.Workdays, base.AddDays(r.IntN(90)))
		}
		c, err := calendar.New(rules)
		if err != nil {
			t.Fatal(err)
		}
		d := base.AddDays(r.IntN(90))
		next, ok := c.Next(d)
		for x := d; ok && x != next; x = x.AddDays(1) {
			if c.IsBusinessDay(x) {
				t.Fatalf("next of %v is %v, but %v is one", d, next, x)
			}
		}
		previous, ok := c.Previous(d)
		for x := d; ok && x != previous; x = x.AddDays(-1) {
			if c.IsBusinessDay(x) {
				t.Fatalf("previous of %v is %v, but %v is one", d, previous, x)
			}
		}
		if ok && (previous.Compare(d) > 0 || !c.IsBusinessDay(previous)) {
			t.Fatalf("previous of %v is %v", d, previous)
		}
	}
}
