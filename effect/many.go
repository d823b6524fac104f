package effect

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/internal/sqldb"
)

// A statement about many effects has this many rows and, since results have any
// length, about this many bytes at most: well below what servers take.
const (
	rowsPerStatement  = 1000
	bytesPerStatement = 1 << 20
	// keysPerStatement is how many keys a server is given at once: few round
	// trips are what counts where it is busy.
	keysPerStatement = 5000
)

// numbered is an effect and its place in the batch.
type numbered struct {
	effect
	item int
}

// insertMany takes the keys of a batch, and answers the rows that exist of those
// which it could not take. It waits for transactions that have inserted the same
// keys and not yet ended.
//
// Keys are taken in their order: two batches that did so in differing orders
// would wait for each other.
func insertMany(ctx context.Context, tx Tx, w *work, b batch) (map[string]*row, error) {
	all := make([]numbered, len(b))
	for i, e := range b {
		all[i] = numbered{e, i}
	}
	byKey := func(x, y numbered) int { return strings.Compare(x.column, y.column) }
	if !slices.IsSortedFunc(all, byKey) {
		slices.SortFunc(all, byKey)
	}
	taken, err := takeAll(ctx, tx, w, all)
	if err != nil {
		return nil, sqldb.Explain(ctx, tx, "batch of effects", err)
	}
	existing := map[string]*row{}
	if taken == len(b) {
		return existing, nil
	}
	rows, err := readMany(ctx, tx, w.claim, all)
	if err != nil {
		return nil, sqldb.Explain(ctx, tx, "batch of effects", err)
	}
	for _, r := range rows {
		existing[r.column] = r
	}
	if taken+len(existing) != len(b) {
		return nil, duly.Errorf(duly.CodeUnavailable, "batch of effects: some come and go; try again")
	}
	return existing, nil
}

// takeAll answers how many keys it took. Usually none is taken by others, and
// PostgreSQL and MariaDB are a third quicker where they need not be ready for
// that.
func takeAll(ctx context.Context, tx Tx, w *work, all []numbered) (int, error) {
	if tx.Dialect() == sqldb.SQLite { // to which it is all one
		return takeFree(ctx, tx, w, all, true)
	}
	taken := 0
	inner := all[0].effect
	inner.key += "\x00 taken" // or MySQL would replace the savepoint of a batch that begins with it
	err := savepoint(ctx, tx, inner, func() (err error) {
		taken, err = takeFree(ctx, tx, w, all, false)
		return err
	})
	if tx.Dialect().FaultOf(err) == sqldb.Duplicate {
		return takeFree(ctx, tx, w, all, true)
	}
	return taken, err
}

func takeFree(ctx context.Context, tx Tx, w *work, all []numbered, tolerant bool) (int, error) {
	taken := 0
	for len(all) > 0 {
		n, size := 0, 0
		for n < len(all) && n < keysPerStatement && size < bytesPerStatement/2 {
			whole, _ := all[n].whole.(string)
			size += len(all[n].column) + len(whole) + 40
			n++
		}
		query, args := insertStatement(tx.Dialect(), w, all[:n], tolerant)
		got, err := tx.Exec(ctx, query, args...)
		if err != nil {
			return 0, err
		}
		taken += int(got)
		all = all[n:]
	}
	return taken, nil
}

// insertStatement says as little for each row as its database can do with, since
// reading the statement is a good part of the work.
func insertStatement(d sqldb.Dialect, w *work, chunk []numbered, tolerant bool) (string, []any) {
	long := slices.ContainsFunc(chunk, func(n numbered) bool { return n.whole != nil })
	query, args := "", []any(nil)
	switch {
	case d == sqldb.Postgres:
		query, args = insertArrays(w, chunk, long)
	case d == sqldb.SQLite && !long:
		query, args = insertJSON(w, chunk)
	default:
		query = insertLiterals(d, w, chunk, long)
	}
	switch {
	case !tolerant:
	case d == sqldb.MySQL:
		query = strings.Replace(query, "INSERT", "INSERT IGNORE", 1)
	default:
		query += " ON CONFLICT (business_key) DO NOTHING"
	}
	return query, args
}

// insertArrays is for PostgreSQL, where a few arrays cost a fraction of what
// thousands of parameters do.
func insertArrays(w *work, chunk []numbered, long bool) (string, []any) {
	var keys, items, wholes array
	for _, n := range chunk {
		keys.add(n.column)
		items.add(strconv.Itoa(n.item))
		if long {
			wholes.add(n.whole)
		}
	}
	if long {
		return `INSERT INTO duly_effects (business_key, item, state, claim, whole_key) SELECT k, i, 'done', ?::bigint, w FROM unnest(?::text[], ?::integer[], ?::text[]) AS v (k, i, w)`,
			[]any{w.claim, keys.text(), items.text(), wholes.text()}
	}
	return `INSERT INTO duly_effects (business_key, item, state, claim) SELECT k, i, 'done', ?::bigint FROM unnest(?::text[], ?::integer[]) AS v (k, i)`,
		[]any{w.claim, keys.text(), items.text()}
}

// insertJSON is for SQLite, where one object of keys and items costs half of what
// their rows do.
func insertJSON(w *work, chunk []numbered) (string, []any) {
	var list strings.Builder
	list.Grow(len(chunk) * 40)
	for i, n := range chunk {
		list.WriteByte("{,"[min(i, 1)])
		list.WriteByte('"')
		writeEscaped(&list, n.column)
		list.WriteString(`":`)
		list.WriteString(strconv.Itoa(n.item))
	}
	list.WriteByte('}')
	// Without the WHERE, what follows could be read as a join's ON.
	return `INSERT INTO duly_effects (business_key, item, state, claim) SELECT key, value, 'done', ? FROM json_each(?) WHERE true`, []any{w.claim, list.String()}
}

// insertLiterals spells the rows out: parameters are costly to prepare and to
// bind, and all of this is numbers and printable ASCII. MySQL's tables have
// 'done' as what a state is where it is not said.
func insertLiterals(d sqldb.Dialect, w *work, chunk []numbered, long bool) string {
	columns, end := "business_key, item", ","+strconv.FormatInt(w.claim, 10)+")"
	if long {
		columns += ", whole_key"
	}
	if d == sqldb.SQLite {
		columns += ", state"
		end = ",'done'" + end
	}
	var q strings.Builder
	q.Grow(len(chunk) * 80)
	q.WriteString("INSERT INTO duly_effects (" + columns + ", claim) VALUES ")
	for i, n := range chunk {
		if i > 0 {
			q.WriteByte(',')
		}
		q.WriteByte('(')
		q.WriteString(quote(d, n.column))
		q.WriteByte(',')
		q.WriteString(strconv.Itoa(n.item))
		if long {
			q.WriteByte(',')
			q.WriteString(quote(d, n.whole))
		}
		q.WriteString(end)
	}
	return q.String()
}

// readMany finds the rows of effects, but for those of a claim, which this try
// has made.
func readMany(ctx context.Context, tx Tx, but int64, all []numbered) ([]*row, error) {
	d := tx.Dialect()
	var found []*row
	for chunk := range slices.Chunk(all, rowsPerStatement) {
		var from string
		var args []any
		if d == sqldb.Postgres {
			var keys array
			for _, n := range chunk {
				keys.add(n.column)
			}
			// One look into the index for each key, whatever the planner
			// believes of the table's size: LIMIT keeps it from joining.
			from = `FROM unnest(?::text[]) AS v (k), LATERAL (SELECT * FROM duly_effects WHERE business_key = k LIMIT 1) AS e WHERE claim <> ?`
			args = []any{keys.text(), but}
		} else {
			list := make([]string, len(chunk))
			for i, n := range chunk {
				list[i] = quote(d, n.column)
			}
			from = "FROM duly_effects WHERE business_key IN (" + strings.Join(list, ",") + ") AND claim <> " + strconv.FormatInt(but, 10) + d.Latest()
		}
		rows, err := readRows(ctx, tx, from, args...)
		if err != nil {
			return nil, err
		}
		found = append(found, rows...)
	}
	return found, nil
}
