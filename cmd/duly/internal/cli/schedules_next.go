package cli

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/api"
	"github.com/duly-dev/duly/timing"
)

func (inv *invocation) schedulesNext() *cobra.Command {
	var q api.UpcomingQuery
	var from string
	c := &cobra.Command{
		Use:   "next SCHEDULE",
		Short: "When is a schedule due next?",
		Args:  args(1, 1),
		RunE: func(c *cobra.Command, a []string) error {
			client, err := inv.look(c.Context())
			if err != nil {
				return err
			}
			s, err := client.Schedule(c.Context(), a[0])
			if err != nil {
				return inv.orNearest(c.Context(), err, a[0])
			}
			zone := zoneOf(s.Schedule)
			if q.From, err = inv.instant("from", from, zone, time.Time{}); err != nil {
				return err
			}
			found, err := client.Upcoming(c.Context(), s.ID, q)
			if err != nil {
				return err
			}
			for _, w := range timingWarnings(s.Schedule) {
				inv.note("note: %s", w)
			}
			if s.Paused != nil {
				inv.note("note: %s is paused, %s", s.ID, pauseText(s.Paused, zone, inv.now()))
			}
			return inv.printPage(found, found.NextCursor, func() error { return inv.showUpcoming(found.Items, zone) })
		},
	}
	c.Flags().IntVarP(&q.N, "count", "n", 10, "list this many, up to 1000")
	c.Flags().StringVar(&from, "from", "", "where to start: RFC 3339, or local `time` in its zone (default now)")
	c.ValidArgsFunction = inv.completeSchedules
	return c
}

// timingWarnings says what may have been meant otherwise.
func timingWarnings(s duly.Schedule) []string {
	t, faults := timing.Compile(s)
	if len(faults) > 0 {
		return nil // a newer server's definition, which it understands
	}
	return t.Warnings()
}

func (inv *invocation) showUpcoming(items []api.Upcoming, zone *time.Location) error {
	now := inv.now()
	t := newDueTable()
	for _, u := range items {
		local := u.Due.In(zone)
		var notes []string
		for _, n := range []string{u.Skip, clockChange(local)} {
			if n != "" {
				notes = append(notes, n)
			}
		}
		t.add(u.Local, local.Format("Mon"), u.Due.UTC().Format(time.RFC3339), u.Period, relative(u.Due, now), strings.Join(notes, "; "))
	}
	t.dropEmpty()
	return inv.show(t, "it is never due again")
}
