package api

import (
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// Node is a session of a process that takes part.
type Node struct {
	ID           int64    `json:"id"`
	Name         string   `json:"name"`
	Host         string   `json:"host"`
	PID          int      `json:"pid"`
	Version      string   `json:"version"`
	TZData       string   `json:"tzdata"`
	Capabilities []string `json:"capabilities"`
	Slots        int      `json:"slots"` // occurrences it works on at once
	Running      int      `json:"running"`
	// ClockOffset is the node's clock minus the store's, in milliseconds.
	ClockOffset int64     `json:"clock_offset_ms"`
	Draining    bool      `json:"draining,omitempty"`
	JoinedAt    time.Time `json:"joined_at"`
	SeenAt      time.Time `json:"seen_at"`
	Until       time.Time `json:"until"`
	// State is live, left or gone (vanished).
	State NodeState `json:"state"`
}

// NodeState is where a session is in its life.
type NodeState string

// The states of a node.
const (
	NodeLive NodeState = "live"
	NodeLeft NodeState = "left"
	NodeGone NodeState = "gone" // it vanished
)

// JoinRequest opens a session.
type JoinRequest struct {
	// Name is for people; unique among live nodes.
	Name    string `json:"name"`
	Host    string `json:"host,omitempty"`
	PID     int    `json:"pid,omitempty"`
	Version string `json:"version,omitempty"`
	TZData  string `json:"tzdata,omitempty"`
	// Capabilities say what the node can do: "handler:NAME", "exec", "http".
	Capabilities []string `json:"capabilities,omitempty"`
	// Slots is how many occurrences it works on at once.
	Slots int `json:"slots,omitempty"`
	// TTL is how long the node may be silent before it counts as gone, 5s to
	// 1h. Default 15s.
	TTL duly.Duration `json:"ttl,omitempty"`
}

// JoinResult is a session.
type JoinResult struct {
	Node int64         `json:"node"`
	TTL  duly.Duration `json:"ttl"`
}

// BeatRequest keeps a session alive. Send it three times within the TTL.
type BeatRequest struct {
	// TTL as in JoinRequest.
	TTL     duly.Duration `json:"ttl,omitempty"`
	Running int           `json:"running,omitempty"`
	// ClockOffset is the node's clock minus the store's, in milliseconds.
	ClockOffset int64 `json:"clock_offset_ms,omitempty"`
	Draining    bool  `json:"draining,omitempty"`
}

// DeclareRequest says which schedules a live node carries in its code.
type DeclareRequest struct {
	Node int64 `json:"node"`
	// App is the application; nodes with the same one share its schedules.
	App       string          `json:"app"`
	Schedules []duly.Schedule `json:"schedules"`
}

// DeclareResult says what came of each definition. A faulty one is left out
// and listed in Faults; it never keeps the others from being declared.
type DeclareResult struct {
	Changes []store.Change    `json:"changes"`
	Faults  []DefinitionFault `json:"faults,omitempty"`
}

// DefinitionFault is what is wrong with one field of a definition.
type DefinitionFault struct {
	Schedule string `json:"schedule"`
	Field    string `json:"field,omitempty"`
	Message  string `json:"message"`
}
