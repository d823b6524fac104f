package cli

import (
	"strings"
	"testing"
	"time"
)

func TestDistancesAreReadAtAGlance(t *testing.T) {
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	for _, tc := range []struct {
		off  time.Duration
		want string
	}{
		{0, "now"},
		{400 * time.Millisecond, "now"},
		{5 * time.Hour, "in 5h"},
		{5*time.Hour + 59*time.Minute, "in 5h"},
		{time.Hour + 59*time.Minute + 59*time.Second, "in 1h59m"},
		{90 * time.Second, "in 1m30s"},
		{42 * time.Second, "in 42s"},
		{-3 * time.Minute, "3m ago"},
		{-76 * time.Hour, "3d4h ago"},
		{17 * 24 * time.Hour, "in 17d"},
		{400 * 24 * time.Hour, "in 1y35d"},
	} {
		if got := relative(now.Add(tc.off), now); got != tc.want {
			t.Errorf("%v off: %q, want %q", tc.off, got, tc.want)
		}
	}
}

func TestShortWorkIsToldToTheMillisecond(t *testing.T) {
	for d, want := range map[time.Duration]string{
		7 * time.Millisecond: "7ms", 1500 * time.Millisecond: "1.5s", 9940 * time.Millisecond: "9.9s", 42 * time.Second: "42s", 62 * time.Minute: "1h2m",
	} {
		if got := took(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}

func TestInstantsKeepTheirOffset(t *testing.T) {
	zone := time.FixedZone("X", 5*3600+1800)
	at := time.Date(2026, 11, 28, 3, 30, 0, 0, time.UTC)
	if got := instantIn(at, zone); got != "2026-11-28T09:00:00+05:30" {
		t.Error(got)
	}
	if got := instantIn(at.Add(7*time.Millisecond), zone); got != "2026-11-28T09:00:00.007+05:30" {
		t.Error(got)
	}
	if got := instantIn(time.Time{}, zone); got != "-" {
		t.Error(got)
	}
}

func TestTextFromOutsideCannotMoveTheCursor(t *testing.T) {
	for dirty, want := range map[string]string{
		"\x1b[31mred\x1b[0m":         "red",
		"\x1b]0;title\x07after":      "after",
		"a\rb\bc\x00d":               "abcd",
		"two\nlines\tand a tab":      "two\nlines\tand a tab",
		"umlaut ä, arrow →, emoji 🙂": "umlaut ä, arrow →, emoji 🙂",
	} {
		if got := clean(dirty); got != want {
			t.Errorf("%q became %q, want %q", dirty, got, want)
		}
	}
}

func TestLongOutputIsShownByItsEnds(t *testing.T) {
	var lines []string
	for range 50 {
		lines = append(lines, "x")
	}
	lines[0], lines[49] = "first", "last"
	got := strings.Split(excerpt(strings.Join(lines, "\n")+"\n"), "\n")
	if len(got) != 2*shownLines+1 || got[0] != "first" || got[len(got)-1] != "last" || !strings.Contains(got[shownLines], "30 lines left out") {
		t.Errorf("%q", got)
	}
	if got := excerpt("a\nb\n"); got != "a\nb" {
		t.Errorf("%q", got)
	}
}

func TestANearWordIsSuggestedAndAFarOneIsNot(t *testing.T) {
	words := []string{"schedules", "serve", "schema", "next", "nodes"}
	for word, want := range map[string]string{
		"shedules": "schedules", "sched": "schedules", "serv": "serve", "nxt": "next", "zebra": "", "q": "",
	} {
		if got := nearest(word, words); got != want {
			t.Errorf("%s: suggested %q, want %q", word, got, want)
		}
	}
}
