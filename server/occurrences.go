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

func (s *Server) routeOccurrences() {
	const one = v1 + "/occurrences/{id}"
	tag := []string{"occurrences"}
	register(s, huma.Operation{
		OperationID: "listOccurrences", Method: http.MethodGet, Path: v1 + "/occurrences", Tags: tag,
		Summary: "List occurrences", Description: "Newest first, with attempts but without their output.",
	}, s.listOccurrences)
	register(s, huma.Operation{
		OperationID: "getOccurrence", Method: http.MethodGet, Path: one, Tags: tag,
		Summary: "Read an occurrence with its attempts and effects", Errors: []int{http.StatusNotFound},
	}, s.getOccurrence)
	register(s, acting(huma.Operation{
		OperationID: "retryOccurrence", Method: http.MethodPost, Path: one + "/retry", Tags: tag,
		Summary: "Send an ended occurrence back to pending", Errors: []int{http.StatusNotFound, http.StatusConflict},
		Description: "Its tries are counted anew. A conflict where its state forbids it.",
	}), s.retryOccurrence)
	register(s, acting(huma.Operation{
		OperationID: "cancelOccurrence", Method: http.MethodPost, Path: one + "/cancel", Tags: tag,
		Summary: "End or dismiss an occurrence", Errors: []int{http.StatusNotFound, http.StatusConflict},
		Description: "A pending or an ended one is cancelled at once; the owner of a running one is asked to stop.",
	}), s.cancelOccurrence)
	register(s, acting(huma.Operation{
		OperationID: "resolveOccurrence", Method: http.MethodPost, Path: one + "/resolve", Tags: tag,
		Summary: "Say what became of an uncertain occurrence", Errors: []int{http.StatusNotFound, http.StatusConflict},
		Description: "succeeded: it has happened. pending: it is tried again, its tries counted anew, and finds what the effect ledger knows by now. " +
			"A conflict where it is not uncertain.",
	}), s.resolveOccurrence)
	register(s, acting(huma.Operation{
		OperationID: "resolveEffect", Method: http.MethodPost, Path: v1 + "/effects/resolve", Tags: tag,
		Summary: "Note what a person decided about an open effect",
		Description: "The decision itself is made in the effect ledger, in the application's database, which `duly effects resolve` does first. " +
			"Here it is put into the audit of effect/KEY, and every uncertain occurrence that waits for the effect goes back to pending, its tries counted anew. " +
			"Given again it changes nothing more.",
	}), s.resolveEffect)
}

type resolveEffectInput struct{ Body api.ResolveEffectRequest }

func (s *Server) resolveEffect(ctx context.Context, in *resolveEffectInput) (*answer[api.ResolveEffectResult], error) {
	r := in.Body
	sent, err := s.control.ResolveEffect(ctx, store.ResolveEffectRequest{
		Key: r.Key, By: actor(ctx), Why: clean(r.Why), Before: r.Before, After: r.After, Occurrences: r.Occurrences,
	})
	if err != nil {
		return nil, err
	}
	return reply(api.ResolveEffectResult{Occurrences: sent}), nil
}

type listOccurrencesInput struct {
	PageInput
	Schedule  string       `query:"schedule" maxLength:"200" doc:"Only those of this schedule."`
	State     []duly.State `query:"state,explode" doc:"Only those in one of these states; may be given several times."`
	Attention bool         `query:"attention" doc:"Only those that a person should look at: failed, uncertain and missed."`
	From      time.Time    `query:"from" doc:"Only those due at this instant or later."`
	To        time.Time    `query:"to" doc:"Only those due before this instant."`
}

func (s *Server) listOccurrences(ctx context.Context, in *listOccurrencesInput) (*answer[api.List[duly.Occurrence]], error) {
	items, cursor, err := s.store.Occurrences(ctx, store.OccurrenceFilter{
		Schedule: in.Schedule, States: in.State, Attention: in.Attention, From: in.From, To: in.To,
	}, in.page())
	if err != nil {
		return nil, err
	}
	for i := range items {
		items[i] = whole(items[i])
	}
	return list(items, cursor), nil
}

// whole makes the lists of an occurrence [] where they are null.
func whole(o duly.Occurrence) duly.Occurrence {
	if o.Covers == nil {
		o.Covers = []string{}
	}
	if o.Attempts == nil {
		o.Attempts = []duly.Attempt{}
	}
	if o.Effects == nil {
		o.Effects = []duly.Effect{}
	}
	return o
}

func (s *Server) getOccurrence(ctx context.Context, in *IDInput) (*answer[duly.Occurrence], error) {
	o, err := s.store.Occurrence(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return reply(whole(o)), nil
}

type whyInput struct {
	IDInput
	Body *api.WhyRequest
}

func (s *Server) retryOccurrence(ctx context.Context, in *whyInput) (*answer[duly.Occurrence], error) {
	if err := s.control.Retry(ctx, in.ID, actor(ctx), clean(given(in.Body).Why)); err != nil {
		return nil, err
	}
	return s.getOccurrence(ctx, &in.IDInput)
}

func (s *Server) cancelOccurrence(ctx context.Context, in *whyInput) (*answer[duly.Occurrence], error) {
	if err := s.control.Cancel(ctx, in.ID, actor(ctx), clean(given(in.Body).Why)); err != nil {
		return nil, err
	}
	return s.getOccurrence(ctx, &in.IDInput)
}

type resolveInput struct {
	IDInput
	Body api.ResolveRequest
}

func (s *Server) resolveOccurrence(ctx context.Context, in *resolveInput) (*answer[duly.Occurrence], error) {
	if err := s.control.Resolve(ctx, in.ID, in.Body.To, actor(ctx), clean(in.Body.Why)); err != nil {
		return nil, err
	}
	return s.getOccurrence(ctx, &in.IDInput)
}
