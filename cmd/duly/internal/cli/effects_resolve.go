package cli

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"slices"

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

The decision is written into the effect ledger. Then it is put into the audit of
effect/KEY, and every occurrence that waits for the effect as uncertain goes back
to pending, so that its next attempt finds the result, or calls. Given twice, the
command changes nothing the second time.`

type resolution struct {
	db, done, why string
	redo, isDone  bool
}

// resolved is the answer of the command.
type resolved struct {
	Effect effect.Entry `json:"effect"`
	// Occurrences went back to pending just now.
	Occurrences []string `json:"occurrences"`
	// Occurrence is where the one stands that called last, as the ledger knows;
	// nothing where none did, or history does not have it any more.
	Occurrence *duly.Occurrence `json:"occurrence,omitempty"`
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
	client, err := inv.change(ctx)
	if err != nil {
		return err
	}
	db, err := inv.ledger(ctx, r.db, toChange)
	if err != nil {
		return err
	}
	before, err := effect.Get(ctx, db, key)
	if err != nil {
		return keyHint(err)
	}
	if _, err := inv.caller(ctx, client, before.Occurrence); err != nil {
		return err
	}
	out := resolved{Effect: before}
	if r.decided(before) {
		err = inv.sendBack(ctx, client, nil, &out, r.why)
	} else {
		if out.Effect, err = inv.decide(ctx, db, key, r); err != nil {
			return err
		}
		err = inv.sendBack(ctx, client, &before, &out, r.why)
	}
	if err != nil {
		return withHint(err, "the ledger has it now, but what waits for it does not know; give the same command again")
	}
	return inv.print(out, func() error { inv.sayResolved(out); return nil })
}

// decided reports whether the same was decided before.
func (r resolution) decided(e effect.Entry) bool {
	if r.redo {
		return e.State == effect.Started && e.Calls == 0 && e.ResolvedBy != ""
	}
	return e.State == effect.Done && e.ResolvedBy != "" && sameJSON(e.Result, json.RawMessage(r.done))
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
	err := effect.Resolve(ctx, db, key, verdict)
	if err != nil && duly.CodeOf(err) != duly.CodeConflict {
		return effect.Entry{}, err
	}
	now, readErr := effect.Get(ctx, db, key)
	if err != nil && (readErr != nil || !r.decided(now)) { // nor has another just decided the same
		return effect.Entry{}, withHint(err, "see what the ledger holds: duly effects show %s --db …", shownKey(key))
	}
	return now, readErr
}

// caller is the occurrence that called last; nil where none did, or history does
// not have it.
func (inv *invocation) caller(ctx context.Context, client *api.Client, id string) (*duly.Occurrence, error) {
	if id == "" {
		return nil, nil
	}
	o, err := client.Occurrence(ctx, id)
	switch duly.CodeOf(err) {
	case "":
		return &o, nil
	case duly.CodeNotFound, duly.CodeInvalid: // the latter: no name that Duly would give
		return nil, nil
	}
	return nil, err
}

// sendBack puts the decision into the audit, and lets what waits for it be tried
// again. before is the effect as it was; nil where it had been decided before.
func (inv *invocation) sendBack(ctx context.Context, client *api.Client, before *effect.Entry, out *resolved, why string) error {
	req := api.ResolveEffectRequest{Key: effect.HistoryKey(out.Effect.Key), Why: why}
	if out.Effect.Occurrence != "" {
		req.Occurrences = []string{out.Effect.Occurrence}
	}
	var err error
	if before != nil {
		if req.Before, err = json.Marshal(before); err != nil {
			return err
		}
	}
	if req.After, err = json.Marshal(out.Effect); err != nil {
		return err
	}
	sent, err := client.ResolveEffect(ctx, req)
	if err != nil {
		return err
	}
	out.Occurrences = sent.Occurrences
	out.Occurrence, err = inv.caller(ctx, client, out.Effect.Occurrence)
	return err
}

func (inv *invocation) sayResolved(out resolved) {
	key := shownKey(out.Effect.Key)
	if out.Effect.State == effect.Done {
		inv.say("%s has happened; later attempts find its result", key)
	} else {
		inv.say("%s has not happened; the next attempt calls again", key)
	}
	for _, id := range out.Occurrences {
		inv.say("%s is pending again", id)
	}
	switch o := out.Occurrence; {
	case o != nil && slices.Contains(out.Occurrences, o.ID):
	case o != nil && o.State == duly.Failed:
		inv.say("%s is failed, and is tried again only if you say so: duly occurrences retry %s", o.ID, o.ID)
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
