package control

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/plan"
	"github.com/duly-dev/duly/store"
)

// StartRequest declares an occurrence that a platform's cron starts.
type StartRequest struct {
	Schedule string
	By       string
	// Period asks for that business period's occurrence, Due for the one that
	// is due at that instant. Both empty: due now.
	Period string
	Due    time.Time
	// Define is the definition to be made where the schedule does not exist.
	Define *duly.Schedule
}

// Started is an occurrence and the capability by which it, and no other, is
// claimed.
type Started struct {
	store.Inserted
	Capability string
}

// Start declares an occurrence of an external schedule. Whoever starts the
// same period meets the same occurrence. One that ended without success goes
// back to pending, since its platform asks for it again; one that succeeded,
// runs or is uncertain is answered as it stands.
//
// Where a platform starts everything there may be no server to end attempts
// whose owners died, so Start does that first.
func (c *Control) Start(ctx context.Context, req StartRequest) (Started, error) {
	if err := c.reap(ctx); err != nil {
		return Started{}, err
	}
	s, p, err := c.planned(ctx, req.Schedule)
	if duly.CodeOf(err) == duly.CodeNotFound && req.Define != nil {
		s, p, err = c.define(ctx, req)
	}
	if err != nil {
		return Started{}, err
	}
	if !s.External {
		return Started{}, duly.Errorf(duly.CodeConflict, "schedule %s is timed by Duly itself; a platform can start those with external: true only (ask for one by hand with: duly schedules trigger)", s.ID)
	}
	occ, err := c.external(ctx, p, s, req)
	if err != nil {
		return Started{}, err
	}
	// A capability of its own hands the occurrence to whoever was asked to do
	// just this period.
	occ.Capability = "external:" + duly.OccurrenceID(s.ID, occ.Period)
	occ.Origin, occ.Revision = duly.OriginExternal, s.Revision
	occ.NotBefore, occ.StartBy = time.Time{}, time.Time{}
	// An earlier period may wait for its platform for ever. Only who asks for
	// strict order gets it.
	occ.Serial = occ.Serial && s.Overlap != ""
	made, err := c.store.Insert(ctx, store.InsertRequest{
		Schedule: s.ID, By: req.By, Why: "started by its platform", Occurrences: []store.NewOccurrence{occ},
		Retry: []duly.State{duly.Failed, duly.Missed, duly.Skipped, duly.Cancelled},
	})
	if err != nil {
		return Started{}, err
	}
	return Started{Inserted: made[0], Capability: occ.Capability}, nil
}

// define makes the schedule on first use. Two that do so at once make one.
func (c *Control) define(ctx context.Context, req StartRequest) (store.ScheduleStatus, *plan.Plan, error) {
	def := *req.Define
	def.ID, def.External = req.Schedule, true
	if _, err := c.Apply(ctx, ApplyRequest{Owner: "exec", By: req.By, Schedules: []duly.Schedule{def}}); err != nil && duly.CodeOf(err) != duly.CodeConflict {
		return store.ScheduleStatus{}, nil, err
	}
	return c.planned(ctx, req.Schedule)
}

func (c *Control) external(ctx context.Context, p *plan.Plan, s store.ScheduleStatus, req StartRequest) (store.NewOccurrence, error) {
	if req.Period != "" {
		if !req.Due.IsZero() {
			return store.NewOccurrence{}, duly.Invalid("period", "give a period or a due time, not both")
		}
		return plan.ForPeriod(p, s.Anchor, req.Period)
	}
	due := req.Due
	if due.IsZero() {
		now, err := c.now(ctx)
		if err != nil {
			return store.NewOccurrence{}, err
		}
		due = now
	}
	return plan.ForDue(p, s.Anchor, due)
}

// reap ends attempts whose lease has run out, as a node would.
func (c *Control) reap(ctx context.Context) error {
	h, err := c.store.Horizon(ctx)
	if err != nil || h.Lease.IsZero() || h.Lease.After(h.Now) {
		return err
	}
	view := c.plans.View()
	req := store.ReapRequest{Decide: func(e store.Expired) store.Next {
		p, ok, err := view.Plan(e.Definition)
		switch {
		case err != nil:
			return store.Next{State: duly.Pending, Reason: "attempt lost"}
		case !ok:
			return store.Next{}
		}
		return plan.Expired(p, e, rand.Float64())
	}}
	for again := true; again; {
		if _, err := c.store.Reap(ctx, req); err != nil {
			return err
		}
		if again, err = view.Load(ctx); err != nil {
			return err
		}
	}
	return nil
}
