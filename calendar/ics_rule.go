package calendar

import (
	"strconv"
	"strings"
	"time"
)

// yearly is an RRULE with FREQ=YEARLY that stays on one date of the year.
type yearly struct {
	interval int
	count    int  // 0: no limit
	until    Date // zero: no limit
}

// starts returns the first dates of all occurrences of an event.
func (e *icsEvent) starts(first Date, o ICSOptions) ([]Date, error) {
	l := e.found["RRULE"]
	if l == nil {
		return []Date{first}, nil
	}
	rule, bad := l.yearly(first, o)
	if bad != nil {
		return nil, bad
	}
	if o.ToYear == 0 && rule.count == 0 && rule.until == (Date{}) {
		return nil, l.fail("the rule has no end; say up to which year it is to be worked out, or give it COUNT or UNTIL")
	}
	last := 9999
	if o.ToYear > 0 {
		last = o.ToYear
	}
	leapDay := first.Month == time.February && first.Day == 29
	var dates []Date
	seen := 0
	for d := first; d.Year <= last; d.Year += rule.interval {
		if leapDay && daysIn(d.Year, d.Month) < 29 {
			continue
		}
		if rule.until != (Date{}) && d.Compare(rule.until) > 0 {
			break
		}
		if d.Year >= o.FromYear {
			dates = append(dates, d)
		}
		if seen++; seen == rule.count {
			break
		}
	}
	return dates, nil
}

// yearly reads a rule and refuses every part that it cannot keep to.
func (l *icsLine) yearly(first Date, o ICSOptions) (yearly, *ICSError) {
	rule := yearly{interval: 1}
	seen := map[string]bool{}
	for part := range strings.SplitSeq(strings.ToUpper(strings.TrimSpace(l.value)), ";") {
		key, value, _ := strings.Cut(part, "=")
		if seen[key] {
			return rule, l.fail("RRULE says %s twice", key)
		}
		seen[key] = true
		ok := true
		switch key {
		case "FREQ":
			ok = value == "YEARLY"
		case "INTERVAL":
			rule.interval, ok = atLeastOne(value)
		case "COUNT":
			rule.count, ok = atLeastOne(value)
		case "UNTIL":
			until := *l
			until.name, until.value, until.params = "UNTIL", value, nil
			m, err := until.moment()
			if err != nil {
				return rule, err
			}
			if m.utc {
				m.at = onClock(m.at, o.Zone)
			}
			rule.until = dateOf(m.at)
		case "BYMONTH":
			ok = value == strconv.Itoa(int(first.Month))
		case "BYMONTHDAY":
			ok = value == strconv.Itoa(first.Day)
		case "WKST": // makes no difference to a date of the year
		default:
			ok = false
		}
		if !ok {
			return rule, l.fail("RRULE with %q is not supported; only FREQ=YEARLY on the date of DTSTART, with INTERVAL, COUNT and UNTIL. Write other dates as events of their own", part)
		}
	}
	if !seen["FREQ"] {
		return rule, l.fail("RRULE has no FREQ")
	}
	if rule.count > 0 && rule.until != (Date{}) {
		return rule, l.fail("RRULE has COUNT or UNTIL, not both")
	}
	return rule, nil
}

func atLeastOne(s string) (int, bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil && n >= 1 && n <= 9999
}
