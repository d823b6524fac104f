package cli

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/api"
	"github.com/duly-dev/duly/effect"
	"github.com/duly-dev/duly/store"
)

const effectsLong = `An effect happens once under its business key, such as invoice/42/2026-11,
however many attempts there were.

Two places know of it. The effect ledger, in the application's own database, is
the truth: there the key is unique. Duly's history is what attempts told of it.
Commands look at history; with --db they look at the ledger.`

func (inv *invocation) effectsCommand() *cobra.Command {
	c := asGroup(&cobra.Command{
		Use:     "effects",
		Aliases: []string{"effect"},
		Short:   "Effects: list, say who made one, decide an unknown one; the ledger's tables",
		Long:    effectsLong,
	})
	c.AddCommand(inv.effectsLs(), inv.effectsShow(), inv.effectsResolve(), inv.effectsDDL(), inv.effectsMigrate())
	return c
}

func (inv *invocation) effectsLs() *cobra.Command {
	var q api.EffectQuery
	var db, state string
	c := &cobra.Command{
		Use:     "ls",
		Aliases: []string{"list"},
		Short:   "List effects: what attempts told, or what the ledger holds (--db)",
		Example: "  duly effects ls --prefix invoice/42/\n  duly effects ls --db postgres://app@db/billing --state uncertain",
		Args:    args(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			if !slices.Contains([]effect.State{"", effect.Started, effect.Done, effect.Uncertain}, effect.State(state)) {
				return usagef("--state is %q; it must be one of started, done, uncertain", state)
			}
			if db != "" || state != "" {
				return inv.listLedger(c.Context(), db, effect.Filter{
					Prefix: q.Prefix, Occurrence: q.Occurrence, State: effect.State(state), Limit: q.Limit, Cursor: q.Cursor,
				})
			}
			client, err := inv.look(c.Context())
			if err != nil {
				return err
			}
			found, err := client.Effects(c.Context(), q)
			if err != nil {
				return err
			}
			return inv.printPage(found, found.NextCursor, func() error { return inv.showEffects(found.Items) })
		},
	}
	f := c.Flags()
	f.StringVar(&q.Prefix, "prefix", "", "only keys that begin with this `text`")
	f.StringVar(&q.Occurrence, "occurrence", "", "only effects of this `occurrence`")
	f.StringVar(&state, "state", "", "only effects in this `state` of the ledger: started, done, uncertain (with --db)")
	dbFlag(c, &db)
	pageFlags(c, &q.Page)
	complete(c, "state", string(effect.Started), string(effect.Done), string(effect.Uncertain))
	c.ValidArgsFunction = cobra.NoFileCompletions
	return c
}

func (inv *invocation) showEffects(items []store.EffectStatus) error {
	t := &table{columns: []column{
		{name: "EFFECT"},
		{name: "OCCURRENCE"},
		{name: "ATTEMPT"},
		{name: "TOKEN", spare: 2},
		{name: "RECORDED"},
		{name: "REUSED"},
		{name: "RESULT", elastic: true, spare: 1},
	}}
	for _, e := range items {
		result := string(e.Result)
		if e.Open {
			result = "unknown whether it has happened"
		}
		t.add(shownKey(e.Key), e.Occurrence, number(int64(e.Attempt)), number(e.Token), instantIn(e.CreatedAt, time.UTC), strconv.Itoa(e.Reused), result)
	}
	return inv.show(t, "no attempt has told of such an effect")
}

func (inv *invocation) listLedger(ctx context.Context, url string, f effect.Filter) error {
	db, err := inv.ledger(ctx, url, toRead)
	if err != nil {
		return err
	}
	items, next, err := effect.List(ctx, db, f)
	if err != nil {
		return err
	}
	if items == nil {
		items = []effect.Entry{}
	}
	return inv.printPage(api.List[effect.Entry]{Items: items, NextCursor: next}, next, func() error { return inv.showEntries(items) })
}

func (inv *invocation) showEntries(items []effect.Entry) error {
	t := &table{columns: []column{
		{name: "EFFECT"},
		{name: "STATE", word: true},
		{name: "OCCURRENCE"},
		{name: "ATTEMPT"},
		{name: "TOKEN", spare: 2},
		{name: "AT"},
		{name: "RESULT", elastic: true, spare: 1},
	}}
	for _, e := range items {
		t.add(shownKey(e.Key), string(e.State), e.Occurrence, number(int64(e.Attempt)), number(e.Token), instantIn(e.CreatedAt, time.UTC), string(e.Result))
	}
	return inv.show(t, "the ledger has no such effect")
}

// number writes a number that is not known where it is 0.
func number(n int64) string {
	if n == 0 {
		return nothing
	}
	return strconv.FormatInt(n, 10)
}

// shownKey is a business key for a table: one line, whatever is in it.
func shownKey(key string) string {
	quoted := strconv.Quote(key)
	if inner := quoted[1 : len(quoted)-1]; inner != key {
		return quoted
	}
	return key
}

// effectStory is all that is known of an effect.
type effectStory struct {
	Key string `json:"key"`
	// History is what attempts told; more than one entry, that it was made
	// more than once.
	History []store.EffectStatus `json:"history"`
	// Ledger is what the application's database holds, where that was asked.
	Ledger *effect.Entry `json:"ledger,omitempty"`
}

func (inv *invocation) effectsShow() *cobra.Command {
	var db string
	c := &cobra.Command{
		Use:     "show KEY",
		Short:   "Say who made an effect: occurrence, attempt, token, time, result",
		Example: "  duly effects show invoice/42/2026-11\n  duly effects show invoice/42/2026-11 --db sqlite:billing.db",
		Args:    args(1, 1),
		RunE: func(c *cobra.Command, a []string) error {
			s := effectStory{Key: a[0], History: []store.EffectStatus{}}
			ctx := c.Context()
			asked := db != "" || inv.getenv("DULY_DB") != ""
			if asked {
				ledger, err := inv.ledger(ctx, db, toRead)
				if err != nil {
					return err
				}
				entry, err := effect.Get(ctx, ledger, a[0])
				if err == nil {
					s.Ledger = &entry
				} else if duly.CodeOf(err) != duly.CodeNotFound {
					return err
				}
			}
			client, err := inv.look(ctx)
			if err != nil {
				return err
			}
			for e, err := range api.All(func(cursor string) (api.List[store.EffectStatus], error) {
				return client.Effects(ctx, api.EffectQuery{Key: effect.HistoryKey(a[0]), Page: api.Page{Cursor: cursor}})
			}) {
				if err != nil {
					return err
				}
				s.History = append(s.History, e)
			}
			if len(s.History) == 0 && s.Ledger == nil {
				return effectUnknown(a[0], asked)
			}
			return inv.print(s, func() error { return inv.tellEffect(ctx, client, s, asked) })
		},
	}
	dbFlag(c, &db)
	return c
}

func effectUnknown(key string, asked bool) error {
	if asked {
		return withHint(duly.Errorf(duly.CodeNotFound, "neither Duly's history nor the ledger knows the effect %s", shownKey(key)),
			"see what there is: duly effects ls --prefix …")
	}
	return withHint(duly.Errorf(duly.CodeNotFound, "no attempt has told of the effect %s", shownKey(key)),
		"the ledger may know more: add --db\nsee what there is: duly effects ls --prefix …")
}
