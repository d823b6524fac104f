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

const defaultNodeTTL = duly.Duration(15 * time.Second)

func (s *Server) routeNodes() {
	tag := []string{"workers"}
	register(s, huma.Operation{
		OperationID: "joinNode", Method: http.MethodPost, Path: v1 + "/nodes", Tags: tag,
		Summary: "Open a session", Description: "A worker joins once, then beats three times within the TTL.",
	}, s.join)
	register(s, huma.Operation{
		OperationID: "beatNode", Method: http.MethodPost, Path: v1 + "/nodes/{id}/beat", Tags: tag, DefaultStatus: http.StatusNoContent,
		Summary: "Keep a session alive", Errors: []int{http.StatusNotFound},
		Description: "404 where it has expired: join again.",
	}, s.beat)
	register(s, huma.Operation{
		OperationID: "leaveNode", Method: http.MethodPost, Path: v1 + "/nodes/{id}/leave", Tags: tag, DefaultStatus: http.StatusNoContent,
		Summary: "End a session", Errors: []int{http.StatusNotFound},
	}, s.leave)
}

type joinInput struct{ Body api.JoinRequest }

func (s *Server) join(ctx context.Context, in *joinInput) (*answer[api.JoinResult], error) {
	ttl, err := nodeTTL(in.Body.TTL)
	if err != nil {
		return nil, err
	}
	name := clean(in.Body.Name)
	if name == "" || len(name) > 200 {
		return nil, duly.Invalid("name", "must have between 1 and 200 bytes, such as the host and the process number")
	}
	if len(in.Body.Capabilities) > maxBatch {
		return nil, duly.Invalid("capabilities", "has %d entries; at most %d are allowed", len(in.Body.Capabilities), maxBatch)
	}
	session, err := s.store.Join(ctx, store.NodeInfo{
		Name: name, Host: clean(in.Body.Host), PID: in.Body.PID, Version: clean(in.Body.Version), TZData: clean(in.Body.TZData),
		Capabilities: in.Body.Capabilities, Slots: in.Body.Slots, TTL: ttl.Std(),
	})
	if err != nil {
		return nil, err
	}
	return reply(api.JoinResult{Node: session, TTL: ttl}), nil
}

func nodeTTL(ttl duly.Duration) (duly.Duration, error) {
	if ttl == 0 {
		return defaultNodeTTL, nil
	}
	if ttl.Std() < 5*time.Second || ttl.Std() > time.Hour {
		return 0, duly.Invalid("ttl", "is %v; it must lie between 5s and 1h", ttl)
	}
	return ttl, nil
}

type nodeInput struct {
	ID int64 `path:"id" doc:"The number that joining answered."`
}

type beatInput struct {
	ID   int64 `path:"id" doc:"The number that joining answered."`
	Body *api.BeatRequest
}

func (s *Server) beat(ctx context.Context, in *beatInput) (*struct{}, error) {
	req := given(in.Body)
	ttl, err := nodeTTL(req.TTL)
	if err != nil {
		return nil, err
	}
	return nil, s.store.Beat(ctx, in.ID, ttl.Std(), store.NodeLoad{
		Running: req.Running, ClockOffset: time.Duration(req.ClockOffset) * time.Millisecond, Draining: req.Draining,
	})
}

func (s *Server) leave(ctx context.Context, in *nodeInput) (*struct{}, error) {
	return nil, s.store.Leave(ctx, in.ID)
}
