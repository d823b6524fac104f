package http

import (
	"cmp"
	"context"
	"crypto/tls"
	"net"
	nethttp "net/http"
	"net/netip"
	"time"

	"github.com/duly-dev/duly/target"
)

const (
	defaultResponseLimit = 64 << 10
	defaultMaxRetryAfter = time.Hour

	// A peer that does not even answer the handshake is gone, however long the
	// attempt may take.
	connectTimeout = 15 * time.Second
	// Many servers close a connection that idled for 5 s (Node.js), without
	// asking whether a request is on its way.
	idleTimeout = 4 * time.Second
	// A connection whose peer vanished is noticed within two of these.
	pingInterval = 15 * time.Second

	maxIdle         = 1024
	maxIdlePerHost  = 256
	maxHeadersBytes = 64 << 10
)

// Options are a Runner's settings. The zero value is good for a network whose
// services are trusted.
type Options struct {
	// PublicOnly refuses every address that is not on the public internet:
	// private, loopback, shared and reserved ones. Default false.
	PublicOnly bool
	// Allowed lists networks that PublicOnly lets pass nevertheless.
	Allowed []netip.Prefix
	// MaxRetryAfter bounds what a receiver can ask for. Default 1h.
	MaxRetryAfter time.Duration
	// TLS is the client's configuration. Default: the system's roots.
	TLS *tls.Config
}

// Runner sends requests through one pool of connections. It implements
// target.Runner.
type Runner struct {
	client        *nethttp.Client
	maxRetryAfter time.Duration
}

// New makes a Runner. Close must follow.
func New(opt Options) *Runner {
	dialer := &net.Dialer{
		Timeout:         connectTimeout,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: pingInterval, Interval: pingInterval / 3, Count: 3},
		Control:         guard(opt),
	}
	transport := &nethttp.Transport{
		Proxy:                  nil,
		DialContext:            dialer.DialContext,
		TLSClientConfig:        opt.TLS,
		TLSHandshakeTimeout:    connectTimeout,
		ForceAttemptHTTP2:      true,
		HTTP2:                  &nethttp.HTTP2Config{SendPingTimeout: pingInterval, PingTimeout: pingInterval},
		MaxIdleConns:           maxIdle,
		MaxIdleConnsPerHost:    maxIdlePerHost,
		IdleConnTimeout:        idleTimeout,
		MaxResponseHeaderBytes: maxHeadersBytes,
	}
	return &Runner{
		client: &nethttp.Client{
			Transport: transport,
			CheckRedirect: func(*nethttp.Request, []*nethttp.Request) error {
				return nethttp.ErrUseLastResponse // send decides
			},
		},
		maxRetryAfter: cmp.Or(opt.MaxRetryAfter, defaultMaxRetryAfter),
	}
}

// Close closes the connections that idle. Attempts under way are not ended.
func (r *Runner) Close() { r.client.CloseIdleConnections() }

// Run implements target.Runner.
func (r *Runner) Run(ctx context.Context, a target.Assignment) target.Result {
	spec := a.Target.HTTP
	if spec == nil {
		return target.FailedForGood("the target names no request: set target.http.url")
	}
	if ctx.Err() != nil {
		return target.Stopped(ctx)
	}
	m, err := newMessage(a, time.Now())
	if err != nil {
		return target.FailedForGood(err.Error())
	}
	res, err := r.send(ctx, m)
	if err != nil {
		return failure(ctx, m, err)
	}
	defer func() { _ = res.Body.Close() }() // past the limit this closes the connection, too
	return r.read(ctx, a, m, res)
}
