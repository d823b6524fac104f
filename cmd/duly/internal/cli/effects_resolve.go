package cli

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/api"
	"github.com/duly-dev/duly/effect"
)

const resolveLong = `Decides an external effect whose outcome is unknown: nobody but a person, who
asks the provider, can tell whether it has happened.

  --done RESULT   it has happened: RESULT, in JSON, is what later attempts find
                  as its result (--done '' where there is none)
  --redo          it has not happened: the next attempt calls again

The decision is written into the effect ledger. Then the occurrence that waits
as uncertain goes back to pending, so that its next attempt finds the result, or
calls. Given twice, the command changes nothing the second time.`

type resolution struct {
	db, done, why string
	redo, isDone  bool
}

// resolved is the answer of the command.
type resolved struct {
	Effect effect.Entry `json:"effect"`
	// Occurrence is where the occurrence that called last stands now; nothing
	// where no occurrence did, or history does not have it any more.
	Occurrence *duly.Occurrence `json:"occurrence,omitempty"`
	// Sent says that it went back to pending just now.
	Sent bool `json:"sent"`
}

func (inv *invocation) effectsResolve() *cobra.Command {
	var r resolution
	c := &cobra.Command{
		Use:   "resolve KEY --db URL {--done RESULT | --redo}",
		Short: "Decide an external effect whose outcome is unknown",
		Long:  resolveLong,
		Example: "  duly effects ls --db sqlite:shop.db --state uncertain\n" +
			"  duly effects resolve charge/42/2026-11 --db sqlite:shop.db --done '{\"id\":\"ch_7\"}' --why 'the bank shows it'",
		Args: args(1, 1),
		RunE: func(c *cobra.Command, a []string) error {
			r.isDone = c.Flags().Changed("done")
			if r.isDone == r.redo {
				return withHint(usagef("has it happened (--done RESULT) or not (--redo)? one of them is needed"), "ask the provider first")
			}
			if r.done != "" && !json.Valid([]byte(r.done)) {
				return withHint(usagef("--done is not JSON: %s", clean(r.done)), "a text is written with quotes: --done '\"ch_7\"'; nothing at all: --done ''")
			}
			return inv.resolve(c.Context(), a[0], r)
		},
	}
	f := c.Flags()
	f.StringVar(&r.done, "done", "", "it has happened, with this `result` in JSON")
	f.BoolVar(&r.redo, "redo", false, "it has not happened; call again")
	f.StringVar(&r.why, "why", "", "how you know, for the `audit`")
	dbFlag(c, &r.db)
	return c
}

func (inv *invocation) resolve(ctx context.Context, key string, r resolution) error {
	// Both sides are reached before either is changed.
	client, err := inv.act(ctx)
	if err != nil {
		return err
	}
	db, err := inv.ledger(ctx, r.db, toChange)
	if err != nil {
		return err
	}
	entry, err := effect.Get(ctx, db, key)
	if err != nil {
		return keyHint(err)
	}
	if _, err := inv.waits(ctx, client, entry.Occurrence); err != nil {
		return err
	}
	if !r.decided(entry) {
		if entry, err = inv.decide(ctx, db, key, r); err != nil {
			return err
		}
	}
	out := resolved{Effect: entry}
	if out.Occurrence, out.Sent, err = inv.sendBack(ctx, client, entry.Occurrence, r.auditText(key)); err != nil {
		return withHint(err, "the ledger has it now, but %s still waits; give the same command again", entry.Occurrence)
	}
	return inv.print(out, func() error { inv.sayResolved(out); return nil })
}

// decided reports whether the same was decided before.
func (r resolution) decided(e effect.Entry) bool {
	return r.isDone && e.State == effect.Done && e.ResolvedBy != "" && sameJSON(e.Result, json.RawMessage(r.done))
}

func sameJSON(a, b json.RawMessage) bool {
	var x, y bytes.Buffer
	if json.Compact(&x, a) != nil || json.Compact(&y, b) != nil {
		return len(a) == 0 && len(b) == 0
	}
	return bytes.Equal(x.Bytes(), y.Bytes())
}

func (inv *invocation) decide(ctx context.Context, db effect.DB[*sql.Tx], key string, r resolution) (effect.Entry, error) {
	verdict := effect.Resolution{Redo: r.redo, By: short(inv.actor(), 100)}
	if r.done != "" {
		verdict.Result = json.RawMessage(r.done)
	}
	if err := effect.Resolve(ctx, db, key, verdict); err != nil {
		return effect.Entry{}, withHint(err, "see what the ledger holds: duly effects show %s --db …", key)
	}
	return effect.Get(ctx, db, key)
}

// waits reports whether an occurrence waits as uncertain. One that history does
// not have does not.
func (inv *invocation) waits(ctx context.Context, client *api.Client, id string) (*duly.Occurrence, error) {
	if id == "" {
		return nil, nil
	}
	o, err := client.Occurrence(ctx, id)
	if duly.CodeOf(err) == duly.CodeNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &o, nil
}

// sendBack lets an occurrence that waits for the decision be tried again.
func (inv *invocation) sendBack(ctx context.Context, client *api.Client, id, why string) (o *duly.Occurrence, sent bool, err error) {
	o, err = inv.waits(ctx, client, id)
	if err != nil || o == nil || o.State != duly.Uncertain {
		return o, false, err
	}
	back, err := client.Resolve(ctx, id, api.ResolveRequest{To: duly.Pending, Why: why})
	if duly.CodeOf(err) == duly.CodeConflict { // somebody else was quicker
		o, err = inv.waits(ctx, client, id)
		return o, false, err
	}
	return &back, err == nil, err
}

// auditText says in the audit what was decided.
func (r resolution) auditText(key string) string {
	text := "effect " + shownKey(key) + " has not happened: to be called again"
	if r.isDone {
		text = "effect " + shownKey(key) + " has happened"
		if r.done != "" {
			text += ": " + short(r.done, 200)
		}
	}
	if r.why != "" {
		text += "; " + r.why
	}
	return text
}

func (inv *invocation) sayResolved(out resolved) {
	key := shownKey(out.Effect.Key)
	if out.Effect.State == effect.Done {
		inv.say("%s has happened; later attempts find its result", key)
	} else {
		inv.say("%s has not happened; the next attempt calls again", key)
	}
	switch o := out.Occurrence; {
	case out.Sent:
		inv.say("%s is %s again", o.ID, o.State)
	case o != nil:
		inv.say("%s is %s: nothing waited there", o.ID, o.State)
	case out.Effect.Occurrence != "":
		inv.say("history has no %s (any more): nothing waits there", out.Effect.Occurrence)
	}
}

// short keeps a text within a number of bytes, without cutting a letter.
func short(text string, most int) string {
	if len(text) <= most {
		return text
	}
	const mark = "…"
	cut := most - len(mark)
	for cut > 0 && text[cut]&0xC0 == 0x80 {
		cut--
	}
	return text[:cut] + mark
}

// keyHint says how to find a key that the ledger does not have.
func keyHint(err error) error {
	if duly.CodeOf(err) != duly.CodeNotFound {
		return err
	}
	return withHint(err, "see which ones wait: duly effects ls --db … --state uncertain")
}
