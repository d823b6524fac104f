package duly

import (
	"encoding/json"
	"time"
)

// Schedule is the definition of recurring work: when it is due, for which
// period, under which policies, and what an attempt does. It is plain data;
// package timing turns its timings into instants and package plan its policies
// into decisions. A zero field means its default, so a definition stays as
// short as its author wrote it.
type Schedule struct {
	// ID is the stable name: 1 to 200 letters, digits, '.', '_', '-', '/' and
	// ':'. It never changes; a renamed schedule is a new one.
	ID          string `json:"id,omitempty"`
	Description string `json:"description,omitempty"`

	// Timing is the first timing; Timings holds further ones. The schedule is
	// due whenever any of them is. None at all is right for External ones.
	Timing
	Timings []Timing `json:"timings,omitempty"`
	// Except lists instants and windows at which the schedule is not due at all.
	Except []Exclusion `json:"except,omitempty"`
	// External leaves the timing to a platform (Kubernetes CronJob, crontab,
	// systemd): occurrences are made by `duly exec` alone.
	External bool `json:"external,omitempty"`

	// Timezone is an IANA name. Default UTC.
	Timezone string `json:"timezone,omitempty"`
	DST      DST    `json:"dst,omitzero"`
	// Start and End bound the due instants: Start <= due < End.
	Start *time.Time `json:"start,omitempty"`
	End   *time.Time `json:"end,omitempty"`
	// Limit is the number of occurrences after which the schedule is over.
	// 0: no limit.
	Limit int `json:"limit,omitempty"`
	// Jitter spreads starts over this long after due. It is the same for every
	// node and never changes an occurrence's identity. Default 0.
	Jitter Duration `json:"jitter,omitempty"`
	// StartDeadline is how long after due an attempt may still start first;
	// later the occurrence is missed. 0: no deadline.
	StartDeadline Duration `json:"start_deadline,omitempty"`

	// Period is the unit of the business period that names an occurrence.
	// Default day where the schedule can be due at most once a local day,
	// otherwise instant.
	Period PeriodUnit `json:"period,omitempty"`
	// PeriodOffset moves the period from the due instant's: -1 says that last
	// night's run is for yesterday.
	PeriodOffset int `json:"period_offset,omitempty"`
	// Calendar moves or skips what is due on a day without business.
	Calendar *CalendarRule `json:"calendar,omitempty"`

	Overlap   Overlap   `json:"overlap,omitempty"`
	OnFailure OnFailure `json:"on_failure,omitempty"`
	CatchUp   CatchUp   `json:"catch_up,omitzero"`

	// Queue names a shared queue. Empty: a queue of the schedule's own with
	// concurrency 1 (without limit where overlap is allow).
	Queue string `json:"queue,omitempty"`
	// Priority orders occurrences within a queue: higher first. -100 to 100,
	// default 0.
	Priority int `json:"priority,omitempty"`
	// Lease is how long ownership lasts between renewals. Default 30s.
	Lease Duration `json:"lease,omitempty"`
	// Timeout ends an attempt that runs longer. 0: no limit.
	Timeout Duration `json:"timeout,omitempty"`
	Retry   Retry    `json:"retry,omitzero"`
	// WhenUnavailable says what a node does while coordination is down. Default
	// wait.
	WhenUnavailable WhenUnavailable `json:"when_unavailable,omitempty"`

	// Payload is any JSON value, handed to the target as it is.
	Payload json.RawMessage `json:"payload,omitempty"`
	Target  Target          `json:"target"`
}

// Timing is one way of being due; exactly one of its fields is set.
type Timing struct {
	// Cron is an expression of package cron, in the schedule's zone.
	Cron string `json:"cron,omitempty"`
	// Every is an interval of elapsed time, at least 1s, counted from Anchor.
	Every Duration `json:"every,omitempty"`
	// Anchor belongs to Every. Default: when the store first met the schedule.
	Anchor *time.Time `json:"anchor,omitempty"`
	// At is one instant: RFC 3339, or local time in the schedule's zone
	// ("2026-11-28T09:00").
	At string `json:"at,omitempty"`
	// RRule is a recurrence rule of RFC 5545, with or without a DTSTART line;
	// without one, it starts at the schedule's Start.
	RRule string `json:"rrule,omitempty"`
}

// IsZero reports whether no timing is given.
func (t Timing) IsZero() bool { return t == Timing{} }

// Exclusion is a time at which a schedule is not due. Either a Timing (the
// instants themselves, or windows of length For that begin there), or a window
// From <= t < To, or local Dates.
type Exclusion struct {
	Timing
	For   Duration `json:"for,omitempty"`
	From  string   `json:"from,omitempty"` // as Timing.At
	To    string   `json:"to,omitempty"`
	Dates []string `json:"dates,omitempty"` // YYYY-MM-DD
	Note  string   `json:"note,omitempty"`
}

// DST chooses what clock changes do to a schedule that names wall times. Its
// zero value is { gap: next, overlap: first }.
type DST struct {
	// Gap is for a wall time that does not exist: next (the first instant
	// after the gap), shift (later by the gap's length), skip.
	Gap string `json:"gap,omitempty"`
	// Overlap is for a wall time that comes twice: first, last, both.
	Overlap string `json:"overlap,omitempty"`
}

// PeriodUnit is the unit of business periods.
type PeriodUnit string

// The period units.
const (
	PeriodInstant PeriodUnit = "instant"
	PeriodHour    PeriodUnit = "hour"
	PeriodDay     PeriodUnit = "day"
	PeriodWeek    PeriodUnit = "week"
	PeriodMonth   PeriodUnit = "month"
)

// CalendarRule says which days have business and what happens to an occurrence
// that is due on another. It is self-contained: naming a calendar of a file
// copies its days here, so that a definition means the same everywhere.
type CalendarRule struct {
	// Name is for people.
	Name string `json:"name,omitempty"`
	// Weekdays are the business weekdays, as mon … sun. Default mon-fri.
	Weekdays []string `json:"weekdays,omitempty"`
	// Holidays have no business; Workdays do, whatever else is said.
	Holidays []string `json:"holidays,omitempty"` // YYYY-MM-DD
	Workdays []string `json:"workdays,omitempty"`
	// Otherwise is skip (default; recorded as skipped), next or previous
	// business day.
	Otherwise string `json:"otherwise,omitempty"`
}

// Overlap says what happens when an occurrence comes due while an earlier one
// of its schedule is unfinished.
type Overlap string

// The overlap policies. Default wait.
const (
	OverlapWait    Overlap = "wait"    // strict order by due time
	OverlapSkip    Overlap = "skip"    // the new one is skipped
	OverlapCombine Overlap = "combine" // the waiting ones become one that covers them all
	OverlapAllow   Overlap = "allow"   // both run
	OverlapReplace Overlap = "replace" // the running one is cancelled; the new one starts when its ownership has ended
)

// OnFailure says whether later periods wait for a failed one.
type OnFailure string

// The failure policies. Default continue.
const (
	OnFailureContinue OnFailure = "continue"
	OnFailureHold     OnFailure = "hold"
)

// CatchUp says what happens with times that passed while nothing could fire.
type CatchUp struct {
	// Policy: none (all are missed), latest (default), all, combine (one
	// occurrence that covers them all).
	Policy CatchUpPolicy `json:"policy,omitempty"`
	// Window bounds how far back. Default 24h.
	Window Duration `json:"window,omitempty"`
	// Max bounds how many, the newest first. 0: no bound.
	Max int `json:"max,omitempty"`
}

// CatchUpPolicy is the policy of CatchUp and of a resume after a pause.
type CatchUpPolicy string

// The catch-up policies.
const (
	CatchUpNone    CatchUpPolicy = "none"
	CatchUpLatest  CatchUpPolicy = "latest"
	CatchUpAll     CatchUpPolicy = "all"
	CatchUpCombine CatchUpPolicy = "combine"
)

// WhenUnavailable says what a node does with a schedule while the store cannot
// be reached.
type WhenUnavailable string

// What a node can do.
const (
	// UnavailableWait: nothing starts without ownership.
	UnavailableWait WhenUnavailable = "wait"
	// UnavailableRun: every node that can do the work does it by itself, unowned,
	// and what came due is owed all the same once the store is back. For work
	// that may be done any number of times at once.
	UnavailableRun WhenUnavailable = "run"
)

// Retry says how failed and lost attempts are repeated. Backoff doubles with
// every attempt up to MaxBackoff and carries full jitter.
type Retry struct {
	MaxAttempts int      `json:"max_attempts,omitempty"` // default 5; 1 means no retry
	Backoff     Duration `json:"backoff,omitempty"`      // default 10s
	MaxBackoff  Duration `json:"max_backoff,omitempty"`  // default 10m
}

// Target is what an attempt does; exactly one field is set.
type Target struct {
	Handler string      `json:"handler,omitempty"` // name of code on a node
	Exec    *ExecTarget `json:"exec,omitempty"`
	HTTP    *HTTPTarget `json:"http,omitempty"`
}

// Capability names what a node must have to run the target: "exec", "http" or
// "handler:NAME". Nodes claim by capability.
func (t Target) Capability() string {
	switch {
	case t.Exec != nil:
		return "exec"
	case t.HTTP != nil:
		return "http"
	}
	return "handler:" + t.Handler
}

// ExecTarget runs a command on a node that serves the store.
type ExecTarget struct {
	// Command is the program and its arguments; no shell is involved.
	Command []string          `json:"command"`
	Dir     string            `json:"dir,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	// KillAfter is the time between SIGTERM and SIGKILL. Default 10s.
	KillAfter Duration `json:"kill_after,omitempty"`
	// OutputLimit is how many bytes of output are kept with the attempt: the
	// first and the last half of it. Default 64 KiB, at most 1 MiB.
	OutputLimit int `json:"output_limit,omitempty"`
}

// HTTPTarget sends a request.
type HTTPTarget struct {
	URL     string            `json:"url"`
	Method  string            `json:"method,omitempty"` // default POST
	Headers map[string]string `json:"headers,omitempty"`
	// Secret signs requests by the Standard Webhooks scheme ("whsec_…").
	Secret string `json:"secret,omitempty"`
	// ResponseLimit bounds the bytes of a response that are kept. Default 64 KiB.
	ResponseLimit int `json:"response_limit,omitempty"`
}

// Queue is where occurrences wait, with a concurrency that holds across all
// nodes.
type Queue struct {
	Name string `json:"name,omitempty"`
	// Concurrency is how many occurrences may run at once, on all nodes
	// together. Default 1.
	Concurrency int `json:"concurrency,omitempty"`
	// Rate bounds how many may start in each span of Per. Zero: no bound.
	Rate Rate `json:"rate,omitzero"`
}

// Rate is a number of starts for a span of time.
type Rate struct {
	Count int      `json:"count,omitempty"`
	Per   Duration `json:"per,omitempty"`
}

// The defaults, applied by the accessors below.
const (
	DefaultLease         = Duration(30 * time.Second)
	DefaultCatchUpWindow = Duration(24 * time.Hour)
	DefaultMaxAttempts   = 5
	DefaultBackoff       = Duration(10 * time.Second)
	DefaultMaxBackoff    = Duration(10 * time.Minute)
)

// AllTimings returns Timing and Timings as one list, without empty ones.
func (s *Schedule) AllTimings() []Timing {
	var all []Timing
	if !s.Timing.IsZero() {
		all = append(all, s.Timing)
	}
	return append(all, s.Timings...)
}

// WithDefaults returns a copy in which every policy that has a default is set.
// Period stays empty where it is: its default depends on the timings.
func (s Schedule) WithDefaults() Schedule {
	setDefault(&s.Timezone, "UTC")
	setDefault(&s.DST.Gap, "next")
	setDefault(&s.DST.Overlap, "first")
	setDefault(&s.Overlap, OverlapWait)
	setDefault(&s.OnFailure, OnFailureContinue)
	setDefault(&s.CatchUp.Policy, CatchUpLatest)
	setDefault(&s.CatchUp.Window, DefaultCatchUpWindow)
	setDefault(&s.Lease, DefaultLease)
	setDefault(&s.Retry.MaxAttempts, DefaultMaxAttempts)
	setDefault(&s.Retry.Backoff, DefaultBackoff)
	setDefault(&s.Retry.MaxBackoff, max(DefaultMaxBackoff, s.Retry.Backoff))
	setDefault(&s.WhenUnavailable, UnavailableWait)
	return s
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
