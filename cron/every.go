package cron

import (
	"fmt"
	"strings"
	"time"
)

// interval is due at anchor + k x step, in Unix seconds, for k = 0, 1, 2 …
type interval struct{ anchor, step int64 }

// Every is due at the anchor and at every whole multiple of the interval after
// it, in elapsed time: zones and changes of clocks do not matter. Nothing is
// due before the anchor. A fraction of a second in the anchor is cut off.
//
// The anchor belongs to the schedule and has to be stored with it. If each
// node took its own, or a restart took a new one, they would disagree about
// the due times.
//
// The interval must be at least a second and a whole number of seconds, and
// the anchor must lie in the years 1970-9999.
func Every(every time.Duration, anchor time.Time) (Sequence, error) {
	if message := checkInterval(every); message != "" {
		return nil, fmt.Errorf("every: %v %s", every, message)
	}
	if a := anchor.Unix(); a < 0 || a > maxLocal {
		return nil, fmt.Errorf("every: the anchor %s is outside the years 1970-9999", anchor.UTC().Format(time.RFC3339))
	}
	return interval{anchor.Unix(), int64(every / time.Second)}, nil
}

// ParseEvery reads an interval such as "15m" or "1h30m", with or without
// "@every" in front. Units are h, m and s; there are no days, because an
// interval is elapsed time and a local day need not have 24 hours. It returns
// a [*ParseError] for everything that [Every] would refuse.
func ParseEvery(s string) (time.Duration, error) {
	words := strings.Fields(s)
	if len(words) > 0 && strings.EqualFold(words[0], "@every") {
		words = words[1:]
	}
	column := len(s) + 1
	fail := func(message string) (time.Duration, error) {
		return 0, &ParseError{Expr: s, Field: "interval", Column: column, Reason: ReasonBadInterval, Message: message}
	}
	if len(words) == 0 {
		return fail("an interval is needed, such as 90s, 15m or 1h30m")
	}
	column = strings.Index(s, words[0]) + 1
	d, err := time.ParseDuration(words[0])
	if err != nil || len(words) > 1 || !isDigit(words[0][0]) {
		return fail("not an interval; write hours, minutes and seconds without spaces, such as 1h30m (a day is 24h)")
	}
	if message := checkInterval(d); message != "" {
		return fail(message)
	}
	return d, nil
}

func checkInterval(d time.Duration) string {
	switch {
	case d < time.Second:
		return "is shorter than 1s, the shortest interval"
	case d%time.Second != 0:
		return "is not a whole number of seconds"
	}
	return ""
}

func (i interval) Next(after time.Time) (time.Time, bool) {
	sec := after.Unix()
	if sec < i.anchor {
		return instant(i.anchor)
	}
	if sec > maxLocal {
		return time.Time{}, false
	}
	return instant(i.anchor + ((sec-i.anchor)/i.step+1)*i.step)
}

func (i interval) Prev(before time.Time) (time.Time, bool) {
	sec := before.Unix()
	if before.Nanosecond() == 0 {
		sec--
	}
	sec = min(sec, maxLocal)
	if sec < i.anchor {
		return time.Time{}, false
	}
	return instant(i.anchor + (sec-i.anchor)/i.step*i.step)
}
