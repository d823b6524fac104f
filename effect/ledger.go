package effect

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/internal/sqldb"
)

// State is what the ledger knows of an effect.
type State string

// The states. Inside a transaction every effect begins as started; others only
// ever see that of external ones.
const (
	Started   State = "started"   // intended, and perhaps done
	Done      State = "done"      // happened once, with its result stored
	Uncertain State = "uncertain" // nobody can tell but a person: see Resolve
)

// row is what a decision about a key that exists rests on.
type row struct {
	state      State
	result     json.RawMessage
	claim      []byte
	claimUntil int64
	calls      int
	createdAt  int64
	now        int64
	occurrence string
	attempt    int
}

// intent is what a new row says besides its key and its maker.
type intent struct {
	claimFor       int64 // microseconds
	calls          int
	idempotencyKey any // nil or a string
}

// insert makes a row in state started, or answers the one that exists. It waits
// for a transaction that has inserted the same key and not yet ended.
func insert(ctx context.Context, tx Tx, w *work, e effect, in intent) (mine bool, existing row, err error) {
	now := tx.Dialect().Now()
	query := `INSERT INTO duly_effects (id, business_key, state, occurrence, attempt, token, resource, claim, claim_until, calls, idempotency_key, created_at)
		VALUES (?, ?, 'started', ?, ?, ?, ?, ?, ` + now + ` + ?, ?, ?, ` + now + `)`
	if tx.Dialect() == sqldb.MySQL {
		query += ` ON DUPLICATE KEY UPDATE id = VALUES(id)`
	} else {
		query += ` ON CONFLICT (id) DO NOTHING`
	}
	// The row that was in the way can be gone when we come to read it.
	for range 3 {
		n, err := tx.Exec(ctx, query, e.id, sqldb.Printable(e.key), sqldb.Printable(w.grant.Occurrence), w.grant.Attempt, w.grant.Token,
			sqldb.Printable(w.grant.Resource), w.claim, in.claimFor, in.calls, in.idempotencyKey)
		if err != nil {
			return false, row{}, sqldb.Explain(ctx, tx, e.name(), err)
		}
		// How many rows MySQL says it changed depends on the connection's flags.
		if n == 1 && tx.Dialect() != sqldb.MySQL {
			return true, row{}, nil
		}
		r, ok, err := read(ctx, tx, e, tx.Dialect().Latest())
		if err != nil {
			return false, row{}, err
		}
		if ok && bytes.Equal(r.claim, w.claim) {
			return true, row{}, nil
		}
		if ok {
			return false, r, nil
		}
	}
	return false, row{}, duly.Errorf(duly.CodeUnavailable, "%s comes and goes; try again", e.name())
}

// read finds a key's row. hold is Latest or ForUpdate.
func read(ctx context.Context, tx Tx, e effect, hold string) (r row, ok bool, err error) {
	err = tx.Query(ctx, `SELECT state, result, claim, claim_until, calls, created_at, `+tx.Dialect().Now()+`, occurrence, attempt
		FROM duly_effects WHERE id = ?`+hold, []any{e.id}, func(rows sqldb.Row) error {
		var state string
		var result sql.NullString
		ok = true
		if err := rows.Scan(&state, &result, &r.claim, &r.claimUntil, &r.calls, &r.createdAt, &r.now, &r.occurrence, &r.attempt); err != nil {
			return err
		}
		r.state = State(state)
		if result.Valid {
			r.result = json.RawMessage(result.String)
		}
		return nil
	})
	if err != nil {
		return row{}, false, sqldb.Explain(ctx, tx, e.name(), err)
	}
	return r, ok, nil
}

// complete stores the result of a row that this call has claimed, and answers
// false where it no longer has.
func complete(ctx context.Context, tx Tx, w *work, e effect, result json.RawMessage) (bool, error) {
	n, err := tx.Exec(ctx, `UPDATE duly_effects SET state = 'done', result = ?, finished_at = `+tx.Dialect().Now()+`
		WHERE id = ? AND claim = ? AND state <> 'done'`, nullable(result), e.id, w.claim)
	if err != nil {
		return false, sqldb.Explain(ctx, tx, e.name(), err)
	}
	return n == 1, nil
}

func nullable(result json.RawMessage) any {
	if result == nil {
		return nil
	}
	return string(result)
}
