package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/duly-dev/duly/api"
)

const backfillLong = `Makes the occurrences of a past range, --from <= due < --to, each by the
definition that was in force then. The rule says which ones:

  missing  those that do not exist, or were missed, skipped or cancelled (default)
  failed   and those that failed
  all      and those that succeeded or are uncertain: effects that no business key
           guards happen again

See first what would happen with --dry-run.`

func (inv *invocation) schedulesBackfill() *cobra.Command {
	var req api.BackfillRequest
	var from, to, rule string
	c := &cobra.Command{
		Use:     "backfill SCHEDULE --from TIME --to TIME",
		Short:   "Make the occurrences of a past range",
		Long:    backfillLong,
		Example: "  duly schedules backfill invoices --from 2026-11-01 --to 2026-11-28 --dry-run",
		Args:    args(1, 1),
		RunE: func(c *cobra.Command, a []string) error {
			if from == "" || to == "" {
				return usagef("a backfill needs --from and --to")
			}
			client, err := inv.change(c.Context())
			if err != nil {
				return err
			}
			zone, err := newZones(client).of(c.Context(), a[0])
			if err != nil {
				return err
			}
			if req.From, err = inv.instant("from", from, zone, time.Time{}); err != nil {
				return err
			}
			if req.To, err = inv.instant("to", to, zone, time.Time{}); err != nil {
				return err
			}
			req.Rule = api.BackfillRule(rule)
			res, err := client.Backfill(c.Context(), a[0], req)
			if err != nil {
				return inv.orNearest(c.Context(), err, a[0])
			}
			return inv.print(res, func() error { return inv.showBackfill(res, zone, req.DryRun) })
		},
	}
	f := c.Flags()
	f.StringVar(&from, "from", "", "the first due `time`")
	f.StringVar(&to, "to", "", "the `time` before which to stop")
	f.StringVar(&rule, "rule", string(api.BackfillMissing), "missing, failed or all")
	f.BoolVar(&req.DryRun, "dry-run", false, "only show what would happen")
	f.StringVar(&req.Why, "why", "", "the `reason`, for the audit")
	complete(c, "rule", string(api.BackfillMissing), string(api.BackfillFailed), string(api.BackfillAll))
	c.ValidArgsFunction = inv.completeSchedules
	return c
}

func (inv *invocation) showBackfill(res api.BackfillResult, zone *time.Location, dry bool) error {
	t := &table{columns: []column{{name: "OCCURRENCE"}, {name: "DUE"}, {name: "ACTION", word: true}, {name: "WAS", word: true}}}
	for _, it := range res.Items {
		t.add(it.ID, instantIn(it.Due, zone), string(it.Action), string(it.State))
	}
	if err := inv.show(t, "no period was due in that range"); err != nil {
		return err
	}
	if res.Omitted > 0 {
		inv.say("… and %d more", res.Omitted)
	}
	words := []any{res.Created, res.Retried, res.Kept}
	if dry {
		inv.say("\n%s", fmt.Sprintf("dry run: %d would be created, %d tried again, %d left as they are", words...))
		return nil
	}
	inv.say("\n%s", fmt.Sprintf("%d created, %d to be tried again, %d left as they are", words...))
	return nil
}
