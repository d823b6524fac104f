package server

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/api"
	"github.com/duly-dev/duly/control"
	"github.com/duly-dev/duly/store"
)

func (s *Server) routeDefinitions() {
	tag := []string{"definitions"}
	register(s, acting(huma.Operation{
		OperationID: "apply", Method: http.MethodPost, Path: v1 + "/apply", Tags: tag, MaxBodyBytes: maxBodyApply,
		Summary: "Make definitions the ones that an owner holds", Errors: []int{http.StatusConflict},
		Description: "All or nothing: one that is faulty, or that another owner holds, fails them all. " +
			"A definition equal to the one in force changes nothing.",
	}), s.apply)
	register(s, huma.Operation{
		OperationID: "simulate", Method: http.MethodPost, Path: v1 + "/simulate", Tags: tag, MaxBodyBytes: maxBodyApply,
		Summary: "See what definitions would change",
		Description: "Compares the periods of a range under the given definitions with those under the stored ones: " +
			"which would be added, dropped or moved. Nothing is changed.",
	}, s.simulate)
	register(s, huma.Operation{
		OperationID: "declare", Method: http.MethodPost, Path: v1 + "/declare", Tags: []string{"workers"}, MaxBodyBytes: maxBodyApply,
		Summary: "Say which schedules a live node carries in its code", Errors: []int{http.StatusNotFound},
		Description: "In force is the newest definition that a live node still declares. A schedule that a file or a person " +
			"owns is left alone. A faulty definition is listed in faults and does not keep the others from being declared.",
	}, s.declare)
}

type applyInput struct{ Body api.ApplyRequest }

func (s *Server) apply(ctx context.Context, in *applyInput) (*answer[api.Changes], error) {
	if in.Body.Owner == "" {
		return nil, duly.Invalid("owner", "is missing: it keeps this set of definitions apart from others, as in \"file:duly.yaml\"")
	}
	res, err := s.control.Apply(ctx, control.ApplyRequest{
		Owner: in.Body.Owner, By: actor(ctx), Schedules: in.Body.Schedules, Queues: in.Body.Queues,
		Remove: in.Body.Remove, Prune: in.Body.Prune, DryRun: in.Body.DryRun, Force: in.Body.Force,
	})
	if err != nil {
		return nil, err
	}
	return reply(api.Changes{Changes: changes(res)}), nil
}

func changes(res store.ApplyResult) []store.Change {
	if res.Changes == nil {
		return []store.Change{}
	}
	return res.Changes
}

type declareInput struct{ Body api.DeclareRequest }

func (s *Server) declare(ctx context.Context, in *declareInput) (*answer[api.DeclareResult], error) {
	res, faults, err := s.control.Declare(ctx, control.DeclareRequest{
		Node: in.Body.Node, App: in.Body.App, Schedules: in.Body.Schedules,
	})
	if err != nil {
		return nil, err
	}
	out := api.DeclareResult{Changes: changes(res)}
	for _, f := range faults {
		out.Faults = append(out.Faults, api.DefinitionFault{Schedule: f.ID, Field: f.Field, Message: f.Err.Message})
	}
	return reply(out), nil
}

type simulateInput struct{ Body api.SimulateRequest }

func (s *Server) simulate(ctx context.Context, in *simulateInput) (*answer[api.SimulateResult], error) {
	res, err := s.control.Simulate(ctx, control.SimulateRequest{
		Schedules: in.Body.Schedules, From: in.Body.From, To: in.Body.To,
	})
	if err != nil {
		return nil, err
	}
	out := api.SimulateResult{From: res.From, To: res.To, Schedules: make([]api.Simulation, len(res.Schedules))}
	for i, sim := range res.Schedules {
		out.Schedules[i] = simulation(sim)
	}
	return reply(out), nil
}

func simulation(sim control.Simulation) api.Simulation {
	out := api.Simulation{
		ID: sim.ID, Action: sim.Action, Before: sim.Before, After: sim.After,
		Added: sim.Added, Dropped: sim.Dropped, Moved: sim.Moved, Omitted: sim.Omitted, To: sim.To,
		Periods: make([]api.PeriodChange, len(sim.Changes)),
	}
	for i, p := range sim.Changes {
		out.Periods[i] = api.PeriodChange{
			Period: p.Period, Before: p.Before, BeforeLocal: p.BeforeLocal, After: p.After, AfterLocal: p.AfterLocal, Note: p.Note,
		}
	}
	return out
}
