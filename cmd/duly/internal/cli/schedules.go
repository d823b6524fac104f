package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/api"
	"github.com/duly-dev/duly/store"
)

func (inv *invocation) schedulesCommand() *cobra.Command {
	c := asGroup(&cobra.Command{
		Use:     "schedules",
		Aliases: []string{"schedule"},
		Short:   "Schedules: list, show, look ahead, pause, resume, trigger, backfill, remove",
	})
	c.AddCommand(
		inv.schedulesLs(), inv.schedulesShow(), inv.schedulesNext(),
		inv.schedulesPause(), inv.schedulesResume(), inv.schedulesTrigger(), inv.schedulesBackfill(), inv.schedulesRm(),
	)
	return c
}

func (inv *invocation) schedulesLs() *cobra.Command {
	var q api.ScheduleQuery
	var paused, orphaned bool
	c := &cobra.Command{
		Use:     "ls [PREFIX]",
		Aliases: []string{"list"},
		Short:   "List schedules with where they stand",
		Args:    args(0, 1),
		RunE: func(c *cobra.Command, a []string) error {
			if len(a) == 1 {
				q.Prefix = a[0]
			}
			if c.Flags().Changed("paused") {
				q.Paused = &paused
			}
			if c.Flags().Changed("orphaned") {
				q.Orphaned = &orphaned
			}
			client, err := inv.look(c.Context())
			if err != nil {
				return err
			}
			found, err := client.Schedules(c.Context(), q)
			if err != nil {
				return err
			}
			return inv.printPage(found, found.NextCursor, func() error { return inv.showSchedules(found.Items) })
		},
	}
	c.Flags().StringVar(&q.Owner, "owner", "", "only those of this `owner`, such as file:duly.yaml")
	c.Flags().StringVar(&q.Queue, "queue", "", "only those in this shared `queue`")
	c.Flags().BoolVar(&paused, "paused", false, "only paused ones (--paused=false: only others)")
	c.Flags().BoolVar(&orphaned, "orphaned", false, "only those that no live node declares any more")
	pageFlags(c, &q.Page)
	c.ValidArgsFunction = inv.completeSchedules
	return c
}

func (inv *invocation) showSchedules(items []store.ScheduleStatus) error {
	now := inv.now()
	t := &table{columns: []column{
		{name: "SCHEDULE"},
		{name: "TIMING"},
		{name: "ZONE", spare: 2},
		{name: "TARGET", elastic: true, spare: 1},
		{name: "STATUS", word: true},
		{name: "NEXT DUE"},
		{name: "LAST", word: true},
	}}
	for _, s := range items {
		zone := zoneOf(s.Schedule)
		t.add(s.ID, timingText(s.Schedule), zone.String(), targetText(s.Target), status(s), nextText(s, zone, now), lastText(s.Last, now))
	}
	return inv.show(t, "no schedules (define some with: duly apply -f duly.yaml)")
}

// timingText is a schedule's timing in a few words.
func timingText(s duly.Schedule) string {
	all := s.AllTimings()
	if len(all) == 0 {
		return "external"
	}
	text := oneTiming(all[0])
	if len(all) > 1 {
		text += fmt.Sprintf(" and %d more", len(all)-1)
	}
	return text
}

func oneTiming(t duly.Timing) string {
	switch {
	case t.Cron != "":
		return t.Cron
	case t.Every != 0:
		return "every " + t.Every.String()
	case t.At != "":
		return "at " + t.At
	}
	return strings.TrimSpace(t.RRule)
}

func targetText(t duly.Target) string {
	switch {
	case t.Exec != nil:
		return "exec " + strings.Join(t.Exec.Command, " ")
	case t.HTTP != nil:
		return "http " + t.HTTP.URL
	case t.Handler != "":
		return "handler " + t.Handler
	}
	return "-"
}

func status(s store.ScheduleStatus) string {
	switch {
	case s.Paused != nil:
		return "paused by " + s.Paused.By
	case s.Orphaned:
		return "orphaned"
	case s.NextDue.IsZero() && !s.External:
		return "over"
	}
	return "active"
}

// nextText is when a schedule is due next; for a paused one, after when.
func nextText(s store.ScheduleStatus, zone *time.Location, now time.Time) string {
	switch {
	case s.Paused == nil:
		return dueIn(s.NextDue, zone, now)
	case s.Paused.Until.IsZero():
		return "-"
	}
	return "after " + dueIn(s.Paused.Until, zone, now)
}

func lastText(last *store.LastOccurrence, now time.Time) string {
	if last == nil {
		return "-"
	}
	return fmt.Sprintf("%s %s", last.State, relative(last.Due, now))
}

func (inv *invocation) schedulesShow() *cobra.Command {
	c := &cobra.Command{
		Use:   "show SCHEDULE",
		Short: "Show a schedule: where it stands, what comes next, what was last, its definition",
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
			return inv.print(s, func() error { return inv.showSchedule(c.Context(), client, s) })
		},
	}
	c.ValidArgsFunction = inv.completeSchedules
	return c
}

func (inv *invocation) showSchedule(ctx context.Context, client *api.Client, s store.ScheduleStatus) error {
	upcoming, err := client.Upcoming(ctx, s.ID, api.UpcomingQuery{N: 3})
	if err != nil {
		return err
	}
	recent, err := client.Occurrences(ctx, api.OccurrenceQuery{Schedule: s.ID, Page: api.Page{Limit: 5}})
	if err != nil {
		return err
	}
	definition, err := yamlText(withoutSecrets(s.Schedule))
	if err != nil {
		return err
	}

	p := newSheet(inv.paper())
	zone, now := zoneOf(s.Schedule), inv.now()
	p.title(s.ID)
	p.line("About", s.Description)
	p.word("Status", status(s))
	if s.Paused != nil {
		p.line("Paused", pauseText(s.Paused, zone, now))
	}
	if s.Orphaned {
		p.line("Orphaned", "since "+dueIn(s.OrphanedAt, zone, now)+": no live node declares it any more")
	}
	p.line("Owner", fmt.Sprintf("%s, revision %d of %s", s.Owner, s.Revision, dueIn(s.UpdatedAt, zone, now)))
	p.line("Made", dueIn(s.CreatedAt, zone, now)+fmt.Sprintf("; it fired %d times since", s.Fired))
	if !s.LastSuccess.IsZero() {
		p.line("Last success", dueIn(s.LastSuccess, zone, now))
	}

	p.section("Next")
	for _, u := range upcoming.Items {
		p.text(fmt.Sprintf("%s  %s  %s  %s", instantIn(u.Due, zone), u.Period, relative(u.Due, now), u.Skip))
	}
	if len(upcoming.Items) == 0 {
		p.text("never")
	}
	p.section("Last")
	for _, o := range recent.Items {
		p.text(fmt.Sprintf("%s  %s  %s", instantIn(o.Due, zone), painted(string(o.State)), o.Period))
	}
	if len(recent.Items) == 0 {
		p.text("nothing yet")
	}
	p.section("Definition")
	p.text(definition)
	return p.err
}

// withoutSecrets is a definition as it may be seen by whoever looks over a
// shoulder.
func withoutSecrets(s duly.Schedule) duly.Schedule {
	if s.Target.HTTP != nil && s.Target.HTTP.Secret != "" {
		shown := *s.Target.HTTP
		shown.Secret = "(not shown)"
		s.Target.HTTP = &shown
	}
	return s
}

func pauseText(p *store.PauseStatus, zone *time.Location, now time.Time) string {
	text := fmt.Sprintf("%s by %s", dueIn(p.At, zone, now), p.By)
	if p.Why != "" {
		text += ": " + p.Why
	}
	if p.Until.IsZero() {
		return text + "; until resumed"
	}
	text += "; until " + dueIn(p.Until, zone, now)
	if p.Policy != "" {
		text += fmt.Sprintf(", then catch up: %s", p.Policy)
	}
	return text
}
