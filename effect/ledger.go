package effect

import (
	"context"
	"encoding/json"
	"time"

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

// intent is what the row of an external effect says besides. A nil one is of an
// effect that is part of the transaction.
type intent struct {
	claimFor       time.Duration
	idempotencyKey string
}

// insert makes a row in state started, or answers the one that exists. It waits
// for a transaction that has inserted the same key and not yet ended.
func insert(ctx context.Context, tx Tx, w *work, e effect, in *intent) (mine bool, existing row, err error) {
	d := tx.Dialect()
	columns, values := `business_key, whole_key, state, occurrence, attempt, token, resource, claim, created_at`, `?, ?, 'started', ?, ?, ?, ?, ?, `+d.Now()
	args := []any{e.column, e.whole, w.occurrence, w.grant.Attempt, w.grant.Token, w.resource, w.claim}
	if in != nil {
		columns, values = columns+`, claim_until, calls, idempotency_key`, values+`, `+d.Now()+` + ?, 1, ?`
		args = append(args, in.claimFor.Microseconds(), in.idempotencyKey)
	}
	query := `INSERT INTO duly_effects (` + columns + `) VALUES (` + values + `)`
	if d != sqldb.MySQL { // where a failed statement takes nothing else along
		query += ` ON CONFLICT (business_key) DO NOTHING`
	}
	// The row that was in the way can be gone when we come to read it.
	for range 3 {
		n, err := tx.Exec(ctx, query, args...)
		if err != nil && d.FaultOf(err) != sqldb.Duplicate {
			return false, row{}, sqldb.Explain(ctx, tx, e.name(), err)
		}
		if err == nil && n == 1 {
			return true, row{}, nil
		}
		r, ok, err := read(ctx, tx, e, d.Latest())
		if err != nil || ok {
			return false, r, err
		}
	}
	return false, row{}, duly.Errorf(duly.CodeUnavailable, "%s comes and goes; try again", e.name())
}

// read finds a key's row. hold is "", Latest or ForUpdate.
func read(ctx context.Context, tx Tx, e effect, hold string) (r row, ok bool, err error) {
	rows, err := readRows(ctx, tx, `FROM duly_effects WHERE business_key = ?`+hold, e.column)
	if err != nil {
		return row{}, false, sqldb.Explain(ctx, tx, e.name(), err)
	}
	if len(rows) == 0 {
		return row{}, false, nil
	}
	return *rows[0], true, nil
}

// complete stores the result of a row that this call has claimed, and answers
// false where it no longer has.
func complete(ctx context.Context, tx Tx, w *work, e effect, result json.RawMessage) (bool, error) {
	n, err := tx.Exec(ctx, `UPDATE duly_effects SET state = 'done', result = ?, finished_at = CASE WHEN calls IS NULL THEN NULL ELSE `+tx.Dialect().Now()+` END
		WHERE business_key = ? AND claim = ? AND state <> 'done'`, nullable(result), e.column, w.claim)
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
