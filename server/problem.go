package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/api"
	"github.com/duly-dev/duly/control"
)

const problemType = "application/problem+json"

// problemError is a problem as the error of an operation.
type problemError struct{ api.Problem }

func (p *problemError) Error() string             { return p.Detail }
func (p *problemError) GetStatus() int            { return p.Status }
func (p *problemError) ContentType(string) string { return problemType }

// GetHeaders says when to try again where that is the thing to do.
func (p *problemError) GetHeaders() http.Header {
	if p.Status == http.StatusServiceUnavailable {
		return http.Header{"Retry-After": {retryAfter}}
	}
	return nil
}

// retryAfter is in seconds: an outage is over when it is over, and asking
// costs little.
const retryAfter = "1"

func internalProblem(ctx context.Context) api.Problem {
	return api.Problem{
		Status: http.StatusInternalServerError, Code: duly.CodeInternal,
		Detail: "an internal error; the server's log has more under request " + requestID(ctx),
	}
}

// complete fills in what follows from the rest.
func complete(ctx context.Context, p api.Problem) api.Problem {
	p.Type, p.Title, p.RequestID = "about:blank", http.StatusText(p.Status), requestID(ctx)
	return p
}

// fail turns the error of an operation into its answer. part is where the
// request's fields are: body or query. What an unknown error says never
// reaches the client; it goes to the log.
func (s *Server) fail(ctx context.Context, part string, err error) *problemError {
	var done *problemError
	if errors.As(err, &done) {
		done.Problem = complete(ctx, done.Problem)
		return done
	}
	if ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded) {
		p := api.Problem{Status: http.StatusServiceUnavailable, Code: duly.CodeUnavailable, Detail: "the request ended before its answer"}
		return &problemError{complete(ctx, p)}
	}
	code := duly.CodeOf(err)
	if code == duly.CodeInternal || api.StatusOf(code) == http.StatusInternalServerError {
		s.log.ErrorContext(ctx, "a request failed", "request", requestID(ctx), "error", err)
		return &problemError{complete(ctx, internalProblem(ctx))}
	}
	p := api.Problem{Status: api.StatusOf(code), Code: code, Detail: err.Error()}
	var faults *control.Faults
	var e *duly.Error
	switch {
	case errors.As(err, &faults):
		for _, f := range faults.List {
			p.Errors = append(p.Errors, api.ProblemError{
				Location: dotted(part, fmt.Sprintf("%ss[%d]", f.Kind, f.Index), f.Field),
				Message:  f.Kind + " " + f.ID + ": " + f.Err.Message,
			})
		}
	case errors.As(err, &e) && e.Field != "":
		p.Errors = []api.ProblemError{{Location: dotted(part, e.Field), Message: e.Message}}
	}
	return &problemError{complete(ctx, p)}
}

// dotted joins the parts of a location, leaving out empty ones.
func dotted(parts ...string) string {
	var b strings.Builder
	for _, p := range parts {
		if p == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(p)
	}
	return b.String()
}

// describe makes the errors that huma finds (a body that is no JSON, a field
// of the wrong type) into problems, without the values, which may be secret.
func (s *Server) describe(ctx huma.Context, _ string, v any) (any, error) {
	m, ok := v.(*huma.ErrorModel)
	if !ok {
		return v, nil
	}
	p := api.Problem{Status: m.Status, Code: api.CodeOfStatus(m.Status), Detail: m.Detail}
	for _, e := range m.Errors {
		if e != nil {
			p.Errors = append(p.Errors, atField(e.Location, e.Message))
		}
	}
	if m.Status >= http.StatusInternalServerError {
		s.log.Error("a request failed", "request", requestID(ctx.Context()), "error", m.Detail, "details", p.Errors)
		p = internalProblem(ctx.Context())
	}
	if len(p.Errors) > 0 {
		first := p.Errors[0]
		p.Detail = "the request is not valid: " + strings.TrimPrefix(first.Location+": ", ": ") + first.Message
		if more := len(p.Errors) - 1; more > 0 {
			p.Detail += fmt.Sprintf(" (and %d more)", more)
		}
	}
	return complete(ctx.Context(), p), nil
}

// atField places the error of a missing field at that field; huma places it at
// what lacks the field.
func atField(location, message string) api.ProblemError {
	before, after, _ := strings.Cut(validation.MsgExpectedRequiredProperty, "%s")
	if rest, found := strings.CutPrefix(message, before); found {
		if name, found := strings.CutSuffix(rest, after); found {
			return api.ProblemError{Location: dotted(location, name), Message: "is missing"}
		}
	}
	return api.ProblemError{Location: location, Message: message}
}

// writeProblem answers where no operation is at hand.
func (s *Server) writeProblem(w http.ResponseWriter, r *http.Request, p api.Problem) {
	p = complete(r.Context(), p)
	w.Header().Set("Content-Type", problemType)
	if p.Status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", retryAfter)
	}
	w.WriteHeader(p.Status)
	if err := json.NewEncoder(w).Encode(p); err != nil {
		s.log.Debug("the client went away before its answer", "request", p.RequestID, "error", err)
	}
}
