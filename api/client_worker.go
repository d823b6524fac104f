package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/duly-dev/duly"
)

// Join opens a session.
func (c *Client) Join(ctx context.Context, req JoinRequest) (JoinResult, error) {
	return post[JoinResult](ctx, c, "/nodes", req)
}

// Beat keeps a session alive. Code not_found where it has expired: join again.
func (c *Client) Beat(ctx context.Context, node int64, req BeatRequest) error {
	return c.do(ctx, http.MethodPost, fmt.Sprintf("%s/nodes/%d/beat", prefix, node), nil, req, nil)
}

// Leave ends a session.
func (c *Client) Leave(ctx context.Context, node int64) error {
	return c.do(ctx, http.MethodPost, fmt.Sprintf("%s/nodes/%d/leave", prefix, node), nil, nil, nil)
}

// Declare says which schedules a live node carries in its code.
func (c *Client) Declare(ctx context.Context, req DeclareRequest) (DeclareResult, error) {
	return post[DeclareResult](ctx, c, "/declare", req)
}

// Claim takes work. With Wait set it answers as soon as there is some.
func (c *Client) Claim(ctx context.Context, req ClaimRequest) (ClaimResult, error) {
	return post[ClaimResult](ctx, c, "/claims", req)
}

// Renew extends leases. Answers are in the order of items.
func (c *Client) Renew(ctx context.Context, node int64, items []Renewal) ([]Renewed, error) {
	res, err := post[RenewResult](ctx, c, "/attempts/renew", RenewRequest{Node: node, Items: items})
	return res.Results, err
}

// Finish reports what attempts came to. Answers are in the order of reports.
// After an error of code unavailable it is right to report again.
func (c *Client) Finish(ctx context.Context, node int64, reports []Report) ([]Finished, error) {
	res, err := post[FinishResult](ctx, c, "/attempts/finish", FinishRequest{Node: node, Reports: reports})
	return res.Results, err
}

// Callback ends an attempt whose target answered 202.
func (c *Client) Callback(ctx context.Context, seq, token int64, req CallbackRequest) (Finished, error) {
	return post[Finished](ctx, c, fmt.Sprintf("/callbacks/%d/%d", seq, token), req)
}

// AcquireLease takes a named lease. Where somebody else holds it the error is
// of code conflict and the lease is theirs, without the owner's secret.
func (c *Client) AcquireLease(ctx context.Context, name string, req AcquireRequest) (duly.Lease, error) {
	lease, err := post[duly.Lease](ctx, c, leasePath(name)+"/acquire", req)
	var held *heldError
	if errors.As(err, &held) {
		return held.lease, held.err
	}
	return lease, err
}

// RenewLease extends it. Code not_holder where the owner does not hold it.
func (c *Client) RenewLease(ctx context.Context, name string, req RenewLeaseRequest) (duly.Lease, error) {
	return post[duly.Lease](ctx, c, leasePath(name)+"/renew", req)
}

// ReleaseLease gives it up. Code not_holder where the owner does not hold it.
func (c *Client) ReleaseLease(ctx context.Context, name, owner string) error {
	return c.do(ctx, http.MethodPost, prefix+leasePath(name)+"/release", nil, ReleaseLeaseRequest{Owner: owner}, nil)
}

func leasePath(name string) string { return "/leases/" + url.PathEscape(name) }

// heldError carries the lease that is in the way from an answer to
// AcquireLease.
type heldError struct {
	err   *duly.Error
	lease duly.Lease
}

func (e *heldError) Error() string { return e.err.Error() }
func (e *heldError) Unwrap() error { return e.err }
