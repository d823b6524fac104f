package store

import (
	"context"
	"encoding/json"
	"time"

	"github.com/duly-dev/duly"
)

// Reader answers questions. Lists come in pages: at most Page.Limit items, and
// a cursor for the next page that is empty at the end.
type Reader interface {
	// Definition returns the content that a Revision or Claim names. Contents
	// never change, so callers may keep them.
	Definition(ctx context.Context, id int64) (duly.Schedule, error)
	// Definitions is Definition for many at once, up to 1000. One that does not
	// exist, or that this version cannot read, is not in the answer.
	Definitions(ctx context.Context, ids []int64) (map[int64]duly.Schedule, error)

	// Revisions returns all revisions of a schedule, oldest first.
	Revisions(ctx context.Context, schedule string) ([]Revision, error)

	Schedule(ctx context.Context, id string) (ScheduleStatus, error)
	Schedules(ctx context.Context, filter ScheduleFilter, page Page) ([]ScheduleStatus, string, error)
	// Occurrence returns one with its attempts and effects.
	Occurrence(ctx context.Context, id string) (duly.Occurrence, error)
	// Occurrences lists, newest first, with attempts but without their output.
	Occurrences(ctx context.Context, filter OccurrenceFilter, page Page) ([]duly.Occurrence, string, error)
	// Attempts answers, for each key and in their order, what a decision about
	// that attempt rests on, whether it is still running or has ended. One that
	// does not exist is answered with the zero AttemptFacts. Servers need it to
	// judge reports from workers, who do not know policies.
	Attempts(ctx context.Context, keys []AttemptKey) ([]AttemptFacts, error)
	Effects(ctx context.Context, filter EffectFilter, page Page) ([]EffectStatus, string, error)
	Queues(ctx context.Context) ([]QueueStatus, error)
	NodeList(ctx context.Context) ([]NodeStatus, error)
	LeaseList(ctx context.Context) ([]duly.Lease, error)
	Audit(ctx context.Context, object string, page Page) ([]AuditRow, string, error)
	// Stats returns counts for status pages and metrics, in bounded time.
	Stats(ctx context.Context) (Stats, error)
}

// Page asks for a part of a list.
type Page struct {
	Limit  int    // default 100, at most 1000
	Cursor string // of the page before; empty: the first
}

// ScheduleFilter narrows a list. Zero fields do not.
type ScheduleFilter struct {
	Prefix   string
	Owner    string
	Queue    string
	Paused   *bool
	Orphaned *bool
	// Alone: only those that run while coordination is down (when_unavailable:
	// run). Finding them costs by their number.
	Alone bool
}

// ScheduleStatus is a definition with where it stands.
type ScheduleStatus struct {
	duly.Schedule
	Revision  int64     `json:"revision"`
	Owner     string    `json:"owner"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	Anchor    time.Time `json:"anchor_at"`
	Cursor    time.Time `json:"planned_to"`
	NextDue   time.Time `json:"next_due,omitzero"`
	Fired     int       `json:"fired"`
	Orphaned  bool      `json:"orphaned,omitempty"`
	// OrphanedAt is when the last node that declared it was gone.
	OrphanedAt time.Time    `json:"orphaned_at,omitzero"`
	Paused     *PauseStatus `json:"paused,omitempty"`
	// Last is the newest occurrence, LastSuccess when one last succeeded.
	Last        *LastOccurrence `json:"last,omitempty"`
	LastSuccess time.Time       `json:"last_success,omitzero"`
	// Now is the store's clock when it was looked at; not in lists.
	Now time.Time `json:"-"`
}

// PauseStatus says who paused a schedule or a queue, why and until when.
type PauseStatus struct {
	At    time.Time `json:"at"`
	By    string    `json:"by"`
	Why   string    `json:"why,omitempty"`
	Until time.Time `json:"until,omitzero"`
	// Policy is for what came due of a schedule meanwhile.
	Policy duly.CatchUpPolicy `json:"policy,omitempty"`
}

// LastOccurrence is a short form.
type LastOccurrence struct {
	ID    string     `json:"id"`
	Due   time.Time  `json:"due"`
	State duly.State `json:"state"`
}

// OccurrenceFilter narrows a list. Zero fields do not.
type OccurrenceFilter struct {
	Schedule  string
	States    []duly.State
	Attention bool      // only failed, uncertain and missed
	From, To  time.Time // From <= due < To
}

// AttemptKey names an attempt as its owner does.
type AttemptKey struct{ Seq, Token int64 }

// AttemptFacts are what a decision about an attempt rests on, as its Claim said
// them.
type AttemptFacts struct {
	Seq        int64
	Schedule   string
	Period     string
	Definition int64
	Attempt    int
	Tries      int
}

// EffectFilter narrows a list. Zero fields do not.
type EffectFilter struct {
	Key        string // exact
	Prefix     string
	Occurrence string
}

// EffectStatus is an effect with the occurrence that made it.
type EffectStatus struct {
	duly.Effect
	Occurrence string `json:"occurrence"`
	Reused     int    `json:"reused"` // how often later attempts found it
}

// QueueStatus is a shared queue and its load.
type QueueStatus struct {
	duly.Queue
	Running int          `json:"running"`
	Pending int          `json:"pending"`
	Paused  *PauseStatus `json:"paused,omitempty"`
}

// NodeStatus is a session.
type NodeStatus struct {
	ID int64 `json:"id"`
	NodeInfo
	NodeLoad
	JoinedAt time.Time `json:"joined_at"`
	SeenAt   time.Time `json:"seen_at"`
	Until    time.Time `json:"until"`
	State    string    `json:"state"` // live, left, gone (vanished)
}

// AuditRow is a change that somebody made.
type AuditRow struct {
	Seq    int64           `json:"seq"`
	At     time.Time       `json:"at"`
	By     string          `json:"by"`
	Action string          `json:"action"`
	Object string          `json:"object"` // schedule/ID, queue/NAME, occurrence/ID, effect/KEY
	Why    string          `json:"why,omitempty"`
	Before json.RawMessage `json:"before,omitempty"`
	After  json.RawMessage `json:"after,omitempty"`
}

// Stats are counts as of Now.
type Stats struct {
	Now       time.Time `json:"now"`
	Schedules int       `json:"schedules"`
	Paused    int       `json:"paused"`
	Nodes     int       `json:"nodes"` // live
	Pending   int       `json:"pending"`
	Running   int       `json:"running"`
	// Attention counts failed, uncertain and missed occurrences that nobody
	// has dealt with.
	Attention int `json:"attention"`
	// Occurrences counts by state since the store was made, trimmed ones too,
	// and Skips counts skipped and missed periods by reason.
	Occurrences map[duly.State]int64 `json:"occurrences"`
	Skips       []SkipCount          `json:"skips"`
}

// SkipCount counts the periods of a schedule that were not run, for a reason.
type SkipCount struct {
	Schedule string `json:"schedule"`
	Reason   string `json:"reason"`
	Count    int64  `json:"count"`
}
