package cli

import (
	"context"
	"fmt"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/api"
	"github.com/duly-dev/duly/effect"
	"github.com/duly-dev/duly/store"
)

// attemptFinder finds the attempts of the ledger's effects in history. Most have
// told of their effect, which is looked up by its key. Only for the others, an
// attempt that died for one, are the attempts of their occurrence asked for; the
// last few are remembered.
type attemptFinder struct {
	client *api.Client
	known  map[string]map[int]int64 // occurrence, attempt: token; nil where it is not there
	order  []string                 // of known, the oldest first
}

const rememberedOccurrences = 1000

// lacks says why an effect of the ledger has no recorded attempt, and nothing
// where it has one.
func (f *attemptFinder) lacks(ctx context.Context, e effect.Entry) (string, error) {
	told := false
	for claim, err := range api.All(func(cursor string) (api.List[store.EffectStatus], error) {
		return f.client.Effects(ctx, api.EffectQuery{Key: e.Key, Page: api.Page{Cursor: cursor}})
	}) {
		switch {
		case err != nil:
			return "", err
		case claim.Occurrence != e.Occurrence:
		case claim.Attempt == e.Attempt && claim.Token == e.Token:
			return "", nil
		case claim.Attempt == 0: // told by the one that found it
			told = true
		}
	}
	attempts, err := f.attempts(ctx, e.Occurrence)
	if err != nil {
		return "", err
	}
	token, ok := attempts[e.Attempt]
	switch {
	case ok && token == e.Token:
		return "", nil
	case ok:
		return fmt.Sprintf("that attempt had token %d", token), nil
	case attempts != nil:
		return "history has no such attempt of the occurrence", nil
	case told: // effects outlive the history of the occurrence
		return "", nil
	}
	return "history has neither this occurrence (any more) nor its effect", nil
}

func (f *attemptFinder) attempts(ctx context.Context, occurrence string) (map[int]int64, error) {
	if tokens, ok := f.known[occurrence]; ok {
		return tokens, nil
	}
	var tokens map[int]int64
	o, err := f.client.Occurrence(ctx, occurrence)
	switch duly.CodeOf(err) {
	case "":
		tokens = map[int]int64{}
		for _, a := range o.Attempts {
			tokens[a.Number] = a.Token
		}
	case duly.CodeNotFound, duly.CodeInvalid: // the latter: no name that Duly would give
	default:
		return nil, err
	}
	if len(f.order) == rememberedOccurrences {
		delete(f.known, f.order[0])
		f.order = f.order[1:]
	}
	if f.known == nil {
		f.known = map[string]map[int]int64{}
	}
	f.known[occurrence] = tokens
	f.order = append(f.order, occurrence)
	return tokens, nil
}
