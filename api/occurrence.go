package api

import (
	"encoding/json"
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

// ResolveEffectRequest tells of a decision that a person made in the effect
// ledger.
type ResolveEffectRequest struct {
	Key string `json:"key"`
	Why string `json:"why,omitempty"`
	// Before and After are the effect as the ledger had and has it.
	Before json.RawMessage `json:"before,omitempty"`
	After  json.RawMessage `json:"after"`
	// Occurrences lists more that wait for it, as the ledger knows, at most 1000.
	Occurrences []string `json:"occurrences,omitempty"`
}

// ResolveEffectResult says what follows from the decision.
type ResolveEffectResult struct {
	// Occurrences lists those that went back to pending.
	Occurrences []string `json:"occurrences"`
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
