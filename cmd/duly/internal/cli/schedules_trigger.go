package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/api"
)

const triggerLong = `Asks for an occurrence now. It has an identity of its own (SCHEDULE@manual-…) and
never stands in for a scheduled one, unless --period or --due asks for that.

With --wait the command ends when the occurrence has, and its exit code says
how: 0 succeeded, 79 uncertain, 75 when --timeout passed first, 1 otherwise.`

func (inv *invocation) schedulesTrigger() *cobra.Command {
	var req api.TriggerRequest
	var due, payload string
	var wait bool
	var timeout time.Duration
	c := &cobra.Command{
		Use:     "trigger SCHEDULE",
		Short:   "Ask for an occurrence now",
		Long:    triggerLong,
		Example: "  duly schedules trigger invoices --period 2026-11-28 --why 'new tax rate' --wait",
		Args:    args(1, 1),
		RunE: func(c *cobra.Command, a []string) error {
			client, err := inv.change(c.Context())
			if err != nil {
				return err
			}
			if req.Due, err = inv.instantOf(c.Context(), client, a[0], "due", due); err != nil {
				return err
			}
			if req.Payload, err = inv.payload(payload); err != nil {
				return err
			}
			res, err := client.Trigger(c.Context(), a[0], req)
			if err != nil {
				return inv.orNearest(c.Context(), err, a[0])
			}
			if !wait {
				inv.noteNobody(c.Context(), client, res.Occurrence)
				return inv.print(res, func() error { inv.sayTriggered(res); return nil })
			}
			return inv.awaitTriggered(c.Context(), client, res, timeout)
		},
	}
	f := c.Flags()
	f.StringVar(&req.Period, "period", "", "ask for the occurrence of this business `period`, such as 2026-11-28")
	f.StringVar(&due, "due", "", "ask for the occurrence that is due at this `time`")
	f.StringVar(&payload, "payload", "", "`JSON` instead of the definition's payload; @FILE reads a file, - stdin")
	f.StringVar(&req.Once, "once", "", "an idempotency `key`: asking again with it answers with the same occurrence")
	f.BoolVar(&req.Parallel, "parallel", false, "do not wait for earlier occurrences of the schedule")
	f.StringVar(&req.Why, "why", "", "the `reason`, for the audit")
	f.BoolVar(&wait, "wait", false, "wait for its end, and exit by its outcome")
	f.DurationVar(&timeout, "timeout", 0, "with --wait: give up waiting after this `time` (default never)")
	c.ValidArgsFunction = inv.completeSchedules
	return c
}

func (inv *invocation) sayTriggered(res api.TriggerResult) {
	o := res.Occurrence
	if res.Status == api.TriggerDuplicate {
		inv.say("%s exists already; it is %s%s", o.ID, o.State, because(o.Reason))
		return
	}
	inv.say("%s is %s", o.ID, o.State)
	inv.say("  follow it: duly occurrences show %s", o.ID)
}

// payload reads the JSON that a flag gives, names a file of, or leaves to stdin.
func (inv *invocation) payload(text string) (json.RawMessage, error) {
	var data []byte
	var err error
	switch {
	case text == "":
		return nil, nil
	case text == "-":
		data, err = io.ReadAll(inv.in)
	case strings.HasPrefix(text, "@"):
		data, err = os.ReadFile(text[1:])
	default:
		data = []byte(text)
	}
	if err != nil {
		return nil, duly.Errorf(duly.CodeInvalid, "--payload: %w", err)
	}
	if !json.Valid(data) {
		return nil, withHint(duly.Invalid("--payload", "%s is not JSON", excerptOf(data)), `a text is JSON in double quotes: --payload '"text"'`)
	}
	return data, nil
}

func excerptOf(data []byte) string {
	const most = 60
	if len(data) > most {
		return fmt.Sprintf("%q…", data[:most])
	}
	return fmt.Sprintf("%q", data)
}
