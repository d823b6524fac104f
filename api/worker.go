package api

import (
	"encoding/json"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// ClaimRequest asks for work.
type ClaimRequest struct {
	Node int64 `json:"node"` // of JoinResult
	// Max is how many occurrences to take at most, up to 1000. Default 1.
	Max int `json:"max,omitempty"`
	// Capabilities say what may be handed out: "handler:NAME", "exec", "http".
	Capabilities []string `json:"capabilities"`
	// Wait is how long to wait for work where there is none, at most 60s.
	// Default: answer at once.
	Wait duly.Duration `json:"wait,omitempty"`
}

// ClaimResult is work; none is an empty list.
type ClaimResult struct {
	// Now is the store's clock.
	Now time.Time `json:"now"`
	// Waited is how long the request had waited when this work was claimed.
	Waited duly.Duration `json:"waited,omitempty"`
	Claims []Claim       `json:"claims"`
}

// Claim is the ownership of an occurrence for one attempt, with all that a
// target is told. Seq and Token name it in renewals and reports.
type Claim struct {
	Seq        int64  `json:"seq"`
	Token      int64  `json:"token"` // the fencing token
	Schedule   string `json:"schedule"`
	Occurrence string `json:"occurrence"` // schedule@period
	Period     string `json:"period"`
	// Covers lists the periods that the work is for.
	Covers []string  `json:"covers"`
	Due    time.Time `json:"due"`
	// IntervalStart is when the schedule was due before: the work's data lies
	// in IntervalStart <= t < Due.
	IntervalStart time.Time   `json:"interval_start,omitzero"`
	Origin        duly.Origin `json:"origin"`
	Queue         string      `json:"queue,omitempty"`
	Revision      int64       `json:"revision"`
	Attempt       int         `json:"attempt"` // 1, 2, 3 …
	// Tries is how many attempts count against the limit, with this one.
	Tries int `json:"tries"`
	// FencingResource is what Token guards: a destination that has seen a
	// greater token for it must refuse this one.
	FencingResource string `json:"fencing_resource"`
	// IdempotencyKey is the same for every attempt at the occurrence.
	IdempotencyKey string `json:"idempotency_key"`
	// Lease is the length of ownership. Count it on a monotonic clock, from
	// before you asked and what the request waited since; renew at a third of
	// it.
	Lease      duly.Duration `json:"lease"`
	LeaseUntil time.Time     `json:"lease_until"` // by the store's clock
	// Timeout ends an attempt that takes longer. Empty: no limit.
	Timeout duly.Duration   `json:"timeout,omitempty"`
	Payload json.RawMessage `json:"payload,omitempty"`
	Target  duly.Target     `json:"target"`
}

// RenewRequest extends leases.
type RenewRequest struct {
	Node  int64     `json:"node"`
	Items []Renewal `json:"items"`
}

// Renewal asks for one lease to be extended.
type Renewal struct {
	Seq   int64 `json:"seq"`
	Token int64 `json:"token"`
	// Lease is counted from the store's now, 1s to 24h.
	Lease duly.Duration `json:"lease"`
}

// RenewResult answers a RenewRequest item by item, in its order.
type RenewResult struct {
	Results []Renewed `json:"results"`
}

// Renewed is the answer to a Renewal.
type Renewed struct {
	// Lost: no longer owned; stop at once.
	Lost bool `json:"lost,omitempty"`
	// Cancelled: still owned, but wanted ended; report cancelled when it has.
	Cancelled bool      `json:"cancelled,omitempty"`
	Reason    string    `json:"reason,omitempty"`
	Until     time.Time `json:"until,omitzero"`
}

// FinishRequest reports what attempts came to.
type FinishRequest struct {
	Node    int64    `json:"node"`
	Reports []Report `json:"reports"`
}

// Report is what a worker says of an attempt. Reporting again the same way is
// answered the same way.
type Report struct {
	Seq     int64        `json:"seq"`
	Token   int64        `json:"token"`
	Outcome duly.Outcome `json:"outcome"`
	Details
}

// CallbackRequest ends an attempt whose target answered 202 and went on.
type CallbackRequest struct {
	// Outcome is how it ended. Default succeeded.
	Outcome duly.Outcome `json:"outcome,omitempty"`
	Details
}

// Details say more about how an attempt ended.
type Details struct {
	// Error says in words what went wrong.
	Error string `json:"error,omitempty"`
	// Permanent: no further attempt can succeed.
	Permanent bool `json:"permanent,omitempty"`
	// RetryAfter is how long to wait for the next attempt instead of the
	// schedule's backoff.
	RetryAfter duly.Duration `json:"retry_after,omitempty"`
	ExitCode   *int          `json:"exit_code,omitempty"`
	// Output is what the work printed, at most 1 MiB.
	Output  string               `json:"output,omitempty"`
	Result  json.RawMessage      `json:"result,omitempty"`
	Effects []store.EffectReport `json:"effects,omitempty"`
}

// FinishResult answers a FinishRequest report by report, in its order.
type FinishResult struct {
	Results []Finished `json:"results"`
}

// Finished is the answer to a Report.
type Finished struct {
	Occurrence string     `json:"occurrence,omitempty"`
	State      duly.State `json:"state,omitempty"` // of the occurrence now
	// Late: accepted although the lease had run out.
	Late bool `json:"late,omitempty"`
	// Error is set where the report was refused: stale_token (a newer attempt
	// owns the occurrence; the report is kept beside its attempt) or not_found.
	Error *ItemError `json:"error,omitempty"`
}

// ItemError is why one item of a batch was refused.
type ItemError struct {
	Code    duly.Code `json:"code"`
	Field   string    `json:"field,omitempty"`
	Message string    `json:"message"`
}

// Err is the error that it tells of, nil for none.
func (e *ItemError) Err() error {
	if e == nil {
		return nil
	}
	return &duly.Error{Code: e.Code, Field: e.Field, Message: e.Message}
}
