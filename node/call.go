package node

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/target"
)

// Call has the handler make one attempt in line, without a node around it, as
// tests do (see package dulytest). A panic is a failed attempt. told hears of
// each effect as soon as it is recorded; nil: nobody does.
func (fn Handler) Call(ctx context.Context, asg target.Assignment, told func(duly.EffectReport)) target.Result {
	occ := &Occurrence{Assignment: asg}
	grant := occ.grant()
	if told != nil {
		grant.Record = func(e duly.EffectReport) {
			occ.record(e)
			told(e)
		}
	}
	return fn.attempt(ctx, occ, grant)
}

// grant is what an attempt's effects are caused under.
func (o *Occurrence) grant() duly.Grant {
	return duly.Grant{Occurrence: o.Assignment.Occurrence, Attempt: o.Attempt, Token: o.Token, Resource: o.Resource, Record: o.record}
}

// attempt calls the handler and reads what came of it.
func (fn Handler) attempt(ctx context.Context, occ *Occurrence, grant duly.Grant) (res target.Result) {
	// What was recorded before a panic happened all the same.
	defer func() { res.Effects = occ.recorded() }()
	defer func() {
		if r := recover(); r != nil {
			res = panicked(r)
		}
	}()
	if !occ.Unowned { // or there is nothing to grant
		ctx = duly.WithGrant(ctx, grant)
	}
	err := fn(ctx, occ)
	res = handlerResult(ctx, err)
	res.Result = occ.result
	return res
}

func panicked(r any) target.Result {
	return target.Result{Outcome: duly.AttemptFailed, Error: fmt.Sprintf("panic: %v", r), Output: string(debug.Stack())}
}
