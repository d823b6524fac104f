package api

import (
	"context"
	"net/http"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// post asks for something to be done.
func post[T any](ctx context.Context, c *Client, path string, in any) (T, error) {
	var out T
	err := c.do(ctx, http.MethodPost, prefix+path, nil, in, &out)
	return out, err
}

// PutSchedule makes a definition the one in force, owned by "api". One that
// another owner holds is a conflict, unless force takes it over.
func (c *Client) PutSchedule(ctx context.Context, s duly.Schedule, force bool) (store.ScheduleStatus, error) {
	var out store.ScheduleStatus
	err := c.do(ctx, http.MethodPut, prefix+schedulePath(s.ID), query().flag("force", force).Values, s, &out)
	return out, err
}

// DeleteSchedule removes a schedule and cancels its open occurrences; history
// stays. One that another owner holds is a conflict, unless force is set.
func (c *Client) DeleteSchedule(ctx context.Context, id string, force bool) error {
	return c.do(ctx, http.MethodDelete, prefix+schedulePath(id), query().flag("force", force).Values, nil, nil)
}

// Pause stops a schedule from firing. Pausing again replaces why and until.
func (c *Client) Pause(ctx context.Context, id string, req PauseRequest) (store.ScheduleStatus, error) {
	return post[store.ScheduleStatus](ctx, c, schedulePath(id)+"/pause", req)
}

// Resume lets a schedule fire again. Code conflict where it is not paused.
func (c *Client) Resume(ctx context.Context, id string, req ResumeRequest) (store.ScheduleStatus, error) {
	return post[store.ScheduleStatus](ctx, c, schedulePath(id)+"/resume", req)
}

// PauseQueue keeps a shared queue from handing anything out; what is running
// goes on. Pausing again replaces why and until.
func (c *Client) PauseQueue(ctx context.Context, name string, req PauseQueueRequest) (store.QueueStatus, error) {
	return post[store.QueueStatus](ctx, c, queuePath(name)+"/pause", req)
}

// ResumeQueue lets a queue hand out again. Code conflict where it is not
// paused.
func (c *Client) ResumeQueue(ctx context.Context, name string) (store.QueueStatus, error) {
	return post[store.QueueStatus](ctx, c, queuePath(name)+"/resume", nil)
}

// Trigger makes an occurrence, or answers with the one that exists.
func (c *Client) Trigger(ctx context.Context, id string, req TriggerRequest) (TriggerResult, error) {
	return post[TriggerResult](ctx, c, schedulePath(id)+"/trigger", req)
}

// Start declares an occurrence of an external schedule, to be claimed by the
// capability in the answer.
func (c *Client) Start(ctx context.Context, id string, req StartRequest) (StartResult, error) {
	return post[StartResult](ctx, c, schedulePath(id)+"/start", req)
}

// Backfill makes the occurrences of a past range that a rule wants.
func (c *Client) Backfill(ctx context.Context, id string, req BackfillRequest) (BackfillResult, error) {
	return post[BackfillResult](ctx, c, schedulePath(id)+"/backfill", req)
}

// Apply makes definitions the ones that an owner holds.
func (c *Client) Apply(ctx context.Context, req ApplyRequest) (Changes, error) {
	return post[Changes](ctx, c, "/apply", req)
}

// Simulate says what definitions would change, and changes nothing.
func (c *Client) Simulate(ctx context.Context, req SimulateRequest) (SimulateResult, error) {
	if req.Schedules == nil {
		req.Schedules = []duly.Schedule{} // none is a list too
	}
	return post[SimulateResult](ctx, c, "/simulate", req)
}

// Retry sends an ended occurrence back to pending. Code conflict where its
// state forbids that.
func (c *Client) Retry(ctx context.Context, id, why string) (duly.Occurrence, error) {
	return post[duly.Occurrence](ctx, c, occurrencePath(id)+"/retry", WhyRequest{Why: why})
}

// Cancel ends or dismisses an occurrence; the owner of a running one is asked
// to stop.
func (c *Client) Cancel(ctx context.Context, id, why string) (duly.Occurrence, error) {
	return post[duly.Occurrence](ctx, c, occurrencePath(id)+"/cancel", WhyRequest{Why: why})
}

// Resolve says what became of an uncertain occurrence: that it succeeded, or
// that it is pending again. Code conflict where it is not uncertain.
func (c *Client) Resolve(ctx context.Context, id string, req ResolveRequest) (duly.Occurrence, error) {
	return post[duly.Occurrence](ctx, c, occurrencePath(id)+"/resolve", req)
}

// ResolveEffect notes what a person decided about an effect in the ledger, and
// lets what waits for it be tried again.
func (c *Client) ResolveEffect(ctx context.Context, req ResolveEffectRequest) (ResolveEffectResult, error) {
	return post[ResolveEffectResult](ctx, c, "/effects/resolve", req)
}
