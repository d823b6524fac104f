package effect

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/fence"
	"github.com/duly-dev/duly/internal/sqldb"
)

// ErrStale is fence.ErrStale: this attempt has lost its ownership.
var ErrStale = fence.ErrStale

const (
	// maxKey is how long a business key may be, in bytes.
	maxKey = 4096
	// maxTold is how long a key may be for history to have the whole of it.
	maxTold = 1000
)

type unownedKey struct{}

// Unowned says that code without a grant may cause effects under the returned
// context: a request handler, a script, a test. Their business keys count all
// the same, but no fence guards them. A grant that the context carries stays in
// force.
func Unowned(ctx context.Context) context.Context {
	return context.WithValue(ctx, unownedKey{}, true)
}

// work is who works, in one call of this package.
type work struct {
	grant                duly.Grant
	owned                bool
	completing           bool   // the attempt, with this effect
	occurrence, resource string // the grant's, as the ledger writes them
	// claim names this try in the rows that it makes, and earlier the tries
	// before it: where the answer to a commit was lost, one of those has made
	// what this one finds.
	claim   int64
	earlier []int64
}

// again begins another try.
func (w *work) again() {
	if w.claim != 0 {
		w.earlier = append(w.earlier, w.claim)
	}
	w.claim = 1 + rand.Int64N(math.MaxInt64)
}

// made reports whether this call has made a row, in whichever try.
func (w *work) made(claim int64) bool {
	return claim == w.claim || slices.Contains(w.earlier, claim)
}

// begin finds out who works. Whoever has neither a grant nor said that it needs
// none has probably passed the wrong context.
func begin(ctx context.Context) (*work, error) {
	grant, ok := duly.GrantFrom(ctx)
	w := &work{grant: grant, owned: ok && grant.Resource != "", completing: isCompleting(ctx)}
	w.again()
	if unowned, _ := ctx.Value(unownedKey{}).(bool); !w.owned && !unowned {
		return nil, duly.Invalid("ctx", "carries no grant, so nothing fences this effect: pass the handler's context on, or effect.Unowned(ctx) where no lease owns this code")
	}
	w.occurrence, w.resource = sqldb.Printable(grant.Occurrence), sqldb.Printable(grant.Resource)
	if n := len(w.occurrence); n > maxColumn {
		return nil, duly.Invalid("grant.occurrence", "is %d bytes long; at most %d are allowed", n, maxColumn)
	}
	if n := len(w.resource); n > maxColumn {
		return nil, duly.Invalid("grant.resource", "is %d bytes long; at most %d are allowed", n, maxColumn)
	}
	return w, nil
}

// maxColumn is what the narrow columns of the ledger hold.
const maxColumn = 700

// fence raises the resource's token, and holds it until the transaction ends.
func (w *work) fence(ctx context.Context, tx Tx) error {
	if !w.owned {
		return nil
	}
	return fence.Check(ctx, tx, w.grant.Resource, w.grant.Token)
}

// fenceAnd is fence and what follows it, in one round trip where the driver can.
func (w *work) fenceAnd(ctx context.Context, tx Tx, then sqldb.Statement) error {
	if !w.owned {
		return tx.Send(ctx, then)
	}
	return fence.CheckAnd(ctx, tx, w.grant.Resource, w.grant.Token, then)
}

// record tells history.
func (w *work) record(told duly.EffectReport) {
	if w.grant.Record != nil {
		told.Key = HistoryKey(told.Key)
		w.grant.Record(told)
	}
}

// caused is what there is to tell of an effect that this call has made.
func caused(e effect, result json.RawMessage) duly.EffectReport {
	return duly.EffectReport{Key: e.key, Result: result}
}

// found is what there is to tell of one that was there already.
func (w *work) found(e effect, r row) duly.EffectReport {
	told := caused(e, r.result)
	if w.made(r.claim) {
		return told
	}
	told.Reused = true
	if occurrence, err := sqldb.ParsePrintable(r.occurrence); err == nil && occurrence != "" {
		told.Maker = &duly.EffectMaker{Occurrence: occurrence, Attempt: r.attempt, Token: r.token, CreatedAt: micros(r.createdAt)}
	}
	return told
}

// effect is one business key.
type effect struct {
	key    string
	column string // what it is found by in the ledger
	whole  any    // the whole of it where column is not; nil otherwise
}

func newEffect(key string) (effect, error) {
	switch {
	case key == "":
		return effect{}, duly.Invalid("key", "is missing: a business key names the effect, such as \"invoice/42/2026-11\"")
	case len(key) > maxKey:
		return effect{}, duly.Invalid("key", "is %d bytes long; at most %d are allowed", len(key), maxKey)
	case sqldb.IsDigested(key): // or deciding about one of the two would decide about the other
		return effect{}, duly.Invalid("key", "has the form in which history names a longer key; give the whole of that, or another one")
	}
	e := effect{key: key}
	e.column, e.whole = sqldb.KeyColumns(key)
	return e, nil
}

// HistoryKey is what history calls the effect of a business key: the key itself
// up to 1000 bytes, and what the ledger finds it by where it is longer: its
// beginning and a digest. Get, Find and Resolve understand both.
func HistoryKey(key string) string {
	if len(key) <= maxTold {
		return key
	}
	column, _ := sqldb.KeyColumns(key)
	return column
}

// fromHistory is the effect that history calls name.
func fromHistory(name string) (effect, error) {
	if sqldb.IsDigested(name) {
		return effect{key: name, column: name}, nil
	}
	return newEffect(name)
}

// name is the key in messages: readable and short.
func (e effect) name() string {
	name := sqldb.Printable(e.key)
	if len(name) > 100 {
		name = name[:100] + "…"
	}
	return "effect " + name
}

type scopeKey struct{}

// scope is the keys whose functions are being called, innermost first.
type scope struct {
	keys  map[string]bool
	db    any
	outer *scope
}

// enter makes the context of the function for some keys. In it, the same effect
// again can only be a mistake, and would wait for itself. db is what begins the
// transaction that the function works in, nil where that is the application's.
func enter(ctx context.Context, keys map[string]bool, db any) (context.Context, error) {
	outer, _ := ctx.Value(scopeKey{}).(*scope)
	for s := outer; s != nil; s = s.outer {
		for key := range keys {
			if s.keys[key] {
				return nil, duly.Errorf(duly.CodeConflict, "%s is asked for inside its own function", effect{key: key}.name())
			}
		}
	}
	return context.WithValue(notCompleting(ctx), scopeKey{}, &scope{keys, db, outer}), nil
}

// apart refuses a transaction of our own inside of the function of an effect
// that has one in the same database, where the inner one would wait for the
// outer one's fence, or for the only writer that the database takes.
func apart[X any](ctx context.Context, w *work, db DB[X], name string) error {
	if db == nil || !w.owned && db.Dialect() != sqldb.SQLite || !reflect.ValueOf(db).Comparable() {
		return nil
	}
	outer, _ := ctx.Value(scopeKey{}).(*scope)
	for s := outer; s != nil; s = s.outer {
		if s.db == any(db) {
			return duly.Errorf(duly.CodeInvalid, "%s is asked for inside the function of another effect, whose transaction it would wait for: use Once or Batch with that transaction, or have it before or after", name)
		}
	}
	return nil
}
