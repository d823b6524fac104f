package duly

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

const (
	maxIDLength = 200
	maxPayload  = 256 << 10
	maxTimings  = 100
	minLease    = Duration(time.Second)
	maxLease    = Duration(24 * time.Hour)
	maxPolicy   = Duration(366 * 24 * time.Hour) // jitter, deadlines, timeouts, backoff
	maxWindow   = Duration(10 * 366 * 24 * time.Hour)
)

// Validate checks everything about a definition that can be judged without
// computing its times: names, bounds, and that exactly one of each choice is
// made. It returns all faults at once, each with its field. Package timing
// checks the timings themselves.
func (s *Schedule) Validate() []*Error {
	var v faults
	if err := CheckID(s.ID); err != nil {
		v.add("id", "%v", err)
	}
	v.timings(s)
	v.policies(s)
	if !s.External || s.Target != (Target{}) {
		v.target(&s.Target) // an external schedule's command comes with `duly exec`
	}
	if len(s.Payload) > maxPayload {
		v.add("payload", "is %d bytes; at most %d fit, so store the data elsewhere and pass a reference", len(s.Payload), maxPayload)
	}
	if len(s.Payload) > 0 && !json.Valid(s.Payload) {
		v.add("payload", "is not valid JSON")
	}
	return v
}

// CheckID checks the ID of a schedule or the name of a queue.
func CheckID(id string) error {
	if id == "" {
		return fmt.Errorf("is missing: a schedule needs a stable name, such as \"invoices\"")
	}
	if len(id) > maxIDLength {
		return fmt.Errorf("is %d bytes long; at most %d are allowed", len(id), maxIDLength)
	}
	for i, r := range id {
		if !isIDRune(r) {
			return fmt.Errorf("%q has %q at position %d: use letters, digits, '.', '_', '-', '/' and ':'", id, r, i+1)
		}
	}
	if strings.HasPrefix(id, "/") || strings.HasSuffix(id, "/") || id == "." || id == ".." || strings.Contains(id, "//") {
		return fmt.Errorf("%q cannot be part of a path: no leading, trailing or double '/', and not '.' or '..'", id)
	}
	return nil
}

func isIDRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-/:", r)
}

// Validate checks a queue's definition and returns all faults at once.
func (q *Queue) Validate() []*Error {
	var v faults
	if err := CheckID(q.Name); err != nil {
		v.add("name", "%v", err)
	}
	v.intRange("concurrency", q.Concurrency, 0, 1_000_000)
	v.intRange("rate.count", q.Rate.Count, 0, 1_000_000_000)
	if (q.Rate.Count == 0) != (q.Rate.Per == 0) {
		v.add("rate", "needs both count and per, as in { count: 10, per: 1s }")
	}
	v.between("rate.per", q.Rate.Per, Duration(time.Millisecond), maxPolicy)
	return v
}

type faults []*Error

func (v *faults) add(field, format string, args ...any) {
	*v = append(*v, Invalid(field, format, args...))
}

// between checks a duration that is set.
func (v *faults) between(field string, d, lo, hi Duration) {
	if d != 0 && (d < lo || d > hi) {
		v.add(field, "is %v; it must lie between %v and %v", d, lo, hi)
	}
}

func (v *faults) intRange(field string, n, lo, hi int) {
	if n < lo || n > hi {
		v.add(field, "is %d; it must lie between %d and %d", n, lo, hi)
	}
}

func oneOf[T ~string](v *faults, field string, got T, allowed ...T) {
	if got == "" || slices.Contains(allowed, got) {
		return
	}
	names := make([]string, len(allowed))
	for i, a := range allowed {
		names[i] = string(a)
	}
	v.add(field, "is %q; it must be one of %s", got, strings.Join(names, ", "))
}

func (v *faults) timings(s *Schedule) {
	all := s.AllTimings()
	switch {
	case s.External && len(all) > 0:
		v.add("external", "an external schedule is timed by its platform; remove its timings, or remove external")
	case !s.External && len(all) == 0:
		v.add("cron", "the schedule has no timing: set cron, every, at or rrule (or external: true for a platform's cron)")
	case len(all) > maxTimings:
		v.add("timings", "has %d entries; at most %d are allowed", len(all), maxTimings)
	}
	if !s.Timing.IsZero() {
		v.timing("", s.Timing)
	}
	for i, t := range s.Timings {
		v.timing(fmt.Sprintf("timings[%d].", i), t)
	}
	for i, x := range s.Except {
		v.exclusion(fmt.Sprintf("except[%d].", i), x)
	}
	if s.Start != nil && s.End != nil && !s.Start.Before(*s.End) {
		v.add("end", "is not after start")
	}
	v.intRange("limit", s.Limit, 0, 1_000_000_000)
	v.between("jitter", s.Jitter, 1, maxPolicy)
	v.between("start_deadline", s.StartDeadline, Duration(time.Second), maxPolicy)
	if s.Jitter > 0 && s.StartDeadline > 0 && s.StartDeadline <= s.Jitter {
		v.add("start_deadline", "is %v, not longer than jitter (%v): jittered starts would be missed", s.StartDeadline, s.Jitter)
	}
	oneOf(v, "dst.gap", s.DST.Gap, "next", "shift", "skip")
	oneOf(v, "dst.overlap", s.DST.Overlap, "first", "last", "both")
	oneOf(v, "period", s.Period, PeriodInstant, PeriodHour, PeriodDay, PeriodWeek, PeriodMonth)
	v.intRange("period_offset", s.PeriodOffset, -366, 366)
	if s.Period == PeriodInstant && s.PeriodOffset != 0 {
		v.add("period_offset", "needs a period of hour, day, week or month; an instant has no neighbour")
	}
	if c := s.Calendar; c != nil {
		oneOf(v, "calendar.otherwise", c.Otherwise, "skip", "next", "previous")
		for i, d := range c.Weekdays {
			oneOf(v, fmt.Sprintf("calendar.weekdays[%d]", i), strings.ToLower(d), "mon", "tue", "wed", "thu", "fri", "sat", "sun")
		}
		v.dates("calendar.holidays", c.Holidays)
		v.dates("calendar.workdays", c.Workdays)
	}
}

func (v *faults) timing(prefix string, t Timing) {
	set := 0
	for _, is := range []bool{t.Cron != "", t.Every != 0, t.At != "", t.RRule != ""} {
		if is {
			set++
		}
	}
	if set != 1 {
		v.add(prefix+"cron", "exactly one of cron, every, at and rrule belongs to a timing, but %d are set", set)
	}
	v.between(prefix+"every", t.Every, Duration(time.Second), maxPolicy)
	if t.Every%Duration(time.Second) != 0 {
		v.add(prefix+"every", "is %v; it must be whole seconds", t.Every)
	}
	if t.Anchor != nil && t.Every == 0 {
		v.add(prefix+"anchor", "belongs to every and means nothing without it")
	}
}

func (v *faults) exclusion(prefix string, x Exclusion) {
	kinds := 0
	for _, is := range []bool{!x.Timing.IsZero(), x.From != "" || x.To != "", len(x.Dates) > 0} {
		if is {
			kinds++
		}
	}
	if kinds != 1 {
		v.add(prefix+"from", "an exclusion is one of: a timing (cron, every, at, rrule), from and to, or dates; %d are set", kinds)
	}
	if !x.Timing.IsZero() {
		v.timing(prefix, x.Timing)
	}
	if x.For != 0 && x.Timing.IsZero() {
		v.add(prefix+"for", "is the length of a window that a timing opens; there is no timing")
	}
	v.between(prefix+"for", x.For, Duration(time.Second), maxPolicy)
	if (x.From == "") != (x.To == "") {
		v.add(prefix+"to", "from and to belong together")
	}
	v.dates(prefix+"dates", x.Dates)
}

func (v *faults) dates(field string, dates []string) {
	for i, d := range dates {
		if _, err := time.Parse(time.DateOnly, d); err != nil {
			v.add(fmt.Sprintf("%s[%d]", field, i), "%q is not a date: write YYYY-MM-DD", d)
		}
	}
}

func (v *faults) policies(s *Schedule) {
	oneOf(v, "overlap", s.Overlap, OverlapWait, OverlapSkip, OverlapCombine, OverlapAllow, OverlapReplace)
	oneOf(v, "on_failure", s.OnFailure, OnFailureContinue, OnFailureHold)
	if s.OnFailure == OnFailureHold && s.Overlap == OverlapAllow {
		v.add("on_failure", "hold keeps later periods waiting, which overlap: allow forbids; choose one")
	}
	oneOf(v, "catch_up.policy", s.CatchUp.Policy, CatchUpNone, CatchUpLatest, CatchUpAll, CatchUpCombine)
	v.between("catch_up.window", s.CatchUp.Window, Duration(time.Second), maxWindow)
	v.intRange("catch_up.max", s.CatchUp.Max, 0, 1_000_000)
	v.unavailable(s)
	v.intRange("priority", s.Priority, -100, 100)
	v.between("lease", s.Lease, minLease, maxLease)
	v.between("timeout", s.Timeout, Duration(time.Millisecond), maxPolicy)
	v.intRange("retry.max_attempts", s.Retry.MaxAttempts, 0, 10_000)
	v.between("retry.backoff", s.Retry.Backoff, Duration(time.Millisecond), maxPolicy)
	v.between("retry.max_backoff", s.Retry.MaxBackoff, Duration(time.Millisecond), maxPolicy)
	if s.Retry.MaxBackoff != 0 && s.Retry.MaxBackoff < s.Retry.Backoff {
		v.add("retry.max_backoff", "is %v, shorter than backoff (%v)", s.Retry.MaxBackoff, s.Retry.Backoff)
	}
	if s.Queue != "" {
		if err := CheckID(s.Queue); err != nil {
			v.add("queue", "%v", err)
		}
	}
}

// unavailable refuses to run without the store what only the store can bound.
func (v *faults) unavailable(s *Schedule) {
	oneOf(v, "when_unavailable", s.WhenUnavailable, UnavailableWait, UnavailableRun)
	if s.WhenUnavailable != UnavailableRun {
		return
	}
	for _, x := range []struct {
		what string
		is   bool
	}{
		{"queue: the bound of a shared queue", s.Queue != ""},
		{"limit: the number of occurrences", s.Limit != 0},
		{"on_failure: hold: what became of the period before", s.OnFailure == OnFailureHold},
		{"external: the start by a platform", s.External},
	} {
		if x.is {
			v.add("when_unavailable", "run does not go with %s cannot be known while coordination is down", x.what)
		}
	}
}

func (v *faults) target(t *Target) {
	set := 0
	for _, is := range []bool{t.Handler != "", t.Exec != nil, t.HTTP != nil} {
		if is {
			set++
		}
	}
	if set != 1 {
		v.add("target", "exactly one of handler, exec and http belongs to a target, but %d are set", set)
		return
	}
	switch {
	case t.Handler != "":
		if err := CheckID(t.Handler); err != nil {
			v.add("target.handler", "%v", err)
		}
	case t.Exec != nil:
		if len(t.Exec.Command) == 0 || t.Exec.Command[0] == "" {
			v.add("target.exec.command", "is missing: a program and its arguments, as in [\"./invoice.sh\"]")
		}
		for i, arg := range t.Exec.Command {
			if strings.ContainsRune(arg, 0) {
				v.add(fmt.Sprintf("target.exec.command[%d]", i), "holds a NUL, which no program can be given")
			}
		}
		for name, value := range t.Exec.Env {
			if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(value, 0) {
				v.add("target.exec.env", "%q cannot be a variable: its name has no '=' and neither name nor value has a NUL", name)
			}
		}
		v.between("target.exec.kill_after", t.Exec.KillAfter, Duration(time.Millisecond), Duration(time.Hour))
		v.intRange("target.exec.output_limit", t.Exec.OutputLimit, 0, 1<<20)
	case t.HTTP != nil:
		u, err := url.Parse(t.HTTP.URL)
		if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
			v.add("target.http.url", "%q is not a full http or https address", t.HTTP.URL)
		}
		if !isToken(t.HTTP.Method, true) {
			v.add("target.http.method", "%q is no HTTP method", t.HTTP.Method)
		}
		for name, value := range t.HTTP.Headers {
			if !isToken(name, false) || strings.ContainsAny(value, "\r\n\x00") {
				v.add("target.http.headers", "%q cannot be a header: its name is a word and its value one line", name)
			}
		}
		v.intRange("target.http.response_limit", t.HTTP.ResponseLimit, 0, 1<<20)
	}
}

// isToken reports whether s is a token of RFC 9110, section 5.6.2.
func isToken(s string, orEmpty bool) bool {
	if s == "" {
		return orEmpty
	}
	for _, r := range s {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("!#$%&'*+-.^_`|~", r)) {
			return false
		}
	}
	return true
}
