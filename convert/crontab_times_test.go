package convert

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/cron"
	"github.com/duly-dev/duly/timing"
)

// sinceEver remembers zones with the clock changes of all times.
func sinceEver() *zones {
	z := newZones()
	z.first = 1970
	return z
}

// crontabLine converts one line.
func crontabLine(t testing.TB, zones *zones, line, zone string) (duly.Schedule, *Result) {
	t.Helper()
	c := crontabConverter{
		Result: &Result{common: &duly.Schedule{}}, opt: CrontabOptions{Zone: zone},
		zones: zones, names: newNames(),
	}
	c.convert(Source{Name: "crontab", Data: []byte(line + "\n")})
	if len(c.Schedules) != 1 {
		t.Fatalf("%q was not converted: %v", line, c.Notes)
	}
	return c.Schedules[0].Schedule, c.Result
}

// dues lists what a schedule is due at from a time on.
func dues(t testing.TB, s duly.Schedule, from time.Time, more func(time.Time) bool) {
	t.Helper()
	tm, faults := timing.Compile(s)
	if len(faults) > 0 {
		t.Fatalf("%+v: %v", s, faults)
	}
	seq := tm.Sequence(time.Time{})
	for d, ok := seq.Next(from); ok; d, ok = seq.Next(d.At) {
		if d.Skip == "" && !more(d.At) {
			return
		}
	}
}

// corpusCase is what this test needs of a line of the cron corpus.
type corpusCase struct {
	ID, Kind, Expr, TZ, Mode string
	From, To                 time.Time
	N                        int
	Expect                   []string
	IfVixie                  []string `json:"if_vixie"`
}

func readCorpus(t *testing.T, path string) []corpusCase {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var cases []corpusCase
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var c corpusCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		cases = append(cases, c)
	}
	return cases
}

// vixie.jsonl has the times that the cron daemon of Debian was seen to give, by
// an accelerated clock, where they differ from Duly's. Everywhere else Duly's
// corpus is right for cron too.
func TestAnImportedLineIsDueWhenCronWouldStartIt(t *testing.T) {
	zones := sinceEver()
	differing := map[string]bool{}
	for _, c := range readCorpus(t, "testdata/vixie.jsonl") {
		differing[c.ID] = true
		checkCorpus(t, zones, c, c.IfVixie)
	}
	alike := 0
	for _, c := range readCorpus(t, "../cron/testdata/cron.jsonl") {
		if c.Kind == "prev" || c.Mode != "" || differing[c.ID] || !isCronLine(c.Expr) || joinsDays(c.Expr) {
			continue
		}
		alike++
		checkCorpus(t, zones, c, c.Expect)
	}
	if len(differing) != 85 || alike < 1000 {
		t.Errorf("%d differing cases, and %d others", len(differing), alike)
	}
}

func checkCorpus(t *testing.T, zones *zones, c corpusCase, want []string) {
	t.Helper()
	s, _ := crontabLine(t, zones, c.Expr+" command", c.TZ)
	got := []string{}
	dues(t, s, c.From, func(at time.Time) bool {
		if c.Kind == "window" && at.After(c.To) || c.Kind == "next" && len(got) == len(want) {
			return false
		}
		got = append(got, at.Format(time.RFC3339))
		return true
	})
	if !slices.Equal(got, want) {
		t.Errorf("%s %s %q %s from %s:\n got %v\nwant %v\n as %+v", c.ID, c.Kind, c.Expr, c.TZ, c.From.Format(time.RFC3339), got, want, s.Timing)
	}
}

// joinsDays reports whether the day fields are joined in another way than by
// Duly. TestRandomLinesAreDueInTheMinutesThatMatch has these.
func joinsDays(expr string) bool {
	f := strings.Fields(expr)
	return len(f) == 5 && f[2] != "*" && f[4] != "*" && (f[2][0] == '*' || f[4][0] == '*')
}

// isCronLine reports whether an expression is one of cron's dialect.
func isCronLine(expr string) bool {
	words := strings.Fields(expr)
	if len(words) == 1 {
		return macros[expr] != ""
	}
	if len(words) != 5 || strings.ContainsAny(expr, "?#") {
		return false
	}
	e, err := readEntry(expr + " command")
	return err == nil && e.looksReal()
}

// naive is cron's own way: match each field of each minute by counting through
// it. It shares nothing with the code under test.
type naive struct {
	in         [5]map[int]bool
	domS, dowS bool
}

func readNaive(expr string) naive {
	var n naive
	bounds := [5][2]int{{0, 59}, {0, 23}, {1, 31}, {1, 12}, {0, 7}}
	for i, text := range strings.Fields(expr) {
		n.in[i] = map[int]bool{}
		for _, item := range strings.Split(text, ",") {
			body, step := item, 1
			if at := strings.Index(item, "/"); at >= 0 {
				body = item[:at]
				step, _ = strconv.Atoi(item[at+1:])
			}
			lo, hi := bounds[i][0], bounds[i][1]
			if body != "*" {
				if at := strings.Index(body, "-"); at >= 0 {
					lo, _ = strconv.Atoi(body[:at])
					hi, _ = strconv.Atoi(body[at+1:])
				} else {
					lo, _ = strconv.Atoi(body)
					hi = lo
				}
			}
			for v := lo; v <= hi; v += step {
				n.in[i][v] = true
			}
		}
		if text[0] == '*' {
			n.domS = n.domS || i == 2
			n.dowS = n.dowS || i == 4
		}
	}
	return n
}

func (n naive) matchesDay(t time.Time) bool {
	dom, dow := n.in[2][t.Day()], n.in[4][int(t.Weekday())] || t.Weekday() == 0 && n.in[4][7]
	days := dom || dow
	if n.domS || n.dowS {
		days = dom && dow
	}
	return n.in[3][int(t.Month())] && days
}

func TestRandomLinesAreDueInTheMinutesThatMatch(t *testing.T) {
	zones := newZones()
	r := rand.New(rand.NewPCG(1, 2))
	from := time.Date(2027, 12, 20, 0, 0, 0, 0, time.UTC)
	converted := 0
	for range 2000 {
		expr := randomExpr(r)
		n := readNaive(expr)
		var want []time.Time
		for day := from; day.Before(from.AddDate(0, 0, 120)) && len(want) < 40; day = day.AddDate(0, 0, 1) {
			for m := range 24 * 60 {
				if n.in[0][m%60] && n.in[1][m/60] && n.matchesDay(day) && len(want) < 40 && day.Add(time.Duration(m)*time.Minute).After(from) {
					want = append(want, day.Add(time.Duration(m)*time.Minute))
				}
			}
		}
		if len(want) == 0 {
			continue // never, or not soon: Duly may refuse it
		}
		converted++
		s, _ := crontabLine(t, zones, expr+" command", "UTC")
		var got []time.Time
		dues(t, s, from, func(at time.Time) bool {
			got = append(got, at)
			return len(got) < len(want)
		})
		if !slices.EqualFunc(got, want, time.Time.Equal) {
			t.Fatalf("%q, converted to %+v except %+v:\n got %v\nwant %v", expr, s.Timing, s.Except, got, want)
		}
	}
	if converted < 1000 {
		t.Errorf("only %d lines were due at all", converted)
	}
}

// randomExpr favours what is difficult: stars with steps in both day fields.
func randomExpr(r *rand.Rand) string {
	field := func(lo, hi int, starred int) string {
		if r.IntN(10) < starred {
			return "*"
		}
		var items []string
		for range 1 + r.IntN(3) {
			a := lo + r.IntN(hi-lo+1)
			b := a + r.IntN(hi-a+1)
			step := 1 + r.IntN(hi-lo+8)
			switch r.IntN(5) {
			case 0:
				items = append(items, fmt.Sprintf("*/%d", step))
			case 1:
				items = append(items, fmt.Sprintf("%d-%d/%d", a, b, step))
			case 2:
				items = append(items, fmt.Sprintf("%d-%d", a, b))
			case 3:
				items = append(items, fmt.Sprintf("%02d", a))
			case 4:
				items = append(items, strconv.Itoa(a), "*")
			}
		}
		return strings.Join(items, ",")
	}
	weeks := []string{"*/31,1-7", "*/40,8-14", "1-7", "*/2", "15-21,*/99", "29-31"}
	dom := field(1, 31, 4)
	if r.IntN(3) == 0 {
		dom = weeks[r.IntN(len(weeks))]
	}
	return strings.Join([]string{field(0, 59, 1), field(0, 23, 3), dom, field(1, 12, 7), field(0, 7, 3)}, " ")
}

// For expressions that mean the same to both, importing changes nothing.
func TestPlainExpressionsComeOutAsTheyWentIn(t *testing.T) {
	zones := newZones()
	from := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, expr := range []string{
		"0 2 * * *", "*/15 * * * *", "30 4 1,15 * 5", "5 4 * * sun", "0 22 * * 1-5", "23 0-23/2 * * *",
		"0 0 1 jan *", "15 14 1 * *", "0 0 29 2 *", "0 12 * * 7", "0-10/5 8-18 * mar-oct MON-FRI",
		"@daily", "@weekly", "@monthly", "@yearly", "@hourly", "@midnight", "@annually",
	} {
		for _, zone := range []string{"UTC", "Europe/Berlin", "Australia/Lord_Howe", "America/Sao_Paulo"} {
			e, err := cron.Parse(expr)
			if err != nil {
				t.Fatal(err)
			}
			loc, err := cron.LoadZone(zone)
			if err != nil {
				t.Fatal(err)
			}
			s, r := crontabLine(t, zones, expr+" command", zone)
			if strings.Contains(expr, "/") && zone != "UTC" {
				continue // starred: what cron does at clock changes has a test of its own
			}
			if s.Cron != expr || len(s.Timings)+len(s.Except) > 0 || r.Count(Changed) > 0 {
				t.Errorf("%q in %s became %+v: %v", expr, zone, s.Timing, r.Notes)
			}
			seq := e.In(loc, cron.DST{})
			want, n := from, 0
			dues(t, s, from, func(at time.Time) bool {
				want, _ = seq.Next(want)
				if !at.Equal(want) {
					t.Errorf("%q in %s is due at %v, want %v", expr, zone, at, want)
					return false
				}
				n++
				return n < 500
			})
		}
	}
}
