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
// for a transaction that has inserted the same key and not yet ended. fenced
// says that the fence was checked; otherwise it is now.
func insert(ctx context.Context, tx Tx, w *work, e effect, in *intent, fenced bool) (mine bool, existing row, err error) {
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
		var n int64
		statement := sqldb.Statement{Query: query, Args: args, Changed: func(rows int64) error {
			n = rows
			return nil
		}}
		if fenced {
			err = tx.Send(ctx, statement)
		} else {
			err = w.fenceAnd(ctx, tx, statement)
		}
		if err != nil && d.FaultOf(err) != sqldb.Duplicate {
			return false, row{}, sqldb.Explain(ctx, tx, e.name(), err)
		}
		fenced = true
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

// completion stores the result of a row that this call has claimed; changed is
// told of 0 rows where it no longer has.
func completion(d sqldb.Dialect, w *work, e effect, result json.RawMessage, changed func(rows int64) error) sqldb.Statement {
	return sqldb.Statement{
		Query: `UPDATE duly_effects SET state = 'done', result = ?, finished_at = CASE WHEN calls IS NULL THEN NULL ELSE ` + d.Now() + ` END
		WHERE business_key = ? AND claim = ? AND state <> 'done'`,
		Args: []any{nullable(result), e.column, w.claim}, Changed: changed,
	}
}

func nullable(result json.RawMessage) any {
	if result == nil {
		return nil
	}
	return string(result)
}
