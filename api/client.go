package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/duly-dev/duly"
)

// Client speaks to a server. Its methods may be called from many goroutines;
// they never repeat a request by themselves. Errors are of *duly.Error, except
// that the error of a context that ended is the context's. A server that
// cannot be reached is code unavailable.
type Client struct {
	base  string
	token string
	actor string
	http  *http.Client
}

// New makes a client of the server at a base URL, "https://duly.example". The
// token may be empty.
func New(baseURL, token string) *Client {
	return &Client{base: strings.TrimRight(baseURL, "/"), token: token, http: &http.Client{}}
}

// As returns a client that acts for a person, whose name (at most 200
// characters) goes into the audit of everything that it asks for.
func (c *Client) As(actor string) *Client {
	as := *c
	as.actor = actor
	return &as
}

// prefix is where the API begins.
const prefix = "/api/v1"

// maxAnswer bounds what a client reads of one answer.
const maxAnswer = 256 << 20

// do sends a request and decodes the answer into out, unless that is nil.
func (c *Client) do(ctx context.Context, method, path string, query url.Values, in, out any) error {
	resp, err := c.send(ctx, method, path, query, in, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if out == nil || resp.StatusCode == http.StatusNoContent {
		_, err := io.Copy(io.Discard, resp.Body) // so that the connection is used again
		return c.broken(ctx, err)
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return c.broken(ctx, err)
	}
	if err := json.Unmarshal(data, out); err != nil {
		return duly.Errorf(duly.CodeInternal, "%s %s: the answer cannot be read; is this a Duly server? %w", method, c.base+path, err)
	}
	return nil
}

// send answers with a response that is no error, whose body the caller closes.
func (c *Client) send(ctx context.Context, method, path string, query url.Values, in any, header http.Header) (*http.Response, error) {
	var body io.Reader
	if in != nil {
		data, err := json.Marshal(in)
		if err != nil {
			return nil, duly.Errorf(duly.CodeInvalid, "%s %s: the request cannot be written: %w", method, path, err)
		}
		body = bytes.NewReader(data)
	}
	target := c.base + path
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, method, target, body)
	if err != nil {
		return nil, duly.Errorf(duly.CodeInvalid, "server address %q: %w", c.base, err)
	}
	for name, values := range header {
		req.Header[name] = values
	}
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if req.Header.Get("Accept") == "" {
		req.Header.Set("Accept", "application/json")
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	if c.actor != "" {
		req.Header.Set("Duly-Actor", headerText(c.actor))
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, c.broken(ctx, err)
	}
	if resp.StatusCode >= 400 {
		defer resp.Body.Close()
		return nil, problemOf(resp)
	}
	return resp, nil
}

// broken is the error of a connection that failed.
func (c *Client) broken(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err // without the address, which comes first here anyway
	}
	return duly.Errorf(duly.CodeUnavailable, "server %s cannot be reached: %w", c.base, err)
}

// problemOf reads an error answer, the server's own or that of something in
// between.
func problemOf(resp *http.Response) error {
	data, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	p := Problem{Status: resp.StatusCode}
	if err == nil && strings.HasPrefix(resp.Header.Get("Content-Type"), "application/problem+json") {
		_ = json.Unmarshal(data, &p) // what cannot be read leaves the status
	}
	if p.Title == "" {
		p.Title = resp.Request.Method + " " + resp.Request.URL.Path + " was answered " + resp.Status
	}
	if p.Lease != nil {
		return &heldError{err: p.Err(), lease: *p.Lease}
	}
	return p.Err()
}

// headerText makes a text fit to be a header's value.
func headerText(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
}

// params builds a query of what is not empty.
type params struct{ url.Values }

func query() params { return params{url.Values{}} }

func (p params) text(name, value string) params {
	if value != "" {
		p.Set(name, value)
	}
	return p
}

func (p params) flag(name string, value bool) params {
	if value {
		p.Set(name, "true")
	}
	return p
}

func (p params) choice(name string, value *bool) params {
	if value != nil {
		p.Set(name, strconv.FormatBool(*value))
	}
	return p
}

func (p params) instant(name string, value time.Time) params {
	if !value.IsZero() {
		p.Set(name, value.Format(time.RFC3339Nano))
	}
	return p
}

func (p params) count(name string, value int) params {
	if value != 0 {
		p.Set(name, strconv.Itoa(value))
	}
	return p
}

func (p params) page(page Page) params {
	return p.count("limit", page.Limit).text("cursor", page.Cursor)
}
