package config

import "testing"

func TestDistanceCountsWhatFingersDo(t *testing.T) {
	for _, c := range []struct {
		a, b string
		n    int
	}{
		{"", "", 0},
		{"cron", "cron", 0},
		{"crno", "cron", 1},
		{"cro", "cron", 1},
		{"croon", "cron", 1},
		{"krön", "cron", 2},
		{"", "abc", 3},
		{"kitten", "sitting", 3},
	} {
		if got := distance(c.a, c.b); got != c.n {
			t.Errorf("distance(%q, %q) = %d, not %d", c.a, c.b, got, c.n)
		}
	}
	for word, want := range map[string]string{
		"timezon": "timezone", "timeZone": "timezone", "TIMEZONE": "timezone", "time-zone": "timezone",
		"x": "", "": "", "colour": "", "atx": "at", "ax": "at", "maxAttempts": "max_attempts",
	} {
		if got := nearest(word, []string{"timezone", "cron", "at", "every", "max_attempts"}); got != want {
			t.Errorf("%q suggests %q, not %q", word, got, want)
		}
	}
}
