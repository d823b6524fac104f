package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/api"
)

func (inv *invocation) occurrencesCommand() *cobra.Command {
	c := asGroup(&cobra.Command{
		Use:     "occurrences",
		Aliases: []string{"occurrence"},
		Short:   "Occurrences: list, tell their story, retry, cancel, resolve",
	})
	c.AddCommand(inv.occurrencesLs(), inv.occurrencesShow(), inv.occurrencesRetry(), inv.occurrencesCancel(), inv.occurrencesResolve())
	return c
}

func (inv *invocation) occurrencesLs() *cobra.Command {
	var q api.OccurrenceQuery
	var states []string
	var from, to string
	c := &cobra.Command{
		Use:     "ls [SCHEDULE]",
		Aliases: []string{"list"},
		Short:   "List occurrences, newest first",
		Args:    args(0, 1),
		RunE: func(c *cobra.Command, a []string) (err error) {
			if len(a) == 1 {
				q.Schedule = a[0]
			}
			for _, s := range states {
				q.States = append(q.States, duly.State(s))
			}
			client, err := inv.look(c.Context())
			if err != nil {
				return err
			}
			zones := newZones(client)
			zone := time.UTC
			if q.Schedule != "" {
				if zone, err = zones.of(c.Context(), q.Schedule); err != nil {
					return err
				}
			}
			if q.From, err = inv.instant("from", from, zone, time.Time{}); err != nil {
				return err
			}
			if q.To, err = inv.instant("to", to, zone, time.Time{}); err != nil {
				return err
			}
			found, err := client.Occurrences(c.Context(), q)
			if err != nil {
				return err
			}
			return inv.printPage(found, found.NextCursor, func() error { return inv.showOccurrences(c.Context(), zones, found.Items) })
		},
	}
	f := c.Flags()
	f.StringSliceVar(&states, "state", nil, "only those in these `states`")
	f.BoolVar(&q.Attention, "attention", false, "only those that a person should look at: failed, uncertain, missed")
	f.StringVar(&from, "from", "", "due at this `time` or later")
	f.StringVar(&to, "to", "", "due before this `time`")
	pageFlags(c, &q.Page)
	words := make([]string, len(duly.States))
	for i, s := range duly.States {
		words[i] = string(s)
	}
	complete(c, "state", words...)
	c.ValidArgsFunction = inv.completeSchedules
	return c
}

func (inv *invocation) showOccurrences(ctx context.Context, zones *zones, items []duly.Occurrence) error {
	if err := zones.learn(ctx, items); err != nil {
		return err
	}
	now := inv.now()
	t := &table{columns: []column{
		{name: "OCCURRENCE"},
		{name: "DUE"},
		{name: "STATE", word: true},
		{name: "ATTEMPTS", spare: 2},
		{name: "TOOK", spare: 1},
		{name: "REASON", elastic: true, spare: 3},
	}}
	for _, o := range items {
		zone, err := zones.of(ctx, o.Schedule)
		if err != nil {
			return err
		}
		reason := o.Reason
		if o.Count > 1 {
			reason = fmt.Sprintf("%d periods: %s", o.Count, reason)
		}
		t.add(o.ID, dueIn(o.Due, zone, now), string(o.State), attemptsText(o.Attempts), lasted(o, now), reason)
	}
	return inv.show(t, "no occurrences")
}

// attemptsText says how each attempt ended, in order: "lost, succeeded".
func attemptsText(attempts []duly.Attempt) string {
	const most = 3
	var words []string
	for i, a := range attempts {
		if left := len(attempts) - most; i == 0 && left > 0 {
			words = append(words, fmt.Sprintf("%d before", left))
		}
		if i < len(attempts)-most {
			continue
		}
		word := string(a.Outcome)
		if a.Late {
			word += " (late)"
		}
		if a.Stale != nil {
			word += " (stale report)"
		}
		words = append(words, word)
	}
	return strings.Join(words, ", ")
}

// lasted is how long the last attempt took, or has taken.
func lasted(o duly.Occurrence, now time.Time) string {
	if len(o.Attempts) == 0 {
		return ""
	}
	a := o.Attempts[len(o.Attempts)-1]
	if a.FinishedAt.IsZero() {
		return span(now.Sub(a.StartedAt)) + " so far"
	}
	return took(a.FinishedAt.Sub(a.StartedAt))
}

func (inv *invocation) occurrencesShow() *cobra.Command {
	c := &cobra.Command{
		Use:     "show OCCURRENCE",
		Short:   "Tell an occurrence's story: what it is for, each attempt, and its effects",
		Example: "  duly occurrences show invoices@2026-11-28",
		Args:    args(1, 1),
		RunE: func(c *cobra.Command, a []string) error {
			client, err := inv.look(c.Context())
			if err != nil {
				return err
			}
			o, err := client.Occurrence(c.Context(), a[0])
			if err != nil {
				return occurrenceHint(err, a[0])
			}
			return inv.print(o, func() error { return inv.tell(c.Context(), client, o) })
		},
	}
	c.ValidArgsFunction = inv.completeOccurrences
	return c
}

func (inv *invocation) tell(ctx context.Context, client *api.Client, o duly.Occurrence) error {
	zone, err := newZones(client).of(ctx, o.Schedule)
	if err != nil {
		return err
	}
	s := story{sheet: newSheet(inv.paper()), zone: zone, now: inv.now()}
	s.tell(o)
	return s.err
}

// occurrenceHint says how to find what was not found.
func occurrenceHint(err error, id string) error {
	if duly.CodeOf(err) != duly.CodeNotFound {
		return err
	}
	schedule, _, ok := duly.SplitOccurrenceID(id)
	if !ok {
		return withHint(err, "an occurrence is named schedule@period, such as invoices@2026-11-28")
	}
	return withHint(err, "see what there is: duly occurrences ls %s", schedule)
}

func (inv *invocation) occurrencesRetry() *cobra.Command {
	return inv.occurrenceStep("retry", "Send an ended occurrence back to be tried again, its tries counted anew", (*api.Client).Retry)
}

func (inv *invocation) occurrencesCancel() *cobra.Command {
	return inv.occurrenceStep("cancel", "End a pending occurrence, stop a running one, or dismiss one that needs attention", (*api.Client).Cancel)
}

func (inv *invocation) occurrenceStep(verb, short string, step func(*api.Client, context.Context, string, string) (duly.Occurrence, error)) *cobra.Command {
	var why string
	c := &cobra.Command{
		Use:   verb + " OCCURRENCE",
		Short: short,
		Args:  args(1, 1),
		RunE: func(c *cobra.Command, a []string) error {
			client, err := inv.change(c.Context())
			if err != nil {
				return err
			}
			o, err := step(client, c.Context(), a[0], why)
			if err != nil {
				return occurrenceHint(err, a[0])
			}
			return inv.print(o, func() error {
				inv.say("%s is %s%s", o.ID, o.State, because(o.Reason))
				return nil
			})
		},
	}
	c.Flags().StringVar(&why, "why", "", "the `reason`, for the audit")
	c.ValidArgsFunction = inv.completeOccurrences
	return c
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + clean(reason)
}
