package duly

import (
	"encoding/json"
	"strings"
	"time"
)

// Occurrence is one piece of work that a schedule owes: its identity is
// schedule@period.
type Occurrence struct {
	ID string `json:"id"`
	// Seq is the store's own number for the occurrence, growing in the order
	// of creation. Renewals and reports name an occurrence by it.
	Seq      int64  `json:"seq"`
	Schedule string `json:"schedule"`
	Revision int64  `json:"revision"`
	Period   string `json:"period"`
	// Covers lists the periods the work is for: its own, and those merged
	// into it.
	Covers []string `json:"covers"`
	// Count is the number of periods that a missed or skipped row stands for;
	// 1 for everything else.
	Count int       `json:"count"`
	Due   time.Time `json:"due"`
	// IntervalStart is when the schedule was due before: the work's data lies
	// in IntervalStart <= t < Due. Zero where there is no such time.
	IntervalStart time.Time `json:"interval_start,omitzero"`
	State         State     `json:"state"`
	// Reason says in words why the state is what it is.
	Reason   string  `json:"reason,omitempty"`
	Origin   Origin  `json:"origin"`
	Queue    string  `json:"queue,omitempty"`
	Priority int     `json:"priority,omitempty"`
	Waiting  Waiting `json:"waiting,omitempty"` // while pending: for what
	// NotBefore is when a pending occurrence may start (jitter, retry).
	NotBefore time.Time `json:"not_before,omitzero"`
	// StartBy is when a pending occurrence that never started becomes missed.
	StartBy    time.Time `json:"start_by,omitzero"`
	MergedInto string    `json:"merged_into,omitempty"`
	CreatedAt  time.Time `json:"created_at"`
	FinishedAt time.Time `json:"finished_at,omitzero"`
	// FiredBy names the node that made it and TZData the zone data it used.
	FiredBy  string    `json:"fired_by,omitempty"`
	TZData   string    `json:"tzdata,omitempty"`
	Attempts []Attempt `json:"attempts"`
	// Unowned are the tries that nodes made by themselves while they could not
	// reach the store (when_unavailable: run). They are no attempts, and changed
	// nothing of the state. Not in lists.
	Unowned []Unowned `json:"unowned,omitempty"`
	Effects []Effect  `json:"effects"`
}

// OccurrenceID is the identity of a schedule's period.
func OccurrenceID(schedule, period string) string { return schedule + "@" + period }

// SplitOccurrenceID is the inverse of OccurrenceID. A period holds no '@' and
// neither does a schedule's ID.
func SplitOccurrenceID(id string) (schedule, period string, ok bool) {
	schedule, period, ok = strings.Cut(id, "@")
	return schedule, period, ok && schedule != "" && period != ""
}

// Origin says what made an occurrence.
type Origin string

// The origins.
const (
	OriginSchedule Origin = "schedule" // it came due
	OriginCatchUp  Origin = "catch_up" // it came due while nothing could fire
	OriginTrigger  Origin = "trigger"  // a person said now
	OriginBackfill Origin = "backfill" // a person asked for a past range
	OriginExternal Origin = "external" // a platform's cron started it
)

// Waiting says what a pending occurrence waits for.
type Waiting string

// What a pending occurrence can wait for.
const (
	WaitingSlot    Waiting = "slot"    // a worker, or room in its queue
	WaitingTime    Waiting = "time"    // NotBefore
	WaitingEarlier Waiting = "earlier" // an earlier occurrence of its schedule
)

// Attempt is one try at an occurrence, with its fencing token.
type Attempt struct {
	Number  int     `json:"number"`
	Outcome Outcome `json:"outcome"`
	Node    string  `json:"node"`
	// Token is the fencing token: greater than every token granted before it.
	Token      int64     `json:"token"`
	StartedAt  time.Time `json:"started_at"`
	FinishedAt time.Time `json:"finished_at,omitzero"`
	LeaseUntil time.Time `json:"lease_until,omitzero"` // while running
	Error      string    `json:"error,omitempty"`
	ExitCode   *int      `json:"exit_code,omitempty"` // exec targets and HTTP statuses
	// Output is what the target printed or answered, bounded.
	Output string          `json:"output,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	// Late marks a report accepted after the lease had run out.
	Late bool `json:"late,omitempty"`
	// Stale is a report refused because a newer token had been granted.
	Stale   *StaleReport `json:"stale,omitempty"`
	Effects EffectCounts `json:"effects"`
}

// Unowned is a try at a period that no lease owned.
type Unowned struct {
	Period     string    `json:"period"`
	Node       string    `json:"node"`
	Due        time.Time `json:"due"`
	StartedAt  time.Time `json:"started_at"` // by the node's clock, like FinishedAt
	FinishedAt time.Time `json:"finished_at"`
	Outcome    Outcome   `json:"outcome"`
	Error      string    `json:"error,omitempty"`
	ExitCode   *int      `json:"exit_code,omitempty"`
	// RecordedAt is when the store learned of it.
	RecordedAt time.Time `json:"recorded_at,omitzero"`
}

// StaleReport is what a worker said after it had lost its ownership. It
// changed nothing.
type StaleReport struct {
	Outcome Outcome   `json:"outcome"`
	At      time.Time `json:"at"`
	Error   string    `json:"error,omitempty"`
}

// EffectCounts says what an attempt's effects were.
type EffectCounts struct {
	Created int `json:"created"`
	Reused  int `json:"reused"`
}

// Effect is one recorded effect of an occurrence.
type Effect struct {
	Key string `json:"key"`
	// Attempt and Token say which attempt made it. They are 0 where that one
	// died before it could tell, and whoever found the effect does not know.
	Attempt   int       `json:"attempt"`
	Token     int64     `json:"token"`
	CreatedAt time.Time `json:"created_at"`
	// Open: the attempt could not tell whether it has happened.
	Open   bool            `json:"open,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
}
