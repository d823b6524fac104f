package cron

import (
	"fmt"
	"strings"
)

// field describes one position of an expression.
type field struct {
	name     string
	min, max int
	size     int      // number of different values, the largest step
	names    []string // of the values from min on
	restart  string   // when a step in this field starts over
	unit     string   // of one step, for the hint to use an interval
	unitSize int
}

const (
	second = iota
	minute
	hour
	dayOfMonth
	month
	dayOfWeek
	year
)

var fields = [...]field{
	second:     {name: "second", max: 59, size: 60, restart: "minute", unit: "s", unitSize: 1},
	minute:     {name: "minute", max: 59, size: 60, restart: "hour", unit: "m", unitSize: 1},
	hour:       {name: "hour", max: 23, size: 24, restart: "day", unit: "h", unitSize: 1},
	dayOfMonth: {name: "day-of-month", min: 1, max: 31, size: 31, restart: "month", unit: "h", unitSize: 24},
	month: {name: "month", min: 1, max: 12, size: 12, restart: "year", names: []string{
		"JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC",
	}},
	// 7 is a second way to say Sunday.
	dayOfWeek: {name: "day-of-week", max: 7, size: 7, restart: "week", unit: "h", unitSize: 24, names: []string{
		"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT",
	}},
	year: {name: "year", min: minYear, max: maxYear, size: maxYear - minYear + 1},
}

// last returns the value at which * and an open step end.
func (f *field) last() int {
	if f.name == fields[dayOfWeek].name {
		return 6
	}
	return f.max
}

func (f *field) lookup(name string) (int, bool) {
	for i, n := range f.names {
		if n == name {
			return f.min + i, true
		}
	}
	return 0, false
}

// item is one element of a list while it is read.
type item struct {
	*field
	kind int
	text string // upper case
	col  int    // of its first byte in the expression
}

func (it *item) fail(reason Reason, format string, args ...any) *ParseError {
	return &ParseError{Field: it.name, Column: it.col, Reason: reason, Message: fmt.Sprintf(format, args...)}
}

func (it *item) syntax() *ParseError {
	return it.fail(ReasonSyntax, "%q is not understood; write a number, a range such as 1-5, a step such as */5, or a list of these", it.text)
}

// span is a run of values, every step-th one from lo to hi.
type span struct{ lo, hi, step int }

// value reads a number or a name at the start of s. The number is cut off far
// above any field's range, so that it cannot overflow.
func (it *item) value(s string) (v int, rest string, err *ParseError) {
	if n := leading(s, isDigit); n > 0 {
		for _, c := range s[:n] {
			v = min(v*10+int(c-'0'), 1e6)
		}
		return v, s[n:], nil
	}
	n := leading(s, isLetter)
	if n == 0 {
		return 0, s, it.syntax()
	}
	if v, ok := it.lookup(s[:n]); ok {
		return v, s[n:], nil
	}
	if strings.Trim(s[:n], "LW") == "" {
		return 0, s, it.badModifier()
	}
	if it.names == nil {
		return 0, s, it.fail(ReasonUnknownName, "%q is not a number, and this field has no names", s[:n])
	}
	return 0, s, it.fail(ReasonUnknownName, "%q is not one of %s", s[:n], strings.Join(it.names, ", "))
}

func (it *item) checkRange(v int) *ParseError {
	if v >= it.min && v <= it.max {
		return nil
	}
	hint := ""
	if it.kind == dayOfWeek && v >= minYear {
		hint = "; a year needs all seven fields, seconds first"
	}
	return it.fail(ReasonOutOfRange, "%s is outside %d-%d%s", it.text, it.min, it.max, hint)
}

// parseSpan reads `*/s`, `a`, `a-b`, `a/s` and `a-b/s`. The value a has been
// read already unless the item starts with a star.
func (it *item) parseSpan(a int, rest string) (span, *ParseError) {
	sp := span{a, a, 1}
	if strings.HasPrefix(rest, "-") {
		b, after, err := it.rangeEnd(a, rest[1:])
		if err != nil {
			return sp, err
		}
		sp.hi, rest = b, after
	} else if rest != "" {
		sp.hi = max(a, it.last())
	}
	if rest == "" {
		return sp, nil
	}
	if strings.IndexByte("LW#", rest[0]) >= 0 {
		return sp, it.badModifier()
	}
	if rest[0] != '/' {
		return sp, it.syntax()
	}
	step, err := it.parseStep(rest[1:])
	sp.step = step
	return sp, err
}

// rangeEnd reads the b of a-b. A week may be written to end with Sunday.
func (it *item) rangeEnd(a int, s string) (b int, rest string, err *ParseError) {
	b, rest, err = it.value(s)
	if err != nil {
		return 0, "", err
	}
	if it.kind == dayOfWeek && b == 0 && a > 0 && isLetter(s[0]) {
		b = 7
	}
	if err := it.checkRange(b); err != nil {
		return 0, "", err
	}
	if b < a {
		return 0, "", it.fail(ReasonRangeReversed, "%s runs backwards; write a list of two ranges, one up to the end of the field and one from its start", it.text)
	}
	return b, rest, nil
}

func (it *item) parseStep(s string) (int, *ParseError) {
	if s == "" || leading(s, isDigit) != len(s) {
		return 0, it.syntax()
	}
	step, _, _ := it.value(s)
	switch {
	case step == 0:
		return 0, it.fail(ReasonStepZero, "a step of 0 in %s never moves; use 1 or more", it.text)
	case step > it.size:
		return 0, it.fail(ReasonStepTooLarge, "the step in %s is longer than the field, which has %d values; for a longer distance use an interval (every)", it.text, it.size)
	}
	return step, nil
}

func (it *item) badModifier() *ParseError {
	var can string
	switch it.kind {
	case dayOfMonth:
		can = "this field takes L, L-3 (1-30), LW and 15W"
	case dayOfWeek:
		can = "this field takes 5L (last Friday) and 5#2 (second Friday, 1-5)"
	default:
		can = "L, W, # and ? belong to the day fields only"
	}
	return it.fail(ReasonBadModifier, "%q is not understood; %s, each as a whole list item without range or step", it.text, can)
}

// leading returns the length of the run at the start of s that is.
func leading(s string, is func(byte) bool) int {
	n := 0
	for n < len(s) && is(s[n]) {
		n++
	}
	return n
}

func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isLetter(c byte) bool { return c >= 'A' && c <= 'Z' }
