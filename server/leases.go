package server

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/api"
	"github.com/duly-dev/duly/store"
)

func (s *Server) routeLeases() {
	const one = v1 + "/leases/{name}"
	tag := []string{"leases"}
	register(s, huma.Operation{
		OperationID: "acquireLease", Method: http.MethodPost, Path: one + "/acquire", Tags: tag,
		Summary: "Take a named lease", Errors: []int{http.StatusConflict},
		Description: "The fencing token is greater than that of every holder before. Where somebody else holds the lease, " +
			"the answer is a conflict with that lease in it. Those who wait are served in the order in which they first asked.",
	}, s.acquireLease)
	register(s, huma.Operation{
		OperationID: "renewLease", Method: http.MethodPost, Path: one + "/renew", Tags: tag,
		Summary: "Extend a named lease", Errors: []int{http.StatusConflict},
		Description: "Code not_holder where the owner does not hold it any more.",
	}, s.renewLease)
	register(s, huma.Operation{
		OperationID: "releaseLease", Method: http.MethodPost, Path: one + "/release", Tags: tag, DefaultStatus: http.StatusNoContent,
		Summary: "Give a named lease up", Errors: []int{http.StatusConflict},
		Description: "Code not_holder where the owner does not hold it; nothing changes then. The fencing token never starts over.",
	}, s.releaseLease)
}

const (
	// askAgain is how often a lease is asked for while a request waits for it.
	askAgain = time.Second
	// keepPlace is how much longer than a request its place in the queue is
	// kept, so that a client that asks again at once does not lose it.
	keepPlace = 5 * time.Second
)

// NameInput is the path parameter of an operation on a lease. It is exported
// for huma alone.
type NameInput struct {
	Name string `path:"name" maxLength:"600" example:"nightly-report" doc:"A '/' in it is sent as %2F."`
}

type acquireLeaseInput struct {
	NameInput
	Body api.AcquireRequest
}

func (s *Server) acquireLease(ctx context.Context, in *acquireLeaseInput) (*answer[duly.Lease], error) {
	ttl, err := checkLease(in.Name, in.Body.Owner, in.Body.TTL)
	if err != nil {
		return nil, err
	}
	wait := in.Body.Wait.Std()
	if wait > maxWait {
		return nil, duly.Invalid("wait", "is %v; at most %v, then ask again", in.Body.Wait, duly.Duration(maxWait))
	}
	req := store.AcquireRequest{Name: in.Name, Owner: in.Body.Owner, Holder: cut(clean(in.Body.Holder), 500), TTL: ttl}
	if wait > 0 {
		req.Wait = wait + keepPlace
	}
	lease, err := s.awaitLease(ctx, req, wait)
	if err == nil && ctx.Err() != nil { // nobody hears the answer
		release, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveBackTime)
		defer cancel()
		if err := s.store.ReleaseLease(release, req.Name, req.Owner); err != nil {
			s.log.Debug("a lease could not be given back; it will run out", "lease", req.Name, "error", err)
		}
		return nil, ctx.Err()
	}
	if duly.CodeOf(err) == duly.CodeConflict {
		return nil, held(lease, err)
	}
	if err != nil {
		return nil, err
	}
	return reply(lease), nil
}

// awaitLease asks for a lease until it is had or wait is over.
func (s *Server) awaitLease(ctx context.Context, req store.AcquireRequest, wait time.Duration) (duly.Lease, error) {
	lease, err := s.store.Acquire(ctx, req)
	if wait <= 0 || duly.CodeOf(err) != duly.CodeConflict {
		return lease, err
	}
	sub := s.hub.subscribe()
	defer s.hub.unsubscribe(sub)
	over := time.NewTimer(wait)
	defer over.Stop()
	again := time.NewTicker(askAgain)
	defer again.Stop()
	for ask := true; ; { // first of all once more: a release may have come before the subscription
		if ask {
			lease, err = s.store.Acquire(ctx, req)
			if duly.CodeOf(err) != duly.CodeConflict {
				return lease, err
			}
		}
		select {
		case <-ctx.Done():
			return lease, err
		case <-s.hub.ending:
			return lease, err
		case <-over.C:
			return lease, err
		case <-again.C:
			ask = true
		case <-sub.wake:
			ask = sub.takeAny(store.TopicLeases)
		}
	}
}

// held is the answer where somebody else has the lease.
func held(lease duly.Lease, err error) error {
	p := api.Problem{Status: api.StatusOf(duly.CodeConflict), Code: duly.CodeConflict, Detail: err.Error()}
	if lease.Name != "" {
		lease.Owner = ""
		p.Lease = &lease
	}
	return &problemError{p}
}

func checkLease(name, owner string, ttl duly.Duration) (time.Duration, error) {
	if err := duly.CheckID(name); err != nil {
		return 0, duly.Invalid("name", "%v", err)
	}
	if len(owner) < 16 || len(owner) > 200 {
		return 0, duly.Invalid("owner", "must be a random text of 16 to 200 characters, of the caller's own")
	}
	return leaseLength("ttl", ttl)
}

type renewLeaseInput struct {
	NameInput
	Body api.RenewLeaseRequest
}

func (s *Server) renewLease(ctx context.Context, in *renewLeaseInput) (*answer[duly.Lease], error) {
	ttl, err := checkLease(in.Name, in.Body.Owner, in.Body.TTL)
	if err != nil {
		return nil, err
	}
	lease, err := s.store.RenewLease(ctx, in.Name, in.Body.Owner, ttl)
	if err != nil {
		return nil, err
	}
	return reply(lease), nil
}

type releaseLeaseInput struct {
	NameInput
	Body api.ReleaseLeaseRequest
}

func (s *Server) releaseLease(ctx context.Context, in *releaseLeaseInput) (*struct{}, error) {
	return nil, s.store.ReleaseLease(ctx, in.Name, in.Body.Owner)
}
