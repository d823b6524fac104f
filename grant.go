package duly

import (
	"context"
	"encoding/json"
)

// Grant is the ownership under which code causes effects: which occurrence and
// attempt, and the fencing token for a resource. It travels in a handler's
// context, so that packages effect and fence find it there.
type Grant struct {
	Occurrence string // schedule@period
	Attempt    int
	// Token is the fencing token; a destination that has seen a greater one
	// for Resource refuses this one.
	Token    int64
	Resource string // "queue/NAME", "schedule/ID" or "occurrence/ID"
	// Record tells history of an effect; nil where nobody listens. It may be
	// called from several goroutines.
	Record func(key string, reused bool, result json.RawMessage)
}

type grantKey struct{}

// WithGrant returns a context that carries a grant.
func WithGrant(ctx context.Context, g Grant) context.Context {
	return context.WithValue(ctx, grantKey{}, g)
}

// GrantFrom returns the grant that a context carries.
func GrantFrom(ctx context.Context) (Grant, bool) {
	g, ok := ctx.Value(grantKey{}).(Grant)
	return g, ok
}
