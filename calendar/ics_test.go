package calendar_test

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/duly-dev/duly/calendar"
)

// ics puts event lines into a calendar file. The first of them is line 3.
func ics(lines ...string) string {
	all := append([]string{"BEGIN:VCALENDAR", "BEGIN:VEVENT"}, lines...)
	return strings.Join(append(all, "END:VEVENT", "END:VCALENDAR", ""), "\r\n")
}

func TestParseICS(t *testing.T) {
	for _, c := range []struct {
		name    string
		file    string
		options calendar.ICSOptions
		want    string
	}{
		{"an all-day event", ics("DTSTART;VALUE=DATE:20261225", "DTEND;VALUE=DATE:20261227"), calendar.ICSOptions{}, "2026-12-25 2026-12-26"},
		{"no end is one day", ics("DTSTART;VALUE=DATE:20261225"), calendar.ICSOptions{}, "2026-12-25"},
		{"an end on the same day is one day", ics("DTSTART;VALUE=DATE:20261225", "DTEND;VALUE=DATE:20261225"), calendar.ICSOptions{}, "2026-12-25"},
		{"a date needs no VALUE", ics("DTSTART:20261225"), calendar.ICSOptions{}, "2026-12-25"},
		{"a duration in days", ics("DTSTART;VALUE=DATE:20261225", "DURATION:P3D"), calendar.ICSOptions{}, "2026-12-25 2026-12-26 2026-12-27"},
		{"a duration in weeks across the year", ics("DTSTART;VALUE=DATE:20261229", "DURATION:P1W"), calendar.ICSOptions{}, "2026-12-29 2026-12-30 2026-12-31 2027-01-01 2027-01-02 2027-01-03 2027-01-04"},
		{"times on one day", ics("DTSTART:20261225T090000", "DTEND:20261225T170000"), calendar.ICSOptions{}, "2026-12-25"},
		{"times until midnight", ics("DTSTART:20261225T000000", "DTEND:20261226T000000"), calendar.ICSOptions{}, "2026-12-25"},
		{"times past midnight", ics("DTSTART:20261225T220000", "DTEND:20261226T000001"), calendar.ICSOptions{}, "2026-12-25 2026-12-26"},
		{"a moment", ics("DTSTART:20261225T220000"), calendar.ICSOptions{}, "2026-12-25"},
		{"hours as duration", ics("DTSTART:20261225T220000", "DURATION:PT2H30M"), calendar.ICSOptions{}, "2026-12-25 2026-12-26"},
		{"a zone of its own keeps its dates", ics("DTSTART;TZID=Asia/Tokyo:20261225T000000", "DTEND;TZID=Asia/Tokyo:20261226T000000"), calendar.ICSOptions{Zone: zone(t, "America/New_York")}, "2026-12-25"},
		{"UTC becomes a date in the zone", ics("DTSTART:20261224T230000Z", "DTEND:20261225T230000Z"), calendar.ICSOptions{Zone: zone(t, "Europe/Berlin")}, "2026-12-25"},
		{"UTC without a zone", ics("DTSTART:20261224T230000Z", "DTEND:20261225T230000Z"), calendar.ICSOptions{}, "2026-12-24 2026-12-25"},
		{"a quoted parameter with a colon", ics(`DTSTART;X-A="a:b;c";VALUE=DATE:20261225`), calendar.ICSOptions{}, "2026-12-25"},
		{"folded lines", ics("DTSTART;VAL", " UE=DATE", "\t:2026", " 1225", "SUMMARY:a", " b"), calendar.ICSOptions{}, "2026-12-25"},
		{"lower case", ics("dtstart;value=date:20261225", "status:tentative"), calendar.ICSOptions{}, "2026-12-25"},
		{"a cancelled event", ics("DTSTART;VALUE=DATE:20261225", "STATUS:CANCELLED"), calendar.ICSOptions{}, ""},
		{"an alarm's own time", ics("DTSTART;VALUE=DATE:20261225", "BEGIN:VALARM", "DTSTART;VALUE=DATE:20300101", "DURATION:PT5M", "END:VALARM"), calendar.ICSOptions{}, "2026-12-25"},
		{"line feeds only, a byte order mark and blank lines", "\ufeffBEGIN:VCALENDAR\n\nBEGIN:VEVENT\nDTSTART:20261225\nEND:VEVENT\n\nEND:VCALENDAR", calendar.ICSOptions{}, "2026-12-25"},
		{"a calendar without events", "BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n", calendar.ICSOptions{}, ""},
		{"tasks and zones are passed over", "BEGIN:VCALENDAR\nBEGIN:VTIMEZONE\nBEGIN:DAYLIGHT\nDTSTART:19700329T020000\nRRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3\nEND:DAYLIGHT\nEND:VTIMEZONE\nBEGIN:VTODO\nDTSTART:20261225\nEND:VTODO\nEND:VCALENDAR\n", calendar.ICSOptions{}, ""},

		{"yearly within years", ics("DTSTART;VALUE=DATE:20001225", "RRULE:FREQ=YEARLY"), calendar.ICSOptions{FromYear: 2026, ToYear: 2028}, "2026-12-25 2027-12-25 2028-12-25"},
		{"yearly from the event on", ics("DTSTART;VALUE=DATE:20271225", "RRULE:FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=25;WKST=MO"), calendar.ICSOptions{ToYear: 2028}, "2027-12-25 2028-12-25"},
		{"yearly with its own end", ics("DTSTART;VALUE=DATE:20261225", "RRULE:FREQ=YEARLY;UNTIL=20281225"), calendar.ICSOptions{}, "2026-12-25 2027-12-25 2028-12-25"},
		{"yearly until the day before", ics("DTSTART;VALUE=DATE:20261225", "RRULE:FREQ=YEARLY;UNTIL=20281224"), calendar.ICSOptions{}, "2026-12-25 2027-12-25"},
		{"yearly until a time in UTC", ics("DTSTART;TZID=Europe/Berlin:20261225T000000", "RRULE:FREQ=YEARLY;UNTIL=20271224T230000Z"), calendar.ICSOptions{Zone: zone(t, "Europe/Berlin")}, "2026-12-25 2027-12-25"},
		{"a count begins with the event", ics("DTSTART;VALUE=DATE:20251225", "RRULE:FREQ=YEARLY;COUNT=3"), calendar.ICSOptions{FromYear: 2027}, "2027-12-25"},
		{"every second year", ics("DTSTART;VALUE=DATE:20261225", "RRULE:FREQ=YEARLY;INTERVAL=2;COUNT=2"), calendar.ICSOptions{}, "2026-12-25 2028-12-25"},
		{"leap days", ics("DTSTART;VALUE=DATE:20240229", "RRULE:FREQ=YEARLY;COUNT=3"), calendar.ICSOptions{}, "2024-02-29 2028-02-29 2032-02-29"},
		{"several days each year", ics("DTSTART;VALUE=DATE:20261231", "DTEND;VALUE=DATE:20270102", "RRULE:FREQ=YEARLY;COUNT=2"), calendar.ICSOptions{}, "2026-12-31 2027-01-01 2027-12-31 2028-01-01"},
		{"years do not cut single events", ics("DTSTART;VALUE=DATE:20201225"), calendar.ICSOptions{FromYear: 2026, ToYear: 2028}, "2020-12-25"},
	} {
		got, err := calendar.ParseICS(strings.NewReader(c.file), c.options)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var texts []string
		for _, d := range got {
			texts = append(texts, d.String())
		}
		if strings.Join(texts, " ") != c.want {
			t.Errorf("%s: got %v, want %s", c.name, texts, c.want)
		}
	}
}

func TestICSEventsAreSortedAndOnce(t *testing.T) {
	file := "BEGIN:VCALENDAR\n" +
		"BEGIN:VEVENT\nDTSTART:20270101\nEND:VEVENT\n" +
		"BEGIN:VEVENT\nDTSTART:20261225\nDURATION:P2D\nEND:VEVENT\n" +
		"BEGIN:VEVENT\nDTSTART:20261226\nEND:VEVENT\n" +
		"END:VCALENDAR\nBEGIN:VCALENDAR\n" +
		"BEGIN:VEVENT\nDTSTART:20260501\nEND:VEVENT\n" +
		"END:VCALENDAR\n"
	got, err := calendar.ParseICS(strings.NewReader(file), calendar.ICSOptions{})
	if want := dates(t, "2026-05-01", "2026-12-25", "2026-12-26", "2027-01-01"); err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
}

func TestICSIsRefusedByLine(t *testing.T) {
	day := "DTSTART;VALUE=DATE:20261225"
	for _, c := range []struct {
		name string
		file string
		line int
		says string
	}{
		{"nothing", "", 1, "not a calendar file"},
		{"something else", "hello", 1, "NAME:value"},
		{"an event without a calendar", "BEGIN:VEVENT\nEND:VEVENT\n", 1, "out of place"},
		{"a property without a calendar", "VERSION:2.0\n", 1, "outside a calendar"},
		{"a calendar in a calendar", "BEGIN:VCALENDAR\nBEGIN:VCALENDAR\n", 2, "out of place"},
		{"an event in an event", ics("BEGIN:VEVENT"), 3, "an event inside an event"},
		{"no end", "BEGIN:VCALENDAR\nBEGIN:VEVENT\n" + day + "\n", 3, "ends inside VEVENT"},
		{"an end too many", "BEGIN:VCALENDAR\nEND:VCALENDAR\nEND:VCALENDAR\n", 3, "not open"},
		{"the wrong end", "BEGIN:VCALENDAR\nBEGIN:VEVENT\nEND:VCALENDAR\n", 3, "not open"},
		{"no start", ics("SUMMARY:Christmas"), 2, "no DTSTART"},
		{"two starts", ics(day, day), 4, "second DTSTART"},
		{"a date that does not exist", ics("DTSTART;VALUE=DATE:20260230"), 3, "20261128"},
		{"a date of the wrong kind", ics("DTSTART;VALUE=DATE:20261225T090000"), 3, "VALUE=DATE"},
		{"a time of the wrong kind", ics("DTSTART;VALUE=DATE-TIME:20261225"), 3, "VALUE=DATE-TIME"},
		{"a period", ics("DTSTART;VALUE=PERIOD:20261225T090000/PT1H"), 3, "VALUE=PERIOD"},
		{"an end before the start", ics(day, "DTEND;VALUE=DATE:20261224"), 4, "ends before"},
		{"an end of another kind", ics(day, "DTEND:20261226T000000"), 4, "another kind"},
		{"an end in another zone", ics("DTSTART;TZID=A:20261225T000000", "DTEND:20261226T000000"), 4, "another kind"},
		{"end and duration", ics(day, "DTEND:20261226", "DURATION:P1D"), 5, "not both"},
		{"a duration that runs backwards", ics(day, "DURATION:-P1D"), 4, "DURATION"},
		{"a duration of hours for a day", ics(day, "DURATION:PT8H"), 4, "DURATION"},
		{"no duration", ics(day, "DURATION:P"), 4, "DURATION"},
		{"a duration without unit", ics(day, "DURATION:P1"), 4, "DURATION"},
		{"a duration that overflows", ics(day, "DURATION:P9999999W"), 4, "DURATION"},
		{"years on end", ics(day, "DURATION:P367D"), 4, "covers 367 days"},
		{"a rule without end", ics(day, "RRULE:FREQ=YEARLY"), 4, "no end"},
		{"a weekly rule", ics(day, "RRULE:FREQ=WEEKLY;COUNT=3"), 4, "FREQ=WEEKLY"},
		{"a weekday of the year", ics(day, "RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=4TH;COUNT=2"), 4, "BYMONTH=11"},
		{"Thanksgiving", ics("DTSTART:20261126", "RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=4TH;COUNT=2"), 4, "BYDAY=4TH"},
		{"a rule without frequency", ics(day, "RRULE:COUNT=3"), 4, "no FREQ"},
		{"an empty rule", ics(day, "RRULE:"), 4, "not supported"},
		{"a count of none", ics(day, "RRULE:FREQ=YEARLY;COUNT=0"), 4, "COUNT=0"},
		{"count and until", ics(day, "RRULE:FREQ=YEARLY;COUNT=2;UNTIL=20301225"), 4, "not both"},
		{"a part twice", ics(day, "RRULE:FREQ=YEARLY;COUNT=2;COUNT=3"), 4, "COUNT twice"},
		{"an until that is no date", ics(day, "RRULE:FREQ=YEARLY;UNTIL=2030"), 4, "UNTIL"},
		{"extra dates", ics(day, "RDATE;VALUE=DATE:20261231"), 4, "RDATE"},
		{"excepted dates", ics(day, "RRULE:FREQ=YEARLY;COUNT=3", "EXDATE;VALUE=DATE:20271225"), 5, "EXDATE"},
		{"a moved occurrence", ics(day, "RECURRENCE-ID;VALUE=DATE:20261225"), 4, "RECURRENCE-ID"},
		{"folded lines count from the first", ics("SUMMARY:a", " b", " c", "RDATE", " :20261231"), 6, "RDATE"},
		{"a quote that does not close", ics(`DTSTART;X="a:20261225`), 3, "NAME:value"},
		{"far too many dates", ics(day, "DURATION:P366D", "RRULE:FREQ=YEARLY;COUNT=400"), 2, "more than 100000 dates"},
		{"nested deeply", "BEGIN:VCALENDAR\n" + strings.Repeat("BEGIN:X\n", 9), 9, "too deeply"},
	} {
		got, err := calendar.ParseICS(strings.NewReader(c.file), calendar.ICSOptions{})
		var refused *calendar.ICSError
		if !errors.As(err, &refused) {
			t.Errorf("%s: got %v, %v", c.name, got, err)
			continue
		}
		if refused.Line != c.line || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v; want line %d and %q", c.name, err, c.line, c.says)
		}
	}
}

func TestICSIsBounded(t *testing.T) {
	endless := io.MultiReader(strings.NewReader("BEGIN:VCALENDAR\n"), neverEnds{})
	if _, err := calendar.ParseICS(endless, calendar.ICSOptions{}); err == nil || !strings.Contains(err.Error(), "longer than") {
		t.Errorf("an endless file: %v", err)
	}
	folds := "BEGIN:VCALENDAR\nX:" + strings.Repeat("\n a", 300_000) + "\nEND:VCALENDAR\n"
	if _, err := calendar.ParseICS(strings.NewReader(folds), calendar.ICSOptions{}); err != nil {
		t.Errorf("a line of many parts: %v", err)
	}
	if _, err := calendar.ParseICS(iotest.ErrReader(io.ErrClosedPipe), calendar.ICSOptions{}); err != io.ErrClosedPipe {
		t.Errorf("a broken reader: %v", err)
	}
	for _, o := range []calendar.ICSOptions{{FromYear: 2030, ToYear: 2020}, {FromYear: -1}, {ToYear: 10000}} {
		if _, err := calendar.ParseICS(strings.NewReader(ics("DTSTART:20261225")), o); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}

type neverEnds struct{}

func (neverEnds) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'x'
	}
	return len(b), nil
}

func FuzzParseICS(f *testing.F) {
	f.Add(ics("DTSTART;VALUE=DATE:20261225", "DTEND;VALUE=DATE:20261227"), 0, 0)
	f.Add(ics("DTSTART;TZID=\"Asia/Tokyo\":20261225T000000", "DURATION:P1DT2H"), 0, 0)
	f.Add(ics("DTSTART:20240229T230000Z", "RRULE:FREQ=YEARLY;INTERVAL=2;UNTIL=20501225T000000Z;BYMONTH=2"), 2026, 2060)
	f.Add(ics("DTSTART:20261225", " ", "STATUS:CANCELLED", "BEGIN:VALARM", "END:VALARM"), 1, 9999)
	f.Add(ics("DTSTART:99991231", "DURATION:P5D"), 0, 0)
	f.Fuzz(func(t *testing.T, file string, from, to int) {
		got, err := calendar.ParseICS(strings.NewReader(file), calendar.ICSOptions{FromYear: from, ToYear: to})
		if err != nil {
			if got != nil {
				t.Fatalf("%v with %v", got, err)
			}
			return
		}
		for i, d := range got {
			if !d.Valid() || i > 0 && got[i-1].Compare(d) >= 0 {
				t.Fatalf("date %d of %v", i, got)
			}
		}
	})
}
