package server

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/api"
	"github.com/duly-dev/duly/store"
)

func (s *Server) routeLists() {
	tag := []string{"status"}
	register(s, huma.Operation{
		OperationID: "listEffects", Method: http.MethodGet, Path: v1 + "/effects", Tags: []string{"occurrences"},
		Summary: "List effects", Description: "Recorded effects with the occurrence and attempt that made them.",
	}, s.listEffects)
	register(s, huma.Operation{
		OperationID: "listNodes", Method: http.MethodGet, Path: v1 + "/nodes", Tags: tag,
		Summary: "List the sessions of nodes",
	}, s.listNodes)
	register(s, huma.Operation{
		OperationID: "listLeases", Method: http.MethodGet, Path: v1 + "/leases", Tags: []string{"leases"},
		Summary: "List named leases",
	}, s.listLeases)
	register(s, huma.Operation{
		OperationID: "listAudit", Method: http.MethodGet, Path: v1 + "/audit", Tags: tag,
		Summary: "List changes and who made them", Description: "Newest first.",
	}, s.listAudit)
	register(s, huma.Operation{
		OperationID: "getStats", Method: http.MethodGet, Path: v1 + "/stats", Tags: tag,
		Summary: "Read counts",
	}, s.getStats)
}

type listEffectsInput struct {
	PageInput
	Key        string `query:"key" maxLength:"4096" doc:"The one with exactly this business key."`
	Prefix     string `query:"prefix" maxLength:"4096" doc:"Only keys that begin with it."`
	Occurrence string `query:"occurrence" maxLength:"600" doc:"Only those of this occurrence."`
}

func (s *Server) listEffects(ctx context.Context, in *listEffectsInput) (*answer[api.List[store.EffectStatus]], error) {
	items, cursor, err := s.store.Effects(ctx, store.EffectFilter{Key: in.Key, Prefix: in.Prefix, Occurrence: in.Occurrence}, in.page())
	if err != nil {
		return nil, err
	}
	return list(items, cursor), nil
}

func (s *Server) listNodes(ctx context.Context, _ *struct{}) (*answer[api.List[api.Node]], error) {
	nodes, err := s.store.NodeList(ctx)
	if err != nil {
		return nil, err
	}
	items := make([]api.Node, len(nodes))
	for i, n := range nodes {
		items[i] = api.Node{
			ID: n.ID, Name: n.Name, Host: n.Host, PID: n.PID, Version: n.Version, TZData: n.TZData,
			Capabilities: append([]string{}, n.Capabilities...), Slots: n.Slots, Running: n.Running,
			ClockOffset: n.ClockOffset.Milliseconds(), Draining: n.Draining,
			JoinedAt: n.JoinedAt, SeenAt: n.SeenAt, Until: n.Until, State: api.NodeState(n.State),
		}
	}
	return list(items, ""), nil
}

func (s *Server) listLeases(ctx context.Context, _ *struct{}) (*answer[api.List[duly.Lease]], error) {
	items, err := s.store.LeaseList(ctx)
	if err != nil {
		return nil, err
	}
	for i := range items {
		items[i].Owner = "" // the holder's secret
	}
	return list(items, ""), nil
}

type listAuditInput struct {
	PageInput
	Object string `query:"object" maxLength:"1000" example:"schedule/invoices" doc:"schedule/ID, queue/NAME, occurrence/ID or effect/KEY. Default: all."`
}

func (s *Server) listAudit(ctx context.Context, in *listAuditInput) (*answer[api.List[store.AuditRow]], error) {
	items, cursor, err := s.store.Audit(ctx, in.Object, in.page())
	if err != nil {
		return nil, err
	}
	return list(items, cursor), nil
}

func (s *Server) getStats(ctx context.Context, _ *struct{}) (*answer[store.Stats], error) {
	stats, err := s.store.Stats(ctx)
	if err != nil {
		return nil, err
	}
	if stats.Occurrences == nil {
		stats.Occurrences = map[duly.State]int64{}
	}
	if stats.Skips == nil {
		stats.Skips = []store.SkipCount{}
	}
	return reply(stats), nil
}
