package server

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/duly-dev/duly/api"
)

// probeTime bounds what a probe waits for the store.
const probeTime = 3 * time.Second

func (s *Server) routeProbes() {
	s.mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, r *http.Request) {
		s.writeJSON(w, r, map[string]string{"status": "alive"})
	})
	s.mux.HandleFunc("GET /readyz", s.ready)
	s.mux.HandleFunc("GET /openapi.json", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/openapi+json")
		if _, err := w.Write([]byte(api.OpenAPI())); err != nil {
			s.log.Debug("the client went away before its answer", "request", requestID(r.Context()), "error", err)
		}
	})
	s.mux.Handle("GET /metrics", promhttp.HandlerFor(s.metrics(), promhttp.HandlerOpts{}))
}

// ready says whether requests can be served: whether the store answers, and
// whether it takes what the node beside has to write: on a full disk it does the
// one and not the other.
func (s *Server) ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), probeTime)
	defer cancel()
	_, err := s.store.Horizon(ctx)
	if err == nil && s.node != nil {
		err = s.node.Available()
	}
	if err != nil {
		p := s.fail(r.Context(), "", err)
		p.Status = http.StatusServiceUnavailable
		p.Detail = "not ready: " + p.Detail
		s.writeProblem(w, r, p.Problem)
		return
	}
	s.writeJSON(w, r, map[string]string{"status": "ready"})
}

func (s *Server) writeJSON(w http.ResponseWriter, r *http.Request, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if err := json.NewEncoder(w).Encode(v); err != nil {
		s.log.Debug("the client went away before its answer", "request", requestID(r.Context()), "error", err)
	}
}
