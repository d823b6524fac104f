package api

import (
	"encoding/json"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// ScheduleQuery narrows a list of schedules. Zero fields do not.
type ScheduleQuery struct {
	Prefix   string // of the ID
	Owner    string
	Queue    string
	Paused   *bool
	Orphaned *bool
	Page
}

// UpcomingQuery asks when a schedule is due.
type UpcomingQuery struct {
	// N is how many times to list, at most 1000. Default 10.
	N int
	// From is the instant after which to look. Default now.
	From time.Time
}

// Upcoming is a time at which a schedule comes due.
type Upcoming struct {
	Due time.Time `json:"due"`
	// Local is Due on a clock in the schedule's zone.
	Local  string `json:"local"`
	Period string `json:"period"`
	// Skip says why nothing will happen then; empty where something will.
	Skip string `json:"skip,omitempty"`
}

// PauseRequest stops a schedule from firing.
type PauseRequest struct {
	Why string `json:"why,omitempty"`
	// Until is when it goes on by itself. Default: when it is resumed.
	Until time.Time `json:"until,omitzero"`
	// Policy says what happens to what came due meanwhile, when Until passes.
	// Default: the schedule's own catch-up policy.
	Policy duly.CatchUpPolicy `json:"policy,omitempty"`
}

// PauseQueueRequest stops a shared queue from handing anything out.
type PauseQueueRequest struct {
	Why string `json:"why,omitempty"`
	// Until is when it goes on by itself. Default: when it is resumed.
	Until time.Time `json:"until,omitzero"`
}

// ResumeRequest lets a paused schedule fire again.
type ResumeRequest struct {
	// Policy says what happens to what came due meanwhile. Default: the
	// schedule's own catch-up policy.
	Policy duly.CatchUpPolicy `json:"policy,omitempty"`
}

// TriggerRequest asks for an occurrence now.
type TriggerRequest struct {
	// Period asks for the occurrence of that business period, Due for the one
	// that is due at that instant. Neither: one with an identity of its own,
	// manual-…, which never stands in for a scheduled one.
	Period string    `json:"period,omitempty"`
	Due    time.Time `json:"due,omitzero"`
	// Payload replaces the definition's.
	Payload json.RawMessage `json:"payload,omitempty"`
	// Once is an idempotency key: asking again with it answers with the same
	// occurrence. The header Idempotency-Key means the same.
	Once string `json:"once,omitempty"`
	// Parallel does not wait for earlier occurrences of the schedule.
	Parallel bool   `json:"parallel,omitempty"`
	Why      string `json:"why,omitempty"`
}

// TriggerStatus says whether a trigger made an occurrence.
type TriggerStatus string

// What a trigger can come to.
const (
	TriggerCreated   TriggerStatus = "created"
	TriggerDuplicate TriggerStatus = "duplicate" // it existed: here it is, as it stands
)

// TriggerResult is what a trigger came to.
type TriggerResult struct {
	Status     TriggerStatus   `json:"status"`
	Occurrence duly.Occurrence `json:"occurrence"`
}

// BackfillRule says which occurrences of a range a backfill wants.
type BackfillRule string

// The backfill rules. Default missing.
const (
	BackfillMissing BackfillRule = "missing" // those that do not exist, or were missed, skipped or cancelled
	BackfillFailed  BackfillRule = "failed"  // and those that failed
	BackfillAll     BackfillRule = "all"     // and those that succeeded or are uncertain: their effects are guarded by business keys or happen again
)

// BackfillRequest asks for a past range: From <= due < To.
type BackfillRequest struct {
	From time.Time    `json:"from"`
	To   time.Time    `json:"to"`
	Rule BackfillRule `json:"rule,omitempty"`
	// DryRun answers what would happen and does nothing.
	DryRun bool   `json:"dry_run,omitempty"`
	Why    string `json:"why,omitempty"`
}

// BackfillAction is what a backfill did to one period.
type BackfillAction string

// What a backfill can do.
const (
	BackfillCreate BackfillAction = "create"
	BackfillRetry  BackfillAction = "retry"
	BackfillKeep   BackfillAction = "keep"
)

// BackfillItem is what happened, or would, to one period.
type BackfillItem struct {
	ID     string         `json:"id"`
	Due    time.Time      `json:"due"`
	Action BackfillAction `json:"action"`
	// State is what the occurrence was before; empty where there was none.
	State duly.State `json:"state,omitempty"`
}

// BackfillResult counts all periods of the range and lists the first ones.
type BackfillResult struct {
	Created int            `json:"created"`
	Retried int            `json:"retried"`
	Kept    int            `json:"kept"`
	Items   []BackfillItem `json:"items"`
	// Omitted counts the periods beyond those in Items.
	Omitted int `json:"omitted,omitempty"`
}

// ApplyRequest makes a set of definitions the ones that an owner holds. It is
// all or nothing.
type ApplyRequest struct {
	// Owner keeps them apart from other sets: "file:duly.yaml", "api".
	Owner     string          `json:"owner"`
	Schedules []duly.Schedule `json:"schedules,omitempty"`
	Queues    []duly.Queue    `json:"queues,omitempty"`
	// Remove lists the IDs of schedules to remove.
	Remove []string `json:"remove,omitempty"`
	// Prune removes every schedule and queue of Owner that is not in the
	// request.
	Prune bool `json:"prune,omitempty"`
	// DryRun answers what would change and does nothing.
	DryRun bool `json:"dry_run,omitempty"`
	// Force takes over what another owner holds; otherwise that is a conflict.
	Force bool `json:"force,omitempty"`
}

// Changes lists what changed, or would, in the order of the request.
type Changes struct {
	Changes []store.Change `json:"changes"`
}

// SimulateRequest asks what definitions would do to a range of time, compared
// with those that are stored. Nothing is changed.
type SimulateRequest struct {
	Schedules []duly.Schedule `json:"schedules"`
	// From <= due < To. Default: a year from now on.
	From time.Time `json:"from,omitzero"`
	To   time.Time `json:"to,omitzero"`
}

// SimulateResult says what definitions would do.
type SimulateResult struct {
	From      time.Time    `json:"from"`
	To        time.Time    `json:"to"`
	Schedules []Simulation `json:"schedules"`
}

// Simulation is what a new definition would do to the periods of a schedule.
type Simulation struct {
	ID     string       `json:"id"`
	Action store.Action `json:"action"` // create, update or keep
	// Before and After count the periods of the range under the stored and
	// under the given definition.
	Before int `json:"before"`
	After  int `json:"after"`
	// Added, Dropped and Moved count the periods that differ.
	Added   int `json:"added"`
	Dropped int `json:"dropped"`
	Moved   int `json:"moved"`
	// Periods lists the first of those, in order of time.
	Periods []PeriodChange `json:"periods"`
	// Omitted counts the ones beyond.
	Omitted int `json:"omitted,omitempty"`
	// To is how far the schedule was compared: less than asked for where it has
	// very many periods.
	To time.Time `json:"to"`
}

// PeriodChange is a period that a new definition adds, drops or moves.
type PeriodChange struct {
	Period string `json:"period"`
	// Before and After are when the period is due under the stored and under
	// the given definition; one that is missing means not at all.
	Before      time.Time `json:"before,omitzero"`
	BeforeLocal string    `json:"before_local,omitempty"`
	After       time.Time `json:"after,omitzero"`
	AfterLocal  string    `json:"after_local,omitempty"`
	// Note marks what is special about the day: a clock change, a holiday.
	Note string `json:"note,omitempty"`
}
