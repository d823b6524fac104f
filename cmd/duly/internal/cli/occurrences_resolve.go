package cli

import (
	"github.com/spf13/cobra"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/api"
)

const resolveOccurrenceLong = `Says what became of an occurrence that is uncertain, of which nobody but a
person can find out what it did:

  --succeeded   it has happened: the occurrence is done
  --redo        it has not happened: it is tried again, its tries counted anew

Where it waits for an external effect in a ledger, decide the effect instead:
duly effects resolve. That sends the occurrence back by itself, and its next
attempt finds what was decided.`

func (inv *invocation) occurrencesResolve() *cobra.Command {
	var why string
	var succeeded, redo bool
	c := &cobra.Command{
		Use:     "resolve OCCURRENCE {--succeeded | --redo}",
		Short:   "Say what became of an uncertain occurrence",
		Long:    resolveOccurrenceLong,
		Example: "  duly occurrences ls --state uncertain\n  duly occurrences resolve invoices@2026-11-28 --succeeded --why 'the bank shows it'",
		Args:    args(1, 1),
		RunE: func(c *cobra.Command, a []string) error {
			if succeeded == redo {
				return withHint(usagef("has it happened (--succeeded) or not (--redo)? one of them is needed"), "see what it was about: duly occurrences show %s", a[0])
			}
			to := duly.Pending
			if succeeded {
				to = duly.Succeeded
			}
			client, err := inv.change(c.Context())
			if err != nil {
				return err
			}
			o, err := client.Resolve(c.Context(), a[0], api.ResolveRequest{To: to, Why: why})
			if err != nil {
				return occurrenceHint(err, a[0])
			}
			return inv.print(o, func() error {
				inv.say("%s is %s%s", o.ID, o.State, because(o.Reason))
				return nil
			})
		},
	}
	f := c.Flags()
	f.BoolVar(&succeeded, "succeeded", false, "it has happened")
	f.BoolVar(&redo, "redo", false, "it has not happened; try again")
	f.StringVar(&why, "why", "", "how you know, for the `audit`")
	c.ValidArgsFunction = inv.completeOccurrences
	return c
}
