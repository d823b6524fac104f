package server

import (
	"context"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/api"
	"github.com/duly-dev/duly/store"
)

func (s *Server) routeQueues() {
	const one = v1 + "/queues/{id}"
	tag := []string{"status"}
	register(s, huma.Operation{
		OperationID: "listQueues", Method: http.MethodGet, Path: v1 + "/queues", Tags: tag,
		Summary: "List shared queues, their load and who paused them",
	}, s.listQueues)
	register(s, acting(huma.Operation{
		OperationID: "pauseQueue", Method: http.MethodPost, Path: one + "/pause", Tags: tag,
		Summary: "Keep a shared queue from handing anything out", Errors: []int{http.StatusNotFound},
		Description: "What runs already goes on; schedules go on firing into it. Pausing again replaces why and until. " +
			"A schedule without a shared queue is paused itself.",
	}), s.pauseQueue)
	register(s, acting(huma.Operation{
		OperationID: "resumeQueue", Method: http.MethodPost, Path: one + "/resume", Tags: tag,
		Summary: "Let a paused queue hand out again", Errors: []int{http.StatusNotFound, http.StatusConflict},
	}), s.resumeQueue)
}

func (s *Server) listQueues(ctx context.Context, _ *struct{}) (*answer[api.List[store.QueueStatus]], error) {
	items, err := s.store.Queues(ctx)
	if err != nil {
		return nil, err
	}
	return list(items, ""), nil
}

type pauseQueueInput struct {
	IDInput
	Body *api.PauseQueueRequest
}

func (s *Server) pauseQueue(ctx context.Context, in *pauseQueueInput) (*answer[store.QueueStatus], error) {
	req := given(in.Body)
	err := s.control.PauseQueue(ctx, store.PauseQueueRequest{Queue: in.ID, By: actor(ctx), Why: clean(req.Why), Until: req.Until})
	if err != nil {
		return nil, err
	}
	return s.queueNow(ctx, in.ID)
}

func (s *Server) resumeQueue(ctx context.Context, in *IDInput) (*answer[store.QueueStatus], error) {
	if err := s.control.ResumeQueue(ctx, store.ResumeQueueRequest{Queue: in.ID, By: actor(ctx)}); err != nil {
		return nil, err
	}
	return s.queueNow(ctx, in.ID)
}

// queueNow answers a queue as it stands. One that nothing names any more is
// not in the list.
func (s *Server) queueNow(ctx context.Context, name string) (*answer[store.QueueStatus], error) {
	all, err := s.store.Queues(ctx)
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(all, func(q store.QueueStatus) bool { return q.Name == name }); i >= 0 {
		return reply(all[i]), nil
	}
	return reply(store.QueueStatus{Queue: duly.Queue{Name: name, Concurrency: 1}}), nil
}
