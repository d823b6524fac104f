package timing

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// frequency is the FREQ of a rule, the rarest first.
type frequency int

const (
	yearly frequency = iota
	monthly
	weekly
	daily
	hourly
	minutely
	secondly
)

var frequencies = []string{"YEARLY", "MONTHLY", "WEEKLY", "DAILY", "HOURLY", "MINUTELY", "SECONDLY"}

// weekdays in the order of time.Weekday.
var weekdays = []string{"SU", "MO", "TU", "WE", "TH", "FR", "SA"}

// byDay is an item of BYDAY: a weekday, or with n the nth one (from the end if
// negative) of the month or year.
type byDay struct {
	n       int
	weekday int
}

// rruleText is a recurrence rule as it was written, every value in its bounds.
type rruleText struct {
	start time.Time // DTSTART as a wall time in UTC; zero where there is none
	freq  frequency
	parts map[string]bool // which parts are given

	interval, count int
	weekStart       int
	until           time.Time // as a wall time, or in UTC; zero where there is none
	untilUTC        bool

	month, monthDay, yearDay, weekNo []int
	hour, minute, second             []int
	setPos                           []int
	day                              []byDay
}

const (
	maxRRuleLength   = 4096
	maxRRuleInterval = 1_000_000
	maxRRuleCount    = 100_000
)

// parseRRule reads a rule, with or without a DTSTART line before it. It
// refuses what RFC 5545 forbids, and what has no single meaning.
func parseRRule(text string, loc *time.Location) (*rruleText, error) {
	if len(text) > maxRRuleLength {
		return nil, fmt.Errorf("is %d bytes long; at most %d are allowed", len(text), maxRRuleLength)
	}
	r := &rruleText{interval: 1, weekStart: int(time.Monday), parts: map[string]bool{}}
	ruleSeen := false
	for _, line := range strings.FieldsFunc(text, func(c rune) bool { return c == '\n' || c == '\r' }) {
		line = strings.TrimSpace(line)
		name := strings.ToUpper(line)
		if i := strings.IndexAny(name, ";:"); i >= 0 && !strings.Contains(name[:i], "=") {
			name = name[:i]
		}
		var err error
		switch {
		case line == "":
		case name == "DTSTART" && (ruleSeen || !r.start.IsZero()):
			err = fmt.Errorf("DTSTART comes once, before the rule")
		case name == "DTSTART":
			r.start, err = parseDTStart(line[len("DTSTART"):], loc)
		case name == "RDATE" || name == "EXDATE" || name == "EXRULE":
			err = fmt.Errorf("%s is not part of a rule: put further instants into `timings` and exceptions into `except`", name)
		case ruleSeen:
			err = fmt.Errorf("holds more than one rule: give each its own entry in `timings`")
		default:
			ruleSeen = true
			if strings.HasPrefix(strings.ToUpper(line), "RRULE:") {
				line = line[len("RRULE:"):]
			}
			err = r.rule(line)
		}
		if err != nil {
			return nil, err
		}
	}
	if !ruleSeen {
		return nil, fmt.Errorf("holds no rule: write FREQ=DAILY;… and, if it should not begin at the schedule's start, a DTSTART line before it")
	}
	return r, r.check()
}

// parseDTStart reads what follows the word DTSTART.
func parseDTStart(rest string, loc *time.Location) (time.Time, error) {
	params, value, ok := strings.Cut(rest, ":")
	if !ok {
		return time.Time{}, fmt.Errorf("DTSTART needs a value, as in DTSTART:20270104T090000")
	}
	layout := "20060102T150405"
	for _, p := range strings.Split(params, ";") {
		key, v, _ := strings.Cut(p, "=")
		switch key = strings.ToUpper(key); {
		case p == "":
		case key == "TZID" && v != loc.String():
			return time.Time{}, fmt.Errorf("DTSTART is in zone %q but the schedule's timezone is %s: the zone belongs to the schedule, so make them equal or leave TZID out", v, loc)
		case key == "TZID":
		case key == "VALUE" && strings.EqualFold(v, "DATE"):
			layout = "20060102"
		case key == "VALUE" && strings.EqualFold(v, "DATE-TIME"):
		default:
			return time.Time{}, fmt.Errorf("DTSTART has an unknown parameter %q", p)
		}
	}
	if bare, utc := strings.CutSuffix(value, "Z"); utc {
		if loc != time.UTC {
			return time.Time{}, fmt.Errorf("DTSTART is in UTC but the schedule's timezone is %s: write the local time, without Z", loc)
		}
		value = bare
	}
	t, err := parseWall(layout, value)
	if err != nil {
		return time.Time{}, fmt.Errorf("DTSTART %w", err)
	}
	return t, nil
}

func parseWall(layout, value string) (time.Time, error) {
	t, err := time.Parse(layout, value)
	if err != nil || len(value) != len(layout) {
		return time.Time{}, fmt.Errorf("%q is not a date and time that exists: write it as 20270104T090000", value)
	}
	if t.Year() < 1970 {
		return time.Time{}, fmt.Errorf("%q lies before 1970", value)
	}
	return t, nil
}

// rule reads the parts of a rule.
func (r *rruleText) rule(line string) error {
	for _, part := range strings.Split(strings.ToUpper(line), ";") {
		key, value, ok := strings.Cut(part, "=")
		if !ok || key == "" || value == "" {
			return fmt.Errorf("%q is not a part of a rule: write NAME=VALUE, separated by ';'", part)
		}
		if r.parts[key] {
			return fmt.Errorf("%s is given twice", key)
		}
		r.parts[key] = true
		if err := r.part(key, value); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	if !r.parts["FREQ"] {
		return fmt.Errorf("FREQ is missing: a rule begins FREQ=DAILY (or YEARLY, MONTHLY, WEEKLY, HOURLY, MINUTELY, SECONDLY)")
	}
	return nil
}

func (r *rruleText) part(key, value string) (err error) {
	switch key {
	case "FREQ":
		i := slices.Index(frequencies, value)
		if i < 0 {
			return fmt.Errorf("%q is none of %s", value, strings.Join(frequencies, ", "))
		}
		r.freq = frequency(i)
	case "INTERVAL":
		r.interval, err = number(value, 1, maxRRuleInterval)
	case "COUNT":
		r.count, err = number(value, 1, maxRRuleCount)
	case "UNTIL":
		value, r.untilUTC = strings.CutSuffix(value, "Z")
		r.until, err = parseWall("20060102T150405", value)
	case "WKST":
		r.weekStart, err = weekdayOf(value)
	case "BYMONTH":
		r.month, err = numbers(value, 1, 12, false)
	case "BYMONTHDAY":
		r.monthDay, err = numbers(value, 1, 31, true)
	case "BYYEARDAY":
		r.yearDay, err = numbers(value, 1, 366, true)
	case "BYWEEKNO":
		r.weekNo, err = numbers(value, 1, 53, true)
	case "BYHOUR":
		r.hour, err = numbers(value, 0, 23, false)
	case "BYMINUTE":
		r.minute, err = numbers(value, 0, 59, false)
	case "BYSECOND":
		r.second, err = numbers(value, 0, 59, false)
	case "BYSETPOS":
		r.setPos, err = numbers(value, 1, 366, true)
	case "BYDAY":
		for _, item := range strings.Split(value, ",") {
			d, err := parseByDay(item)
			if err != nil {
				return err
			}
			r.day = append(r.day, d)
		}
	default:
		return fmt.Errorf("is not supported; the parts are FREQ, INTERVAL, COUNT, UNTIL, WKST, BYMONTH, BYMONTHDAY, BYYEARDAY, BYWEEKNO, BYDAY, BYHOUR, BYMINUTE, BYSECOND and BYSETPOS")
	}
	return err
}

// check refuses combinations that RFC 5545 forbids, and those on which
// programs disagree.
func (r *rruleText) check() error {
	numbered := slices.ContainsFunc(r.day, func(d byDay) bool { return d.n != 0 })
	maxNth := 53
	if r.freq == monthly || len(r.month) > 0 {
		maxNth = 5
	}
	for _, rule := range []struct {
		broken bool
		text   string
	}{
		{r.count > 0 && !r.until.IsZero(), "COUNT and UNTIL exclude each other"},
		{r.freq == weekly && len(r.monthDay) > 0, "BYMONTHDAY cannot stand with FREQ=WEEKLY"},
		{len(r.yearDay) > 0 && (r.freq == daily || r.freq == weekly || r.freq == monthly), "BYYEARDAY cannot stand with FREQ=DAILY, WEEKLY or MONTHLY"},
		{len(r.weekNo) > 0 && r.freq != yearly, "BYWEEKNO needs FREQ=YEARLY"},
		{len(r.weekNo) > 0 && len(r.day) == 0, "BYWEEKNO needs BYDAY: programs disagree on which days of the week it means alone"},
		{numbered && r.freq != monthly && r.freq != yearly, "BYDAY with a number needs FREQ=MONTHLY or YEARLY"},
		{numbered && len(r.weekNo) > 0, "BYDAY with a number cannot stand with BYWEEKNO"},
		{slices.ContainsFunc(r.day, func(d byDay) bool { return max(d.n, -d.n) > maxNth }), fmt.Sprintf("BYDAY: a number must lie between 1 and %d here, or be that far from the end", maxNth)},
		{len(r.setPos) > 0 && r.freq > daily, "BYSETPOS is supported for DAILY and rarer rules only"},
		{len(r.setPos) > 0 && !r.hasBy(), "BYSETPOS needs another BY… part to choose from"},
	} {
		if rule.broken {
			return fmt.Errorf("%s", rule.text)
		}
	}
	return nil
}

func (r *rruleText) hasBy() bool {
	for name := range r.parts {
		if strings.HasPrefix(name, "BY") && name != "BYSETPOS" {
			return true
		}
	}
	return false
}

func weekdayOf(text string) (int, error) {
	i := slices.Index(weekdays, text)
	if i < 0 {
		return 0, fmt.Errorf("%q is not a weekday: use MO, TU, WE, TH, FR, SA, SU", text)
	}
	return i, nil
}

func parseByDay(item string) (byDay, error) {
	name := item[max(0, len(item)-2):]
	wd, err := weekdayOf(name)
	if err != nil {
		return byDay{}, err
	}
	d := byDay{weekday: wd}
	if prefix := item[:len(item)-2]; prefix != "" {
		d.n, err = signed(prefix, 1, 53, true)
	}
	return d, err
}

func numbers(value string, lo, hi int, negative bool) ([]int, error) {
	var all []int
	for _, item := range strings.Split(value, ",") {
		n, err := signed(item, lo, hi, negative)
		if err != nil {
			return nil, err
		}
		all = append(all, n)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// signed reads a number from lo to hi, or one that counts from the end.
func signed(text string, lo, hi int, negative bool) (int, error) {
	digits, minus := strings.CutPrefix(text, "-")
	if !minus {
		digits = strings.TrimPrefix(digits, "+")
	}
	n, err := number(digits, lo, hi)
	if err != nil || minus && !negative {
		also := ""
		if negative {
			also = fmt.Sprintf(" or -%d to -%d", lo, hi)
		}
		return 0, fmt.Errorf("%q is not a number from %d to %d%s", text, lo, hi, also)
	}
	if minus {
		n = -n
	}
	return n, nil
}

func number(text string, lo, hi int) (int, error) {
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil || int(n) < lo || int(n) > hi {
		return 0, fmt.Errorf("%q is not a number from %d to %d", text, lo, hi)
	}
	return int(n), nil
}
