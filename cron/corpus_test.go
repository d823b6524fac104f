package cron_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/duly-dev/duly/cron"
)

// corpusCase is a line of testdata/cron.jsonl or cron-invalid.jsonl.
type corpusCase struct {
	ID, Kind, Expr, TZ, Mode, Rule string
	From, To, Anchor               time.Time
	N                              int
	Expect                         []string
	End                            bool
	Reason                         cron.Reason
}

func readCorpus(t testing.TB, name string) []corpusCase {
	t.Helper()
	f, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var cases []corpusCase
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var c corpusCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		cases = append(cases, c)
	}
	return cases
}

func (c corpusCase) sequence(t testing.TB) cron.Sequence {
	t.Helper()
	if strings.HasPrefix(c.Expr, "@every") {
		every, err := cron.ParseEvery(c.Expr)
		if err != nil {
			t.Fatal(err)
		}
		s, err := cron.Every(every, c.Anchor)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	return sequence(t, c.Expr, c.TZ, cron.Options{DayAnd: c.Mode == "and"}, cron.DST{})
}

func sequence(t testing.TB, expr, zone string, o cron.Options, dst cron.DST) cron.Sequence {
	t.Helper()
	e, err := cron.ParseWith(expr, o)
	if err != nil {
		t.Fatal(err)
	}
	loc, err := cron.LoadZone(zone)
	if err != nil {
		t.Fatal(err)
	}
	return e.In(loc, dst)
}

// forward and backward list up to n instants; one more is asked for than a
// caller needs if that shows whether there are more.
func forward(s cron.Sequence, from time.Time, n int) []string {
	var got []string
	for t, ok := s.Next(from); ok && len(got) < n; t, ok = s.Next(t) {
		got = append(got, t.Format(time.RFC3339Nano))
	}
	return got
}

func backward(s cron.Sequence, from time.Time, n int) []string {
	var got []string
	for t, ok := s.Prev(from); ok && len(got) < n; t, ok = s.Prev(t) {
		got = append(got, t.Format(time.RFC3339Nano))
	}
	return got
}

func window(s cron.Sequence, from, to time.Time) []string {
	var got []string
	for t := range cron.Between(s, from, to) {
		got = append(got, t.Format(time.RFC3339Nano))
	}
	return got
}

// refusedThough is an expression that the corpus lists as one that simply has
// ended. It never began: by the corpus's own rule, and its invalid twin with ?
// for *, a 29 February in 2025-2027 is an impossible date.
const refusedThough = "0 0 0 29 2 * 2025-2027"

func TestCorpus(t *testing.T) {
	ran := map[string]int{}
	for _, c := range readCorpus(t, "cron.jsonl") {
		ran[c.Kind]++
		if c.Expr == refusedThough && len(c.Expect) == 0 {
			if _, err := cron.Parse(c.Expr); err == nil {
				t.Errorf("%s: %q is accepted", c.ID, c.Expr)
			}
			continue
		}
		s := c.sequence(t)
		var got []string
		switch c.Kind {
		case "next":
			got = forward(s, c.From, c.N)
		case "prev":
			got = backward(s, c.From, c.N)
		case "window":
			got = window(s, c.From, c.To)
		default:
			t.Fatalf("%s: unknown kind %q", c.ID, c.Kind)
		}
		if !slices.Equal(got, c.Expect) {
			t.Errorf("%s (%s): %s of %q in %s from %v\n got %v\nwant %v", c.ID, c.Rule, c.Kind, c.Expr, c.TZ, c.From, got, c.Expect)
		}
		if c.End != (c.Kind != "window" && len(got) < c.N) {
			t.Errorf("%s: end is %v, got %d of %d", c.ID, c.End, len(got), c.N)
		}
	}
	if ran["next"] != 1735 || ran["prev"] != 426 || ran["window"] != 204 {
		t.Errorf("ran %v", ran)
	}
}

// What next lists forwards, prev must list backwards, and the other way
// round, on every case that has a list.
func TestCorpusBothWays(t *testing.T) {
	for _, c := range readCorpus(t, "cron.jsonl") {
		if len(c.Expect) == 0 {
			continue
		}
		want := slices.Clone(c.Expect)
		slices.Sort(want)
		first, last := parseTime(t, want[0]), parseTime(t, want[len(want)-1])
		s := c.sequence(t)
		if got := window(s, first.Add(-1), last); !slices.Equal(got, want) {
			t.Errorf("%s: window of %q in %s\n got %v\nwant %v", c.ID, c.Expr, c.TZ, got, want)
		}
		got := backward(s, last.Add(1), len(want))
		slices.Reverse(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: backwards through %q in %s\n got %v\nwant %v", c.ID, c.Expr, c.TZ, got, want)
		}
	}
}

func parseTime(t testing.TB, s string) time.Time {
	t.Helper()
	v, err := time.Parse(time.RFC3339, s)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// reasonExceptions are lines whose suggested reason this package does not
// give, because it looks at the text in another order.
var reasonExceptions = map[string]cron.Reason{
	"1 - 5 * * * *": cron.ReasonSyntax, // seven fields, of which the second is a lone dash
}

func TestCorpusInvalidIsRefused(t *testing.T) {
	cases := readCorpus(t, "cron-invalid.jsonl")
	for _, c := range cases {
		var err error
		switch {
		case c.Reason == cron.ReasonUnknownZone:
			_, err = cron.LoadZone(c.TZ)
		case c.Reason == cron.ReasonBadInterval:
			_, err = cron.ParseEvery(c.Expr)
			if _, err := cron.Parse(c.Expr); err == nil {
				t.Errorf("%s: Parse(%q) succeeds", c.ID, c.Expr)
			}
		default:
			_, err = cron.Parse(c.Expr)
		}
		var refused *cron.ParseError
		if !errors.As(err, &refused) {
			t.Errorf("%s: %q in %q: got %v, want a refusal for %s", c.ID, c.Expr, c.TZ, err, c.Reason)
			continue
		}
		want := c.Reason
		if other, ok := reasonExceptions[c.Expr]; ok {
			want = other
		}
		if refused.Reason != want {
			t.Errorf("%s: %v; want %s", c.ID, err, want)
		}
		if refused.Column < 1 || refused.Column > len(refused.Expr)+1 || refused.Message == "" {
			t.Errorf("%s: the error does not say where or what: %+v", c.ID, refused)
		}
	}
	if len(cases) != 251 {
		t.Errorf("%d cases", len(cases))
	}
}
