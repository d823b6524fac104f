package control

import (
	"context"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// DeclareRequest carries the definitions in a live node's code.
type DeclareRequest struct {
	Node int64
	// App is the application; nodes with the same one share its schedules.
	App       string
	Schedules []duly.Schedule
}

// Declare says which definitions a live node carries. Unlike a file, code is
// not all or nothing: a definition that is faulty is left out and answered as
// a fault, so that it never keeps the others from being declared.
func (c *Control) Declare(ctx context.Context, req DeclareRequest) (store.ApplyResult, []Fault, error) {
	if err := duly.CheckID(req.App); err != nil {
		return store.ApplyResult{}, nil, duly.Invalid("app", "%v", err)
	}
	defs, faults := c.compile(req.Schedules)
	res, err := c.store.Declare(ctx, store.DeclareRequest{Node: req.Node, Owner: "code:" + req.App, Schedules: defs})
	return res, faults.List, err
}
