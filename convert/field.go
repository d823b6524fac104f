package convert

import (
	"fmt"
	"math/bits"
	"regexp"
	"strconv"
	"strings"
)

// field describes one of the five time fields.
type field struct {
	name     string
	min, max int
	names    []string // of the values from min on
}

const (
	minute = iota
	hour
	dayOfMonth
	month
	dayOfWeek
)

var fields = [5]field{
	minute:     {name: "minute", max: 59},
	hour:       {name: "hour", max: 23},
	dayOfMonth: {name: "day-of-month", min: 1, max: 31},
	month:      {name: "month", min: 1, max: 12, names: strings.Fields("jan feb mar apr may jun jul aug sep oct nov dec")},
	dayOfWeek:  {name: "day-of-week", max: 6, names: strings.Fields("sun mon tue wed thu fri sat")},
}

// all is the set of every value of a field.
func (f *field) all() uint64 { return 1<<(f.max+1) - 1<<f.min }

// dialect says how a source spells its fields.
type dialect struct {
	who string
	// star reports whether a field counts as unrestricted when the two day
	// fields are joined.
	star func(text string) bool
	// openStep: a/s is every s-th value from a on. Without it a step needs a
	// range.
	openStep bool
	// question: ? is the same as *.
	question bool
	// sunday7: 7 is Sunday, and * in day-of-week ends there.
	sunday7 bool
}

// vixie is the cron of Debian, Red Hat and their kin. A field whose first
// character is a star counts as unrestricted, whatever follows.
var vixie = dialect{
	who: "cron", sunday7: true,
	star: func(text string) bool { return strings.HasPrefix(text, "*") },
}

// kubernetes is the dialect of CronJobs. A star counts unless it has a step.
var kubernetes = dialect{
	who: "Kubernetes", openStep: true, question: true,
	star: func(text string) bool {
		for item := range strings.SplitSeq(text, ",") {
			body, step, stepped := strings.Cut(item, "/")
			if (body == "*" || body == "?") && (!stepped || strings.TrimLeft(step, "0") == "1") {
				return true
			}
		}
		return false
	},
}

// dulyOnly is what other schedulers call a last day, a nearest weekday or the
// n-th weekday of a month.
var dulyOnly = regexp.MustCompile(`^(?i:L(-\d+)?|LW|\d+W|(\d|[a-z]{3})(L|#\d))$`)

// values is what a field selects.
type values struct {
	*field
	set    uint64
	star   bool
	source string // as it stands
	// text is how Duly spells the same set: as the source does where possible.
	text string
}

// every reports whether no value is left out.
func (v values) every() bool { return v.set == v.all() }

// fieldError is a fault of a field, at an offset in its text.
type fieldError struct {
	offset int
	text   string
}

// parse reads a field.
func (d *dialect) parse(f *field, text string) (values, *fieldError) {
	v := values{field: f, star: d.star(text), source: text}
	same := true // Duly reads the text as the source does
	offset := 0
	for item := range strings.SplitSeq(text, ",") {
		set, itemSame, err := d.item(f, item)
		if err != "" {
			return v, &fieldError{offset, f.name + ": " + err}
		}
		same = same && itemSame && (item[0] != '*' || len(text) == len(item))
		v.set |= set
		offset += len(item) + 1
	}
	v.text = text
	switch {
	case v.every() && v.star:
		v.text = "*"
	case !same:
		v.text = spell(v.set, f)
	}
	return v, nil
}

// item reads one element of a list.
func (d *dialect) item(f *field, text string) (set uint64, same bool, fault string) {
	if text == "" {
		return 0, false, "a list item is empty"
	}
	if strings.Contains(text, "~") {
		return 0, false, fmt.Sprintf("%s is a random value; choose one, and spread starts with jitter", text)
	}
	if dulyOnly.MatchString(text) {
		return 0, false, fmt.Sprintf("%s means something to Duly but nothing to %s, so it never did what was meant", text, d.who)
	}
	body, stepText, stepped := strings.Cut(text, "/")
	lo, hi, single, fault := d.span(f, body)
	if fault != "" {
		return 0, false, fault
	}
	same = !strings.HasPrefix(body, "?")
	step := 1
	if stepped {
		n, err := strconv.Atoi(stepText)
		if err != nil || strings.Trim(stepText, "0123456789") != "" {
			return 0, false, fmt.Sprintf("the step in %s is not a number", text)
		}
		if n < 1 {
			return 0, false, fmt.Sprintf("a step of 0 in %s never moves", text)
		}
		if single {
			if !d.openStep {
				return 0, false, fmt.Sprintf("a step needs a range: %s is refused by %s; write %s-%d/%s", text, d.who, body, f.max, stepText)
			}
			hi = f.max
		}
		step = min(n, 100)
		same = same && n <= bits.OnesCount64(f.all())
	}
	for v := lo; v <= hi; v += step {
		n := v
		if n > f.max {
			n = f.min // the 7 that is Sunday
		}
		set |= 1 << n
	}
	return set, same, ""
}

// span reads what stands before a step.
func (d *dialect) span(f *field, body string) (lo, hi int, single bool, fault string) {
	top := f.max
	if d.sunday7 && f.names != nil && f.min == 0 {
		top = 7
	}
	if body == "*" || d.question && body == "?" {
		return f.min, top, false, ""
	}
	first, last, isRange := strings.Cut(body, "-")
	lo, fault = f.value(first, body, top)
	if fault != "" || !isRange {
		return lo, lo, true, fault
	}
	hi, fault = f.value(last, body, top)
	if fault == "" && hi < lo {
		fault = fmt.Sprintf("%s runs backwards; write a list of two ranges", body)
	}
	return lo, hi, false, fault
}

// value reads a number or a name. The whole is for messages.
func (f *field) value(text, whole string, top int) (n int, fault string) {
	if text == "" {
		return 0, fmt.Sprintf("%q is not understood", whole)
	}
	if strings.Trim(text, "0123456789") == "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < f.min || n > top {
			return 0, fmt.Sprintf("%s is outside %d-%d", whole, f.min, top)
		}
		return n, ""
	}
	for i, name := range f.names {
		if strings.EqualFold(name, text) {
			return f.min + i, ""
		}
	}
	if strings.HasPrefix(whole, "*") {
		return 0, fmt.Sprintf("%q is not understood; a step is written */5", whole)
	}
	if f.names != nil {
		return 0, fmt.Sprintf("%q is not a number or one of %s", text, strings.Join(f.names, ", "))
	}
	return 0, fmt.Sprintf("%q is not a number", text)
}

// spell writes a set as a list of values and ranges.
func spell(set uint64, f *field) string {
	if set == f.all() {
		return "*"
	}
	var items []string
	for v := f.min; v <= f.max; v++ {
		if set>>v&1 == 0 {
			continue
		}
		end := v
		for end < f.max && set>>(end+1)&1 != 0 {
			end++
		}
		switch end - v {
		case 0:
			items = append(items, strconv.Itoa(v))
		case 1:
			items = append(items, strconv.Itoa(v), strconv.Itoa(end))
		default:
			items = append(items, fmt.Sprintf("%d-%d", v, end))
		}
		v = end
	}
	return strings.Join(items, ",")
}
