package bench

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/control"
	"github.com/duly-dev/duly/node"
	"github.com/duly-dev/duly/store"
)

// recoveryLease is short, so that its end can be waited for.
const recoveryLease = 5 * time.Second

// recovery: how soon the work of a node that is gone goes on elsewhere.
func recovery(ctx context.Context, o *Options) error {
	if err := recoveryKilled(ctx, o); err != nil {
		return err
	}
	return recoveryDrained(ctx, o)
}

// shelter is a node that begins what others left, and says when.
func shelter(st store.Store) (n *node.Node, began <-chan time.Time) {
	at := make(chan time.Time, 1)
	n = newNode(st, 10)
	n.Handle("left", func(context.Context, *node.Occurrence) error {
		at <- time.Now()
		return nil
	})
	return n, at
}

func leave(ctx context.Context, st store.Store) error {
	s := duly.Schedule{Timing: duly.Timing{Cron: "0 0 1 1 *"}, Lease: duly.Duration(recoveryLease), Target: duly.Target{Handler: "left"}}
	if err := create(ctx, st, time.Time{}, 1, s); err != nil {
		return err
	}
	_, err := control.New(st).Trigger(ctx, control.TriggerRequest{Schedule: "bench/0000000", By: "bench"})
	return err
}

// recoveryKilled: an owner that is never heard of again, as one that was killed.
func recoveryKilled(ctx context.Context, o *Options) error {
	st, _, err := o.Fresh(ctx)
	if err != nil {
		return err
	}
	defer st.Close()
	if err := leave(ctx, st); err != nil {
		return err
	}
	session, err := st.Join(ctx, store.NodeInfo{Name: "victim", TTL: recoveryLease})
	if err != nil {
		return err
	}
	res, err := st.Claim(ctx, store.ClaimRequest{Node: session, Max: 1, Capabilities: []string{"handler:left"}})
	if err != nil {
		return err
	}
	killed := time.Now()
	if len(res.Claims) != 1 {
		return fmt.Errorf("the victim got %d occurrences", len(res.Claims))
	}
	n, began := shelter(st)
	defer runNode(ctx, n)()
	took, err := since(ctx, killed, began)
	if err == nil {
		o.report("recovery_killed_s", took.Seconds(), "s", "an owner killed right after it was granted a lease of %v: from there to the handler's start on another node", recoveryLease)
	}
	return err
}

// recoveryDrained: an owner that is told to stop, and gives back what it cannot
// finish.
func recoveryDrained(ctx context.Context, o *Options) error {
	st, _, err := o.Fresh(ctx)
	if err != nil {
		return err
	}
	defer st.Close()
	if err := leave(ctx, st); err != nil {
		return err
	}
	victim := node.New(st, node.Options{Slots: 10, DrainTime: time.Millisecond, Logger: slog.New(slog.DiscardHandler)})
	working := make(chan struct{}, 1)
	victim.Handle("left", func(ctx context.Context, _ *node.Occurrence) error {
		working <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	})
	stop := runNode(ctx, victim)
	select {
	case <-working:
	case <-ctx.Done():
		return ctx.Err()
	}
	n, began := shelter(st)
	defer runNode(ctx, n)()
	if err := wait(ctx, time.Second); err != nil { // until it listens
		return err
	}
	drained := time.Now()
	stopped := make(chan struct{})
	go func() { defer close(stopped); stop() }()
	defer func() { <-stopped }()
	took, err := since(ctx, drained, began)
	if err == nil {
		o.report("recovery_drained_ms", ms(took), "ms", "an owner told to stop, with no time to finish: from there to the handler's start on another node")
	}
	return err
}

func since(ctx context.Context, start time.Time, began <-chan time.Time) (time.Duration, error) {
	limited, cancel := context.WithTimeout(ctx, recoveryLease+time.Minute)
	defer cancel()
	select {
	case at := <-began:
		return at.Sub(start), nil
	case <-limited.Done():
		return 0, fmt.Errorf("nobody went on: %w", limited.Err())
	}
}
