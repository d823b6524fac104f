package duly

import (
	"encoding/json"
	"testing"
	"time"
)

func TestDurationReadsBackAsWritten(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"30s": 30 * time.Second, "15m": 15 * time.Minute, "36h": 36 * time.Hour, "7d": 7 * 24 * time.Hour, "2w": 14 * 24 * time.Hour,
		"1d12h": 36 * time.Hour, "250ms": 250 * time.Millisecond, "1w2d3h": 219 * time.Hour, "0s": 0,
	} {
		d, err := ParseDuration(text)
		if err != nil || d.Std() != want {
			t.Errorf("ParseDuration(%q) = %v, %v; want %v", text, d, err, want)
			continue
		}
		again, err := ParseDuration(d.String())
		if err != nil || again != d {
			t.Errorf("%q prints as %q, which reads as %v, %v", text, d, again, err)
		}
	}
}

func TestDurationRefusesWhatCannotBeMeant(t *testing.T) {
	for _, text := range []string{"", "-5s", "+5s", "5", "five", "1.5d", "d", "1d-2h", "99999999999w", "200000d", "1h1d", "9223372036854775807ns1d"} {
		if d, err := ParseDuration(text); err == nil {
			t.Errorf("ParseDuration(%q) = %v; want an error", text, d)
		}
	}
	var d Duration
	if err := json.Unmarshal([]byte("30"), &d); err == nil {
		t.Error("a bare number was taken for a duration; its unit would be a guess")
	}
}

func FuzzParseDuration(f *testing.F) {
	for _, s := range []string{"30s", "1d12h", "2w", "-1s", "1e9s", "9999999999999999h"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, err := ParseDuration(s)
		if err != nil {
			return
		}
		if d < 0 || d > Duration(maxDuration) {
			t.Fatalf("%q gave %v", s, d)
		}
		if again, err := ParseDuration(d.String()); err != nil || again != d {
			t.Fatalf("%q prints as %q, which reads as %v, %v", s, d, again, err)
		}
	})
}
