package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/api"
	"github.com/duly-dev/duly/cmd/duly/internal/wrap"
	"github.com/duly-dev/duly/cron"
	"github.com/duly-dev/duly/lease"
	"github.com/duly-dev/duly/target"
	exectarget "github.com/duly-dev/duly/target/exec"
)

const execLong = `For platform cron: Kubernetes CronJob, crontab, systemd timers. The platform
keeps the timing; Duly sees to it that a business period is done once. Whoever
starts the same period, on whatever machine and however often, meets the same
occurrence: one of them runs the command, the others learn that it is done (exit
0) or being done (exit 75).

Which period: --period, or that of --due, or of DULY_DUE in the environment, or
of now. The schedule is made on first use from --tz, --period-unit,
--period-offset, --lease and --timeout.

The command is told the period, the attempt and the fencing token in DULY_…
variables, see docs/targets.md. Its exit code says how it went: 0 done, 75 try
again, 65 never try again, 79 the outcome is unknown, others failed. One that was
told to stop by SIGTERM or an interrupt gives the period back, to be tried again.

Exit: the command's own code; 0 without running it when the period is already
done; 75 when ownership could not be had (held elsewhere, or coordination is
down) or was lost; 79 when an earlier attempt's outcome is unknown and a person
has to look.`

type execFlags struct {
	due, period     string
	tz, unit        string
	offset          int
	lease, timeout  time.Duration
	wait, killAfter time.Duration
	given           func(flag string) bool
}

func (inv *invocation) execCommand() *cobra.Command {
	var f execFlags
	c := &cobra.Command{
		Use:     "exec SCHEDULE -- COMMAND [ARG...]",
		Short:   "Run a command for a business period, once, started by a platform's cron",
		Long:    execLong,
		Example: "  duly exec invoices --tz Europe/Berlin --period-offset -1 -- ./invoice.sh",
		RunE: func(c *cobra.Command, args []string) error {
			if c.ArgsLenAtDash() != 1 || len(args) < 2 {
				return withHint(usagef("a schedule, -- and a command are needed"), "usage: %s", c.UseLine())
			}
			if err := notNegative(c.Flags()); err != nil {
				return err
			}
			f.given = c.Flags().Changed
			return inv.exec(c.Context(), args[0], args[1:], f)
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.due, "due", "", "when the period's occurrence is due, RFC 3339 (DULY_DUE; default now)")
	flags.StringVar(&f.period, "period", "", "the business `period`, such as 2026-11-28")
	flags.StringVar(&f.tz, "tz", "UTC", "the `zone` of business periods, for a schedule that does not exist yet")
	flags.StringVar(&f.unit, "period-unit", string(duly.PeriodDay), "the `unit` of business periods: day, hour, week, month or instant, likewise")
	flags.IntVar(&f.offset, "period-offset", 0, "-1: the work is for the period before, likewise")
	flags.DurationVar(&f.lease, "lease", duly.DefaultLease.Std(), "how long a worker that died blocks others, likewise")
	flags.DurationVar(&f.timeout, "timeout", 0, "how long the command may take, likewise; 0: no limit")
	flags.DurationVar(&f.wait, "wait", 0, "how long to wait for another holder; 0: not at all")
	flags.DurationVar(&f.killAfter, "kill-after", 10*time.Second, "between SIGTERM and SIGKILL when the command must end")
	complete(c, "period-unit", "day", "hour", "week", "month", "instant")
	return c
}

func (inv *invocation) exec(ctx context.Context, schedule string, command []string, f execFlags) error {
	start, err := inv.startRequest(f)
	if err != nil {
		return err
	}
	client, err := inv.act(ctx)
	if err != nil {
		return ownershipError(ctx, err)
	}
	started, err := client.Start(ctx, schedule, start)
	if err != nil {
		if duly.CodeOf(err) == duly.CodeUnavailable {
			return ownershipError(ctx, err)
		}
		return err // a conflict here is a schedule of another kind: trying again mends nothing
	}
	inv.noteUnused(ctx, client, schedule, f)
	id := started.Occurrence.ID
	start.Due, start.Period = time.Time{}, started.Occurrence.Period // the same one, even past midnight
	owner := &owned{client: client, schedule: schedule, start: start, occurrence: id, capability: started.Capability}
	// As for a lock: a signal ends the wait, and later goes to the command.
	owning, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	giveUp := context.AfterFunc(ctx, func() { stop(ctx.Err()) })
	if err := owner.join(owning); err != nil {
		return ownershipError(ctx, err)
	}
	defer owner.leave()
	if err := owner.claim(owning, f.wait); err != nil {
		if status := (statusError{}); errors.As(err, &status) && status.code == exitOK {
			inv.note("%s is already done", id)
			return nil
		}
		return ownershipError(ctx, err)
	}
	inv.passSignals()
	giveUp()
	return inv.runOwned(owning, stop, owner, command, f)
}

// runOwned runs the command under the claim, keeps it, and reports the end.
func (inv *invocation) runOwned(ctx context.Context, stop context.CancelCauseFunc, owner *owned, command []string, f execFlags) error {
	c := owner.got
	owner.cancelled = stop
	l, err := lease.Acquire(ctx, owner, c.Occurrence, lease.Options{TTL: c.Lease.Std()})
	if err != nil {
		return err
	}
	defer context.AfterFunc(l.Context(), func() {
		if cause := context.Cause(l.Context()); errors.Is(cause, lease.ErrLost) {
			stop(cause)
		}
	})()
	if c.Timeout > 0 {
		timer := time.AfterFunc(c.Timeout.Std(), func() { stop(target.ErrTimeout) })
		defer timer.Stop()
	}
	end, startErr := inv.runAssigned(ctx, c, command, f.killAfter)
	cause := context.Cause(ctx)
	report := api.Report{Seq: c.Seq, Token: c.Token, Details: api.Details{ExitCode: &end.Code}}
	report.Outcome, report.Permanent, report.Error = judge(end, cause)
	if startErr != nil {
		report.Error = startErr.Error()
	}
	_ = l.Release() // stops the renewals; the report ends the ownership
	done, err := owner.report(report)
	switch {
	case err != nil:
		return statusError{exitTryAgain, fmt.Sprintf("the command ended with %d, but that could not be recorded, so %s will be tried again: %v", end.Code, c.Occurrence, err)}
	case startErr != nil:
		return statusError{end.Code, startErr.Error()}
	case end.Stopped && errors.Is(cause, lease.ErrLost):
		return statusError{exitTryAgain, "the command was ended because its ownership was lost"}
	case done.Error != nil:
		return statusError{exitTryAgain, "the report was refused: " + done.Error.Message}
	case end.Stopped:
		return statusError{max(end.Code, exitFailure), cause.Error()}
	case report.Outcome == duly.AttemptReleased && end.Code == 0:
		return statusError{exitTryAgain, report.Error}
	}
	return silentExit(end.Code)
}

// runAssigned runs the command and tells it what it is for. An error says why
// it could not be started.
func (inv *invocation) runAssigned(ctx context.Context, c api.Claim, command []string, killAfter time.Duration) (wrap.Ending, error) {
	env, remove, err := exectarget.Given(target.Assignment{
		Schedule: c.Schedule, Occurrence: c.Occurrence, Period: c.Period, Covers: c.Covers, Due: c.Due, IntervalStart: c.IntervalStart,
		Origin: c.Origin, Attempt: c.Attempt, Token: c.Token, Resource: c.FencingResource, IdempotencyKey: c.IdempotencyKey,
		LeaseUntil: func() time.Time { return c.LeaseUntil }, Payload: c.Payload,
	})
	if err != nil {
		return wrap.Ending{Code: exitTryAgain}, err
	}
	defer remove()
	return inv.wrap(ctx, command, env, killAfter)
}

// judge reads an ending as an outcome, in the light of why the command was
// ended, if it was. One that was told to stop has not done its work, whatever
// its exit code: many programs answer SIGTERM with 0.
func judge(end wrap.Ending, cause error) (outcome duly.Outcome, permanent bool, text string) {
	switch {
	case end.Code == exitUncertain:
		return duly.AttemptUncertain, false, "the command does not know the outcome (exit code 79)"
	case end.Code == 65:
		return duly.AttemptFailed, true, "the command says that no further attempt can succeed (exit code 65)"
	case end.Stopped && errors.Is(cause, target.ErrTimeout):
		return duly.AttemptTimedOut, false, cause.Error()
	case end.Stopped && errors.Is(cause, target.ErrCancelled):
		return duly.AttemptCancelled, false, cause.Error()
	case end.Stopped:
		return duly.AttemptFailed, false, cause.Error()
	case end.Signal != nil:
		return duly.AttemptReleased, false, fmt.Sprintf("the command was told to stop (%s) and ended with exit code %d", end.Signal, end.Code)
	case end.Code != 0:
		return duly.AttemptFailed, false, fmt.Sprintf("exit code %d", end.Code)
	}
	return duly.AttemptSucceeded, false, ""
}

// startRequest reads the flags.
func (inv *invocation) startRequest(f execFlags) (api.StartRequest, error) {
	req := api.StartRequest{Period: f.period}
	due := f.due
	if due == "" && f.period == "" {
		due = inv.getenv("DULY_DUE")
	}
	if due != "" {
		at, err := time.Parse(time.RFC3339, due)
		if err != nil {
			return req, duly.Invalid("due", "%q is no instant; write 2026-11-28T00:00:00Z", due)
		}
		req.Due = at
	}
	req.Define = &duly.Schedule{
		External: true, Timezone: f.tz, Period: duly.PeriodUnit(f.unit), PeriodOffset: f.offset,
		Lease: duly.Duration(f.lease), Timeout: duly.Duration(f.timeout),
	}
	return req, nil
}

// owned is one occurrence that this process wants to own, and owns. It gives
// out its attempt as a lease, so that package lease keeps it.
type owned struct {
	client     *api.Client
	schedule   string
	start      api.StartRequest
	occurrence string
	capability string
	node       int64
	got        api.Claim
	cancelled  func(cause error) // a person wants it ended
}

const execSession = 30 * time.Second

func (o *owned) join(ctx context.Context) error {
	host, _ := os.Hostname()
	res, err := o.client.Join(ctx, api.JoinRequest{
		Name: fmt.Sprintf("exec-%s-%d", host, os.Getpid()), Host: host, PID: os.Getpid(), Version: duly.Version, TZData: cron.TZDataVersion(),
		Capabilities: []string{o.capability}, Slots: 1, TTL: duly.Duration(execSession),
	})
	o.node = res.Node
	return err
}

func (o *owned) leave() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = o.client.Leave(ctx, o.node) // it would expire by itself
}

// claim takes the occurrence. An error of status exitOK says that it is done.
func (o *owned) claim(ctx context.Context, patience time.Duration) error {
	deadline := time.Now().Add(patience)
	for {
		left := time.Until(deadline)
		res, err := o.client.Claim(ctx, api.ClaimRequest{
			Node: o.node, Max: 1, Capabilities: []string{o.capability}, Wait: duly.Duration(max(0, min(left, time.Second))),
		})
		if err == nil && len(res.Claims) == 1 {
			o.got = res.Claims[0]
			return nil
		}
		if err == nil {
			err = o.standing(ctx)
		}
		if status := (statusError{}); errors.As(err, &status) && status.code != exitTryAgain || left <= 0 {
			return err
		}
		// Asking again also ends the attempt of a holder that died.
		if _, again := o.client.Start(ctx, o.schedule, o.start); again != nil && duly.CodeOf(again) != duly.CodeUnavailable {
			return again
		}
		if beat := o.beat(ctx); beat != nil && duly.CodeOf(beat) != duly.CodeUnavailable {
			return beat
		}
	}
}

// standing says why there was nothing to claim. It never answers nil.
func (o *owned) standing(ctx context.Context) error {
	occ, err := o.client.Occurrence(ctx, o.occurrence)
	if err != nil {
		return err
	}
	switch occ.State {
	case duly.Succeeded:
		return statusError{code: exitOK}
	case duly.Uncertain:
		return statusError{exitUncertain, occ.ID + " is uncertain: " + occ.Reason + "; a person has to look before it is tried again (duly occurrences show " + occ.ID + ")"}
	case duly.Running:
		last := occ.Attempts[len(occ.Attempts)-1]
		return statusError{exitTryAgain, fmt.Sprintf("%s is being done by %s (attempt %d) until at least %s", occ.ID, last.Node, last.Number, last.LeaseUntil.Format(time.RFC3339))}
	case duly.Pending:
		return statusError{exitTryAgain, fmt.Sprintf("%s waits for %s", occ.ID, occ.Waiting)}
	}
	return statusError{exitTryAgain, fmt.Sprintf("%s is %s: %s", occ.ID, occ.State, occ.Reason)}
}

func (o *owned) beat(ctx context.Context) error {
	return o.client.Beat(ctx, o.node, api.BeatRequest{TTL: duly.Duration(execSession), Running: 1})
}

// report delivers how it ended. It is tried for a while: not recorded, a
// success would be tried again.
func (o *owned) report(r api.Report) (api.Finished, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for {
		res, err := o.client.Finish(ctx, o.node, []api.Report{r})
		if err == nil {
			return res[0], nil
		}
		if duly.CodeOf(err) != duly.CodeUnavailable {
			return api.Finished{}, err
		}
		select {
		case <-ctx.Done():
			return api.Finished{}, err
		case <-time.After(500 * time.Millisecond):
		}
	}
}
