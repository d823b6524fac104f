package effect

import (
	"context"
	"encoding/json"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/internal/sqldb"
)

// Resolution is what a person found out about an effect whose outcome was
// unknown.
type Resolution struct {
	// Redo says that it has not happened: the next attempt calls again, with
	// the same idempotency key. Otherwise it has happened, with Result.
	Redo bool
	// Result is what later attempts find as the effect's result, in JSON. Nil
	// where there is nothing to tell; a zero result is found then.
	Result json.RawMessage
	// By names the person, at most 100 bytes. It stays in the ledger.
	By string
}

// Resolve decides an external effect whose outcome is unknown: uncertain, or
// started and left by its call. Errors: not_found; conflict (it has happened, or
// a call is under way); invalid.
func Resolve[X any](ctx context.Context, db DB[X], key string, r Resolution) error {
	e, err := fromHistory(key)
	if err != nil {
		return err
	}
	switch {
	case r.By == "":
		return duly.Invalid("by", "is missing: who found out?")
	case len(r.By) > 100:
		return duly.Invalid("by", "is %d bytes long; at most 100 are allowed", len(r.By))
	case r.Redo && r.Result != nil:
		return duly.Invalid("result", "is given, but an effect that is to be redone has none")
	case r.Result != nil && !json.Valid(r.Result):
		return duly.Invalid("result", "is not JSON")
	}
	if r.Result != nil {
		r.Result = ascii(r.Result)
	}
	return sqldb.InTx(ctx, db, func(tx sqldb.Session[X]) error {
		found, ok, err := read(ctx, tx, e, tx.Dialect().ForUpdate())
		switch {
		case err != nil:
			return err
		case !ok:
			return duly.Errorf(duly.CodeNotFound, "%s is not in the ledger", e.name())
		case found.state == Done:
			return duly.Errorf(duly.CodeConflict, "%s has happened; there is nothing to resolve", e.name())
		case found.claimUntil > found.now:
			return duly.Errorf(duly.CodeConflict, "%s: a call of attempt %d of %q is under way for another %v at most", e.name(), found.attempt, found.occurrence, micros(found.claimUntil).Sub(micros(found.now)))
		}
		now := tx.Dialect().Now()
		if r.Redo {
			// What the provider may remember of earlier calls counts no more.
			_, err = tx.Exec(ctx, `UPDATE duly_effects SET state = 'started', calls = 0, created_at = `+now+`, resolved_by = ?, resolved_at = `+now+` WHERE business_key = ?`,
				sqldb.Printable(r.By), e.column)
		} else {
			_, err = tx.Exec(ctx, `UPDATE duly_effects SET state = 'done', result = ?, finished_at = `+now+`, resolved_by = ?, resolved_at = `+now+` WHERE business_key = ?`,
				nullable(r.Result), sqldb.Printable(r.By), e.column)
		}
		if err != nil {
			return sqldb.Explain(ctx, tx, e.name(), err)
		}
		return nil
	})
}
