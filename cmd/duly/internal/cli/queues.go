package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/api"
	"github.com/duly-dev/duly/store"
)

func (inv *invocation) queuesCommand() *cobra.Command {
	ls := listing(inv, func(ctx context.Context, c *api.Client) (api.List[store.QueueStatus], error) { return c.Queues(ctx) }, inv.showQueues)
	c := inv.lsOnly("queues", "Queues: the shared ones, their concurrency and load", ls)
	ls.Short = "List shared queues, their load and who paused them"
	c.AddCommand(inv.queuesPause(), inv.queuesResume())
	return c
}

func (inv *invocation) showQueues(items []store.QueueStatus) error {
	now := inv.now()
	t := &table{columns: []column{{name: "QUEUE"}, {name: "RUNNING"}, {name: "PENDING"}, {name: "RATE"}, {name: "PAUSED", elastic: true}}}
	for _, q := range items {
		rate, paused := "", ""
		if q.Rate.Count > 0 {
			rate = fmt.Sprintf("%d per %s", q.Rate.Count, q.Rate.Per)
		}
		if q.Paused != nil {
			paused = pauseText(q.Paused, time.UTC, now)
		}
		t.add(q.Name, fmt.Sprintf("%d of %d", q.Running, max(q.Concurrency, 1)), strconv.Itoa(q.Pending), rate, paused)
	}
	return inv.show(t, "no shared queues (every schedule has one of its own)")
}

func (inv *invocation) queuesPause() *cobra.Command {
	var req api.PauseQueueRequest
	var until string
	c := &cobra.Command{
		Use:     "pause QUEUE",
		Short:   "Keep a shared queue from handing anything out; what is running goes on",
		Example: "  duly queues pause billing --why 'the bank is down' --until +2h",
		Args:    args(1, 1),
		RunE: func(c *cobra.Command, a []string) error {
			client, err := inv.change(c.Context())
			if err != nil {
				return err
			}
			if req.Until, err = inv.instant("until", until, time.UTC, time.Time{}); err != nil {
				return err
			}
			q, err := client.PauseQueue(c.Context(), a[0], req)
			if err != nil {
				return inv.orNearestQueue(c.Context(), err, a[0])
			}
			return inv.print(q, func() error {
				if q.Paused == nil { // until has passed meanwhile, or somebody resumed it
					inv.say("%s is not paused any more", q.Name)
					return nil
				}
				inv.say("%s is paused, %s; %d running go on, %d wait", q.Name, pauseText(q.Paused, time.UTC, inv.now()), q.Running, q.Pending)
				return nil
			})
		},
	}
	c.Flags().StringVar(&req.Why, "why", "", "the `reason`, for whoever finds it paused")
	c.Flags().StringVar(&until, "until", "", "go on by itself at this `time`, such as +2h (default when it is resumed)")
	c.ValidArgsFunction = inv.completeQueues
	return c
}

func (inv *invocation) queuesResume() *cobra.Command {
	c := &cobra.Command{
		Use:   "resume QUEUE",
		Short: "Let a paused queue hand out again",
		Args:  args(1, 1),
		RunE: func(c *cobra.Command, a []string) error {
			client, err := inv.change(c.Context())
			if err != nil {
				return err
			}
			q, err := client.ResumeQueue(c.Context(), a[0])
			if err != nil {
				return inv.orNearestQueue(c.Context(), err, a[0])
			}
			return inv.print(q, func() error {
				inv.say("%s goes on; %d wait", q.Name, q.Pending)
				return nil
			})
		},
	}
	c.ValidArgsFunction = inv.completeQueues
	return c
}

// orNearestQueue says which queue may have been meant where there is none of a
// name.
func (inv *invocation) orNearestQueue(ctx context.Context, err error, name string) error {
	if duly.CodeOf(err) != duly.CodeNotFound {
		return err
	}
	if near := nearest(name, inv.queueNames(ctx)); near != "" {
		return withHint(err, "did you mean: %s", near)
	}
	return withHint(err, "see what there is: duly queues ls")
}

// queueNames lists the shared queues, and none where they cannot be had: it is
// for suggestions only.
func (inv *invocation) queueNames(ctx context.Context) []string {
	client, err := inv.look(ctx)
	if err != nil {
		return nil
	}
	found, err := client.Queues(ctx)
	if err != nil {
		return nil
	}
	names := make([]string, len(found.Items))
	for i, q := range found.Items {
		names[i] = q.Name
	}
	return names
}

func (inv *invocation) completeQueues(c *cobra.Command, a []string, begun string) ([]string, cobra.ShellCompDirective) {
	if len(a) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var fits []string
	for _, name := range inv.queueNames(c.Context()) {
		if strings.HasPrefix(name, begun) {
			fits = append(fits, name)
		}
	}
	return fits, cobra.ShellCompDirectiveNoFileComp
}
