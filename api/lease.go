package api

import "github.com/duly-dev/duly"

// AcquireRequest takes a named lease.
type AcquireRequest struct {
	// Owner is the caller's secret, random, 16 to 200 characters. Acquiring
	// again with it renews the lease and keeps the fencing token.
	Owner string `json:"owner"`
	// Holder is for people: host, pid, purpose.
	Holder string `json:"holder,omitempty"`
	// TTL is the length of the lease, 1s to 24h. Default 30s.
	TTL duly.Duration `json:"ttl,omitempty"`
	// Wait is how long to wait for the lease, at most 60s; asking again keeps
	// the place among those who wait. Default: answer at once.
	Wait duly.Duration `json:"wait,omitempty"`
}

// RenewLeaseRequest extends a named lease.
type RenewLeaseRequest struct {
	Owner string `json:"owner"`
	// TTL as in AcquireRequest.
	TTL duly.Duration `json:"ttl,omitempty"`
}

// ReleaseLeaseRequest gives a named lease up.
type ReleaseLeaseRequest struct {
	Owner string `json:"owner"`
}
