package store

import (
	"context"
	"time"

	"github.com/duly-dev/duly"
)

// Leases are named: ownership of something that is no occurrence.
type Leases interface {
	// Acquire takes a named lease for an owner token, or answers code conflict
	// with the holder in the result. Acquiring again with the owner token that
	// holds it renews it and keeps the fencing token. Waiters are served in
	// the order in which they first asked, as long as each asks again within
	// its wait.
	Acquire(ctx context.Context, req AcquireRequest) (duly.Lease, error)
	// RenewLease extends it. Code not_holder where the token does not hold it.
	RenewLease(ctx context.Context, name, owner string, ttl time.Duration) (duly.Lease, error)
	// ReleaseLease gives it up. Code not_holder where the token does not hold
	// it; nothing changes then. The fencing counter stays.
	ReleaseLease(ctx context.Context, name, owner string) error
}

// AcquireRequest asks for a named lease.
type AcquireRequest struct {
	Now   time.Time
	Name  string
	Owner string // random, the caller's own
	// Holder is for people: host, pid, purpose.
	Holder string
	TTL    time.Duration
	// Wait keeps a place in the queue of waiters for this long; 0: try once.
	Wait time.Duration
}
