package control

import (
	"context"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/plan"
	"github.com/duly-dev/duly/store"
)

// Rule says which occurrences of a range a backfill wants.
type Rule string

// The backfill rules. Default missing.
const (
	BackfillMissing Rule = "missing" // those that do not exist, or were missed, skipped or cancelled
	BackfillFailed  Rule = "failed"  // and those that failed
	BackfillAll     Rule = "all"     // and those that succeeded or are uncertain: their effects are guarded by business keys or happen again
)

// retries lists the states that a rule sends back to pending.
func (r Rule) retries() ([]duly.State, error) {
	missing := []duly.State{duly.Missed, duly.Skipped, duly.Cancelled}
	switch r {
	case "", BackfillMissing:
		return missing, nil
	case BackfillFailed:
		return append(missing, duly.Failed), nil
	case BackfillAll:
		return append(missing, duly.Failed, duly.Uncertain, duly.Succeeded), nil
	}
	return nil, duly.Invalid("rule", "is %q; it must be one of missing, failed, all", r)
}

// BackfillRequest asks for a past range: From <= due < To.
type BackfillRequest struct {
	Schedule string
	From, To time.Time
	Rule     Rule
	DryRun   bool
	By, Why  string
}

// BackfillItem is what happened, or would, to one period.
type BackfillItem struct {
	ID     string     `json:"id"`
	Due    time.Time  `json:"due"`
	Action string     `json:"action"`          // create, retry, keep
	State  duly.State `json:"state,omitempty"` // before
}

// BackfillResult counts all periods of the range and lists the first ones.
type BackfillResult struct {
	Created int            `json:"created"`
	Retried int            `json:"retried"`
	Kept    int            `json:"kept"`
	Items   []BackfillItem `json:"items"`
	// Omitted counts the periods beyond those in Items.
	Omitted int `json:"omitted,omitempty"`
}

const (
	backfillBatch = 500
	backfillItems = 1000
	// maxBackfill bounds one request: half a million occurrences by a slip of
	// the year is no favour to anybody.
	maxBackfill = 100_000
)

// Backfill makes the occurrences of a past range that the rule wants, in
// batches, each computed from the definition that was in force then.
func (c *Control) Backfill(ctx context.Context, req BackfillRequest) (BackfillResult, error) {
	var res BackfillResult
	retry, err := req.Rule.retries()
	if err != nil {
		return res, err
	}
	if !req.From.Before(req.To) {
		return res, duly.Invalid("to", "is not after from")
	}
	now, err := c.now(ctx)
	if err != nil {
		return res, err
	}
	if req.To.After(now) {
		return res, duly.Invalid("to", "lies in the future (it is %s); what is to come is made when it is due", now.Format(time.RFC3339))
	}
	owed, err := c.owed(ctx, req)
	if err != nil {
		return res, err
	}
	for len(owed) > 0 {
		batch := owed[:min(len(owed), backfillBatch)]
		owed = owed[len(batch):]
		if err := c.backfillBatch(ctx, req, retry, batch, &res); err != nil {
			return res, err
		}
	}
	return res, nil
}

// owed lists what the revisions in force then owed in the range.
func (c *Control) owed(ctx context.Context, req BackfillRequest) ([]store.NewOccurrence, error) {
	s, err := c.store.Schedule(ctx, req.Schedule)
	if err != nil {
		return nil, err
	}
	revisions, err := c.store.Revisions(ctx, req.Schedule)
	if err != nil {
		return nil, err
	}
	var owed []store.NewOccurrence
	for i, r := range revisions {
		from, to := req.From, req.To
		if i > 0 && r.From.After(from) { // the first revision stands for all time before it too
			from = r.From
		}
		if i+1 < len(revisions) && revisions[i+1].From.Before(to) {
			to = revisions[i+1].From
		}
		if !from.Before(to) {
			continue
		}
		p, err := c.plans.Get(ctx, r.Definition)
		if err != nil {
			return nil, err
		}
		for occ := range plan.Range(p, s.Anchor, from, to) {
			if len(owed) == maxBackfill {
				return nil, duly.Invalid("from", "the range holds more than %d periods; ask for it in parts", maxBackfill)
			}
			occ.Origin, occ.Revision, occ.Definition = duly.OriginBackfill, r.Number, r.Definition
			owed = append(owed, occ)
		}
	}
	return owed, nil
}

func (c *Control) backfillBatch(ctx context.Context, req BackfillRequest, retry []duly.State, batch []store.NewOccurrence, res *BackfillResult) error {
	made, err := c.store.Insert(ctx, store.InsertRequest{
		Schedule: req.Schedule, By: req.By, Why: req.Why, Occurrences: batch, Retry: retry, DryRun: req.DryRun,
	})
	if err != nil {
		return err
	}
	for i, m := range made {
		item := BackfillItem{ID: m.ID, Due: batch[i].Due, Action: "create"}
		switch {
		case m.Retried:
			item.Action, item.State = "retry", m.State
			res.Retried++
		case m.Existing:
			item.Action, item.State = "keep", m.State
			res.Kept++
		default:
			res.Created++
		}
		if len(res.Items) < backfillItems {
			res.Items = append(res.Items, item)
		} else {
			res.Omitted++
		}
	}
	return nil
}
