package cli

import (
	"context"
	"fmt"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/api"
	"github.com/duly-dev/duly/effect"
	"github.com/duly-dev/duly/store"
)

// attemptFinder finds the attempts of the ledger's effects in history. It asks
// once for each occurrence, and by the key only where history does not have that
// any more. The last few are remembered.
type attemptFinder struct {
	client *api.Client
	known  map[string]*pastOccurrence
	order  []string // of known, the oldest first
}

const rememberedOccurrences = 1000

// pastOccurrence is what history has of one.
type pastOccurrence struct {
	gone   bool
	state  duly.State
	tokens map[int]int64 // by attempt
}

// lacks says why an effect of the ledger has no recorded attempt, and nothing
// where it has one.
func (f *attemptFinder) lacks(ctx context.Context, e effect.Entry) (string, error) {
	o, err := f.occurrence(ctx, e.Occurrence)
	if err != nil {
		return "", err
	}
	token, ok := o.tokens[e.Attempt]
	switch {
	case ok && token == e.Token:
		return "", nil
	case ok:
		return fmt.Sprintf("that attempt had token %d", token), nil
	case !o.gone:
		return "history has no such attempt of the occurrence", nil
	}
	// Effects outlive the history of the occurrence.
	for claim, err := range api.All(func(cursor string) (api.List[store.EffectStatus], error) {
		return f.client.Effects(ctx, api.EffectQuery{Key: effect.HistoryKey(e.Key), Page: api.Page{Cursor: cursor}})
	}) {
		if err != nil {
			return "", err
		}
		if claim.Occurrence == e.Occurrence && (claim.Attempt == 0 || claim.Attempt == e.Attempt && claim.Token == e.Token) {
			return "", nil
		}
	}
	return "history has neither this occurrence (any more) nor its effect", nil
}

// nothingWaits says why nothing will find out what became of an open effect, and
// nothing where an occurrence will.
func (f *attemptFinder) nothingWaits(ctx context.Context, e effect.Entry) (string, error) {
	if e.Occurrence == "" {
		return "", nil // whoever called looks after it
	}
	o, err := f.occurrence(ctx, e.Occurrence)
	switch {
	case err != nil || !o.gone && (o.state.Open() || o.state == duly.Uncertain):
		return "", err
	case o.gone:
		return fmt.Sprintf("it is %s, and history does not have its occurrence (any more)", e.State), nil
	}
	return fmt.Sprintf("it is %s, and its occurrence has ended as %s", e.State, o.state), nil
}

func (f *attemptFinder) occurrence(ctx context.Context, id string) (*pastOccurrence, error) {
	if o, ok := f.known[id]; ok {
		return o, nil
	}
	past := &pastOccurrence{}
	o, err := f.client.Occurrence(ctx, id)
	switch duly.CodeOf(err) {
	case "":
		past.state, past.tokens = o.State, make(map[int]int64, len(o.Attempts))
		for _, a := range o.Attempts {
			past.tokens[a.Number] = a.Token
		}
	case duly.CodeNotFound, duly.CodeInvalid: // the latter: no name that Duly would give
		past.gone = true
	default:
		return nil, err
	}
	if len(f.order) == rememberedOccurrences {
		delete(f.known, f.order[0])
		f.order = f.order[1:]
	}
	if f.known == nil {
		f.known = map[string]*pastOccurrence{}
	}
	f.known[id] = past
	f.order = append(f.order, id)
	return past, nil
}
