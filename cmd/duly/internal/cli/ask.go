package cli

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/api"
)

// pageFlags ask for a part of a list.
func pageFlags(c *cobra.Command, p *api.Page) {
	c.Flags().IntVar(&p.Limit, "limit", 100, "how `many` at most, up to 1000")
	c.Flags().StringVar(&p.Cursor, "cursor", "", "go on where a page ended")
}

// confirm asks before something is lost. Where nobody can be asked, because
// stdin is no terminal, the command line is taken at its word.
func (inv *invocation) confirm(yes bool, question string) error {
	if yes || !isTerminal(inv.in) {
		return nil
	}
	fmt.Fprintf(inv.err, "%s [y/N] ", question)
	line, _ := bufio.NewReader(inv.in).ReadString('\n') // no answer is no
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return nil
	}
	return withHint(statusError{exitFailure, "nothing was changed"}, "say --yes to go ahead without being asked")
}

// orNearest adds to a not_found error the schedule that may have been meant.
func (inv *invocation) orNearest(ctx context.Context, err error, id string) error {
	if duly.CodeOf(err) != duly.CodeNotFound {
		return err
	}
	hint := "see what there is: duly schedules ls"
	if client, again := inv.look(ctx); again == nil {
		if near := nearest(id, scheduleIDs(ctx, client, "")); near != "" {
			hint = "did you mean: " + near
		}
	}
	return withHint(err, "%s", hint)
}

// scheduleIDs lists up to a thousand, and none where they cannot be had: it is
// for suggestions only.
func scheduleIDs(ctx context.Context, client *api.Client, prefix string) []string {
	found, err := client.Schedules(ctx, api.ScheduleQuery{Prefix: prefix, Page: api.Page{Limit: 1000}})
	if err != nil {
		return nil
	}
	ids := make([]string, len(found.Items))
	for i, s := range found.Items {
		ids[i] = s.ID
	}
	return ids
}

// completeSchedules offers the IDs of schedules to a shell.
func (inv *invocation) completeSchedules(c *cobra.Command, given []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if len(given) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	client, err := inv.look(c.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return scheduleIDs(c.Context(), client, prefix), cobra.ShellCompDirectiveNoFileComp
}

// completeOccurrences offers the newest occurrences.
func (inv *invocation) completeOccurrences(c *cobra.Command, given []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if len(given) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	client, err := inv.look(c.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	schedule, _, _ := strings.Cut(prefix, "@")
	if !strings.Contains(prefix, "@") {
		schedule = ""
	}
	found, err := client.Occurrences(c.Context(), api.OccurrenceQuery{Schedule: schedule})
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var ids []string
	for _, o := range found.Items {
		if strings.HasPrefix(o.ID, prefix) {
			ids = append(ids, o.ID)
		}
	}
	return ids, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}
