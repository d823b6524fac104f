package control

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"strings"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/plan"
	"github.com/duly-dev/duly/store"
)

// TriggerRequest asks for an occurrence now.
type TriggerRequest struct {
	Schedule string
	By, Why  string
	// Period asks for that business period's occurrence, Due for the one that
	// is due at that instant. Both empty: an occurrence with an identity of
	// its own, manual-…, which can never stand in for a scheduled one.
	Period string
	Due    time.Time
	// Payload replaces the definition's.
	Payload json.RawMessage
	// Once is an idempotency key: asking again with it answers with the same
	// occurrence.
	Once string
	// Parallel does not wait for earlier occurrences of the schedule.
	Parallel bool
}

// Trigger makes an occurrence, or answers with the one that exists.
func (c *Control) Trigger(ctx context.Context, req TriggerRequest) (store.Inserted, error) {
	if len(req.Payload) > 0 && !json.Valid(req.Payload) {
		return store.Inserted{}, duly.Invalid("payload", "is not valid JSON")
	}
	s, p, err := c.planned(ctx, req.Schedule)
	if err != nil {
		return store.Inserted{}, err
	}
	occ, err := c.wanted(p, s, req)
	if err != nil {
		return store.Inserted{}, err
	}
	occ.Origin = duly.OriginTrigger
	occ.Revision = s.Revision
	occ.Serial = occ.Serial && !req.Parallel
	occ.StartBy, occ.NotBefore = time.Time{}, time.Time{} // a person said now
	if occ.Reason == "" {
		occ.Reason = strings.TrimSpace("triggered by " + req.By + " " + req.Why)
	}
	return c.insertOne(ctx, store.InsertRequest{
		Schedule: req.Schedule, By: req.By, Why: req.Why, Occurrences: []store.NewOccurrence{occ}, Payload: req.Payload, Once: req.Once,
	})
}

// insertOne makes an occurrence, and starts it where a node of this process can
// run it.
func (c *Control) insertOne(ctx context.Context, req store.InsertRequest) (made store.Inserted, err error) {
	step := func(offer *store.ClaimRequest) (*store.Claim, error) {
		req.Claim = offer
		all, err := c.store.Insert(ctx, req)
		if err != nil {
			return nil, err
		}
		made = all[0]
		return made.Claim, nil
	}
	if c.near != nil {
		err = c.near.Take(step)
	} else {
		_, err = step(nil)
	}
	return made, err
}

func (c *Control) wanted(p *plan.Plan, s store.ScheduleStatus, req TriggerRequest) (store.NewOccurrence, error) {
	switch {
	case req.Period != "" && !req.Due.IsZero():
		return store.NewOccurrence{}, duly.Invalid("period", "give a period or a due time, not both")
	case req.Period != "":
		return plan.ForPeriod(p, s.Anchor, req.Period)
	case !req.Due.IsZero():
		return plan.ForDue(p, s.Anchor, req.Due)
	}
	return plan.Manual(p, s.Now, strings.ToLower(rand.Text()[:6])), nil
}
