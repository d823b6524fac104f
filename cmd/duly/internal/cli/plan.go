package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/api"
	"github.com/duly-dev/duly/store"
)

const planLong = `Shows what duly apply would change, and changes nothing.

--simulate 365d goes further: it compares the periods of the coming year under
the stored and the new definitions, and lists those that would be added, dropped
or moved, with clock changes and holidays marked.`

func (inv *invocation) planCommand() *cobra.Command {
	var f fileFlags
	var simulate string
	var detailed bool
	c := &cobra.Command{
		Use:     "plan [-f FILE]",
		Short:   "Show what apply would change, and what that means for the coming year",
		Long:    planLong,
		Example: "  duly plan -f duly.yaml --simulate 365d\n  duly plan --exit-code || echo 'the file was not applied yet'",
		Args:    args(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			req, file, err := f.request()
			if err != nil {
				return err
			}
			inv.warn(file)
			client, err := inv.lookOrEmpty(c.Context())
			if err != nil {
				return err
			}
			req.DryRun = true
			would, err := client.Apply(c.Context(), req)
			if err != nil {
				return withForceHint(err)
			}
			if simulate != "" {
				err = inv.simulate(c, client, req, would, simulate)
			} else {
				err = inv.print(would, func() error { return inv.showChanges(would.Changes, "to be ") })
			}
			if err == nil && detailed && changed(would.Changes) {
				return statusError{code: exitUsage}
			}
			return err
		},
	}
	f.register(c)
	c.Flags().StringVar(&simulate, "simulate", "", "compare the periods of this coming `time`, such as 365d")
	c.Flags().BoolVar(&detailed, "exit-code", false, "exit with 2 where there are changes")
	return c
}

func changed(changes []store.Change) bool {
	count := countChanges(changes)
	return count[store.ActionCreate]+count[store.ActionUpdate]+count[store.ActionRemove] > 0
}

func (inv *invocation) simulate(c *cobra.Command, client *api.Client, req api.ApplyRequest, would api.Changes, length string) error {
	d, err := duly.ParseDuration(length)
	if err != nil {
		return duly.Invalid("--simulate", "%v", err)
	}
	if d == 0 {
		return usagef("--simulate is %s; it must be longer", length)
	}
	from := inv.now().UTC()
	res, err := client.Simulate(c.Context(), api.SimulateRequest{Schedules: req.Schedules, From: from, To: from.Add(d.Std())})
	if err != nil {
		return err
	}
	return inv.print(res, func() error {
		if err := inv.showChanges(would.Changes, "to be "); err != nil {
			return err
		}
		return inv.showSimulation(res)
	})
}

func (inv *invocation) showSimulation(res api.SimulateResult) error {
	w := inv.paper()
	from, to := res.From.UTC().Format("2006-01-02"), res.To.UTC().Format("2006-01-02")
	if _, err := fmt.Fprintf(w, "\n%s\n", bold(fmt.Sprintf("From %s to %s", from, to))); err != nil {
		return err
	}
	for _, s := range res.Schedules {
		if err := inv.showSimulated(s, res.To); err != nil {
			return err
		}
	}
	return nil
}

// shownPeriods is how many periods a simulation shows to a person, and as many
// again of those that have a clock change or a holiday to tell of.
const shownPeriods = 12

func (inv *invocation) showSimulated(s api.Simulation, to time.Time) error {
	rest := ""
	if s.Added+s.Dropped+s.Moved == 0 {
		rest = "; none differs"
	}
	if s.To.Before(to) {
		rest += fmt.Sprintf(" (it has very many: compared up to %s)", instantIn(s.To, time.UTC))
	}
	_, err := fmt.Fprintf(inv.paper(), "\n%s: %d periods before, %d after; %d added, %d dropped, %d moved%s\n",
		bold(clean(s.ID)), s.Before, s.After, s.Added, s.Dropped, s.Moved, rest)
	if err != nil || len(s.Periods) == 0 {
		return err
	}
	t := &table{columns: []column{
		{name: "PERIOD"}, {name: "WHAT", word: true}, {name: "BEFORE"}, {name: "AFTER"}, {name: "NOTE", elastic: true},
	}}
	left := s.Omitted
	for i, p := range s.Periods {
		if i >= shownPeriods && (p.Note == "" || len(t.rows) >= 2*shownPeriods) {
			left++
			continue
		}
		t.add(p.Period, periodChange(p), p.BeforeLocal, p.AfterLocal, p.Note)
	}
	if err := inv.show(t, ""); err != nil {
		return err
	}
	if left > 0 {
		inv.say("… and %d more, which -o json lists", left)
	}
	return nil
}

func periodChange(p api.PeriodChange) string {
	switch {
	case p.Before.IsZero():
		return "added"
	case p.After.IsZero():
		return "dropped"
	case p.Before.Equal(p.After):
		return "kept"
	}
	return "moved"
}
