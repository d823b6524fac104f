package cli

import (
	"context"
	"slices"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/api"
)

// The time between two looks at an occurrence grows from one to the other.
const (
	firstLook = 100 * time.Millisecond
	lastLook  = 2 * time.Second
)

// awaitTriggered waits for the end of an occurrence, tells its story and ends
// with the exit code of its outcome.
func (inv *invocation) awaitTriggered(ctx context.Context, client *api.Client, res api.TriggerResult, timeout time.Duration) error {
	inv.noteNobody(ctx, client, res.Occurrence)
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	o, err := await(ctx, client, res.Occurrence)
	if err != nil {
		return err
	}
	res.Occurrence = o
	if err := inv.print(res, func() error { return inv.tell(context.WithoutCancel(ctx), client, o) }); err != nil {
		return err
	}
	switch {
	case o.State == duly.Succeeded:
		return nil
	case o.State == duly.Uncertain:
		return statusError{exitUncertain, o.ID + " is uncertain: " + o.Reason}
	case o.State.Open():
		return withHint(statusError{exitTryAgain, o.ID + " is still " + string(o.State) + " after " + span(timeout)}, "it goes on; follow it: duly occurrences show %s", o.ID)
	}
	return statusError{exitFailure, o.ID + " is " + string(o.State) + because(o.Reason)}
}

// await looks at an occurrence until it has ended or ctx's deadline has
// passed. A store or server that does not answer for a while is waited for: the
// occurrence is there, and this only looks.
func await(ctx context.Context, client *api.Client, o duly.Occurrence) (duly.Occurrence, error) {
	pause := firstLook
	for o.State.Open() {
		select {
		case <-ctx.Done():
			if context.Cause(ctx) == context.DeadlineExceeded {
				return o, nil
			}
			return o, ctx.Err()
		case <-time.After(pause):
		}
		pause = min(pause*3/2, lastLook)
		seen, err := client.Occurrence(ctx, o.ID)
		switch {
		case err == nil:
			o = seen
		case ctx.Err() == nil && duly.CodeOf(err) != duly.CodeUnavailable:
			return o, err
		}
	}
	return o, nil
}

// noteNobody warns where no live node can do the work: then it would wait for
// ever, and nobody would know why.
func (inv *invocation) noteNobody(ctx context.Context, client *api.Client, o duly.Occurrence) {
	if !o.State.Open() {
		return
	}
	s, err := client.Schedule(ctx, o.Schedule)
	if err != nil {
		return
	}
	nodes, err := client.Nodes(ctx)
	if err != nil {
		return
	}
	need := s.Target.Capability()
	able := slices.ContainsFunc(nodes.Items, func(n api.Node) bool {
		return n.State == api.NodeLive && !n.Draining && slices.Contains(n.Capabilities, need)
	})
	if !able {
		inv.note("note: no live node can do this (it needs %s); it waits until one comes, such as: duly serve", need)
	}
}
