package api

import (
	"time"

	"github.com/duly-dev/duly"
)

// OccurrenceQuery narrows a list of occurrences. Zero fields do not.
type OccurrenceQuery struct {
	Schedule  string
	States    []duly.State
	Attention bool      // only failed, uncertain and missed
	From, To  time.Time // From <= due < To
	Page
}

// WhyRequest says why somebody asks for something, for the audit.
type WhyRequest struct {
	Why string `json:"why,omitempty"`
}

// ResolveRequest says what became of an uncertain occurrence.
type ResolveRequest struct {
	// To is succeeded (it has happened) or pending (try again).
	To  duly.State `json:"to"`
	Why string     `json:"why,omitempty"`
}

// EffectQuery narrows a list of effects. Zero fields do not.
type EffectQuery struct {
	Key        string // exact
	Prefix     string
	Occurrence string
	Page
}

// AuditQuery narrows the list of changes that people and nodes made.
type AuditQuery struct {
	// Object is schedule/ID, queue/NAME, occurrence/ID or effect/KEY. Empty:
	// all of them.
	Object string
	Page
}
