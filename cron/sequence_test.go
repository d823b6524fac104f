package cron_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/duly-dev/duly/cron"
)

func TestNothingBeforeOrAfterTheYears(t *testing.T) {
	s := sequence(t, "0 0 * * *", "UTC", cron.Options{}, cron.DST{})
	first, last := "1970-01-01T00:00:00Z", "9999-12-31T00:00:00Z"
	for _, from := range []time.Time{{}, time.Unix(math.MinInt64/2, 0), time.Unix(-1, 0), parseTime(t, first).Add(-1)} {
		if got, ok := s.Next(from); !ok || got.Format(time.RFC3339) != first {
			t.Errorf("next after %v is %v, %v", from, got, ok)
		}
	}
	for _, from := range []time.Time{time.Unix(math.MaxInt64/2, 0), time.Unix(math.MaxInt64, 0), parseTime(t, last).Add(1)} {
		if got, ok := s.Prev(from); !ok || got.Format(time.RFC3339) != last {
			t.Errorf("prev before %v is %v, %v", from, got, ok)
		}
		if got, ok := s.Next(from); ok || !got.IsZero() {
			t.Errorf("next after %v is %v", from, got)
		}
	}
	if got, ok := s.Prev(parseTime(t, first)); ok || !got.IsZero() {
		t.Errorf("prev before the first is %v", got)
	}
	// The local year counts, as far as RFC 3339 can write the instant.
	tokyo := sequence(t, "0 0 * * *", "Asia/Tokyo", cron.Options{}, cron.DST{})
	if got := forward(tokyo, time.Time{}, 1); got[0] != "1969-12-31T15:00:00Z" {
		t.Errorf("first in Tokyo is %v", got)
	}
	york := sequence(t, "0 22 31 12 *", "America/New_York", cron.Options{}, cron.DST{})
	if got := backward(york, time.Unix(math.MaxInt64/2, 0), 1); got[0] != "9999-01-01T03:00:00Z" {
		t.Errorf("last in New York is %v", got)
	}
}

func TestStrictToTheNanosecond(t *testing.T) {
	s := sequence(t, "* * * * *", "Europe/Berlin", cron.Options{}, cron.DST{})
	at := parseTime(t, "2026-11-28T10:00:00Z")
	for _, c := range []struct {
		from       time.Time
		next, prev string
	}{
		{at, "2026-11-28T10:01:00Z", "2026-11-28T09:59:00Z"},
		{at.Add(1), "2026-11-28T10:01:00Z", "2026-11-28T10:00:00Z"},
		{at.Add(-1), "2026-11-28T10:00:00Z", "2026-11-28T09:59:00Z"},
		{at.Add(500 * time.Millisecond), "2026-11-28T10:01:00Z", "2026-11-28T10:00:00Z"},
	} {
		next, _ := s.Next(c.from)
		prev, _ := s.Prev(c.from)
		if !next.Equal(parseTime(t, c.next)) || !prev.Equal(parseTime(t, c.prev)) {
			t.Errorf("from %v: next %v, prev %v", c.from, next, prev)
		}
		if next.Location() != time.UTC || next.Nanosecond() != 0 {
			t.Errorf("%v is not a whole second of UTC", next)
		}
	}
}

// Sparse expressions and exhausted ones are decided in bounded time.
func TestSparseExpressionsAreQuick(t *testing.T) {
	from := parseTime(t, "2026-11-28T00:00:00Z")
	and := cron.Options{DayAnd: true}
	for _, c := range []struct {
		expr, zone string
		o          cron.Options
		dst        cron.DST
		want       string // empty: no more
	}{
		{"0 0 29 2 1#5", "UTC", and, cron.DST{}, "2044-02-29T00:00:00Z"},
		{"0 0 29 2 6", "UTC", and, cron.DST{}, "2048-02-29T00:00:00Z"},
		{"0 0 29 2 *", "UTC", cron.Options{}, cron.DST{}, "2028-02-29T00:00:00Z"},
		{"0 0 0 29 2 ? 9996", "UTC", cron.Options{}, cron.DST{}, "9996-02-29T00:00:00Z"},
		{"0 0 0 1 1 ? 1970-2026", "UTC", cron.Options{}, cron.DST{}, ""},
		{"0 0 0 29 2 6 1972-9000/1000", "UTC", and, cron.DST{}, "2972-02-29T00:00:00Z"},
		// Only in the hour that Berlin skips each March, and skipped there.
		{"30 2 ? 3 0L", "Europe/Berlin", cron.Options{}, cron.DST{Gap: cron.GapSkip}, ""},
	} {
		s := sequence(t, c.expr, c.zone, c.o, c.dst)
		got, ok := s.Next(from)
		took := quickest(func() { s.Next(from) })
		if ok != (c.want != "") || ok && got.Format(time.RFC3339) != c.want {
			t.Errorf("%q: next is %v, %v; want %q", c.expr, got, ok, c.want)
		}
		if took > 250*time.Millisecond {
			t.Errorf("%q took %v", c.expr, took)
		}
		t.Logf("%-32q %v", c.expr, took)
	}
}

// quickest is how long something takes on a machine that has other things to
// do.
func quickest(do func()) time.Duration {
	best := time.Duration(math.MaxInt64)
	for range 5 {
		start := time.Now()
		do()
		best = min(best, time.Since(start))
	}
	return best
}

func TestSearchDoesNotAllocate(t *testing.T) {
	from := parseTime(t, "2027-03-27T12:00:00Z")
	for _, zone := range []string{"UTC", "Europe/Berlin", "America/New_York"} {
		loc, err := cron.LoadZone(zone)
		if err != nil {
			t.Fatal(err)
		}
		for _, expr := range []string{"* * * * *", "*/15 * * * *", "30 2 * * *", "0 9 * * MON-FRI", "0 0 29 2 *", "0 0 LW * *"} {
			e := mustParse(t, expr)
			for _, dst := range []cron.DST{{}, {Gap: cron.GapShift, Overlap: cron.OverlapLast}} {
				if n := testing.AllocsPerRun(100, func() {
					z := e.In(loc, dst)
					next, _ := z.Next(from)
					z.Prev(next)
				}); n != 0 {
					t.Errorf("%q in %s: %v allocations", expr, zone, n)
				}
			}
		}
	}
}

func TestBetweenIsLazyAndIncludesTheEnd(t *testing.T) {
	s := sequence(t, "* * * * *", "UTC", cron.Options{}, cron.DST{})
	from := parseTime(t, "2026-11-28T10:00:00Z")
	if got := window(s, from, from.Add(2*time.Minute)); !slices.Equal(got, []string{"2026-11-28T10:01:00Z", "2026-11-28T10:02:00Z"}) {
		t.Errorf("got %v", got)
	}
	if got := window(s, from, from); got != nil {
		t.Errorf("an empty window has %v", got)
	}
	if got := window(s, from, from.Add(-time.Hour)); got != nil {
		t.Errorf("a window that runs backwards has %v", got)
	}
	n := 0
	for range cron.Between(s, from, time.Unix(math.MaxInt64/2, 0)) {
		if n++; n == 3 {
			break
		}
	}
	if n != 3 {
		t.Errorf("%d", n)
	}
}

func TestEvery(t *testing.T) {
	anchor := parseTime(t, "2026-11-28T10:00:00Z").Add(700 * time.Millisecond)
	s, err := cron.Every(90*time.Second, anchor)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := forward(s, time.Time{}, 2), []string{"2026-11-28T10:00:00Z", "2026-11-28T10:01:30Z"}; !slices.Equal(got, want) {
		t.Errorf("from the beginning: %v, want %v", got, want)
	}
	if got, want := backward(s, anchor.Add(4*time.Minute), 9), []string{"2026-11-28T10:03:00Z", "2026-11-28T10:01:30Z", "2026-11-28T10:00:00Z"}; !slices.Equal(got, want) {
		t.Errorf("backwards: %v, want %v", got, want)
	}
	if _, ok := s.Next(time.Unix(math.MaxInt64, 0)); ok {
		t.Error("something is due at the end of time")
	}
	if _, ok := s.Next(time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)); ok {
		t.Error("something is due after the year 9999")
	}
	for _, c := range []struct {
		every  time.Duration
		anchor time.Time
	}{
		{0, anchor},
		{-time.Hour, anchor},
		{time.Millisecond, anchor},
		{1500 * time.Millisecond, anchor},
		{time.Hour, time.Time{}},
		{time.Hour, time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)},
	} {
		if _, err := cron.Every(c.every, c.anchor); err == nil {
			t.Errorf("every %v from %v is accepted", c.every, c.anchor)
		}
	}
}

func TestParseEvery(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"15m": 15 * time.Minute, "@every 15m": 15 * time.Minute, " @EVERY\t1h30m ": 90 * time.Minute,
		"1s": time.Second, "1.5h": 90 * time.Minute, "1500ms": 0, "15": 0, "-15m": 0, "+15m": 0, "": 0, "@every": 0,
		"@every 15m 3s": 0, "every 15m": 0, "1d": 0, "2562047h": 2562047 * time.Hour, "9999999h": 0,
	} {
		got, err := cron.ParseEvery(text)
		if got != want || (err == nil) != (want != 0) {
			t.Errorf("%q: got %v, %v; want %v", text, got, err, want)
		}
	}
}

func TestAt(t *testing.T) {
	a := parseTime(t, "2026-11-28T10:00:00Z")
	s := cron.At(a.Add(time.Hour), a, a.Add(time.Hour), a.Add(-1), a.Add(1))
	want := []string{"2026-11-28T10:00:00Z", "2026-11-28T10:00:01Z", "2026-11-28T11:00:00Z"}
	if got := forward(s, time.Time{}, 9); !slices.Equal(got, want) {
		t.Errorf("forward %v, want %v", got, want)
	}
	if got, _ := s.Prev(a.Add(1)); !got.Equal(a) {
		t.Errorf("prev is %v", got)
	}
	if _, ok := s.Prev(a); ok {
		t.Error("something before the first")
	}
	if _, ok := s.Next(a.Add(time.Hour)); ok {
		t.Error("something after the last")
	}
	if _, ok := cron.At().Next(time.Time{}); ok {
		t.Error("nothing has a next")
	}
}

func TestDSTValidate(t *testing.T) {
	for _, d := range []cron.DST{{}, {Gap: cron.GapNext, Overlap: cron.OverlapBoth}, {Gap: cron.GapShift}, {Gap: cron.GapSkip, Overlap: cron.OverlapLast}} {
		if err := d.Validate(); err != nil {
			t.Errorf("%v: %v", d, err)
		}
	}
	for _, d := range []cron.DST{{Gap: "later"}, {Overlap: "second"}, {Gap: "both", Overlap: "first"}} {
		if d.Validate() == nil {
			t.Errorf("%v is accepted", d)
		}
	}
}

func TestResolveRefusesWhatIsNoTime(t *testing.T) {
	for _, c := range [][6]int{{2026, 2, 30, 0, 0, 0}, {2026, 13, 1, 0, 0, 0}, {2026, 1, 0, 0, 0, 0}, {2026, 1, 1, 24, 0, 0}, {2026, 1, 1, 0, 60, 0}, {2026, 1, 1, 0, 0, -1}, {1969, 1, 1, 0, 0, 0}} {
		if got := cron.Resolve(nil, cron.DST{}, c[0], time.Month(c[1]), c[2], c[3], c[4], c[5]); len(got) != 0 {
			t.Errorf("%v gives %v", c, got)
		}
	}
}
