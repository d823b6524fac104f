package api

import (
	"errors"
	"net/http"
	"strings"

	"github.com/duly-dev/duly"
)

// Problem is the body of every error answer (RFC 9457).
type Problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	// Detail says what is wrong and what to do about it.
	Detail string `json:"detail"`
	// Code says what kind of error it is; programs decide by it.
	Code duly.Code `json:"code"`
	// Errors lists the fields that are to blame.
	Errors []ProblemError `json:"errors,omitempty"`
	// RequestID finds the request in the server's log.
	RequestID string `json:"request_id,omitempty"`
	// Lease is, where a lease could not be had, the one that is in the way.
	Lease *duly.Lease `json:"lease,omitempty"`
}

// ProblemError is what is wrong with one field of a request.
type ProblemError struct {
	// Location is the field: body.schedules[0].timezone, query.limit.
	Location string `json:"location,omitempty"`
	Message  string `json:"message"`
}

// statuses is the one table from error codes to HTTP statuses. An unknown code
// is internal.
var statuses = []struct {
	code   duly.Code
	status int
}{
	{duly.CodeInvalid, http.StatusUnprocessableEntity},
	{duly.CodeNotFound, http.StatusNotFound},
	{duly.CodeConflict, http.StatusConflict},
	{duly.CodeNotHolder, http.StatusConflict},
	{duly.CodeUncertain, http.StatusConflict},
	{duly.CodeStaleToken, http.StatusPreconditionFailed},
	{duly.CodeUnavailable, http.StatusServiceUnavailable},
	{duly.CodeInternal, http.StatusInternalServerError},
}

// StatusOf is the HTTP status of an error code.
func StatusOf(code duly.Code) int {
	for _, s := range statuses {
		if s.code == code {
			return s.status
		}
	}
	return http.StatusInternalServerError
}

// CodeOfStatus is the error code of an answer that carries none, as when
// something between client and server gave it.
func CodeOfStatus(status int) duly.Code {
	for _, s := range statuses {
		if s.status == status {
			return s.code
		}
	}
	switch {
	case status == http.StatusBadGateway, status == http.StatusGatewayTimeout, status == http.StatusTooManyRequests:
		return duly.CodeUnavailable
	case status >= 400 && status < 500:
		return duly.CodeInvalid
	}
	return duly.CodeInternal
}

// Err is the error that the problem tells of. Faults lists its Errors again.
func (p *Problem) Err() *duly.Error {
	e := &duly.Error{Code: p.Code, Message: p.Detail}
	if e.Code == "" {
		e.Code = CodeOfStatus(p.Status)
	}
	if e.Message == "" {
		e.Message = p.Title
	}
	switch len(p.Errors) {
	case 0:
		return e
	case 1:
		e.Field, e.Message = field(p.Errors[0].Location), p.Errors[0].Message
		return e
	}
	list := make([]error, len(p.Errors))
	texts := make([]string, len(p.Errors))
	for i, pe := range p.Errors {
		fault := &duly.Error{Code: e.Code, Field: field(pe.Location), Message: pe.Message}
		list[i], texts[i] = fault, fault.Error()
	}
	e.Message = strings.Join(texts, "; ")
	e.Err = errors.Join(list...)
	return e
}

// Faults lists all that an error of the API says is wrong, one for each field.
// An error that speaks of one thing is its own only fault; one that is no
// *duly.Error has none.
func Faults(err error) []*duly.Error {
	var e *duly.Error
	if !errors.As(err, &e) {
		return nil
	}
	joined, ok := e.Err.(interface{ Unwrap() []error })
	if !ok {
		return []*duly.Error{e}
	}
	var all []*duly.Error
	for _, part := range joined.Unwrap() {
		var fault *duly.Error
		if errors.As(part, &fault) {
			all = append(all, fault)
		}
	}
	return all
}

// field takes the part of the request off a location, as fields are named
// without it.
func field(location string) string {
	for _, part := range []string{"body", "query", "path", "header"} {
		if rest, found := strings.CutPrefix(location, part+"."); found {
			return rest
		}
	}
	if location == "body" {
		return ""
	}
	return location
}
