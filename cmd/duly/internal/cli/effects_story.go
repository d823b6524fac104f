package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/api"
	"github.com/duly-dev/duly/effect"
	"github.com/duly-dev/duly/store"
)

// tellEffect tells who made an effect: what attempts told of it, then what the
// ledger holds.
func (inv *invocation) tellEffect(ctx context.Context, client *api.Client, s effectStory, asked bool) error {
	t := effectTeller{sheet: newSheet(inv.paper()), ctx: ctx, client: client, zones: newZones(client), now: inv.now()}
	t.title(shownKey(s.Key))
	t.history(s.History)
	if asked {
		t.ledger(s.Ledger)
	}
	return t.err
}

type effectTeller struct {
	*sheet
	ctx    context.Context
	client *api.Client
	zones  *zones
	now    time.Time
}

func (t effectTeller) history(told []store.EffectStatus) {
	if len(told) == 0 {
		t.text("No attempt has told of it.")
	}
	made := len(slices.DeleteFunc(slices.Clone(told), func(e store.EffectStatus) bool { return e.Open }))
	if made > 1 {
		t.text(fmt.Sprintf("Made %d times: %d attempts say that they made it.", made, made))
	}
	for i, e := range told {
		if i > 0 || len(told) > 1 {
			t.printf("\n")
		}
		label := "Made by"
		if e.Open {
			label = "Unknown to"
		}
		t.line(label, t.maker(e.Occurrence, e.Attempt, e.Token))
		t.line("Recorded", t.instant(e.CreatedAt, e.Occurrence))
		t.line("Result", string(e.Result))
		t.line("Found again", times(e.Reused))
	}
}

func (t effectTeller) ledger(e *effect.Entry) {
	t.section("In the ledger")
	if e == nil {
		t.text("It is not there.")
		return
	}
	t.word("State", string(e.State))
	label := "Made by"
	if e.State != effect.Done || e.ResolvedBy != "" {
		label = "Called by"
	}
	if e.Occurrence == "" {
		t.line(label, "code that no lease owned")
	} else {
		t.line(label, t.maker(e.Occurrence, e.Attempt, e.Token))
		t.line("Fence", e.Resource)
	}
	if e.IdempotencyKey == "" {
		t.line("At", t.instant(e.CreatedAt, e.Occurrence))
	} else {
		t.line("Intended", t.instant(e.CreatedAt, e.Occurrence))
		t.line("Calls", t.calls(e))
		t.line("Provider key", e.IdempotencyKey)
		if e.ClaimUntil.After(t.now) {
			t.line("Under way", "a call, until "+t.instant(e.ClaimUntil, e.Occurrence)+" at most")
		}
		if !e.FinishedAt.IsZero() {
			t.line("Finished", t.instant(e.FinishedAt, e.Occurrence))
		}
	}
	if e.ResolvedBy != "" {
		t.line("Resolved", "by "+e.ResolvedBy+", "+t.instant(e.ResolvedAt, e.Occurrence))
	}
	t.line("Result", string(e.Result))
	if e.State == effect.Uncertain {
		t.printf("\n")
		t.text("Find out from the provider, then: duly effects resolve")
	}
}

func (t effectTeller) calls(e *effect.Entry) string {
	if e.State == effect.Done {
		return strconv.Itoa(e.Calls)
	}
	return fmt.Sprintf("%d that may have had it", e.Calls)
}

// maker names an attempt, and its node and outcome where history has them.
func (t effectTeller) maker(occurrence string, attempt int, token int64) string {
	if attempt == 0 {
		return "whom " + occurrence + " could not tell, when it found it done"
	}
	text := fmt.Sprintf("attempt %d of %s with token %d", attempt, occurrence, token)
	o, err := t.client.Occurrence(t.ctx, occurrence)
	if err != nil {
		if duly.CodeOf(err) == duly.CodeNotFound {
			return text + ", of which history has nothing (any more)"
		}
		return text
	}
	for _, a := range o.Attempts {
		if a.Number == attempt && a.Token == token {
			return fmt.Sprintf("%s: %s on %s", text, a.Outcome, a.Node)
		}
	}
	return text + ", which history does not have"
}

func (t effectTeller) instant(at time.Time, occurrence string) string {
	zone := time.UTC
	if schedule, _, ok := duly.SplitOccurrenceID(occurrence); ok {
		if known, err := t.zones.of(t.ctx, schedule); err == nil {
			zone = known
		}
	}
	return dueIn(at, zone, t.now)
}

func times(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
