package cron

import (
	"math/bits"
	"strings"
)

// maxLength bounds an expression. Every value of every field but the year,
// listed one by one, stays below it.
const maxLength = 1024

// Options changes what an expression means. The zero value is the dialect of
// this package.
type Options struct {
	// DayAnd makes an expression that restricts both day fields due only on
	// days that match both. By default either may match, as POSIX says.
	DayAnd bool
}

var macros = map[string]string{
	"@yearly":   "0 0 1 1 *",
	"@annually": "0 0 1 1 *",
	"@monthly":  "0 0 1 * *",
	"@weekly":   "0 0 * * 0",
	"@daily":    "0 0 * * *",
	"@midnight": "0 0 * * *",
	"@hourly":   "0 * * * *",
}

// Parse reads a cron expression.
//
// Five fields are minute, hour, day-of-month, month and day-of-week; six have
// seconds in front; seven also have a year (1970-9999) at the end. Fields are
// separated by spaces or tabs. A field is `*` or a list of
//
//	a  a-b  */s  a/s  a-b/s      values, ranges, and steps; a/s runs to the field's end
//	L  L-n  LW  nW               day-of-month: last, n before it (1-30), last weekday, weekday nearest to n
//	dL  d#k                      day-of-week: the last d, the k-th d of the month (1-5)
//
// Months and weekdays may be three-letter names in any case. Sunday is 0 or 7.
// `?` is `*`, as a whole day field. If both day fields are something else than
// `*` or `?`, a day that matches either of them is due; see [Options]. The
// macros are @yearly, @annually, @monthly, @weekly, @daily, @midnight and
// @hourly.
//
// What cannot be meant is refused with a [*ParseError] rather than guessed:
// ranges that run backwards, steps longer than their field, dates that never
// come, a zone inside the expression. @every is an interval, not an
// expression: see [ParseEvery].
func Parse(expr string) (*Expr, error) { return ParseWith(expr, Options{}) }

// ParseWith is [Parse] with options.
func ParseWith(expr string, o Options) (*Expr, error) {
	e, err := parse(expr, o)
	if err != nil {
		err.Expr = expr
		return nil, err
	}
	return e, nil
}

func parse(expr string, o Options) (*Expr, *ParseError) {
	if err := checkText(expr); err != nil {
		return nil, err
	}
	words := split(expr)
	source, err := expand(expr, words)
	if err != nil {
		return nil, err
	}
	macro := source != ""
	if macro {
		words = split(macros[source])
	}
	if err := checkCount(expr, words); err != nil {
		return nil, err
	}
	e := &Expr{source: source, seconds: 1, rules: dayRules{both: o.DayAnd}}
	first := second
	if len(words) == 5 {
		first = minute
	}
	for i, w := range words {
		if err := e.parseField(first+i, w); err != nil {
			return nil, err
		}
		if !macro {
			e.source = strings.TrimPrefix(e.source+" "+w.text, " ")
		}
	}
	e.finish()
	if !e.possible() {
		return nil, e.impossible(words[dayOfMonth-first])
	}
	return e, nil
}

// word is a field of the expression, upper case, and the column it starts at.
type word struct {
	text string
	col  int
}

func split(s string) []word {
	var words []word
	start := -1
	for i := 0; i <= len(s); i++ {
		blank := i == len(s) || s[i] == ' ' || s[i] == '\t'
		switch {
		case !blank && start < 0:
			start = i
		case blank && start >= 0:
			words = append(words, word{strings.ToUpper(s[start:i]), start + 1})
			start = -1
		}
	}
	return words
}

func checkText(s string) *ParseError {
	if len(s) > maxLength {
		return &ParseError{Column: maxLength + 1, Reason: ReasonSyntax, Message: "longer than 1024 characters; use ranges and steps instead of lists"}
	}
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 0x80:
			return &ParseError{Column: i + 1, Reason: ReasonNonASCII, Message: "a character outside ASCII, perhaps pasted from a formatted page; type it again"}
		case c < ' ' && c != '\t' || c == 0x7f:
			return &ParseError{Column: i + 1, Reason: ReasonSyntax, Message: "a control character; separate fields by spaces, all on one line"}
		}
	}
	return nil
}

// expand returns the macro that the expression is, or "" if it is none.
func expand(expr string, words []word) (string, *ParseError) {
	if len(words) == 0 {
		return "", nil
	}
	first := words[0]
	if strings.HasPrefix(first.text, "TZ=") || strings.HasPrefix(first.text, "CRON_TZ=") {
		return "", &ParseError{Column: first.col, Reason: ReasonZoneInExpression, Message: "a zone does not belong into the expression; set the schedule's time zone instead"}
	}
	if first.text[0] != '@' {
		return "", nil
	}
	name := strings.ToLower(first.text)
	fail := func(message string) (string, *ParseError) {
		return "", &ParseError{Column: first.col, Reason: ReasonUnknownMacro, Message: message}
	}
	switch {
	case name == "@every":
		return fail("an interval, not a cron expression; use every with the duration, such as every: 15m")
	case name == "@reboot":
		return fail("a restart of one node is no time that a group of nodes can agree on; there is no replacement")
	case len(words) > 1:
		return fail("a macro stands alone; remove what follows it")
	case macros[name] == "":
		return fail("not one of @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly")
	}
	return name, nil
}

func checkCount(expr string, words []word) *ParseError {
	switch n := len(words); {
	case n < 5:
		return &ParseError{Column: len(expr) + 1, Reason: ReasonTooFewFields, Message: "at least five fields are needed: minute, hour, day-of-month, month, day-of-week"}
	case n > 7:
		return &ParseError{Column: words[7].col, Reason: ReasonTooManyFields, Message: "at most seven fields: second, minute, hour, day-of-month, month, day-of-week, year; comments do not belong here"}
	}
	return nil
}

func (e *Expr) parseField(kind int, w word) *ParseError {
	f := &fields[kind]
	isDay := kind == dayOfMonth || kind == dayOfWeek
	if w.text == "*" || w.text == "?" && isDay {
		switch kind {
		case dayOfMonth:
			e.rules.anyDay = true
		case dayOfWeek:
			e.rules.anyWeekday = true
		case year: // nil is every year
		default:
			e.add(kind, span{f.min, f.last(), 1})
		}
		return nil
	}
	if kind == second {
		e.seconds = 0
	}
	if kind == year {
		e.years = make(yearSet, yearWords)
	}
	col := w.col
	for text := range strings.SplitSeq(w.text, ",") {
		it := item{field: f, kind: kind, text: text, col: col}
		if err := e.parseItem(&it); err != nil {
			return err
		}
		col += len(text) + 1
	}
	return nil
}

func (e *Expr) parseItem(it *item) *ParseError {
	s := it.text
	if s == "" {
		return it.fail(ReasonEmptyItem, "a list item is empty; remove the comma, or the space beside it if the list goes on there")
	}
	switch s[0] {
	case '?':
		if strings.HasPrefix(s, "?/") {
			return it.fail(ReasonSyntax, "? takes no step; write */ and the step")
		}
		return it.badModifier()
	case '#':
		return it.badModifier()
	case '*':
		return e.parseStar(it)
	}
	if it.kind == dayOfMonth && s[0] == 'L' {
		return e.parseLast(it)
	}
	if it.kind == dayOfWeek && len(s) == 4 && s[3] == 'L' {
		if d, ok := it.lookup(s[:3]); ok {
			e.rules.last |= 1 << d
			return nil
		}
	}
	v, rest, err := it.value(s)
	if err != nil {
		return err
	}
	if err := it.checkRange(v); err != nil {
		return err
	}
	switch {
	case it.kind == dayOfMonth && rest == "W":
		e.rules.nearest |= 1 << v
		return nil
	case it.kind == dayOfWeek && rest == "L":
		e.rules.last |= 1 << (v % 7)
		return nil
	case it.kind == dayOfWeek && strings.HasPrefix(rest, "#"):
		return e.parseNth(it, v%7, rest[1:])
	}
	sp, err := it.parseSpan(v, rest)
	if err != nil {
		return err
	}
	if strings.HasPrefix(rest, "/") {
		e.warnStep(it, sp)
	}
	e.add(it.kind, sp)
	return nil
}

func (e *Expr) parseStar(it *item) *ParseError {
	if it.text == "*" {
		return it.fail(ReasonSyntax, "* selects everything, so nothing can be listed beside it; remove the other items or the *")
	}
	switch it.text[1] {
	case '/':
		sp, err := it.parseSpan(it.min, it.text[1:])
		if err != nil {
			return err
		}
		e.warnStep(it, sp)
		e.add(it.kind, sp)
		return nil
	case '#', 'L', 'W':
		return it.badModifier()
	}
	return it.syntax()
}

// parseLast reads L, LW and L-n.
func (e *Expr) parseLast(it *item) *ParseError {
	switch it.text {
	case "L":
		e.rules.fromLast |= 1
		return nil
	case "LW":
		e.rules.lastWork = true
		return nil
	}
	digits, ok := strings.CutPrefix(it.text, "L-")
	if !ok || digits == "" || leading(digits, isDigit) != len(digits) {
		return it.badModifier()
	}
	n, _, _ := it.value(digits)
	if n == 0 {
		return it.fail(ReasonBadModifier, "L-0 is the last day itself; write L")
	}
	if n > 30 {
		return it.fail(ReasonOutOfRange, "%s is before the start of every month; n of L-n is 1-30", it.text)
	}
	e.rules.fromLast |= 1 << n
	return nil
}

// parseNth reads the k of d#k.
func (e *Expr) parseNth(it *item, d int, s string) *ParseError {
	if s == "" || leading(s, isDigit) != len(s) {
		return it.badModifier()
	}
	k, _, _ := it.value(s)
	if k < 1 || k > 5 {
		return it.fail(ReasonOutOfRange, "%s: a month has a first to a fifth weekday; use 1-5, or L for the last", it.text)
	}
	e.rules.nth[d] |= 1 << k
	return nil
}

// add puts the values of a span into a field.
func (e *Expr) add(kind int, sp span) {
	for v := sp.lo; v <= sp.hi; v += sp.step {
		switch kind {
		case second:
			e.seconds |= 1 << v
		case minute:
			e.minutes |= 1 << v
		case hour:
			e.hours |= 1 << v
		case dayOfMonth:
			e.rules.days |= 1 << v
		case month:
			e.months |= 1 << v
		case dayOfWeek:
			e.rules.weekdays |= 1 << (v % 7)
		case year:
			e.years.add(v)
		}
	}
}

// finish derives what a search needs.
func (e *Expr) finish() {
	if e.years.count() == maxYear-minYear+1 {
		e.years = nil // a list that leaves no year out
	}
	e.days = e.rules.table()
	e.firstClock = bits.TrailingZeros32(e.hours)*3600 + bits.TrailingZeros64(e.minutes)*60 + bits.TrailingZeros64(e.seconds)
	e.lastClock = (bits.Len32(e.hours)-1)*3600 + (bits.Len64(e.minutes)-1)*60 + bits.Len64(e.seconds) - 1
}
