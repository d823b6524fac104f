package cli

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/duly-dev/duly/api"
	"github.com/duly-dev/duly/effect"
	"github.com/duly-dev/duly/store"
)

const auditEffectsLong = `Joins the effect ledger, in the application's database, with Duly's history, and
lists what does not agree:

  no_attempt     the ledger holds an effect of which history has no attempt
  not_in_ledger  an attempt says that it made or found an effect that is not there
  other_maker    an attempt says that it made an effect that another one made
  left_open      an external effect may or may not have happened, and nothing
                 waits for it: its occurrence has ended, for example as failed
                 when its attempts were lost one after the other

Effects of several databases in one history are told apart by --prefix or
--schedule. It reads page by page and keeps no more than --limit findings; the
rest is counted. Exit 1 when anything does not agree.`

// The kinds of findings.
const (
	findNoAttempt   = "no_attempt"
	findNotInLedger = "not_in_ledger"
	findOtherMaker  = "other_maker"
	findLeftOpen    = "left_open"
)

// finding is an effect on which ledger and history do not agree, and the
// attempt that one of them names.
type finding struct {
	Key        string    `json:"key"`
	Problem    string    `json:"problem"`
	Occurrence string    `json:"occurrence"`
	Attempt    int       `json:"attempt"`
	Token      int64     `json:"token"`
	At         time.Time `json:"at"`
	Why        string    `json:"why"`
}

// effectsReport is what an audit found.
type effectsReport struct {
	Items []finding `json:"items"`
	// Found counts all findings, those too that Items has no room for.
	Found   int `json:"found"`
	Ledger  int `json:"ledger"`  // effects of the ledger that were looked at
	History int `json:"history"` // effects of history that were looked at
	Unowned int `json:"unowned"` // in the ledger, made by code that no lease owned
	Open    int `json:"open"`    // in the ledger, external and without a result yet
}

func (inv *invocation) auditEffects() *cobra.Command {
	var db string
	a := effectsAudit{}
	c := &cobra.Command{
		Use:     "effects --db URL",
		Short:   "Join the effect ledger with history and list what does not agree",
		Long:    auditEffectsLong,
		Example: "  duly audit effects --db postgres://app@db/billing --prefix invoice/",
		Args:    args(0, 0),
		RunE: func(c *cobra.Command, _ []string) (err error) {
			if a.limit < 1 {
				return usagef("--limit is %d; it must be 1 or more", a.limit)
			}
			if a.client, err = inv.look(c.Context()); err != nil {
				return err
			}
			if a.ledger, err = inv.ledger(c.Context(), db, toRead); err != nil {
				return err
			}
			if err := a.run(c.Context()); err != nil {
				return err
			}
			if err := inv.print(a.report, func() error { return inv.showAuditedEffects(a.report) }); err != nil {
				return err
			}
			if n := a.report.Found; n > 0 {
				return statusError{exitFailure, "ledger and history differ about " + counted(n, "effect", "effects")}
			}
			return nil
		},
	}
	f := c.Flags()
	f.StringVar(&a.prefix, "prefix", "", "only keys that begin with this `text`")
	f.StringVar(&a.schedule, "schedule", "", "only effects of occurrences of this `schedule`")
	f.IntVar(&a.limit, "limit", 1000, "how `many` findings to list")
	dbFlag(c, &db)
	c.ValidArgsFunction = cobra.NoFileCompletions
	return c
}

// auditPage is how many effects are held at a time.
const auditPage = 1000

type effectsAudit struct {
	client *api.Client
	ledger effect.DB[*sql.Tx]

	prefix, schedule string
	limit            int

	report effectsReport
	makers attemptFinder
}

func (a *effectsAudit) run(ctx context.Context) error {
	a.report = effectsReport{Items: []finding{}}
	a.makers = attemptFinder{client: a.client}
	if _, _, err := effect.List(ctx, a.ledger, effect.Filter{Limit: 1}); err != nil {
		return err // missing tables are no finding
	}
	// History first: what happens meanwhile is told to history after the ledger
	// has it, and its attempt is known before.
	if err := a.claims(ctx); err != nil {
		return err
	}
	return a.entries(ctx)
}

func (a *effectsAudit) found(f finding) {
	if a.report.Found++; len(a.report.Items) < a.limit {
		a.report.Items = append(a.report.Items, f)
	}
}

// wanted reports whether an occurrence is of the schedule that was asked for.
func (a *effectsAudit) wanted(occurrence string) bool {
	return a.schedule == "" || strings.HasPrefix(occurrence, a.schedule+"@")
}

// claims looks for what attempts told in the ledger.
func (a *effectsAudit) claims(ctx context.Context) error {
	q := api.EffectQuery{Prefix: a.prefix, Page: api.Page{Limit: auditPage}}
	for {
		page, err := a.client.Effects(ctx, q)
		if err != nil {
			return err
		}
		wanted := slices.DeleteFunc(page.Items, func(c store.EffectStatus) bool { return !a.wanted(c.Occurrence) })
		keys := make([]string, len(wanted))
		for i, c := range wanted {
			keys[i] = c.Key
		}
		entries, err := effect.Find(ctx, a.ledger, keys)
		if err != nil {
			return err
		}
		a.report.History += len(wanted)
		for _, c := range wanted {
			e, ok := entries[c.Key]
			a.claim(c, e, ok)
		}
		if q.Cursor = page.NextCursor; q.Cursor == "" {
			return nil
		}
	}
}

func (a *effectsAudit) claim(c store.EffectStatus, e effect.Entry, ok bool) {
	f := finding{Key: c.Key, Problem: findNotInLedger, Occurrence: c.Occurrence, Attempt: c.Attempt, Token: c.Token, At: c.CreatedAt}
	switch {
	case c.Open: // which says nothing about what came of it
		return
	case !ok:
		f.Why = "the ledger does not have it"
	case e.State != effect.Done:
		f.Why = fmt.Sprintf("in the ledger it is %s", e.State)
	case c.Attempt != 0 && (e.Occurrence != c.Occurrence || e.Attempt != c.Attempt || e.Token != c.Token):
		f.Problem = findOtherMaker
		f.Why = "the ledger says: made by code that no lease owned"
		if e.Occurrence != "" {
			f.Why = fmt.Sprintf("the ledger says: made by attempt %d of %s with token %d", e.Attempt, e.Occurrence, e.Token)
		}
	default:
		return
	}
	a.found(f)
}

// entries looks for what the ledger holds in history.
func (a *effectsAudit) entries(ctx context.Context) error {
	f := effect.Filter{Prefix: a.prefix, Limit: auditPage}
	for {
		page, next, err := effect.List(ctx, a.ledger, f)
		if err != nil {
			return err
		}
		for _, e := range page {
			if e.Occurrence != "" && !a.wanted(e.Occurrence) || e.Occurrence == "" && a.schedule != "" {
				continue
			}
			a.report.Ledger++
			if err := a.entry(ctx, e); err != nil {
				return err
			}
		}
		if f.Cursor = next; next == "" {
			return nil
		}
	}
}

func (a *effectsAudit) entry(ctx context.Context, e effect.Entry) error {
	f := finding{Key: e.Key, Problem: findNoAttempt, Occurrence: e.Occurrence, Attempt: e.Attempt, Token: e.Token, At: e.CreatedAt}
	var err error
	switch {
	case e.State != effect.Done:
		a.report.Open++
		f.Problem = findLeftOpen
		f.Why, err = a.makers.nothingWaits(ctx, e)
	case e.Occurrence == "":
		a.report.Unowned++
	default:
		f.Why, err = a.makers.lacks(ctx, e)
	}
	if err == nil && f.Why != "" {
		a.found(f)
	}
	return err
}

func (inv *invocation) showAuditedEffects(r effectsReport) error {
	if len(r.Items) > 0 {
		t := &table{columns: []column{
			{name: "EFFECT"}, {name: "PROBLEM"}, {name: "OCCURRENCE"}, {name: "ATTEMPT"}, {name: "TOKEN", spare: 2}, {name: "AT", spare: 1}, {name: "WHY", elastic: true},
		}}
		for _, f := range r.Items {
			t.add(shownKey(f.Key), f.Problem, f.Occurrence, number(int64(f.Attempt)), number(f.Token), instantIn(f.At, time.UTC), f.Why)
		}
		if err := inv.show(t, ""); err != nil {
			return err
		}
	}
	if more := r.Found - len(r.Items); more > 0 {
		inv.say("… and %d more (--limit)", more)
	}
	verdict := "they agree"
	if r.Found > 0 {
		verdict = fmt.Sprintf("differences: %d", r.Found)
	}
	inv.say("looked at %d effects of the ledger and %d of history: %s", r.Ledger, r.History, verdict)
	if r.Unowned > 0 {
		inv.say("made by code that no lease owned, so that no attempt answers for it: %d", r.Unowned)
	}
	if r.Open > 0 {
		inv.say("external and without a result yet: %d (duly effects ls --db … --state started, or uncertain)", r.Open)
	}
	return nil
}
