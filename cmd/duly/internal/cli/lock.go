package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/api"
	"github.com/duly-dev/duly/cmd/duly/internal/wrap"
	"github.com/duly-dev/duly/lease"
	"github.com/duly-dev/duly/store"
)

const lockLong = `Runs a command while it holds a named lease: at most one at a time, wherever
they are started. The lease is renewed as long as the command lives.

The command finds the fencing token in DULY_FENCING_TOKEN, for the resource in
DULY_FENCING_RESOURCE: a destination that refuses a lower token than it has seen
is safe from a holder that was paused and wakes up late. The lease alone is not.

Exit: the command's own code; 75 when the lease could not be had, or was lost
while the command ran (with --on-lost kill); 126 and 127 when it cannot be
started.`

type lockFlags struct {
	ttl, wait time.Duration
	onLost    string
}

func (inv *invocation) lockCommand() *cobra.Command {
	f := lockFlags{}
	c := &cobra.Command{
		Use:     "lock NAME -- COMMAND [ARG...]",
		Short:   "Run a command while it holds a named lease",
		Long:    lockLong,
		Example: "  duly lock nightly-export --ttl 1m --wait 10m -- ./export.sh",
		RunE: func(c *cobra.Command, args []string) error {
			if c.ArgsLenAtDash() != 1 || len(args) < 2 {
				return withHint(usagef("a name, -- and a command are needed"), "usage: %s", c.UseLine())
			}
			if f.onLost != "kill" && f.onLost != "warn" {
				return usagef("--on-lost is %q; it must be kill or warn", f.onLost)
			}
			if err := notNegative(c.Flags()); err != nil {
				return err
			}
			return inv.lock(c.Context(), args[0], args[1:], f)
		},
	}
	flags := c.Flags()
	flags.DurationVar(&f.ttl, "ttl", 30*time.Second, "how long a holder that died blocks others, at least 1s")
	flags.DurationVar(&f.wait, "wait", 0, "how long to wait for another holder; 0: not at all")
	flags.StringVar(&f.onLost, "on-lost", "kill", "what happens to the command when the lease is lost: kill or warn")
	complete(c, "on-lost", "kill", "warn")
	return c
}

func (inv *invocation) lock(ctx context.Context, name string, command []string, f lockFlags) error {
	client, err := inv.act(ctx)
	if err != nil {
		return err
	}
	// A signal ends the wait. Once the command runs it is passed on to it, and
	// the lease is kept for as long as the command takes to end.
	owning, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	giveUp := context.AfterFunc(ctx, func() { stop(ctx.Err()) })
	l, err := lease.Acquire(owning, leases{client}, name, lease.Options{TTL: f.ttl, Wait: f.wait})
	if err != nil {
		return ownershipError(ctx, err)
	}
	inv.passSignals()
	giveUp()
	defer context.AfterFunc(l.Context(), func() {
		if !errors.Is(context.Cause(l.Context()), lease.ErrLost) {
			return
		}
		fmt.Fprintf(inv.err, "duly: the lease %q was lost: somebody else may hold it\n", name)
		if f.onLost == "kill" {
			stop(lease.ErrLost)
		}
	})()
	end, err := inv.wrap(owning, command, []string{
		"DULY_LEASE=" + name,
		fmt.Sprintf("DULY_FENCING_TOKEN=%d", l.Token()),
		"DULY_FENCING_RESOURCE=lease/" + name,
	}, 0)
	lost := errors.Is(context.Cause(owning), lease.ErrLost)
	if released := l.Release(); released != nil && !lost {
		fmt.Fprintf(inv.err, "duly: the lease %q could not be given back: %v\n", name, released)
	}
	if err != nil {
		return statusError{end.Code, err.Error()}
	}
	if lost {
		return statusError{exitTryAgain, "the command was ended because its lease was lost"}
	}
	return silentExit(end.Code)
}

// ownershipError makes exit code 75 of what trying again later may mend.
func ownershipError(ctx context.Context, err error) error {
	switch duly.CodeOf(err) {
	case duly.CodeConflict, duly.CodeUnavailable:
		if ctx.Err() == nil {
			return statusError{exitTryAgain, "ownership could not be had: " + err.Error()}
		}
	}
	return err
}

func silentExit(code int) error {
	if code == 0 {
		return nil
	}
	return statusError{code: code}
}

// passSignals leaves signals to the wrapped command from now on.
func (inv *invocation) passSignals() {
	inv.wrapping.Store(true)
	inv.signals = make(chan os.Signal, 16)
	signal.Notify(inv.signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	notifyMore(inv.signals)
	inv.closers = append(inv.closers, func() error { signal.Stop(inv.signals); return nil })
}

func (inv *invocation) wrap(ctx context.Context, command, env []string, killAfter time.Duration) (wrap.Ending, error) {
	return wrap.Command{
		Args: command, Env: env, KillAfter: killAfter, Stdin: inv.in, Stdout: inv.out, Stderr: inv.err, Signals: inv.signals,
	}.Run(ctx)
}

// leases gives out leases through the API.
type leases struct{ client *api.Client }

func (l leases) Acquire(ctx context.Context, req store.AcquireRequest) (duly.Lease, error) {
	return l.client.AcquireLease(ctx, req.Name, api.AcquireRequest{
		Owner: req.Owner, Holder: req.Holder, TTL: duly.Duration(req.TTL), Wait: duly.Duration(req.Wait),
	})
}

func (l leases) RenewLease(ctx context.Context, name, owner string, ttl time.Duration) (duly.Lease, error) {
	return l.client.RenewLease(ctx, name, api.RenewLeaseRequest{Owner: owner, TTL: duly.Duration(ttl)})
}

func (l leases) ReleaseLease(ctx context.Context, name, owner string) error {
	return l.client.ReleaseLease(ctx, name, owner)
}
