package http

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	nethttp "net/http"
	"net/url"
	"strings"

	"github.com/duly-dev/duly/target"
)

// maxRedirects is how many redirects are followed.
const maxRedirects = 3

// errRedirect is a redirect that is not followed.
var errRedirect = errors.New("redirect refused")

// send sends m and follows the redirects that keep method, body and host. The
// caller closes the answer's body.
func (r *Runner) send(ctx context.Context, m *message) (*nethttp.Response, error) {
	for hops := 0; ; hops++ {
		res, err := r.sendOnce(ctx, m)
		if err != nil || res.StatusCode < 300 || res.StatusCode > 399 {
			return res, err
		}
		_, _ = io.CopyN(io.Discard, res.Body, 2<<10) // so that the connection serves on
		_ = res.Body.Close()
		if hops == maxRedirects {
			return nil, fmt.Errorf("%w: %d led to one more", errRedirect, maxRedirects)
		}
		if m, err = m.redirected(res); err != nil {
			return nil, err
		}
	}
}

func (r *Runner) sendOnce(ctx context.Context, m *message) (*nethttp.Response, error) {
	var body io.Reader
	if m.body != nil {
		body = bytes.NewReader(m.body)
	}
	req, err := nethttp.NewRequestWithContext(ctx, m.method, m.url.String(), body)
	if err != nil {
		return nil, err
	}
	req.Header = m.header.Clone()
	if host := m.header.Get("Host"); host != "" {
		req.Host = host
	}
	return r.client.Do(req)
}

// redirected is m, on its way to where res points.
func (m *message) redirected(res *nethttp.Response) (*message, error) {
	location, err := res.Location()
	if err != nil {
		return nil, fmt.Errorf("%w: the answer was %s, without saying where to", errRedirect, res.Status)
	}
	to := location.Redacted()
	switch res.StatusCode {
	case nethttp.StatusTemporaryRedirect, nethttp.StatusPermanentRedirect:
	default:
		return nil, fmt.Errorf("%w: the answer was %s to %s, which would turn the request into another one: set target.http.url to where the work is done", errRedirect, res.Status, to)
	}
	if !sameHost(m.url, location) {
		return nil, fmt.Errorf("%w: the answer was %s to %s, which is another scheme, host or port and gets none of this request: set target.http.url to it if that is right", errRedirect, res.Status, to)
	}
	next := *m
	location.User = m.url.User
	next.url = location
	return &next, nil
}

func sameHost(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

func port(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}

// failure is the result of an attempt that got no answer. Its text names the
// host and no more of the address, whose path and query may hold secrets.
func failure(ctx context.Context, m *message, err error) target.Result {
	if ctx.Err() != nil {
		res := target.Stopped(ctx)
		res.Error += "; " + m.url.Host + " had not answered in full, so whether it did the work is not known"
		return res
	}
	var inner *url.Error
	if errors.As(err, &inner) {
		err = inner.Err
	}
	text := target.Text([]byte(m.method + " to " + m.url.Host + ": " + err.Error()))
	if errors.Is(err, errRefused) || errors.Is(err, errRedirect) {
		return target.FailedForGood(text)
	}
	return target.Failed(text)
}
