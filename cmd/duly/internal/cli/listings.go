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

// lsOnly makes a command that has nothing but a list.
func (inv *invocation) lsOnly(name, short string, ls *cobra.Command) *cobra.Command {
	c := asGroup(&cobra.Command{Use: name, Short: short})
	if one, plural := strings.CutSuffix(name, "s"); plural {
		c.Aliases = []string{one}
	}
	ls.Use, ls.Aliases, ls.Short = "ls", []string{"list"}, short
	ls.ValidArgsFunction = cobra.NoFileCompletions
	c.AddCommand(ls)
	return c
}

// listing is a command that fetches a list and shows it.
func listing[T any](inv *invocation, fetch func(context.Context, *api.Client) (api.List[T], error), show func([]T) error) *cobra.Command {
	return &cobra.Command{
		Args: args(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			client, err := inv.look(c.Context())
			if err != nil {
				return err
			}
			found, err := fetch(c.Context(), client)
			if err != nil {
				return err
			}
			return inv.printPage(found, found.NextCursor, func() error { return show(found.Items) })
		},
	}
}

func (inv *invocation) nodesCommand() *cobra.Command {
	ls := listing(inv, func(ctx context.Context, c *api.Client) (api.List[api.Node], error) { return c.Nodes(ctx) }, inv.showNodes)
	return inv.lsOnly("nodes", "Nodes: the processes that take part", ls)
}

// clockBound is from which distance on a node's clock is worth a word.
const clockBound = time.Second

func (inv *invocation) showNodes(items []api.Node) error {
	now := inv.now()
	t := &table{columns: []column{
		{name: "NODE"},
		{name: "STATE", word: true},
		{name: "RUNNING"},
		{name: "CAN", elastic: true},
		{name: "CLOCK"},
		{name: "VERSION", spare: 2},
		{name: "ZONE DATA", spare: 1},
		{name: "JOINED", spare: 3},
		{name: "SEEN"},
	}}
	for _, n := range items {
		state := string(n.State)
		if n.State == api.NodeLive && n.Draining {
			state = "draining"
		}
		t.add(n.Name, state, fmt.Sprintf("%d of %d", n.Running, n.Slots), strings.Join(n.Capabilities, ", "),
			clockText(time.Duration(n.ClockOffset)*time.Millisecond), n.Version, n.TZData, relative(n.JoinedAt, now), relative(n.SeenAt, now))
	}
	return inv.show(t, "no nodes (start one with: duly serve)")
}

func clockText(offset time.Duration) string {
	switch {
	case offset >= clockBound:
		return took(offset) + " ahead"
	case offset <= -clockBound:
		return took(-offset) + " behind"
	}
	return "ok"
}

func (inv *invocation) leasesCommand() *cobra.Command {
	ls := listing(inv, func(ctx context.Context, c *api.Client) (api.List[duly.Lease], error) { return c.Leases(ctx) }, inv.showLeases)
	return inv.lsOnly("leases", "Leases: who owns which name, and until when", ls)
}

func (inv *invocation) showLeases(items []duly.Lease) error {
	now := inv.now()
	t := &table{columns: []column{
		{name: "LEASE"}, {name: "HOLDER", elastic: true}, {name: "TOKEN"}, {name: "ACQUIRED", spare: 1}, {name: "UNTIL"}, {name: "WAITERS"},
	}}
	for _, l := range items {
		t.add(l.Name, l.Holder, strconv.FormatInt(l.Token, 10), dueIn(l.AcquiredAt, time.UTC, now), dueIn(l.Until, time.UTC, now), strconv.Itoa(l.Waiters))
	}
	return inv.show(t, "no leases are held")
}

func (inv *invocation) auditCommand() *cobra.Command {
	var q api.AuditQuery
	ls := listing(inv, func(ctx context.Context, c *api.Client) (api.List[store.AuditRow], error) { return c.Audit(ctx, q) }, inv.showAudit)
	ls.Example = "  duly audit ls --object schedule/invoices"
	ls.Flags().StringVar(&q.Object, "object", "", "only changes of this `object`: schedule/ID, queue/NAME, occurrence/ID")
	pageFlags(ls, &q.Page)
	c := inv.lsOnly("audit", "Audit: who changed what, when and why", ls)
	c.AddCommand(inv.auditEffects())
	return c
}

func (inv *invocation) showAudit(items []store.AuditRow) error {
	now := inv.now()
	t := &table{columns: []column{{name: "AT"}, {name: "BY"}, {name: "ACTION"}, {name: "OBJECT"}, {name: "WHY", elastic: true}}}
	for _, r := range items {
		t.add(dueIn(r.At, time.UTC, now), r.By, r.Action, r.Object, r.Why)
	}
	return inv.show(t, "no changes were recorded")
}
