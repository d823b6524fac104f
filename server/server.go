package server

import (
	"log/slog"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/control"
	"github.com/duly-dev/duly/internal/plans"
	"github.com/duly-dev/duly/node"
	"github.com/duly-dev/duly/store"
)

// Options are for a Server. The zero value is ready to use.
type Options struct {
	// Node is the node in the same process, whose counters metrics show.
	// Default: none.
	Node *node.Node
	// Logger receives what operators should know: internal errors, and at
	// level debug every request. Default slog.Default().
	Logger *slog.Logger
	// URL is where others reach the server. Browsers may change things under
	// its host name, besides localhost and addresses. Default: no name.
	URL string
	// Version is shown in metrics and on the status page. Default duly.Version.
	Version string
}

// Server answers the HTTP API of a store.
type Server struct {
	store   store.Store
	control *control.Control
	node    *node.Node
	log     *slog.Logger
	version string
	url     string

	plans   *plans.Cache
	hub     *hub
	broker  *broker
	counts  counts
	api     huma.API
	mux     *http.ServeMux
	handler http.Handler
	streams chan struct{} // one for each open event stream
}

// New makes a server of a store, which stays the caller's to close: after
// Server.Close.
func New(st store.Store, ctl *control.Control, opt Options) *Server {
	if opt.Logger == nil {
		opt.Logger = slog.Default()
	}
	if opt.Version == "" {
		opt.Version = duly.Version
	}
	s := &Server{
		store: st, control: ctl, node: opt.Node, log: opt.Logger, version: opt.Version, url: opt.URL,
		plans:   plans.New(st),
		hub:     newHub(st, opt.Logger),
		mux:     http.NewServeMux(),
		streams: make(chan struct{}, maxStreams),
	}
	s.broker = newBroker(st, s.hub)
	s.api = newAPI(s.mux, s.describe)
	s.routeSchedules()
	s.routeDefinitions()
	s.routeOccurrences()
	s.routeLists()
	s.routeQueues()
	s.routeNodes()
	s.routeWorker()
	s.routeLeases()
	s.routeEvents()
	s.routeProbes()
	s.routePages()
	finishSpec(s.api.OpenAPI())
	s.handler = s.wrap(s.mux)
	return s
}

// Handler answers all requests. Serve it with a ReadHeaderTimeout, and without
// a WriteTimeout: long polls and event streams stay open for as long as their
// clients want.
func (s *Server) Handler() http.Handler { return s.handler }

// Close ends event streams and long polls, which otherwise keep a server from
// shutting down, and waits for the server's goroutines. Other requests are
// answered as before. Give it to http.Server.RegisterOnShutdown, or call it
// before the store is closed.
func (s *Server) Close() {
	s.hub.close()
	s.broker.close()
}
