package effect

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/internal/sqldb"
)

// completeMany stores the results of a batch: results[i] is that of item i. fresh
// says which items this try has the effects of; there is one at least.
func completeMany(ctx context.Context, tx Tx, w *work, b batch, fresh []int, results []json.RawMessage) error {
	// Where the first key is gone again, this is not the transaction any more
	// that took it.
	var still int64
	var state State
	err := tx.Query(ctx, `SELECT claim, state FROM duly_effects WHERE business_key = ?`, []any{b[fresh[0]].column}, func(r sqldb.Row) error { return r.Scan(&still, &state) })
	switch {
	case err != nil:
		return sqldb.Explain(ctx, tx, "batch of effects", err)
	case still != w.claim:
		return duly.Errorf(duly.CodeConflict, "batch of effects: its function has ended the transaction that it is part of")
	case state != Done: // MySQL, where it is not strict, has no default and does not say so
		return duly.Errorf(duly.CodeInvalid, "batch of effects: the effect ledger's tables are too old; change them with `duly effects ddl --dialect %s` or effect.Migrate", tx.Dialect())
	}
	parts := partsOf(fresh, results)
	for len(parts) > 0 {
		n, size := 0, 0
		for n < len(parts) && n < rowsPerStatement && size < bytesPerStatement {
			size += len(parts[n].results)
			n++
		}
		query, args := partsStatement(tx.Dialect(), w, parts[:n])
		if _, err := tx.Exec(ctx, query, args...); err != nil {
			return sqldb.Explain(ctx, tx, "batch of effects", err)
		}
		parts = parts[n:]
	}
	return nil
}

// part is a row of duly_batches.
type part struct {
	number  int
	results json.RawMessage // an array, or nil where there are none
}

// partsOf puts results into the parts that hold a fresh item.
func partsOf(fresh []int, results []json.RawMessage) []part {
	var parts []part
	for _, i := range fresh { // which grow
		number := i >> partShift
		if len(parts) > 0 && parts[len(parts)-1].number == number {
			continue
		}
		p := part{number: number}
		if results[i] != nil {
			p.results = jsonArray(results[number<<partShift : min((number+1)<<partShift, len(results))])
		}
		parts = append(parts, p)
	}
	return parts
}

func jsonArray(values []json.RawMessage) json.RawMessage {
	size := 1
	for _, v := range values {
		size += len(v) + 5
	}
	a := append(make(json.RawMessage, 0, size), '[')
	for i, v := range values {
		if i > 0 {
			a = append(a, ',')
		}
		if v == nil {
			v = json.RawMessage("null")
		}
		a = append(a, v...)
	}
	return append(a, ']')
}

func partsStatement(d sqldb.Dialect, w *work, parts []part) (string, []any) {
	const into = `INSERT INTO duly_batches (part, results, claim, occurrence, attempt, token, resource, created_at) `
	if d == sqldb.Postgres {
		var numbers, results array
		for _, p := range parts {
			numbers.add(strconv.Itoa(p.number))
			results.add(nullable(p.results))
		}
		return into + `SELECT p, r, ?::bigint, ?::text, ?::integer, ?::bigint, ?::text, ` + d.Now() + ` FROM unnest(?::integer[], ?::text[]) AS v (p, r)`,
			[]any{w.claim, w.occurrence, w.grant.Attempt, w.grant.Token, w.resource, numbers.text(), results.text()}
	}
	maker := fmt.Sprintf(",%d,%s,%d,%d,%s,%s)", w.claim, quote(d, w.occurrence), w.grant.Attempt, w.grant.Token, quote(d, w.resource), d.Now())
	size := len(into)
	for _, p := range parts {
		size += len(p.results) + len(maker) + 20
	}
	var q strings.Builder
	q.Grow(size)
	q.WriteString(into + "VALUES ")
	for i, p := range parts {
		if i > 0 {
			q.WriteByte(',')
		}
		fmt.Fprintf(&q, "(%d,", p.number)
		q.WriteString(quote(d, nullable(p.results)))
		q.WriteString(maker)
	}
	return q.String(), nil
}
