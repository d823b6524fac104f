package duly

import (
	"context"
	"encoding/json"
	"time"
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
	Record func(EffectReport)
	// Complete finishes the attempt as succeeded within tx, the application's
	// open transaction as its driver calls it (*sql.Tx, pgx.Tx), with the
	// effects recorded so far and those given: all of it becomes true with
	// that transaction's commit. Package effect calls it. Nil where nobody can
	// do so.
	Complete func(ctx context.Context, tx any, also []EffectReport) error
}

// EffectReport is what an attempt tells of an effect: it caused it, found that
// it had happened (Reused), or cannot tell (Open).
type EffectReport struct {
	Key    string `json:"key"`
	Reused bool   `json:"reused,omitempty"`
	// Open: it is at a provider and may or may not have happened. An occurrence
	// with such an effect does not end as failed but as uncertain. What a later
	// attempt tells of the same key closes it.
	Open   bool            `json:"open,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	// Maker is who made a reused effect, where that is known.
	Maker *EffectMaker `json:"maker,omitempty"`
}

// EffectMaker is the attempt that made an effect, as the ledger has it.
type EffectMaker struct {
	Occurrence string    `json:"occurrence"`
	Attempt    int       `json:"attempt"`
	Token      int64     `json:"token"`
	CreatedAt  time.Time `json:"created_at,omitzero"`
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
