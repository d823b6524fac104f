package server

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/api"
	"github.com/duly-dev/duly/control"
	"github.com/duly-dev/duly/store"
)

// apiOwner owns the schedules that were put one by one.
const apiOwner = "api"

func (s *Server) routeSchedules() {
	const one = v1 + "/schedules/{id}"
	tag := []string{"schedules"}
	register(s, huma.Operation{
		OperationID: "listSchedules", Method: http.MethodGet, Path: v1 + "/schedules", Tags: tag,
		Summary: "List schedules", Description: "Definitions with where they stand, by ID.",
	}, s.listSchedules)
	register(s, huma.Operation{
		OperationID: "getSchedule", Method: http.MethodGet, Path: one, Tags: tag,
		Summary: "Read a schedule", Errors: []int{http.StatusNotFound},
	}, s.getSchedule)
	register(s, acting(huma.Operation{
		OperationID: "putSchedule", Method: http.MethodPut, Path: one, Tags: tag,
		Summary: "Create or change a schedule", Errors: []int{http.StatusConflict},
		Description: "Makes the definition the one in force, owned by \"api\". The same one again changes nothing. " +
			"What came due under the old definition before now is still owed. One that another owner holds is a conflict.",
		Responses: alsoCreated("ScheduleStatus", "The schedule was there and now has this definition"),
	}), s.putSchedule)
	register(s, acting(huma.Operation{
		OperationID: "deleteSchedule", Method: http.MethodDelete, Path: one, Tags: tag, DefaultStatus: http.StatusNoContent,
		Summary: "Remove a schedule", Errors: []int{http.StatusNotFound, http.StatusConflict},
		Description: "Its open occurrences are cancelled; history stays.",
	}), s.deleteSchedule)
	register(s, huma.Operation{
		OperationID: "listUpcoming", Method: http.MethodGet, Path: one + "/upcoming", Tags: tag,
		Summary: "List when a schedule comes due next", Errors: []int{http.StatusNotFound},
		Description: "Computed from the definition in force; nothing of it is stored. A time at which nothing will happen " +
			"(a holiday, a wall time that the clocks jump over) is listed with the reason.",
	}, s.listUpcoming)
	register(s, acting(huma.Operation{
		OperationID: "pauseSchedule", Method: http.MethodPost, Path: one + "/pause", Tags: tag,
		Summary: "Stop a schedule from firing", Errors: []int{http.StatusNotFound},
		Description: "What runs or waits already goes on. Pausing again replaces why and until.",
	}), s.pauseSchedule)
	register(s, acting(huma.Operation{
		OperationID: "resumeSchedule", Method: http.MethodPost, Path: one + "/resume", Tags: tag,
		Summary: "Let a paused schedule fire again", Errors: []int{http.StatusNotFound, http.StatusConflict},
	}), s.resumeSchedule)
	register(s, acting(huma.Operation{
		OperationID: "triggerSchedule", Method: http.MethodPost, Path: one + "/trigger", Tags: tag,
		Summary: "Make an occurrence now", Errors: []int{http.StatusNotFound, http.StatusConflict},
		Description: "Asking again with the same due time, period or idempotency key answers with the same occurrence, " +
			"as it stands by then, and status duplicate.",
		Responses: alsoCreated("TriggerResult", "The occurrence existed"),
	}), s.triggerSchedule)
	register(s, acting(huma.Operation{
		OperationID: "startOccurrence", Method: http.MethodPost, Path: one + "/start", Tags: tag,
		Summary: "Declare an occurrence that a platform's cron starts", Errors: []int{http.StatusNotFound, http.StatusConflict},
		Description: "For external schedules. The caller then claims by the capability in the answer, which hands out this occurrence and no other. " +
			"Every caller that starts the same period meets the same occurrence; one that has ended without success goes back to pending.",
	}), s.startOccurrence)
	register(s, acting(huma.Operation{
		OperationID: "backfillSchedule", Method: http.MethodPost, Path: one + "/backfill", Tags: tag,
		Summary: "Make the occurrences of a past range", Errors: []int{http.StatusNotFound},
		Description: "Each period is computed from the definition that was in force then.",
	}), s.backfillSchedule)
}

// alsoCreated documents the 201 beside the 200 of an operation.
func alsoCreated(schema, otherwise string) map[string]*huma.Response {
	content := func() map[string]*huma.MediaType {
		return map[string]*huma.MediaType{"application/json": {Schema: &huma.Schema{Ref: "#/components/schemas/" + schema}}}
	}
	return map[string]*huma.Response{
		"200": {Description: otherwise, Content: content()},
		"201": {Description: "It was made", Content: content()},
	}
}

// madeAnswer says by its status whether something was made or was there.
type madeAnswer[T any] struct {
	Status   int
	Location string `header:"Location"`
	Body     T
}

type listSchedulesInput struct {
	PageInput
	Prefix   string       `query:"prefix" maxLength:"200" doc:"Only IDs that begin with it."`
	Owner    string       `query:"owner" maxLength:"300" doc:"Only those that this owner holds: api, file:…, code:…."`
	Queue    string       `query:"queue" maxLength:"200" doc:"Only those of this shared queue."`
	Paused   optionalBool `query:"paused" doc:"Only paused ones, or only others."`
	Orphaned optionalBool `query:"orphaned" doc:"Only those that no live node declares any more, or only others."`
}

func (s *Server) listSchedules(ctx context.Context, in *listSchedulesInput) (*answer[api.List[store.ScheduleStatus]], error) {
	items, cursor, err := s.store.Schedules(ctx, store.ScheduleFilter{
		Prefix: in.Prefix, Owner: in.Owner, Queue: in.Queue, Paused: in.Paused.pointer(), Orphaned: in.Orphaned.pointer(),
	}, in.page())
	if err != nil {
		return nil, err
	}
	return list(items, cursor), nil
}

func (s *Server) getSchedule(ctx context.Context, in *IDInput) (*answer[store.ScheduleStatus], error) {
	status, err := s.store.Schedule(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return reply(status), nil
}

type putScheduleInput struct {
	IDInput
	Force bool `query:"force" doc:"Take it over from another owner."`
	Body  duly.Schedule
}

func (s *Server) putSchedule(ctx context.Context, in *putScheduleInput) (*madeAnswer[store.ScheduleStatus], error) {
	def := in.Body
	if def.ID != "" && def.ID != in.ID {
		return nil, duly.Invalid("id", "is %q, but the path names %q; a renamed schedule is a new one", def.ID, in.ID)
	}
	def.ID = in.ID
	res, err := s.control.Apply(ctx, control.ApplyRequest{
		Owner: apiOwner, By: actor(ctx), Schedules: []duly.Schedule{def}, Force: in.Force,
	})
	if err != nil {
		return nil, ofBody(err)
	}
	status, err := s.store.Schedule(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	out := &madeAnswer[store.ScheduleStatus]{Status: http.StatusOK, Body: status}
	if len(res.Changes) == 1 && res.Changes[0].Action == store.ActionCreate {
		out.Status, out.Location = http.StatusCreated, v1+"/schedules/"+url.PathEscape(in.ID)
	}
	return out, nil
}

// ofBody places the faults of the only definition of a request in its body.
func ofBody(err error) error {
	var faults *control.Faults
	if !errors.As(err, &faults) {
		return err
	}
	p := api.Problem{Status: http.StatusUnprocessableEntity, Code: duly.CodeInvalid, Detail: err.Error()}
	for _, f := range faults.List {
		p.Errors = append(p.Errors, api.ProblemError{Location: dotted("body", f.Field), Message: f.Err.Message})
	}
	return &problemError{p}
}

type deleteScheduleInput struct {
	IDInput
	Force bool `query:"force" doc:"Remove it although another owner holds it."`
}

func (s *Server) deleteSchedule(ctx context.Context, in *deleteScheduleInput) (*struct{}, error) {
	if _, err := s.store.Schedule(ctx, in.ID); err != nil {
		return nil, err
	}
	_, err := s.control.Apply(ctx, control.ApplyRequest{
		Owner: apiOwner, By: actor(ctx), Remove: []string{in.ID}, Force: in.Force,
	})
	return nil, err
}

type listUpcomingInput struct {
	IDInput
	N    int       `query:"n" minimum:"1" maximum:"1000" default:"10" doc:"How many times to list."`
	From time.Time `query:"from" doc:"The instant after which to look. Default: now."`
}

func (s *Server) listUpcoming(ctx context.Context, in *listUpcomingInput) (*answer[api.List[api.Upcoming]], error) {
	dues, err := s.control.Upcoming(ctx, in.ID, in.From, in.N)
	if err != nil {
		return nil, err
	}
	items := make([]api.Upcoming, len(dues))
	for i, d := range dues {
		items[i] = api.Upcoming{Due: d.Due, Local: d.Local, Period: d.Period, Skip: d.Skip}
	}
	return list(items, ""), nil
}

type pauseInput struct {
	IDInput
	Body *api.PauseRequest
}

func (s *Server) pauseSchedule(ctx context.Context, in *pauseInput) (*answer[store.ScheduleStatus], error) {
	req := given(in.Body)
	err := s.control.Pause(ctx, store.PauseRequest{
		Schedule: in.ID, By: actor(ctx), Why: clean(req.Why), Until: req.Until, Policy: req.Policy,
	})
	if err != nil {
		return nil, err
	}
	return s.getSchedule(ctx, &in.IDInput)
}

type resumeInput struct {
	IDInput
	Body *api.ResumeRequest
}

func (s *Server) resumeSchedule(ctx context.Context, in *resumeInput) (*answer[store.ScheduleStatus], error) {
	err := s.control.Resume(ctx, store.ResumeRequest{Schedule: in.ID, By: actor(ctx), Policy: given(in.Body).Policy})
	if err != nil {
		return nil, err
	}
	return s.getSchedule(ctx, &in.IDInput)
}

type triggerInput struct {
	IDInput
	IdempotencyKey string `header:"Idempotency-Key" maxLength:"200" doc:"The same as once in the body."`
	Body           *api.TriggerRequest
}

func (s *Server) triggerSchedule(ctx context.Context, in *triggerInput) (*madeAnswer[api.TriggerResult], error) {
	req := given(in.Body)
	once := req.Once
	if in.IdempotencyKey != "" {
		if once != "" && once != in.IdempotencyKey {
			return nil, duly.Invalid("once", "differs from the header Idempotency-Key, which means the same; give one of them")
		}
		once = in.IdempotencyKey
	}
	made, err := s.control.Trigger(ctx, control.TriggerRequest{
		Schedule: in.ID, By: actor(ctx), Why: clean(req.Why), Period: req.Period, Due: req.Due,
		Payload: req.Payload, Once: once, Parallel: req.Parallel,
	})
	if err != nil {
		return nil, err
	}
	occ, err := s.store.Occurrence(ctx, made.ID)
	if err != nil {
		return nil, err
	}
	out := &madeAnswer[api.TriggerResult]{Status: http.StatusCreated, Location: v1 + "/occurrences/" + url.PathEscape(made.ID)}
	out.Body = api.TriggerResult{Status: api.TriggerCreated, Occurrence: whole(occ)}
	if made.Existing {
		out.Status, out.Body.Status = http.StatusOK, api.TriggerDuplicate
		s.counts.duplicates.Add(1)
	}
	return out, nil
}

type backfillInput struct {
	IDInput
	Body api.BackfillRequest
}

func (s *Server) backfillSchedule(ctx context.Context, in *backfillInput) (*answer[api.BackfillResult], error) {
	res, err := s.control.Backfill(ctx, control.BackfillRequest{
		Schedule: in.ID, From: in.Body.From, To: in.Body.To, Rule: control.Rule(in.Body.Rule),
		DryRun: in.Body.DryRun, By: actor(ctx), Why: clean(in.Body.Why),
	})
	if err != nil {
		return nil, err
	}
	out := api.BackfillResult{
		Created: res.Created, Retried: res.Retried, Kept: res.Kept, Omitted: res.Omitted,
		Items: make([]api.BackfillItem, len(res.Items)),
	}
	for i, item := range res.Items {
		out.Items[i] = api.BackfillItem{ID: item.ID, Due: item.Due, Action: api.BackfillAction(item.Action), State: item.State}
	}
	return reply(out), nil
}
