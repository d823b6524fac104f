package cron_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/duly-dev/duly/cron"
)

// The reference below follows the rules date by date, as slowly and plainly as
// they are written down. It shares nothing with the package: its expressions
// are generated together with the sets they stand for, so that it needs no
// parser, and it finds changes of offset by probing.

// refExpr is an expression as text and as what it means.
type refExpr struct {
	text               string
	and                bool
	secs, mins, hours  []int
	months, years      map[int]bool // nil years: all
	domStar, dowStar   bool
	domItems, dowItems []func(time.Time) bool // a date at 00:00 UTC
	dst                cron.DST
	zone               string
}

func (x *refExpr) String() string {
	return fmt.Sprintf("%q and=%v in %s, %s/%s", x.text, x.and, x.zone, x.dst.Gap, x.dst.Overlap)
}

func (x *refExpr) matches(date time.Time) bool {
	if !x.months[int(date.Month())] || x.years != nil && !x.years[date.Year()] {
		return false
	}
	hit := func(items []func(time.Time) bool) bool {
		return slices.ContainsFunc(items, func(f func(time.Time) bool) bool { return f(date) })
	}
	switch {
	case x.domStar && x.dowStar:
		return true
	case x.domStar:
		return hit(x.dowItems)
	case x.dowStar:
		return hit(x.domItems)
	case x.and:
		return hit(x.domItems) && hit(x.dowItems)
	}
	return hit(x.domItems) || hit(x.dowItems)
}

// refSegment is a stretch of constant offset.
type refSegment struct{ start, end, offset int64 }

func probe(loc *time.Location, from, to int64) []refSegment {
	const stride = 1800
	offset := func(sec int64) int64 {
		_, o := time.Unix(sec, 0).In(loc).Zone()
		return int64(o)
	}
	var segments []refSegment
	start := from
	for at := from; at < to; at += stride {
		if offset(at) == offset(at+stride) {
			continue
		}
		lo, hi := at, at+stride
		for hi-lo > 1 {
			if mid := (lo + hi) / 2; offset(mid) == offset(at) {
				lo = mid
			} else {
				hi = mid
			}
		}
		segments = append(segments, refSegment{start, hi, offset(at)})
		start = hi
	}
	return append(segments, refSegment{start, to + stride, offset(to)})
}

// due lists the due instants of a window by the rules.
func (x *refExpr) due(loc *time.Location, from, to time.Time) []string {
	const day = 86400
	segments := probe(loc, from.Unix()-5*day, to.Unix()+5*day)
	elapsed := len(x.hours) == 24
	set := map[int64]bool{}
	first := from.UTC().Truncate(24*time.Hour).AddDate(0, 0, -3)
	for date := first; date.Before(to.AddDate(0, 0, 3)); date = date.AddDate(0, 0, 1) {
		if date.Year() < 1970 || date.Year() > 9999 || !x.matches(date) {
			continue
		}
		midnight := date.Unix()
		exists := slices.ContainsFunc(segments, func(s refSegment) bool {
			return midnight-s.offset < s.end && midnight+day-s.offset > s.start
		})
		if !exists {
			continue
		}
		for _, h := range x.hours {
			for _, m := range x.mins {
				for _, s := range x.secs {
					for _, t := range x.instants(segments, elapsed, midnight+int64(h*3600+m*60+s)) {
						set[t] = true
					}
				}
			}
		}
	}
	var due []string
	for t := range set {
		if at := time.Unix(t, 0).UTC(); at.After(from) && !at.After(to) {
			due = append(due, at.Format(time.RFC3339))
		}
	}
	slices.Sort(due)
	return due
}

func (x *refExpr) instants(segments []refSegment, elapsed bool, wall int64) []int64 {
	var hits []int64
	for _, s := range segments {
		if t := wall - s.offset; s.start <= t && t < s.end {
			hits = append(hits, t)
		}
	}
	if elapsed {
		return hits
	}
	if len(hits) > 0 {
		switch x.dst.Overlap {
		case cron.OverlapBoth:
			return hits
		case cron.OverlapLast:
			return hits[len(hits)-1:]
		}
		return hits[:1]
	}
	for i := 1; i < len(segments); i++ {
		before, after := segments[i-1], segments[i]
		if before.end+before.offset <= wall && wall < after.start+after.offset {
			switch x.dst.Gap {
			case cron.GapSkip:
				return nil
			case cron.GapShift:
				return []int64{wall - before.offset}
			}
			return []int64{after.start}
		}
	}
	return nil
}

// Generators. Each returns the text of a field and what it stands for.

func genValues(r *rand.Rand, lo, hi, most int) (string, []int) {
	if r.IntN(8) == 0 && most >= hi-lo+1 {
		return "*", span(lo, hi, 1)
	}
	set := map[int]bool{}
	var texts []string
	for range 1 + r.IntN(3) {
		a := lo + r.IntN(hi-lo+1)
		b := a + r.IntN(hi-a+1)
		step := 1 + r.IntN(hi-lo+1)
		var values []int
		var text string
		switch r.IntN(6) {
		case 0, 1:
			text, values = fmt.Sprint(a), []int{a}
		case 2:
			text, values = fmt.Sprintf("%d-%d", a, b), span(a, b, 1)
		case 3:
			text, values = fmt.Sprintf("*/%d", step), span(lo, hi, step)
		case 4:
			text, values = fmt.Sprintf("%d/%d", a, step), span(a, hi, step)
		default:
			text, values = fmt.Sprintf("%d-%d/%d", a, b, step), span(a, b, step)
		}
		if len(set)+len(values) > most {
			text, values = fmt.Sprint(a), []int{a}
		}
		for _, v := range values {
			set[v] = true
		}
		texts = append(texts, text)
	}
	var all []int
	for v := range set {
		all = append(all, v)
	}
	slices.Sort(all)
	return strings.Join(texts, ","), all
}

func span(a, b, step int) []int {
	var v []int
	for ; a <= b; a += step {
		v = append(v, a)
	}
	return v
}

func lastOf(d time.Time) int { return time.Date(d.Year(), d.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day() }

// workday returns the weekday nearest to day n of the date's month, within it.
func workday(d time.Time, n int) int {
	best := 0
	for _, candidate := range []int{n, n - 1, n + 1, n - 2, n + 2} {
		if candidate < 1 || candidate > lastOf(d) {
			continue
		}
		w := time.Date(d.Year(), d.Month(), candidate, 0, 0, 0, 0, time.UTC).Weekday()
		if best == 0 && w != time.Saturday && w != time.Sunday {
			best = candidate
		}
	}
	return best
}

func genDays(r *rand.Rand) (string, func(time.Time) bool) {
	n := 1 + r.IntN(31)
	switch r.IntN(8) {
	case 0:
		return "L", func(d time.Time) bool { return d.Day() == lastOf(d) }
	case 1:
		n = min(n, 30)
		return fmt.Sprintf("L-%d", n), func(d time.Time) bool { return d.Day() == lastOf(d)-n }
	case 2:
		return "lw", func(d time.Time) bool { return d.Day() == workday(d, lastOf(d)) }
	case 3:
		return fmt.Sprintf("%dW", n), func(d time.Time) bool { return n <= lastOf(d) && d.Day() == workday(d, n) }
	}
	text, values := genValues(r, 1, 31, 30)
	return text, func(d time.Time) bool { return slices.Contains(values, d.Day()) }
}

var dayNames = []string{"SUN", "mon", "Tue", "WED", "thu", "Fri", "SAT"}

func genWeekdays(r *rand.Rand) (string, func(time.Time) bool) {
	w := r.IntN(7)
	name := fmt.Sprint(w)
	if r.IntN(2) == 0 {
		name = dayNames[w]
	} else if w == 0 && r.IntN(2) == 0 {
		name = "7"
	}
	is := func(d time.Time) bool { return int(d.Weekday()) == w }
	switch r.IntN(6) {
	case 0:
		return name + "L", func(d time.Time) bool { return is(d) && d.Day()+7 > lastOf(d) }
	case 1:
		k := 1 + r.IntN(5)
		return fmt.Sprintf("%s#%d", name, k), func(d time.Time) bool { return is(d) && (d.Day()-1)/7+1 == k }
	case 2:
		return name, is
	case 3:
		return fmt.Sprintf("%d-7", w), func(d time.Time) bool { return int(d.Weekday()) >= w || d.Weekday() == time.Sunday }
	}
	text, values := genValues(r, 0, 6, 6)
	return text, func(d time.Time) bool { return slices.Contains(values, int(d.Weekday())) }
}

func genExpr(r *rand.Rand) *refExpr {
	x := &refExpr{and: r.IntN(4) == 0, secs: []int{0}}
	sec := ""
	if r.IntN(4) == 0 {
		sec, x.secs = genValues(r, 0, 59, 4)
		sec += " "
	}
	minutes, hours, months := "", "", "*"
	minutes, x.mins = genValues(r, 0, 59, 8)
	hours, x.hours = genValues(r, 0, 23, 24)
	if r.IntN(2) == 0 { // most clocks change in these
		x.hours = []int{r.IntN(4)}
		hours = fmt.Sprint(x.hours[0])
	}
	all := span(1, 12, 1)
	if r.IntN(6) == 0 {
		months, all = genValues(r, 1, 12, 12)
	}
	x.months = map[int]bool{}
	for _, m := range all {
		x.months[m] = true
	}
	dom, dow := "*", "?"
	x.domStar, x.dowStar = r.IntN(3) > 0, r.IntN(3) > 0
	if !x.domStar {
		text, match := genDays(r)
		dom, x.domItems = text, append(x.domItems, match)
	}
	if !x.dowStar {
		text, match := genWeekdays(r)
		dow, x.dowItems = text, append(x.dowItems, match)
	}
	x.text = sec + strings.Join([]string{minutes, hours, dom, months, dow}, " ")
	if sec != "" && r.IntN(3) == 0 {
		text, years := genValues(r, 1970, 2110, 90)
		x.text += " " + text
		x.years = map[int]bool{}
		for _, y := range years {
			x.years[y] = true
		}
		if strings.Contains(text, "/") { // an open step runs on to 9999
			x.years = nil
			x.text = strings.TrimSuffix(x.text, text) + "*"
		}
	}
	gaps := []cron.Gap{"", cron.GapNext, cron.GapShift, cron.GapSkip}
	overlaps := []cron.Overlap{"", cron.OverlapFirst, cron.OverlapLast, cron.OverlapBoth}
	x.dst = cron.DST{Gap: gaps[r.IntN(4)], Overlap: overlaps[r.IntN(4)]}
	return x
}

// Zones whose clocks do something remarkable, and some plain ones.
var remarkable = []string{
	"UTC", "Asia/Kolkata", "Europe/Berlin", "Europe/London", "America/New_York", "America/Los_Angeles",
	"Australia/Lord_Howe", "Antarctica/Troll", "Antarctica/Casey", "Antarctica/Vostok", "America/Sao_Paulo",
	"America/Santiago", "America/Havana", "America/St_Johns", "America/Asuncion", "America/Ojinaga",
	"America/Ciudad_Juarez", "America/Caracas", "America/Scoresbysund", "Africa/Cairo", "Africa/Casablanca",
	"Africa/Monrovia", "Asia/Amman", "Asia/Beirut", "Asia/Gaza", "Asia/Pyongyang", "Asia/Tehran",
	"Asia/Kathmandu", "Atlantic/Azores", "Europe/Dublin", "Europe/Moscow", "Pacific/Apia", "Pacific/Kwajalein",
	"Pacific/Kiritimati", "Pacific/Fakaofo", "Pacific/Chatham", "Pacific/Norfolk", "Pacific/Easter",
}

// changes finds, for each zone once, its changes of offset by looking at every
// day.
type changes map[string][]int64

func (c changes) of(loc *time.Location) []int64 {
	if known, ok := c[loc.String()]; ok {
		return known
	}
	var changes []int64
	from := time.Date(1970, 1, 2, 0, 0, 0, 0, time.UTC)
	for t := from; t.Year() < 2100; t = t.AddDate(0, 0, 1) {
		_, a := t.In(loc).Zone()
		if _, b := t.AddDate(0, 0, 1).In(loc).Zone(); a != b {
			changes = append(changes, t.Unix())
		}
	}
	c[loc.String()] = changes
	return changes
}

func TestAgreesWithTheReference(t *testing.T) {
	rounds := 20000
	if testing.Short() {
		rounds = 2000
	}
	r := rand.New(rand.NewPCG(2026, 11))
	known := changes{}
	tried, listed := 0, 0
	for range rounds {
		x := genExpr(r)
		x.zone = remarkable[r.IntN(len(remarkable))]
		e, err := cron.ParseWith(x.text, cron.Options{DayAnd: x.and})
		if err != nil {
			if strings.Contains(err.Error(), string(cron.ReasonImpossibleDate)) {
				continue
			}
			t.Fatal(err)
		}
		loc, err := cron.LoadZone(x.zone)
		if err != nil {
			t.Fatal(err)
		}
		moments := append(known.of(loc), 0, 1e9, 2e9, 4e9)
		at := moments[r.IntN(len(moments))]
		from := time.Unix(at-r.Int64N(3*86400), r.Int64N(2)*r.Int64N(1e9))
		to := from.Add(time.Duration(r.Int64N(5*86400)) * time.Second)
		want := x.due(loc, from, to)
		tried++
		listed += len(want)

		s := e.In(loc, x.dst)
		if got := window(s, from, to); !slices.Equal(got, want) {
			t.Fatalf("%v\nfrom %v to %v\n got %v\nwant %v", x, from.UTC(), to.UTC(), got, want)
		}
		back := backward(s, to.Add(1), len(want))
		slices.Reverse(back)
		if !slices.Equal(back, want) {
			t.Fatalf("%v\nbackwards from %v to %v\n got %v\nwant %v", x, to.UTC(), from.UTC(), back, want)
		}
		checkBetween(t, r, x, s, want)
	}
	t.Logf("%d expressions, %d due instants", tried, listed)
	if listed < rounds {
		t.Errorf("only %d due instants: the test hardly tests", listed)
	}
}

// checkBetween asks for the neighbours of moments inside a window.
func checkBetween(t *testing.T, r *rand.Rand, x *refExpr, s cron.Sequence, due []string) {
	t.Helper()
	if len(due) < 2 {
		return
	}
	i := 1 + r.IntN(len(due)-1)
	a, b := parseTime(t, due[i-1]), parseTime(t, due[i])
	inside := a.Add(1 + time.Duration(r.Int64N(int64(b.Sub(a)-1))))
	if got, ok := s.Next(inside); !ok || !got.Equal(b) {
		t.Fatalf("%v: next after %v is %v, want %v", x, inside, got, b)
	}
	if got, ok := s.Prev(inside); !ok || !got.Equal(a) {
		t.Fatalf("%v: prev before %v is %v, want %v", x, inside, got, a)
	}
	if got, _ := s.Next(a); !got.Equal(b) {
		t.Fatalf("%v: next after %v is %v, want %v", x, a, got, b)
	}
	if got, _ := s.Prev(b); !got.Equal(a) {
		t.Fatalf("%v: prev before %v is %v, want %v", x, b, got, a)
	}
}

// Resolve must map each wall time of a window as the reference does.
func TestResolveAgreesWithTheReference(t *testing.T) {
	r := rand.New(rand.NewPCG(2026, 12))
	known := changes{}
	for range 4000 {
		x := genExpr(r)
		x.zone = remarkable[r.IntN(len(remarkable))]
		loc, err := cron.LoadZone(x.zone)
		if err != nil {
			t.Fatal(err)
		}
		at := known.of(loc)
		if len(at) == 0 {
			continue
		}
		date := time.Unix(at[r.IntN(len(at))], 0).UTC().Truncate(24*time.Hour).AddDate(0, 0, r.IntN(3)-1)
		segments := probe(loc, date.Unix()-5*86400, date.Unix()+6*86400)
		exists := slices.ContainsFunc(segments, func(s refSegment) bool {
			return date.Unix()-s.offset < s.end && date.Unix()+86400-s.offset > s.start
		})
		for range 40 {
			clock := r.IntN(86400)
			if r.IntN(2) == 0 {
				clock %= 4 * 3600
			}
			var want []int64
			if exists {
				want = x.instants(segments, false, date.Unix()+int64(clock))
			}
			var got []int64
			for _, v := range cron.Resolve(loc, x.dst, date.Year(), date.Month(), date.Day(), clock/3600, clock/60%60, clock%60) {
				got = append(got, v.Unix())
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%s %v: %s +%ds\n got %v\nwant %v", x.zone, x.dst, date.Format(time.DateOnly), clock, got, want)
			}
		}
	}
}
