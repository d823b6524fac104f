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

const (
	maxWait  = 60 * time.Second
	maxBatch = 1000
)

func (s *Server) routeWorker() {
	tag := []string{"workers"}
	register(s, huma.Operation{
		OperationID: "claim", Method: http.MethodPost, Path: v1 + "/claims", Tags: tag,
		Summary: "Take occurrences to work on", Errors: []int{http.StatusNotFound},
		Description: "Each claim is the ownership of an occurrence for one attempt, with a lease and a fencing token greater " +
			"than every earlier one. With wait, the answer comes as soon as there is work.",
	}, s.claim)
	register(s, huma.Operation{
		OperationID: "renewAttempts", Method: http.MethodPost, Path: v1 + "/attempts/renew", Tags: tag,
		Summary:     "Extend the leases of running attempts",
		Description: "One answer for each item, in their order. Renew at a third of the lease, in batches.",
	}, s.renew)
	register(s, huma.Operation{
		OperationID: "finishAttempts", Method: http.MethodPost, Path: v1 + "/attempts/finish", Tags: tag, MaxBodyBytes: maxBodyApply,
		Summary: "Report what attempts came to",
		Description: "One answer for each report, in their order; one that is refused does not harm the rest. What follows " +
			"(done, another attempt, failed) is decided here, by the schedule's policies. After an outage, report again.",
	}, s.finish)
	register(s, huma.Operation{
		OperationID: "endDetachedAttempt", Method: http.MethodPost, Path: v1 + "/callbacks/{seq}/{token}", Tags: tag,
		Summary: "End an attempt whose target answered 202", Errors: []int{http.StatusNotFound, http.StatusPreconditionFailed},
		Description: "The target of an HTTP attempt was given this address. An empty body means that it succeeded.",
	}, s.callback)
}

type claimInput struct{ Body api.ClaimRequest }

func (s *Server) claim(ctx context.Context, in *claimInput) (*answer[api.ClaimResult], error) {
	req := store.ClaimRequest{Node: in.Body.Node, Max: in.Body.Max, Capabilities: in.Body.Capabilities}
	if req.Max == 0 {
		req.Max = 1
	}
	switch {
	case req.Node <= 0:
		return nil, duly.Invalid("node", "is missing: join first, and send the number that you were given")
	case req.Max < 0 || req.Max > maxBatch:
		return nil, duly.Invalid("max", "is %d; it must lie between 1 and %d", req.Max, maxBatch)
	case in.Body.Wait.Std() > maxWait:
		return nil, duly.Invalid("wait", "is %v; at most %v, then ask again", in.Body.Wait, duly.Duration(maxWait))
	}
	began := time.Now()
	c := s.broker.claim(ctx, req, in.Body.Wait.Std())
	if c.err != nil {
		return nil, c.err
	}
	res := c.res
	if ctx.Err() != nil { // the worker went away while its claim was on its way
		s.giveBack(ctx, req.Node, res.Claims, "the worker went away before it was answered")
		return nil, ctx.Err()
	}
	out := api.ClaimResult{Now: res.Now, Claims: make([]api.Claim, 0, len(res.Claims))}
	if len(res.Claims) > 0 { // rounded down: a worker must not count its lease from too late
		out.Waited = duly.Duration(c.asked.Sub(began).Truncate(time.Millisecond))
	}
	for _, c := range res.Claims {
		p, err := s.plans.Get(ctx, c.Definition)
		if err != nil {
			s.log.Error("a claimed occurrence goes back: its definition is unreadable", "request", requestID(ctx), "schedule", c.Schedule, "error", err)
			s.giveBack(ctx, req.Node, []store.Claim{c}, "its definition cannot be read by the server")
			continue
		}
		s.counts.started(res.Now.Sub(c.Due))
		out.Claims = append(out.Claims, wireClaim(c, p.Def))
	}
	return reply(out), nil
}

func wireClaim(c store.Claim, def duly.Schedule) api.Claim {
	id := duly.OccurrenceID(c.Schedule, c.Period)
	out := api.Claim{
		Seq: c.Seq, Token: c.Token, Schedule: c.Schedule, Occurrence: id, Period: c.Period, Covers: c.Covers,
		Due: c.Due, IntervalStart: c.IntervalStart, Origin: c.Origin, Queue: c.Queue, Revision: c.Revision,
		Attempt: c.Attempt, Tries: c.Tries, FencingResource: c.Resource(), IdempotencyKey: id,
		Lease: duly.Duration(c.Lease), LeaseUntil: c.LeaseUntil, Timeout: def.Timeout, Payload: c.Payload, Target: def.Target,
	}
	if out.Payload == nil {
		out.Payload = def.Payload
	}
	if len(out.Covers) == 0 {
		out.Covers = []string{c.Period}
	}
	return out
}

type renewInput struct{ Body api.RenewRequest }

func (s *Server) renew(ctx context.Context, in *renewInput) (*answer[api.RenewResult], error) {
	if err := checkBatch("items", len(in.Body.Items)); err != nil {
		return nil, err
	}
	out := api.RenewResult{Results: make([]api.Renewed, len(in.Body.Items))}
	if len(in.Body.Items) == 0 {
		return reply(out), nil
	}
	items := make([]store.Renewal, len(in.Body.Items))
	for i, item := range in.Body.Items {
		lease, err := leaseLength("items["+itoa(i)+"].lease", item.Lease)
		if err != nil {
			return nil, err
		}
		items[i] = store.Renewal{Seq: item.Seq, Token: item.Token, Lease: lease}
	}
	answers, err := s.store.Renew(ctx, in.Body.Node, items)
	if err != nil {
		return nil, err
	}
	for i, a := range answers {
		out.Results[i] = api.Renewed{Lost: a.Lost, Cancelled: a.Cancelled, Reason: a.Reason, Until: a.Until}
	}
	return reply(out), nil
}

func checkBatch(field string, n int) error {
	if n > maxBatch {
		return duly.Invalid(field, "has %d entries; at most %d fit into one request", n, maxBatch)
	}
	return nil
}

// leaseLength checks the length of a lease that a client asks for.
func leaseLength(field string, d duly.Duration) (time.Duration, error) {
	if d == 0 {
		d = duly.DefaultLease
	}
	if lease := d.Std(); lease >= time.Second && lease <= 24*time.Hour {
		return lease, nil
	}
	return 0, duly.Invalid(field, "is %v; it must lie between 1s and 1d", d)
}
