package store

import (
	"context"
	"encoding/json"
	"time"

	"github.com/duly-dev/duly"
)

// Definer changes what schedules exist.
type Definer interface {
	// Apply makes a set of definitions the ones that owner holds, in one step,
	// with an audit row for each change. A definition equal to the one in
	// force changes nothing. A changed one makes a revision in force from now,
	// with the cursor where it is: what came due under the old one before now
	// is still owed. Answers what changed; with req.DryRun nothing is done.
	Apply(ctx context.Context, req ApplyRequest) (ApplyResult, error)

	// Declare says which definitions a live node carries in its code. In force
	// is, for each schedule owned by code, the newest definition (by when the
	// store first met it) that a live node still declares; it changes here,
	// and when nodes join, leave or expire. A schedule that no live node
	// declares is marked orphaned. A schedule owned by a file or a person is
	// left alone and answered as such.
	Declare(ctx context.Context, req DeclareRequest) (ApplyResult, error)
}

// Definition is a schedule's definition with what the store must know of it.
type Definition struct {
	Schedule duly.Schedule
	// Next gives the first due instant after a time, for a schedule anchored
	// at anchor; zero for never. The store calls it to set NextDue.
	Next func(anchor, after time.Time) time.Time
}

// ApplyRequest changes definitions.
type ApplyRequest struct {
	Now       time.Time
	Owner     string // "file:duly.yaml", "api", …
	By        string // who, for the audit
	Schedules []Definition
	Queues    []duly.Queue
	// Remove lists schedules to remove. Prune removes every schedule and queue
	// of Owner that is not in the request. Open occurrences of a removed
	// schedule are cancelled; history stays.
	Remove []string
	Prune  bool
	DryRun bool
	// Force takes over schedules of another owner; otherwise they are a
	// conflict that fails the whole request.
	Force bool
}

// DeclareRequest carries a node's definitions.
type DeclareRequest struct {
	Now       time.Time
	Node      int64
	Owner     string // the application, "code:billing"
	Schedules []Definition
}

// ApplyResult lists changes in the order of the request.
type ApplyResult struct {
	Changes []Change
}

// Change is what happened, or would, to one schedule or queue.
type Change struct {
	Kind   string `json:"kind"` // schedule or queue
	ID     string `json:"id"`
	Action Action `json:"action"`
	// Before and After are the definitions as JSON, where they exist.
	Before   json.RawMessage `json:"before,omitempty"`
	After    json.RawMessage `json:"after,omitempty"`
	Revision int64           `json:"revision,omitempty"`
	NextDue  time.Time       `json:"next_due,omitzero"`
	Reason   string          `json:"reason,omitempty"`
}

// Action is what a change did.
type Action string

// The actions.
const (
	ActionCreate Action = "create"
	ActionUpdate Action = "update"
	ActionRemove Action = "remove"
	ActionKeep   Action = "keep"   // nothing to do
	ActionIgnore Action = "ignore" // owned by somebody else, or older than what is in force
)
