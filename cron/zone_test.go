package cron_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/duly-dev/duly/cron"
)

func TestLoadZoneSuggests(t *testing.T) {
	for name, want := range map[string]string{
		"europe/berlin":       "did you mean Europe/Berlin?",
		"Europe/Belrin":       "did you mean Europe/Berlin?",
		"Berlin":              "did you mean Europe/Berlin?",
		"New York":            "did you mean America/New_York?",
		"America/New York":    "did you mean America/New_York?",
		`Europe\Berlin`:       "did you mean Europe/Berlin?",
		"utc":                 "did you mean UTC?",
		"Buenos Aires":        "did you mean America/Buenos_Aires?",
		"":                    "a zone is needed",
		"Local":               "differs from node to node",
		"local":               "differs from node to node",
		"+VERSION":            "use an IANA name",
		"Factory":             "use an IANA name",
		"../zoneinfo.zip":     "use an IANA name",
		"/usr/share/zoneinfo": "use an IANA name",
		"Europe":              "use an IANA name",
		"Europe/Berlin\x00":   "Europe/Berlin?",
		"MESZ":                "use an IANA name",

		strings.Repeat("Europe/Berlin", 9999): "use an IANA name",
	} {
		loc, err := cron.LoadZone(name)
		var refused *cron.ParseError
		if !errors.As(err, &refused) || refused.Reason != cron.ReasonUnknownZone {
			t.Errorf("%q: got %v, %v", name, loc, err)
			continue
		}
		if !strings.Contains(refused.Message, want) {
			t.Errorf("%.40q: %q does not say %q", name, refused.Message, want)
		}
	}
}

func TestLoadZoneKeepsEachZoneOnce(t *testing.T) {
	for _, name := range []string{"UTC", "Europe/Berlin", "Etc/GMT+12", "America/Argentina/Ushuaia"} {
		a, err := cron.LoadZone(name)
		if err != nil {
			t.Fatal(err)
		}
		if b, _ := cron.LoadZone(name); a != b || a.String() != name {
			t.Errorf("%s: loaded as %v and %v", name, a, b)
		}
	}
}

func TestTZDataVersion(t *testing.T) {
	v := cron.TZDataVersion()
	if !regexp.MustCompile(`^20\d\d[a-z]$`).MatchString(v) {
		t.Fatalf("%q is not the name of a release", v)
	}
	if v < "2026f" {
		t.Errorf("%s is older than what was embedded before", v)
	}
	// Vancouver gave up changing its clocks in 2026. Data from before that
	// release would still turn them back in November.
	loc, err := cron.LoadZone("America/Vancouver")
	if err != nil {
		t.Fatal(err)
	}
	if _, o := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC).In(loc).Zone(); o != -7*3600 {
		t.Errorf("Vancouver is %d s from UTC in December 2026", o)
	}
}

// Schedules around 31 December of leap years, where the bounds that the
// standard library reports are wrong.
func TestYearsEndOfLeapYears(t *testing.T) {
	for _, zone := range []string{"Europe/Warsaw", "America/New_York", "Australia/Sydney", "UTC", "Pacific/Auckland"} {
		loc, err := cron.LoadZone(zone)
		if err != nil {
			t.Fatal(err)
		}
		s := sequence(t, "30 */2 29-31,1-3 12,1 *", zone, cron.Options{}, cron.DST{})
		for _, year := range []int{2027, 2028, 2040, 2099, 2100, 2400} {
			// The changes of clocks are far away, so local times are plain.
			var want []string
			from := time.Date(year, 12, 29, 0, 0, 0, 0, loc)
			for at := from; at.Before(from.AddDate(0, 0, 6)); at = at.Add(2 * time.Hour) {
				want = append(want, at.Add(30*time.Minute).UTC().Format(time.RFC3339))
			}
			to := from.AddDate(0, 0, 6).Add(-1)
			if got := window(s, from, to); strings.Join(got, " ") != strings.Join(want, " ") {
				t.Errorf("%s %d\n got %v\nwant %v", zone, year, got, want)
			}
			back := backward(s, to, len(want))
			if len(back) != len(want) || back[0] != want[len(want)-1] || back[len(back)-1] != want[0] {
				t.Errorf("%s %d backwards: %v", zone, year, back)
			}
		}
	}
}
