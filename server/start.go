package server

import (
	"context"

	"github.com/duly-dev/duly/api"
	"github.com/duly-dev/duly/control"
)

type startInput struct {
	ID   string            `path:"id"`
	Body *api.StartRequest `required:"false"`
}

func (s *Server) startOccurrence(ctx context.Context, in *startInput) (*answer[api.StartResult], error) {
	req := given(in.Body)
	started, err := s.control.Start(ctx, control.StartRequest{
		Schedule: in.ID, By: actor(ctx), Period: req.Period, Due: req.Due, Define: req.Define,
	})
	if err != nil {
		return nil, err
	}
	occ, err := s.store.Occurrence(ctx, started.ID)
	if err != nil {
		return nil, err
	}
	return reply(api.StartResult{Occurrence: whole(occ), Capability: started.Capability}), nil
}
