package duly

import "time"

// Lease is time-limited ownership of a name.
type Lease struct {
	Name string `json:"name"`
	// Owner is the holder's secret; empty where the reader is not the holder.
	Owner  string `json:"owner,omitempty"`
	Holder string `json:"holder"`
	// Token is the fencing token: greater than that of every lease before it.
	Token      int64     `json:"token"`
	AcquiredAt time.Time `json:"acquired_at"`
	Until      time.Time `json:"until"`
	Waiters    int       `json:"waiters,omitempty"`
}
