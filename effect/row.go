package effect

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/internal/sqldb"
)

// row is an effect as the ledger holds it. Times are microseconds, 0 for none,
// and names are as the ledger writes them.
type row struct {
	column     string
	whole      sql.NullString
	state      State
	claim      int64
	item       sql.NullInt64 // of a batch
	maker                    // of a batch: filled in from duly_batches
	result     json.RawMessage
	claimUntil int64 // 0 where nobody calls
	calls      int

	idempotencyKey         string
	finishedAt, resolvedAt int64
	resolvedBy             string
	now                    int64
}

// maker is who made an effect, and when.
type maker struct {
	occurrence string
	attempt    int
	token      int64
	resource   string
	createdAt  int64
}

// In duly_batches the effects of a batch stand in parts of 32: short enough to
// be read for one of them, and stored in line by every database.
const (
	partShift = 5
	partSize  = 1 << partShift
)

func (r *row) part() int64 { return r.item.Int64 >> partShift }

// readRows reads effects. from is the statement from its FROM on.
func readRows(ctx context.Context, tx Tx, from string, args ...any) ([]*row, error) {
	var all []*row
	err := tx.Query(ctx, `SELECT business_key, whole_key, state, claim, item, result, occurrence, attempt, token, resource, created_at,
		claim_until, calls, idempotency_key, finished_at, resolved_by, resolved_at, `+tx.Dialect().Now()+` `+from, args,
		func(rows sqldb.Row) error {
			r := new(row)
			all = append(all, r)
			return r.scan(rows)
		})
	if err != nil {
		return nil, err
	}
	return all, fillIn(ctx, tx, all)
}

func (r *row) scan(rows sqldb.Row) error {
	var result, occurrence, resource, idempotencyKey, resolvedBy sql.NullString
	var attempt, token, createdAt, claimUntil, calls, finishedAt, resolvedAt sql.NullInt64
	err := rows.Scan(&r.column, &r.whole, &r.state, &r.claim, &r.item, &result, &occurrence, &attempt, &token, &resource, &createdAt,
		&claimUntil, &calls, &idempotencyKey, &finishedAt, &resolvedBy, &resolvedAt, &r.now)
	if err != nil {
		return err
	}
	if result.Valid {
		r.result = json.RawMessage(result.String)
	}
	r.maker = maker{occurrence.String, int(attempt.Int64), token.Int64, resource.String, createdAt.Int64}
	r.claimUntil, r.calls = claimUntil.Int64, int(calls.Int64)
	r.idempotencyKey, r.finishedAt, r.resolvedBy, r.resolvedAt = idempotencyKey.String, finishedAt.Int64, resolvedBy.String, resolvedAt.Int64
	return nil
}

// place is where a part of a batch stands in duly_batches.
type place struct{ claim, part int64 }

// fillIn completes those rows that are of a batch.
func fillIn(ctx context.Context, tx Tx, rows []*row) error {
	wanted := map[place][]*row{}
	var claims []int64
	for _, r := range rows {
		if r.item.Valid {
			p := place{r.claim, r.part()}
			wanted[p] = append(wanted[p], r)
			claims = append(claims, r.claim)
		}
	}
	slices.Sort(claims)
	for some := range slices.Chunk(slices.Compact(claims), rowsPerStatement) {
		if err := readParts(ctx, tx, some, wanted); err != nil {
			return err
		}
	}
	if err := readLatestParts(ctx, tx, wanted); err != nil {
		return err
	}
	for _, rows := range wanted {
		return duly.Errorf(duly.CodeInternal, "effect %s is of a batch that duly_batches does not hold", rows[0].column)
	}
	return nil
}

// readParts reads batches, and strikes from wanted what it has filled in.
func readParts(ctx context.Context, tx Tx, claims []int64, wanted map[place][]*row) error {
	list := make([]string, len(claims))
	for i, c := range claims {
		list[i] = strconv.FormatInt(c, 10)
	}
	where, args := "claim IN ("+strings.Join(list, ",")+")", []any(nil)
	if tx.Dialect() == sqldb.Postgres { // which keeps statements prepared, so their texts should not differ
		where, args = "claim = ANY(?::bigint[])", []any{"{" + strings.Join(list, ",") + "}"}
	}
	if len(wanted) == 1 {
		for p := range wanted {
			where, args = where+" AND part = ?", append(args, p.part)
		}
	}
	return queryParts(ctx, tx, where, args, wanted)
}

// readLatestParts reads what was committed after the transaction first looked.
// Effects are read as they are now, and MySQL does not show their batches
// otherwise. Each is asked for by its whole key, so that nothing beside it is
// held.
func readLatestParts(ctx context.Context, tx Tx, wanted map[place][]*row) error {
	if tx.Dialect().Latest() == "" {
		return nil
	}
	for some := range slices.Chunk(slices.Collect(maps.Keys(wanted)), rowsPerStatement) {
		list := make([]string, len(some))
		for i, p := range some {
			list[i] = fmt.Sprintf("(%d,%d)", p.claim, p.part)
		}
		if err := queryParts(ctx, tx, "(claim, part) IN ("+strings.Join(list, ",")+")"+tx.Dialect().Latest(), nil, wanted); err != nil {
			return err
		}
	}
	return nil
}

func queryParts(ctx context.Context, tx Tx, where string, args []any, wanted map[place][]*row) error {
	return tx.Query(ctx, `SELECT claim, part, results, occurrence, attempt, token, resource, created_at FROM duly_batches WHERE `+where, args, func(rows sqldb.Row) error {
		var p place
		var m maker
		var results sql.NullString
		if err := rows.Scan(&p.claim, &p.part, &results, &m.occurrence, &m.attempt, &m.token, &m.resource, &m.createdAt); err != nil {
			return err
		}
		var each []json.RawMessage
		if results.Valid {
			if err := json.Unmarshal([]byte(results.String), &each); err != nil {
				return duly.Errorf(duly.CodeInternal, "part %d of batch %d in duly_batches is broken: %w", p.part, p.claim, err)
			}
		}
		for _, r := range wanted[p] {
			r.maker = m
			if i := int(r.item.Int64 % partSize); i < len(each) {
				r.result = each[i]
			}
		}
		delete(wanted, p)
		return nil
	})
}
