package calendar_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/duly-dev/duly/calendar"
	"github.com/duly-dev/duly/cron"
)

var units = []calendar.Unit{calendar.Instant, calendar.Hour, calendar.Day, calendar.Week, calendar.Month}

// zone takes the embedded zone data, so that the tests do not depend on the
// host. Only tests of this package may: it must not import cron itself.
func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	loc, err := cron.LoadZone(name)
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

func instant(t testing.TB, s string) time.Time {
	t.Helper()
	v, err := time.Parse(time.RFC3339, s)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestKey(t *testing.T) {
	for _, c := range []struct {
		unit     calendar.Unit
		offset   int
		at, zone string
		want     string
	}{
		{"instant", 0, "2026-11-28T23:00:00Z", "Asia/Tokyo", "2026-11-28T23:00:00Z"},
		{"instant", 0, "2026-11-29T00:00:00+01:00", "UTC", "2026-11-28T23:00:00Z"},
		{"instant", -1, "2026-11-28T23:00:00Z", "UTC", "2026-11-28T23:00:00Z"},
		{"hour", 0, "2026-11-28T23:59:59Z", "UTC", "2026-11-28T23+00:00"},
		{"hour", 0, "2026-10-25T00:30:00Z", "Europe/Berlin", "2026-10-25T02+02:00"},
		{"hour", 0, "2026-10-25T01:30:00Z", "Europe/Berlin", "2026-10-25T02+01:00"},
		{"hour", -1, "2026-10-25T01:30:00Z", "Europe/Berlin", "2026-10-25T02+02:00"},
		{"hour", -1, "2027-03-28T01:00:00Z", "Europe/Berlin", "2027-03-28T01+01:00"},
		{"hour", 0, "2026-11-28T12:00:00Z", "Asia/Kathmandu", "2026-11-28T17+05:45"},
		{"hour", 0, "2026-11-28T12:00:00Z", "America/St_Johns", "2026-11-28T08-03:30"},
		{"hour", 0, "1970-06-01T12:00:00Z", "Africa/Monrovia", "1970-06-01T11-00:44:30"},
		{"day", 0, "2026-11-28T23:00:00Z", "Europe/Berlin", "2026-11-29"},
		{"day", -1, "2026-11-28T23:00:00Z", "Europe/Berlin", "2026-11-28"},
		{"day", 1, "2026-12-31T12:00:00Z", "UTC", "2027-01-01"},
		{"day", -1, "2027-09-05T04:00:00Z", "America/Santiago", "2027-09-04"},
		{"day", -1, "2011-12-30T10:00:00Z", "Pacific/Apia", "2011-12-29"},
		{"day", -2, "2011-12-30T10:00:00Z", "Pacific/Apia", "2011-12-28"},
		{"day", 1, "2011-12-30T09:00:00Z", "Pacific/Apia", "2011-12-31"},
		{"week", 0, "2026-11-28T12:00:00Z", "UTC", "2026-W48"},
		{"week", 0, "2027-01-03T12:00:00Z", "UTC", "2026-W53"},
		{"week", 1, "2027-01-03T12:00:00Z", "UTC", "2027-W01"},
		{"week", 0, "2029-12-31T12:00:00Z", "UTC", "2030-W01"},
		{"week", 0, "2026-11-29T23:30:00Z", "Europe/Berlin", "2026-W49"},
		{"month", 0, "2026-11-30T23:30:00Z", "Europe/Berlin", "2026-12"},
		{"month", -1, "2026-03-31T12:00:00Z", "UTC", "2026-02"},
		{"month", -12, "2026-01-31T12:00:00Z", "UTC", "2025-01"},
		{"month", 14, "2026-11-30T12:00:00Z", "UTC", "2028-01"},
		{"year", 0, "2026-11-30T12:00:00Z", "UTC", ""},
	} {
		if got := calendar.Key(c.unit, c.offset, instant(t, c.at), zone(t, c.zone)); got != c.want {
			t.Errorf("%s %+d of %s in %s is %q, want %q", c.unit, c.offset, c.at, c.zone, got, c.want)
		}
	}
	if got := calendar.Key(calendar.Hour, 0, instant(t, "2026-11-28T23:00:00Z"), nil); got != "2026-11-28T23+00:00" {
		t.Errorf("without a zone: %q", got)
	}
}

func TestParseKey(t *testing.T) {
	for _, c := range []struct {
		unit      calendar.Unit
		key, want string // empty: refused
	}{
		{"instant", "2026-11-28T23:00:00Z", "2026-11-28T23:00:00Z"},
		{"instant", "2026-11-29T00:00:00+01:00", "2026-11-28T23:00:00Z"},
		{"instant", "2026-11-28T23:00:00.5Z", ""},
		{"instant", "2026-11-28", ""},
		{"hour", "2026-10-25T02+02:00", "2026-10-25T02+02:00"},
		{"hour", "2026-10-25T02-00:00", "2026-10-25T02+00:00"},
		{"hour", "1970-06-01T11-00:44:30", "1970-06-01T11-00:44:30"},
		{"hour", "2026-10-25T02", ""},
		{"hour", "2026-10-25T02Z", ""},
		{"hour", "2026-10-25T24+02:00", ""},
		{"hour", "2026-10-25T02:00+02:00", ""},
		{"hour", "2026-02-30T02+02:00", ""},
		{"day", "2026-11-28", "2026-11-28"},
		{"day", "2026-02-30", ""},
		{"day", "2026-1-1", ""},
		{"day", "2011-12-30", "2011-12-30"},
		{"week", "2026-W48", "2026-W48"},
		{"week", "2026-W53", "2026-W53"},
		{"week", "2027-W53", ""},
		{"week", "2026-W00", ""},
		{"week", "2026-W5", ""},
		{"week", "2026-w48", ""},
		{"week", "2026W48", ""},
		{"week", "+026-W48", ""},
		{"month", "2026-11", "2026-11"},
		{"month", "2026-13", ""},
		{"month", "2026-1", ""},
		{"month", "0000-01", ""},
		{"year", "2026", ""},
		{"", "2026-11-28", ""},
	} {
		got, err := calendar.ParseKey(c.unit, c.key)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s %q: got %q, %v; want %q", c.unit, c.key, got, err, c.want)
		}
		if err != nil && !strings.Contains(err.Error(), string(c.unit)) {
			t.Errorf("%s %q: %v", c.unit, c.key, err)
		}
	}
}

func TestBounds(t *testing.T) {
	for _, c := range []struct {
		name       string
		unit       calendar.Unit
		key, zone  string
		start, end string // empty: does not exist
	}{
		{"an instant is a second", "instant", "2026-11-28T23:00:00Z", "UTC", "2026-11-28T23:00:00Z", "2026-11-28T23:00:01Z"},
		{"a plain day", "day", "2026-11-28", "Europe/Berlin", "2026-11-27T23:00:00Z", "2026-11-28T23:00:00Z"},
		{"a day of 25 hours", "day", "2026-10-25", "Europe/Berlin", "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"},
		{"a day of 23 hours", "day", "2027-03-28", "Europe/Berlin", "2027-03-27T23:00:00Z", "2027-03-28T22:00:00Z"},
		{"a day that begins after a gap at midnight", "day", "2027-09-05", "America/Santiago", "2027-09-05T04:00:00Z", "2027-09-06T03:00:00Z"},
		{"the day before it", "day", "2027-09-04", "America/Santiago", "2027-09-04T04:00:00Z", "2027-09-05T04:00:00Z"},
		{"a day whose last hour comes twice", "day", "2027-04-03", "America/Santiago", "2027-04-03T03:00:00Z", "2027-04-04T04:00:00Z"},
		{"a day with a gap before its end", "day", "2018-05-04", "Asia/Pyongyang", "2018-05-03T15:30:00Z", "2018-05-04T15:00:00Z"},
		{"a day that the zone skipped", "day", "2011-12-30", "Pacific/Apia", "", ""},
		{"the day before a skipped one", "day", "2011-12-29", "Pacific/Apia", "2011-12-29T10:00:00Z", "2011-12-30T10:00:00Z"},
		{"the day after a skipped one", "day", "2011-12-31", "Pacific/Apia", "2011-12-30T10:00:00Z", "2011-12-31T10:00:00Z"},
		{"another skipped one", "day", "1993-08-21", "Pacific/Kwajalein", "", ""},
		{"midnight that comes twice", "day", "2025-11-02", "America/Havana", "2025-11-02T04:00:00Z", "2025-11-03T05:00:00Z"},
		{"clocks going back across midnight", "day", "2010-11-07", "America/St_Johns", "2010-11-07T02:30:00Z", "2010-11-08T03:30:00Z"},
		{"a week with a change", "week", "2026-W43", "Europe/Berlin", "2026-10-18T22:00:00Z", "2026-10-25T23:00:00Z"},
		{"a week across the year", "week", "2026-W53", "UTC", "2026-12-28T00:00:00Z", "2027-01-04T00:00:00Z"},
		{"a week that lost a day", "week", "2011-W52", "Pacific/Apia", "2011-12-26T10:00:00Z", "2012-01-01T10:00:00Z"},
		{"a month with a change", "month", "2027-03", "Europe/Berlin", "2027-02-28T23:00:00Z", "2027-03-31T22:00:00Z"},
		{"a month that lost its last day", "month", "1994-12", "Pacific/Kiritimati", "1994-12-01T10:00:00Z", "1994-12-31T10:00:00Z"},
		{"December", "month", "2026-12", "UTC", "2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z"},
		{"the first of two hours", "hour", "2026-10-25T02+02:00", "Europe/Berlin", "2026-10-25T00:00:00Z", "2026-10-25T01:00:00Z"},
		{"the second of two hours", "hour", "2026-10-25T02+01:00", "Europe/Berlin", "2026-10-25T01:00:00Z", "2026-10-25T02:00:00Z"},
		{"an hour with the wrong offset", "hour", "2026-10-25T04+02:00", "Europe/Berlin", "", ""},
		{"an hour that was skipped", "hour", "2027-03-28T02+01:00", "Europe/Berlin", "", ""},
		{"an hour of a clock that is off by minutes", "hour", "2026-11-28T17+05:45", "Asia/Kathmandu", "2026-11-28T11:15:00Z", "2026-11-28T12:15:00Z"},
		{"an hour before a half-hour change", "hour", "2027-04-04T01+11:00", "Australia/Lord_Howe", "2027-04-03T14:00:00Z", "2027-04-03T15:00:00Z"},
		{"an hour cut short at its start", "hour", "2027-04-04T01+10:30", "Australia/Lord_Howe", "2027-04-03T15:00:00Z", "2027-04-03T15:30:00Z"},
		{"a half hour after a half-hour gap", "hour", "2026-10-04T02+11:00", "Australia/Lord_Howe", "2026-10-03T15:30:00Z", "2026-10-03T16:00:00Z"},
		{"an hour cut short at its end", "hour", "2018-05-04T23+08:30", "Asia/Pyongyang", "2018-05-04T14:30:00Z", "2018-05-04T15:00:00Z"},
		{"a year's end that trips the standard library", "day", "2040-12-31", "Europe/Warsaw", "2040-12-30T23:00:00Z", "2040-12-31T23:00:00Z"},
	} {
		start, end, err := calendar.Bounds(c.unit, c.key, zone(t, c.zone))
		if c.start == "" {
			if err == nil || !start.IsZero() {
				t.Errorf("%s: %s in %s starts at %v", c.name, c.key, c.zone, start)
			}
			continue
		}
		if err != nil || start.Format(time.RFC3339) != c.start || end.Format(time.RFC3339) != c.end {
			t.Errorf("%s: %s in %s is %v to %v, %v; want %s to %s", c.name, c.key, c.zone, start, end, err, c.start, c.end)
		}
	}
	for _, u := range append(units, "year") {
		if _, _, err := calendar.Bounds(u, "nonsense", nil); err == nil {
			t.Errorf("%s: nonsense has bounds", u)
		}
	}
}

func TestNeighbour(t *testing.T) {
	for _, c := range []struct {
		unit      calendar.Unit
		key       string
		n         int
		zone      string
		want      string // empty: refused
		wontMatch string // in the error
	}{
		{"day", "2026-11-28", 3, "UTC", "2026-12-01", ""},
		{"day", "2026-11-28", 0, "UTC", "2026-11-28", ""},
		{"day", "2011-12-29", 1, "Pacific/Apia", "2011-12-31", ""},
		{"day", "2011-12-31", -1, "Pacific/Apia", "2011-12-29", ""},
		{"day", "2011-12-30", 1, "Pacific/Apia", "", "does not exist"},
		{"week", "2026-W53", 1, "UTC", "2027-W01", ""},
		{"week", "2027-W01", -1, "Europe/Berlin", "2026-W53", ""},
		{"month", "2026-11", -11, "UTC", "2025-12", ""},
		{"month", "2026-12", 1, "Asia/Tokyo", "2027-01", ""},
		{"hour", "2026-10-25T02+02:00", 1, "Europe/Berlin", "2026-10-25T02+01:00", ""},
		{"hour", "2026-10-25T03+01:00", -2, "Europe/Berlin", "2026-10-25T02+02:00", ""},
		{"hour", "2027-03-28T01+01:00", 1, "Europe/Berlin", "2027-03-28T03+02:00", ""},
		{"hour", "2027-04-04T01+11:00", 2, "Australia/Lord_Howe", "2027-04-04T02+10:30", ""},
		{"hour", "2027-04-04T02+10:30", -2, "Australia/Lord_Howe", "2027-04-04T01+11:00", ""},
		{"instant", "2026-11-28T23:00:00Z", 1, "UTC", "", "no neighbours"},
		{"day", "2026-11-28", 1_000_001, "UTC", "", "too far"},
		{"month", "9999-12", 1, "UTC", "", "outside"},
		{"day", "nonsense", 1, "UTC", "", "not a valid day"},
	} {
		got, err := calendar.Neighbour(c.unit, c.key, c.n, zone(t, c.zone))
		if got != c.want || (err == nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.wontMatch) {
			t.Errorf("%s %s %+d in %s is %q, %v; want %q", c.unit, c.key, c.n, c.zone, got, err, c.want)
		}
	}
}

var remarkable = []string{
	"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Antarctica/Troll", "Antarctica/Casey",
	"America/Sao_Paulo", "America/Santiago", "America/Havana", "America/Caracas", "Africa/Cairo",
	"Africa/Casablanca", "Africa/Monrovia", "Asia/Amman", "Asia/Pyongyang", "Asia/Kathmandu", "Pacific/Apia",
	"Pacific/Kwajalein", "Pacific/Kiritimati", "Pacific/Chatham", "America/Scoresbysund", "Asia/Gaza",
}

// moments returns instants close to changes of offset, and some at random.
func moments(r *rand.Rand, loc *time.Location, n int) []time.Time {
	var near []time.Time
	for at := time.Date(1970, 1, 2, 0, 0, 0, 0, time.UTC); at.Year() < 2060; at = at.AddDate(0, 0, 1) {
		_, a := at.In(loc).Zone()
		if _, b := at.AddDate(0, 0, 1).In(loc).Zone(); a != b {
			near = append(near, at)
		}
	}
	var all []time.Time
	for range n {
		at := time.Date(1971+r.IntN(100), 1, 1, 0, 0, r.IntN(366*86400), 0, time.UTC)
		if len(near) > 0 && r.IntN(4) > 0 {
			at = near[r.IntN(len(near))].Add(time.Duration(r.IntN(3*86400)-86400) * time.Second)
		}
		all = append(all, at)
	}
	return all
}

// Every instant lies within the bounds of its own period, periods follow each
// other without holes, and keys survive parsing.
func TestPeriodsTileTime(t *testing.T) {
	r := rand.New(rand.NewPCG(2026, 11))
	for _, name := range remarkable {
		loc := zone(t, name)
		for _, at := range moments(r, loc, 400) {
			for _, u := range units {
				key := calendar.Key(u, 0, at, loc)
				if parsed, err := calendar.ParseKey(u, key); err != nil || parsed != key {
					t.Fatalf("%s: %q reads %q, %v", name, key, parsed, err)
				}
				start, end, err := calendar.Bounds(u, key, loc)
				if err != nil || start.After(at) || !end.After(at) {
					t.Fatalf("%s: %v lies in %q, which goes from %v to %v, %v", name, at, key, start, end, err)
				}
				if got := calendar.Key(u, 0, start, loc); got != key {
					t.Fatalf("%s: %q starts at %v, which lies in %q", name, key, start, got)
				}
				if got := calendar.Key(u, 0, start.Add(-1), loc); got == key {
					t.Fatalf("%s: %q has begun before %v", name, key, start)
				}
				if got := calendar.Key(u, 0, end, loc); got == key {
					t.Fatalf("%s: %q goes on at %v", name, key, end)
				}
				if u == calendar.Instant {
					continue
				}
				next, err := calendar.Neighbour(u, key, 1, loc)
				if err != nil || next != calendar.Key(u, 0, end, loc) {
					t.Fatalf("%s: after %q comes %q, %v; want %q", name, key, next, err, calendar.Key(u, 0, end, loc))
				}
				back, err := calendar.Neighbour(u, next, -1, loc)
				if err != nil || back != key {
					t.Fatalf("%s: before %q comes %q, %v; want %q", name, next, back, err, key)
				}
				n := r.IntN(80) - 40
				there, err := calendar.Neighbour(u, key, n, loc)
				if err != nil {
					t.Fatal(err)
				}
				if back, err := calendar.Neighbour(u, there, -n, loc); err != nil || back != key {
					t.Fatalf("%s: %q %+d is %q and back %q, %v", name, key, n, there, back, err)
				}
				if u != calendar.Hour && there != calendar.Key(u, n, start, loc) {
					t.Fatalf("%s: neighbour %+d of %q is %q, its key with that offset %q", name, n, key, there, calendar.Key(u, n, start, loc))
				}
			}
		}
	}
}

// Bounds of days against a look at every half minute of the days around.
func TestDaysBeginAtTheirFirstInstant(t *testing.T) {
	r := rand.New(rand.NewPCG(2026, 12))
	for _, name := range remarkable {
		loc := zone(t, name)
		for _, at := range moments(r, loc, 25) {
			d := calendar.DateOf(at, loc)
			start, _, err := calendar.Bounds(calendar.Day, d.String(), loc)
			if err != nil {
				t.Fatal(err)
			}
			first := at.Truncate(time.Minute).Add(-49 * time.Hour)
			for calendar.DateOf(first, loc).Compare(d) < 0 {
				first = first.Add(30 * time.Second)
			}
			if !first.Equal(start) {
				t.Errorf("%s: %v begins at %v, want %v", name, d, start, first)
			}
		}
	}
}

func FuzzKeyRoundTrip(f *testing.F) {
	for i, name := range remarkable {
		f.Add(uint8(i), name, int64(i)*12345678, 0)
	}
	f.Add(uint8(2), "Pacific/Apia", int64(1325239200), -1)
	f.Add(uint8(1), "Europe/Berlin", int64(1792893600), 5)
	f.Fuzz(func(t *testing.T, unit uint8, name string, sec int64, offset int) {
		loc, err := cron.LoadZone(name)
		if err != nil || sec < 0 || sec > 253000000000 || offset > 1000 || offset < -1000 {
			return // no input that there is anything to say of
		}
		u := units[int(unit)%len(units)]
		key := calendar.Key(u, offset, time.Unix(sec, 0), loc)
		parsed, err := calendar.ParseKey(u, key)
		if err != nil || parsed != key {
			t.Fatalf("%s %q reads %q, %v", u, key, parsed, err)
		}
		start, end, err := calendar.Bounds(u, key, loc)
		if err != nil || !start.Before(end) {
			t.Fatalf("%s %q in %s goes from %v to %v, %v", u, key, name, start, end, err)
		}
		if got := calendar.Key(u, 0, start, loc); got != key {
			t.Fatalf("%s %q in %s starts in %q", u, key, name, got)
		}
		if got := calendar.Key(u, 0, end, loc); got == key {
			t.Fatalf("%s %q in %s is not over at %v", u, key, name, end)
		}
	})
}

func FuzzParseKey(f *testing.F) {
	for i, key := range []string{"2026-11-28T23:00:00Z", "2026-10-25T02+02:00", "2026-11-28", "2026-W48", "2026-11", "1970-06-01T11-00:44:30", ""} {
		f.Add(uint8(i), key)
	}
	f.Fuzz(func(t *testing.T, unit uint8, key string) {
		u := units[int(unit)%len(units)]
		normal, err := calendar.ParseKey(u, key)
		if err != nil {
			return
		}
		if again, err := calendar.ParseKey(u, normal); err != nil || again != normal {
			t.Fatalf("%s %q is normally %q, which is normally %q, %v", u, key, normal, again, err)
		}
		if u != calendar.Instant && u != calendar.Hour && normal != key {
			t.Fatalf("%s %q is normally %q", u, key, normal)
		}
	})
}
