package cli

import (
	"context"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/api"
	"github.com/duly-dev/duly/store"
	"github.com/duly-dev/duly/target"
)

// Acquire implements lease.Source: what is owned has been claimed already.
func (o *owned) Acquire(context.Context, store.AcquireRequest) (duly.Lease, error) {
	return duly.Lease{Name: o.occurrence, Token: o.got.Token, Until: o.got.LeaseUntil}, nil
}

// RenewLease implements lease.Source by renewing the attempt, and keeps the
// session with it.
func (o *owned) RenewLease(ctx context.Context, _, _ string, ttl time.Duration) (duly.Lease, error) {
	res, err := o.client.Renew(ctx, o.node, []api.Renewal{{Seq: o.got.Seq, Token: o.got.Token, Lease: duly.Duration(ttl)}})
	if err != nil {
		return duly.Lease{}, err
	}
	switch r := res[0]; {
	case r.Lost:
		return duly.Lease{}, duly.Errorf(duly.CodeNotHolder, "%s is no longer owned: %s", o.occurrence, r.Reason)
	case r.Cancelled:
		o.cancelled(target.ErrCancelled)
	}
	_ = o.beat(ctx) // a session that expires costs a line in the node list
	return duly.Lease{Name: o.occurrence, Token: o.got.Token, Until: res[0].Until}, nil
}

// ReleaseLease implements lease.Source: the report ends the ownership.
func (o *owned) ReleaseLease(context.Context, string, string) error { return nil }
