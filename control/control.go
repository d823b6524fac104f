package control

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/internal/plans"
	"github.com/duly-dev/duly/plan"
	"github.com/duly-dev/duly/store"
)

// Control carries out people's requests on a store. All that it keeps is
// compiled definitions.
type Control struct {
	store store.Store
	plans *plans.Cache
	near  Taker // nil: none
}

// New makes a Control of a store, which stays the caller's to close.
func New(st store.Store) *Control { return &Control{store: st, plans: plans.New(st)} }

// NewBeside is New in a process that has a node on that store: what is triggered
// and the node can run at once, it starts right away.
func NewBeside(node Taker, st store.Store) *Control {
	return &Control{store: st, plans: plans.New(st), near: node}
}

// Taker is a node of this process; see node.Node.Take.
type Taker interface {
	Take(step func(offer *store.ClaimRequest) (*store.Claim, error)) error
}

// Faults is the error of a request with definitions that cannot be meant: all
// that is wrong with them at once. Its code is invalid.
type Faults struct {
	List []Fault
}

// Fault is what is wrong with one field of one schedule or queue.
type Fault struct {
	Kind  string // schedule or queue
	Index int    // in the request's list of that kind
	ID    string
	Field string
	Err   *duly.Error
}

func (f *Faults) Error() string {
	first := f.List[0]
	msg := fmt.Sprintf("%s %s: %v", first.Kind, first.ID, first.Err)
	if len(f.List) > 1 {
		msg += fmt.Sprintf(" (and %d more faults)", len(f.List)-1)
	}
	return msg
}

// As lets duly.CodeOf see the code.
func (f *Faults) As(target any) bool {
	if e, ok := target.(**duly.Error); ok {
		*e = &duly.Error{Code: duly.CodeInvalid, Message: f.Error()}
		return true
	}
	return false
}

// ApplyRequest is a set of definitions that an owner holds.
type ApplyRequest struct {
	// Owner keeps them apart from other sets: "file:duly.yaml", "api".
	Owner string
	// By is who asks, for the audit.
	By        string
	Schedules []duly.Schedule
	Queues    []duly.Queue
	// Remove lists schedules to remove; Prune removes all of Owner's that are
	// not in the request; DryRun only answers what would change; Force takes
	// over what another owner holds.
	Remove []string
	Prune  bool
	DryRun bool
	Force  bool
}

// Apply makes definitions the ones in force. It is all or nothing: one that is
// faulty, or held by another owner, fails them all.
func (c *Control) Apply(ctx context.Context, req ApplyRequest) (store.ApplyResult, error) {
	defs, faults := c.compile(req.Schedules)
	for i, q := range req.Queues {
		for _, e := range q.Validate() {
			faults.List = append(faults.List, Fault{Kind: "queue", Index: i, ID: q.Name, Field: e.Field, Err: e})
		}
	}
	if len(faults.List) > 0 {
		return store.ApplyResult{}, faults
	}
	return c.store.Apply(ctx, store.ApplyRequest{
		Owner: req.Owner, By: req.By, Schedules: defs, Queues: req.Queues,
		Remove: req.Remove, Prune: req.Prune, DryRun: req.DryRun, Force: req.Force,
	})
}

// compile judges definitions, gathering every fault.
func (c *Control) compile(schedules []duly.Schedule) ([]store.Definition, *Faults) {
	faults := &Faults{}
	defs := make([]store.Definition, 0, len(schedules))
	seen := map[string]bool{}
	for i, s := range schedules {
		p, errs := c.plans.Compile(s)
		if seen[s.ID] {
			errs = append(errs, duly.Invalid("id", "schedule %s is defined twice", s.ID))
		}
		seen[s.ID] = true
		for _, e := range errs {
			faults.List = append(faults.List, Fault{Kind: "schedule", Index: i, ID: s.ID, Field: e.Field, Err: e})
		}
		if len(errs) == 0 {
			defs = append(defs, store.Definition{Schedule: s, Next: p.Next})
		}
	}
	return defs, faults
}

// planned is a schedule as it stands, compiled.
func (c *Control) planned(ctx context.Context, id string) (store.ScheduleStatus, *plan.Plan, error) {
	s, err := c.store.Schedule(ctx, id)
	if err != nil {
		return s, nil, err
	}
	p, faults := c.plans.Compile(s.Schedule)
	if len(faults) > 0 {
		return s, nil, duly.Errorf(duly.CodeInternal, "schedule %s: its stored definition cannot be read by this version: %v", id, faults[0])
	}
	return s, p, nil
}

// now is the store's clock.
func (c *Control) now(ctx context.Context) (time.Time, error) {
	h, err := c.store.Horizon(ctx)
	return h.Now, err
}

// Pause stops a schedule from firing until a time, or until it is resumed.
// policy says what happens to what came due meanwhile when until passes.
func (c *Control) Pause(ctx context.Context, req store.PauseRequest) error {
	if err := checkPolicy(req.Policy); err != nil {
		return err
	}
	if err := c.checkUntil(ctx, req.Until); err != nil {
		return err
	}
	return c.store.Pause(ctx, req)
}

// checkUntil refuses a pause that would have ended already.
func (c *Control) checkUntil(ctx context.Context, until time.Time) error {
	now, err := c.now(ctx)
	if err != nil {
		return err
	}
	if !until.IsZero() && !until.After(now) {
		return duly.Invalid("until", "%s has passed (it is %s)", until.Format(time.RFC3339), now.Format(time.RFC3339))
	}
	return nil
}

// Resume lets a paused schedule fire again. The empty policy is the
// schedule's own catch-up policy.
func (c *Control) Resume(ctx context.Context, req store.ResumeRequest) error {
	if err := checkPolicy(req.Policy); err != nil {
		return err
	}
	return c.store.Resume(ctx, req)
}

// PauseQueue keeps a shared queue from handing anything out until a time, or
// until it is resumed. What runs goes on.
func (c *Control) PauseQueue(ctx context.Context, req store.PauseQueueRequest) error {
	if err := c.checkUntil(ctx, req.Until); err != nil {
		return err
	}
	return c.store.PauseQueue(ctx, req)
}

// ResumeQueue lets a paused queue hand out again.
func (c *Control) ResumeQueue(ctx context.Context, req store.ResumeQueueRequest) error {
	return c.store.ResumeQueue(ctx, req)
}

func checkPolicy(p duly.CatchUpPolicy) error {
	switch p {
	case "", duly.CatchUpNone, duly.CatchUpLatest, duly.CatchUpAll, duly.CatchUpCombine:
		return nil
	}
	return duly.Invalid("policy", "is %q; it must be one of none, latest, all, combine", p)
}

// Retry sends an ended occurrence back to pending, its tries counted anew.
func (c *Control) Retry(ctx context.Context, occurrence, by, why string) error {
	return c.store.Retry(ctx, occurrence, by, why)
}

// Cancel ends or dismisses an occurrence; the owner of a running one is asked
// to stop.
func (c *Control) Cancel(ctx context.Context, occurrence, by, why string) error {
	return c.store.Cancel(ctx, occurrence, by, why)
}

// Resolve says what became of an uncertain occurrence: that it succeeded, or
// that it is pending again, its tries counted anew. Code conflict where it is
// not uncertain.
func (c *Control) Resolve(ctx context.Context, occurrence string, to duly.State, by, why string) error {
	if to != duly.Succeeded && to != duly.Pending {
		return duly.Invalid("to", "is %q; it must be succeeded or pending", to)
	}
	return c.store.Resolve(ctx, occurrence, to, by, why)
}

// ResolveEffect notes what a person decided about an effect in the ledger, and
// sends the occurrences that wait for it back to pending. It answers their IDs.
func (c *Control) ResolveEffect(ctx context.Context, req store.ResolveEffectRequest) ([]string, error) {
	switch {
	case req.Key == "":
		return nil, duly.Invalid("key", "is missing")
	case len(req.Key) > 1000:
		return nil, duly.Invalid("key", "is %d bytes long; at most 1000 are allowed", len(req.Key))
	case !json.Valid(req.After):
		return nil, duly.Invalid("after", "is missing: what does the ledger hold now?")
	case len(req.Occurrences) > 1000:
		return nil, duly.Invalid("occurrences", "are %d; at most 1000 are allowed", len(req.Occurrences))
	}
	return c.store.ResolveEffect(ctx, req)
}
