package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/api"
	"github.com/duly-dev/duly/store"
)

const policyHelp = "what happens to what came due meanwhile: none, latest, all or combine (default the schedule's catch-up `policy`)"

func completePolicy(c *cobra.Command) {
	complete(c, "catch-up", string(duly.CatchUpNone), string(duly.CatchUpLatest), string(duly.CatchUpAll), string(duly.CatchUpCombine))
}

func (inv *invocation) schedulesPause() *cobra.Command {
	var req api.PauseRequest
	var until, policy string
	c := &cobra.Command{
		Use:     "pause SCHEDULE",
		Short:   "Stop a schedule from firing; what is running goes on",
		Example: "  duly schedules pause invoices --why 'bank holiday' --until +12h --catch-up all",
		Args:    args(1, 1),
		RunE: func(c *cobra.Command, a []string) error {
			client, err := inv.change(c.Context())
			if err != nil {
				return err
			}
			if req.Until, err = inv.instantOf(c.Context(), client, a[0], "until", until); err != nil {
				return err
			}
			req.Policy = duly.CatchUpPolicy(policy)
			s, err := client.Pause(c.Context(), a[0], req)
			if err != nil {
				return inv.orNearest(c.Context(), err, a[0])
			}
			return inv.print(s, func() error { return inv.showPaused(s) })
		},
	}
	c.Flags().StringVar(&req.Why, "why", "", "the `reason`, for whoever finds it paused")
	c.Flags().StringVar(&until, "until", "", "go on by itself at this `time`, such as +2h (default when it is resumed)")
	c.Flags().StringVar(&policy, "catch-up", "", policyHelp)
	completePolicy(c)
	c.ValidArgsFunction = inv.completeSchedules
	return c
}

func (inv *invocation) showPaused(s store.ScheduleStatus) error {
	if s.Paused == nil {
		inv.say("%s is not paused any more", s.ID)
		return nil
	}
	inv.say("%s is paused, %s", s.ID, pauseText(s.Paused, zoneOf(s.Schedule), inv.now()))
	return nil
}

func (inv *invocation) schedulesResume() *cobra.Command {
	var policy string
	c := &cobra.Command{
		Use:   "resume SCHEDULE",
		Short: "Let a paused schedule fire again",
		Args:  args(1, 1),
		RunE: func(c *cobra.Command, a []string) error {
			client, err := inv.change(c.Context())
			if err != nil {
				return err
			}
			s, err := client.Resume(c.Context(), a[0], api.ResumeRequest{Policy: duly.CatchUpPolicy(policy)})
			if err != nil {
				return inv.orNearest(c.Context(), err, a[0])
			}
			return inv.print(s, func() error { return inv.sayNext(c.Context(), client, s) })
		},
	}
	c.Flags().StringVar(&policy, "catch-up", "", policyHelp)
	completePolicy(c)
	c.ValidArgsFunction = inv.completeSchedules
	return c
}

func (inv *invocation) sayNext(ctx context.Context, client *api.Client, s store.ScheduleStatus) error {
	upcoming, err := client.Upcoming(ctx, s.ID, api.UpcomingQuery{N: 1})
	if err != nil {
		return err
	}
	if len(upcoming.Items) == 0 {
		inv.say("%s goes on; it is never due again", s.ID)
		return nil
	}
	inv.say("%s goes on; next due %s", s.ID, dueIn(upcoming.Items[0].Due, zoneOf(s.Schedule), inv.now()))
	return nil
}

func (inv *invocation) schedulesRm() *cobra.Command {
	var yes, force bool
	c := &cobra.Command{
		Use:     "rm SCHEDULE",
		Aliases: []string{"remove"},
		Short:   "Remove a schedule; what is open is cancelled, history stays",
		Args:    args(1, 1),
		RunE: func(c *cobra.Command, a []string) error {
			client, err := inv.change(c.Context())
			if err != nil {
				return err
			}
			s, err := client.Schedule(c.Context(), a[0])
			if err != nil {
				return inv.orNearest(c.Context(), err, a[0])
			}
			if err := inv.confirm(yes, "Remove the schedule "+s.ID+" and cancel what is open of it?"); err != nil {
				return err
			}
			if err := client.DeleteSchedule(c.Context(), s.ID, force); err != nil {
				return withForceHint(err)
			}
			inv.say("%s is removed", s.ID)
			return nil
		},
	}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	c.Flags().BoolVar(&force, "force", false, "even if a file or an application owns it")
	c.ValidArgsFunction = inv.completeSchedules
	return c
}

// withForceHint tells of --force where somebody else owns a definition.
func withForceHint(err error) error {
	if duly.CodeOf(err) != duly.CodeConflict {
		return err
	}
	return withHint(err, "say --force to take it over")
}
