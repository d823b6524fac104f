package config

import "testing"

func TestANearKeyIsSuggestedAndAFarOneIsNot(t *testing.T) {
	for word, want := range map[string]string{
		"timezon": "timezone", "timeZone": "timezone", "TIMEZONE": "timezone", "time-zone": "timezone",
		"x": "", "": "", "colour": "", "atx": "at", "ax": "at", "maxAttempts": "max_attempts",
	} {
		if got := nearest(word, []string{"timezone", "cron", "at", "every", "max_attempts"}); got != want {
			t.Errorf("%q suggests %q, not %q", word, got, want)
		}
	}
}
