package cron

import (
	"maps"
	"slices"
	"testing"
	"time"
)

// probeChanges finds the changes of offset by looking, not by asking for
// bounds.
func probeChanges(loc *time.Location, from, to, stride int64) []int64 {
	var changes []int64
	for at := from; at < to; at += stride {
		if offset(loc, at) == offset(loc, at+stride) {
			continue
		}
		lo, hi := at, at+stride
		for hi-lo > 1 {
			if mid := (lo + hi) / 2; offset(loc, mid) == offset(loc, at) {
				lo = mid
			} else {
				hi = mid
			}
		}
		changes = append(changes, hi)
	}
	return changes
}

// walkChanges finds them by going from segment to segment.
func walkChanges(loc *time.Location, from, to int64) []int64 {
	var changes []int64
	for at := constantUntil(loc, from); at <= to; at = constantUntil(loc, at) {
		if offset(loc, at-1) != offset(loc, at) {
			changes = append(changes, at)
		}
	}
	return changes
}

// Every zone, from its first years of use to well after the last one that its
// table lists. The search relies on both findings.
func TestSegmentsOfEveryZone(t *testing.T) {
	from := time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	to := time.Date(2049, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	names := slices.Sorted(maps.Keys(embedded().files))
	if testing.Short() {
		names = []string{"America/Ojinaga", "Europe/Berlin", "Pacific/Apia", "Africa/Casablanca", "Asia/Gaza"}
	}
	for _, name := range names {
		loc, err := LoadZone(name)
		if err != nil {
			t.Error(err)
			continue
		}
		want := probeChanges(loc, from, to, secondsPerDay)
		if got := walkChanges(loc, from, to); !slices.Equal(got, want) {
			t.Errorf("%s: changes differ: %d walked, %d probed", name, len(got), len(want))
		}
		for i, at := range want {
			if i > 0 && at-want[i-1] <= lookback {
				t.Errorf("%s: two changes within the lookback before %v", name, time.Unix(at, 0).UTC())
			}
			s := segmentAt(loc, at)
			if g := s.gapAt(loc); s.start != at || !s.atChange || g.hi-g.lo > reach || g.lo-g.hi > reach {
				t.Errorf("%s: segment at %v is %+v", name, time.Unix(at, 0).UTC(), s)
			}
		}
	}
}

// The standard library's bounds are wrong at these moments; see constantUntil.
func TestSegmentsWhereTheStandardLibraryErrs(t *testing.T) {
	for _, zone := range []string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Santiago", "Pacific/Chatham"} {
		loc, err := LoadZone(zone)
		if err != nil {
			t.Fatal(err)
		}
		for year := 2024; year <= 2400; year += 4 {
			newYear := time.Date(year+1, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
			for _, at := range []int64{newYear - 86400, newYear - 43200, newYear - 1, newYear} {
				s := segmentAt(loc, at)
				if s.start > at || s.end <= at || s.offset != offset(loc, at) {
					t.Fatalf("%s: segment at %v is %+v", zone, time.Unix(at, 0).UTC(), s)
				}
				if s.end < newYear {
					t.Fatalf("%s %d: a change on 31 December", zone, year)
				}
			}
		}
	}
	loc, err := LoadZone("America/Ojinaga")
	if err != nil {
		t.Fatal(err)
	}
	changed := time.Date(2022, 10, 30, 8, 0, 0, 0, time.UTC).Unix()
	for _, later := range []int64{0, 1, 3600, 86400} {
		if s := segmentAt(loc, changed+later); s.start != changed || !s.atChange {
			t.Errorf("segment %d s after the change of 2022 is %+v", later, s)
		}
	}
}

func TestCivilAgreesWithTheStandardLibrary(t *testing.T) {
	first := time.Date(1969, 12, 1, 0, 0, 0, 0, time.UTC)
	for n := first.Unix() / secondsPerDay; n <= maxLocal/secondsPerDay+1; n++ {
		d := time.Unix(n*secondsPerDay, 0).UTC()
		y, m, day := civil(n)
		if y != d.Year() || m != int(d.Month()) || day != d.Day() {
			t.Fatalf("day %d is %d-%d-%d, want %v", n, y, m, day, d)
		}
		if dayNumber(y, m, day) != n || n >= 0 && weekday(n) != int(d.Weekday()) {
			t.Fatalf("%v: number %d, weekday %d", d, dayNumber(y, m, day), weekday(n))
		}
		if want := d.AddDate(0, 1, -d.Day()).Day(); day == 1 && monthLength(y, m) != want {
			t.Fatalf("%v: %d days, want %d", d, monthLength(y, m), want)
		}
	}
}

func TestYearSet(t *testing.T) {
	s := make(yearSet, yearWords)
	in := []int{1970, 2033, 2034, 5000, 9999}
	for _, y := range in {
		s.add(y)
	}
	if s.count() != len(in) {
		t.Errorf("counts %d", s.count())
	}
	for y := minYear - 2; y <= maxYear+2; y++ {
		if s.has(y) != slices.Contains(in, y) {
			t.Fatalf("has %d: %v", y, s.has(y))
		}
		next, prev := maxYear+1, minYear-1
		for _, v := range in {
			if v >= y {
				next = min(next, v)
			}
			if v <= y {
				prev = max(prev, v)
			}
		}
		if y <= maxYear && s.next(y) != next {
			t.Fatalf("next(%d) is %d, want %d", y, s.next(y), next)
		}
		if y >= minYear && s.prev(y) != prev {
			t.Fatalf("prev(%d) is %d, want %d", y, s.prev(y), prev)
		}
	}
}
