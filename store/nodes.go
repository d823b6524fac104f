package store

import (
	"context"
	"time"
)

// Nodes keeps sessions.
type Nodes interface {
	// Join opens a session and answers its number.
	Join(ctx context.Context, node NodeInfo) (int64, error)
	// Beat keeps a session alive until the store's now + ttl. Code not_found
	// where it has expired: join again.
	Beat(ctx context.Context, node int64, ttl time.Duration, load NodeLoad) error
	// Leave ends a session.
	Leave(ctx context.Context, node int64) error
}

// NodeInfo describes a process that takes part.
type NodeInfo struct {
	Name         string        `json:"name"` // unique among live nodes by host and pid, for people
	Host         string        `json:"host"`
	PID          int           `json:"pid"`
	Version      string        `json:"version"`
	TZData       string        `json:"tzdata"`
	Capabilities []string      `json:"capabilities"`
	Slots        int           `json:"slots"` // occurrences it runs at once
	TTL          time.Duration `json:"-"`
}

// NodeLoad is what a node tells with each beat.
type NodeLoad struct {
	Running int `json:"running"`
	// ClockOffset is the node's clock minus the store's.
	ClockOffset time.Duration `json:"clock_offset"`
	Draining    bool          `json:"draining,omitempty"`
}
