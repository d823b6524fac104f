package duly

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func good() Schedule {
	return Schedule{ID: "invoices", Timing: Timing{Cron: "0 0 * * *"}, Target: Target{Handler: "send"}}
}

func TestValidateAcceptsWhatTheDefaultsMake(t *testing.T) {
	s := good()
	if faults := s.Validate(); faults != nil {
		t.Errorf("a minimal schedule: %v", faults)
	}
	full := s.WithDefaults()
	if faults := full.Validate(); faults != nil {
		t.Errorf("a schedule with all defaults: %v", faults)
	}
	harmless := good()
	harmless.WhenUnavailable = UnavailableRun
	if faults := harmless.Validate(); faults != nil {
		t.Errorf("a schedule that may run unowned: %v", faults)
	}
	external := Schedule{ID: "pods", External: true}
	if faults := external.Validate(); faults != nil {
		t.Errorf("an external schedule without a target: %v", faults)
	}
}

func TestValidateNamesTheField(t *testing.T) {
	later := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		field  string
		mutate func(*Schedule)
	}{
		{"id", func(s *Schedule) { s.ID = "" }},
		{"id", func(s *Schedule) { s.ID = "a@b" }},
		{"id", func(s *Schedule) { s.ID = "rechnungen für alle" }},
		{"id", func(s *Schedule) { s.ID = strings.Repeat("x", 201) }},
		{"id", func(s *Schedule) { s.ID = "../etc" + "//x" }},
		{"cron", func(s *Schedule) { s.Cron = "" }},
		{"cron", func(s *Schedule) { s.Every = Duration(time.Minute) }},
		{"every", func(s *Schedule) { s.Timing = Timing{Every: Duration(time.Millisecond)} }},
		{"every", func(s *Schedule) { s.Timing = Timing{Every: Duration(1500 * time.Millisecond)} }},
		{"anchor", func(s *Schedule) { s.Anchor = &later }},
		{"timings[0].cron", func(s *Schedule) { s.Timings = []Timing{{}} }},
		{"except[0].from", func(s *Schedule) { s.Except = []Exclusion{{}} }},
		{"except[0].to", func(s *Schedule) { s.Except = []Exclusion{{From: "2026-01-01T00:00"}} }},
		{"except[0].dates[0]", func(s *Schedule) { s.Except = []Exclusion{{Dates: []string{"2026-02-30"}}} }},
		{"external", func(s *Schedule) { s.External = true }},
		{"end", func(s *Schedule) { s.Start, s.End = &later, &later }},
		{"dst.gap", func(s *Schedule) { s.DST.Gap = "jump" }},
		{"period", func(s *Schedule) { s.Period = "year" }},
		{"period_offset", func(s *Schedule) { s.PeriodOffset = 400 }},
		{"period_offset", func(s *Schedule) { s.Period, s.PeriodOffset = PeriodInstant, -1 }},
		{"calendar.otherwise", func(s *Schedule) { s.Calendar = &CalendarRule{Otherwise: "later"} }},
		{"calendar.weekdays[0]", func(s *Schedule) { s.Calendar = &CalendarRule{Weekdays: []string{"monday"}} }},
		{"overlap", func(s *Schedule) { s.Overlap = "forbid" }},
		{"on_failure", func(s *Schedule) { s.Overlap, s.OnFailure = OverlapAllow, OnFailureHold }},
		{"when_unavailable", func(s *Schedule) { s.WhenUnavailable = "hope" }},
		{"when_unavailable", func(s *Schedule) { s.WhenUnavailable, s.Queue = UnavailableRun, "billing" }},
		{"when_unavailable", func(s *Schedule) { s.WhenUnavailable, s.Limit = UnavailableRun, 3 }},
		{"when_unavailable", func(s *Schedule) { s.WhenUnavailable, s.OnFailure = UnavailableRun, OnFailureHold }},
		{"when_unavailable", func(s *Schedule) { s.WhenUnavailable, s.External, s.Timing = UnavailableRun, true, Timing{} }},
		{"catch_up.policy", func(s *Schedule) { s.CatchUp.Policy = "some" }},
		{"catch_up.max", func(s *Schedule) { s.CatchUp.Max = -1 }},
		{"priority", func(s *Schedule) { s.Priority = 101 }},
		{"lease", func(s *Schedule) { s.Lease = Duration(time.Millisecond) }},
		{"lease", func(s *Schedule) { s.Lease = Duration(25 * time.Hour) }},
		{"timeout", func(s *Schedule) { s.Timeout = Duration(400 * 24 * time.Hour) }},
		{"retry.max_attempts", func(s *Schedule) { s.Retry.MaxAttempts = -1 }},
		{"retry.max_backoff", func(s *Schedule) { s.Retry.Backoff, s.Retry.MaxBackoff = Duration(time.Hour), Duration(time.Minute) }},
		{"start_deadline", func(s *Schedule) { s.Jitter, s.StartDeadline = Duration(time.Hour), Duration(time.Minute) }},
		{"queue", func(s *Schedule) { s.Queue = "a b" }},
		{"payload", func(s *Schedule) { s.Payload = []byte("{") }},
		{"payload", func(s *Schedule) { s.Payload = []byte(`"` + strings.Repeat("x", maxPayload) + `"`) }},
		{"target", func(s *Schedule) { s.Target = Target{} }},
		{"target", func(s *Schedule) { s.Target.HTTP = &HTTPTarget{URL: "http://a/"} }},
		{"target.exec.command", func(s *Schedule) { s.Target = Target{Exec: &ExecTarget{}} }},
		{"target.exec.command[0]", func(s *Schedule) { s.Target = Target{Exec: &ExecTarget{Command: []string{"a\x00b"}}} }},
		{"target.exec.env", func(s *Schedule) {
			s.Target = Target{Exec: &ExecTarget{Command: []string{"a"}, Env: map[string]string{"A=B": "c"}}}
		}},
		{"target.http.headers", func(s *Schedule) {
			s.Target = Target{HTTP: &HTTPTarget{URL: "http://a/", Headers: map[string]string{"A\r\nB": "c"}}}
		}},
		{"target.http.method", func(s *Schedule) { s.Target = Target{HTTP: &HTTPTarget{URL: "http://a/", Method: "GET /"}} }},
		{"target.http.url", func(s *Schedule) { s.Target = Target{HTTP: &HTTPTarget{URL: "file:///etc/passwd"}} }},
	} {
		s := good()
		c.mutate(&s)
		faults := s.Validate()
		if !slices.ContainsFunc(faults, func(e *Error) bool { return e.Field == c.field && e.Code == CodeInvalid }) {
			t.Errorf("want a fault in %s, got %v", c.field, faults)
		}
	}
}

func TestValidateReturnsAllFaultsAtOnce(t *testing.T) {
	s := Schedule{ID: "a b", Timing: Timing{Every: 1}, Overlap: "x"}
	if faults := s.Validate(); len(faults) < 4 {
		t.Errorf("four fields are wrong, but only these are named: %v", faults)
	}
}

func TestQueueValidate(t *testing.T) {
	ok := Queue{Name: "billing", Concurrency: 3, Rate: Rate{Count: 10, Per: Duration(time.Second)}}
	if faults := ok.Validate(); faults != nil {
		t.Error(faults)
	}
	for _, bad := range []Queue{{}, {Name: "x", Concurrency: -1}, {Name: "x", Rate: Rate{Count: 1}}} {
		if bad.Validate() == nil {
			t.Errorf("%+v was accepted", bad)
		}
	}
}
