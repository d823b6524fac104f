package cron_test

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/duly-dev/duly/cron"
)

// Cases that people met in the field, by their id. testdata/field-cases.jsonl
// has those that are an expression, a zone and the next due times under one or
// more policies; the functions below have the rest.

func TestFieldCases(t *testing.T) {
	f, err := os.Open("testdata/field-cases.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var c struct {
			ID, Expr, Zone string
			From           time.Time
			Next           []string
			GapShift       []string `json:"gap_shift"`
			GapSkip        []string `json:"gap_skip"`
			OverlapBoth    []string `json:"overlap_both"`
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		t.Run(c.ID, func(t *testing.T) {
			for _, p := range []struct {
				dst  cron.DST
				want []string
			}{
				{cron.DST{}, c.Next},
				{cron.DST{Gap: cron.GapShift}, c.GapShift},
				{cron.DST{Gap: cron.GapSkip}, c.GapSkip},
				{cron.DST{Overlap: cron.OverlapBoth}, c.OverlapBoth},
			} {
				if p.want == nil {
					p.want = c.Next // the policy makes no difference
				}
				s := sequence(t, c.Expr, c.Zone, cron.Options{}, p.dst)
				if got := forward(s, c.From, len(p.want)); !slices.Equal(got, p.want) {
					t.Errorf("%q in %s, %v\n got %v\nwant %v", c.Expr, c.Zone, p.dst, got, p.want)
				}
			}
		})
	}
}

func TestFieldCase_B05_InOctoberAndMarchEveryRealQuarterHourIsDue(t *testing.T) {
	s := sequence(t, "*/15 * * * *", "Europe/London", cron.Options{}, cron.DST{})
	for _, c := range []struct {
		from, to string
		want     int
	}{
		{"2026-10-24T23:00:00Z", "2026-10-26T00:00:00Z", 100}, // 25 hours
		{"2027-03-28T00:00:00Z", "2027-03-28T23:00:00Z", 92},  // 23 hours
	} {
		// The local day begins with its midnight and ends before the next.
		n := len(window(s, parseTime(t, c.from).Add(-1), parseTime(t, c.to).Add(-1)))
		if n != c.want {
			t.Errorf("from %s: %d due times, want %d", c.from, n, c.want)
		}
	}
}

func TestFieldCase_B08_MidnightThatDoesNotExistIsDueOnItsOwnDate(t *testing.T) {
	s := sequence(t, "0 0 * * *", "America/Santiago", cron.Options{}, cron.DST{})
	due, _ := s.Next(parseTime(t, "2027-09-04T12:00:00Z"))
	loc, err := cron.LoadZone("America/Santiago")
	if err != nil {
		t.Fatal(err)
	}
	if got := due.In(loc).Format("2006-01-02 15:04"); got != "2027-09-05 01:00" {
		t.Errorf("due at %s local time", got)
	}
}

func TestFieldCase_B11_RegisteringAgainAfterTheChangeAddsNoSecondTime(t *testing.T) {
	to := parseTime(t, "2026-11-02T13:00:00Z")
	for _, from := range []string{"2026-10-30T12:00:00Z", "2026-11-01T12:00:00Z"} {
		s := sequence(t, "0 6 * * MON", "America/New_York", cron.Options{}, cron.DST{})
		got := window(s, parseTime(t, from), to)
		if want := []string{"2026-11-02T11:00:00Z"}; !slices.Equal(got, want) {
			t.Errorf("from %s: %v, want %v", from, got, want)
		}
	}
}

func TestFieldCase_B13_TheZoneOfTheHostDoesNotMatter(t *testing.T) {
	london, err := cron.LoadZone("Europe/London")
	if err != nil {
		t.Fatal(err)
	}
	s := sequence(t, "30 1 * * *", "UTC", cron.Options{}, cron.DST{})
	from, to := parseTime(t, "2026-10-24T23:50:00Z").In(london), parseTime(t, "2026-10-25T03:00:00Z").In(london)
	if got := window(s, from, to); !slices.Equal(got, []string{"2026-10-25T01:30:00Z"}) {
		t.Errorf("got %v", got)
	}
}

func TestFieldCase_B14_UnknownZoneIsRefusedByName(t *testing.T) {
	t.Setenv("ZONEINFO", "/nonexistent")
	if _, err := cron.LoadZone("Europe/Berlin"); err != nil {
		t.Error(err)
	}
	_, err := cron.LoadZone("Europe/Atlantis")
	if err == nil || !strings.Contains(err.Error(), "Europe/Atlantis") {
		t.Errorf("got %v", err)
	}
}

func TestFieldCase_B20_AnIntervalKeepsItsAnchor(t *testing.T) {
	for _, c := range []struct {
		every        time.Duration
		anchor, from string
		want         []string
	}{
		{time.Hour, "2027-01-04T14:20:00Z", "2027-01-04T15:17:12Z", []string{"2027-01-04T15:20:00Z", "2027-01-04T16:20:00Z"}},
		{6 * time.Hour, "2027-01-04T00:10:00Z", "2027-01-04T05:00:00Z", []string{"2027-01-04T06:10:00Z", "2027-01-04T12:10:00Z", "2027-01-04T18:10:00Z"}},
		{6 * time.Hour, "2027-01-04T00:10:00Z", "2027-01-04T11:59:00Z", []string{"2027-01-04T12:10:00Z", "2027-01-04T18:10:00Z"}},
	} {
		s, err := cron.Every(c.every, parseTime(t, c.anchor))
		if err != nil {
			t.Fatal(err)
		}
		if got := forward(s, parseTime(t, c.from), len(c.want)); !slices.Equal(got, c.want) {
			t.Errorf("every %v from %s\n got %v\nwant %v", c.every, c.from, got, c.want)
		}
	}
}

func TestFieldCase_B58_B59_EitherDayFieldIsWarnedAbout(t *testing.T) {
	for _, expr := range []string{"0 9 1-7,15-21 * 1", "0 3 2 * 6", "0 2 29 2 0"} {
		if w := mustParse(t, expr).Warnings(); len(w) != 1 || !strings.Contains(w[0], "either field") {
			t.Errorf("%q: %q", expr, w)
		}
	}
}

func TestFieldCase_B60_AStepThatRestartsIsWarnedAboutAndTheIntervalIsSteady(t *testing.T) {
	w := mustParse(t, "*/40 * * * *").Warnings()
	if len(w) != 1 || !strings.Contains(w[0], "every: 40m") {
		t.Errorf("got %q", w)
	}
	s, err := cron.Every(40*time.Minute, parseTime(t, "2027-01-04T03:00:00Z"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"2027-01-04T03:40:00Z", "2027-01-04T04:20:00Z", "2027-01-04T05:00:00Z"}
	if got := forward(s, parseTime(t, "2027-01-04T03:05:00Z"), 3); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestFieldCase_B62_AStepOfDaysStartsOnTheFirst(t *testing.T) {
	s := sequence(t, "0 0 */5 * *", "UTC", cron.Options{}, cron.DST{})
	got := forward(s, parseTime(t, "2026-02-20T12:00:00Z"), 4)
	if want := "2026-03-06T00:00:00Z"; got[3] != want {
		t.Errorf("fourth is %s, want %s", got[3], want)
	}
}

func TestFieldCase_B65_ImpossibleDateIsRefusedAtOnce(t *testing.T) {
	_, err := cron.Parse("0 0 30 2 *")
	if err == nil || !strings.Contains(err.Error(), "never comes") {
		t.Errorf("got %v", err)
	}
	if took := quickest(func() { cron.Parse("0 0 30 2 *") }); took > 100*time.Millisecond {
		t.Errorf("took %v", took)
	}
}

func TestFieldCase_B68_FifteenthAndLastDay(t *testing.T) {
	s := sequence(t, "0 0 15,L * *", "UTC", cron.Options{}, cron.DST{})
	want := []string{"2027-01-31T00:00:00Z", "2027-02-15T00:00:00Z", "2027-02-28T00:00:00Z"}
	if got := forward(s, parseTime(t, "2027-01-20T00:00:00Z"), 3); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
