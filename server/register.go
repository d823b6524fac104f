package server

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/duly-dev/duly/api"
	"github.com/duly-dev/duly/store"
)

// v1 is where the API begins.
const v1 = "/api/v1"

const (
	maxBody      = 1 << 20
	maxBodyApply = 16 << 20
	// bodyTime is how long a client may take to send a body.
	bodyTime = 30 * time.Second
)

// answer is the output of an operation that has only a body.
type answer[T any] struct{ Body T }

func reply[T any](v T) *answer[T] { return &answer[T]{Body: v} }

// list answers a page; an empty one is [] and never null.
func list[T any](items []T, cursor string) *answer[api.List[T]] {
	if items == nil {
		items = []T{}
	}
	return reply(api.List[T]{Items: items, NextCursor: cursor})
}

// PageInput is the query of a list. It is exported for huma alone, which looks
// into embedded structs only then.
type PageInput struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"How many items a page holds."`
	Cursor string `query:"cursor" maxLength:"5000" doc:"next_cursor of the page before."`
}

func (p PageInput) page() store.Page { return store.Page{Limit: p.Limit, Cursor: p.Cursor} }

// register adds an operation: how it fails is the same for all of them. The
// Errors that an operation lists itself are those of its own.
func register[I, O any](s *Server, op huma.Operation, fn func(context.Context, *I) (*O, error)) {
	part := "body"
	if op.Method == http.MethodGet || op.Method == http.MethodDelete {
		part = "query"
	}
	if op.Method != http.MethodGet {
		op.Errors = append(op.Errors, http.StatusForbidden)
	}
	if part == "body" {
		op.Errors = append(op.Errors, http.StatusBadRequest, http.StatusRequestEntityTooLarge)
	}
	op.Errors = append(op.Errors, http.StatusUnprocessableEntity, http.StatusServiceUnavailable)
	slices.Sort(op.Errors)
	if op.MaxBodyBytes == 0 {
		op.MaxBodyBytes = maxBody
	}
	op.BodyReadTimeout = bodyTime
	op.RejectUnknownQueryParameters = true
	huma.Register(s.api, op, func(ctx context.Context, in *I) (*O, error) {
		out, err := fn(ctx, in)
		if err != nil {
			return nil, s.fail(ctx, part, err)
		}
		return out, nil
	})
}

// acting documents the header of operations that the audit records.
func acting(op huma.Operation) huma.Operation {
	longest := maxActor
	op.Parameters = append(op.Parameters, &huma.Param{
		Name: "Duly-Actor", In: "header",
		Description: "For whom the request is made; the audit names them. Default: api.",
		Schema:      &huma.Schema{Type: huma.TypeString, MaxLength: &longest},
	})
	return op
}

// IDInput is the path parameter of an operation on one thing. A '/' in it is sent
// as %2F.
type IDInput struct {
	ID string `path:"id" maxLength:"600" example:"invoices" doc:"A '/' in it is sent as %2F."`
}

// given is an optional body, or its zero value.
func given[T any](body *T) T {
	if body == nil {
		var none T
		return none
	}
	return *body
}

// clean makes text from outside fit to be kept: no control characters but
// line breaks and tabs.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f {
			return -1
		}
		return r
	}, s)
}
