package effect

import (
	"cmp"
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
	byKey := func(x, y numbered) int { return cmp.Compare(x.column, y.column) }
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
	most := keysPerStatement
	if tx.Dialect() == sqldb.SQLite { // which has no round trips
		most = rowsPerStatement
	}
	taken := 0
	for len(all) > 0 {
		n, size := 0, 0
		for n < len(all) && n < most && size < bytesPerStatement/2 {
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

func insertStatement(d sqldb.Dialect, w *work, chunk []numbered, tolerant bool) (string, []any) {
	const into = `INTO duly_effects (business_key, whole_key, item, state, claim) `
	claim := strconv.FormatInt(w.claim, 10)
	if d == sqldb.Postgres {
		// Three arrays cost the server a fraction of what thousands of
		// parameters do.
		var keys, wholes, items array
		for _, n := range chunk {
			keys.add(n.column)
			wholes.add(n.whole)
			items.add(strconv.Itoa(n.item))
		}
		query := `INSERT ` + into + `SELECT k, w, i, 'done', ?::bigint FROM unnest(?::text[], ?::text[], ?::integer[]) AS v (k, w, i)`
		if tolerant {
			query += ` ON CONFLICT (business_key) DO NOTHING`
		}
		return query, []any{w.claim, keys.text(), wholes.text(), items.text()}
	}
	// Elsewhere the rows are literals: parameters are costly to prepare and to
	// bind, and all of this is numbers and printable ASCII.
	var q strings.Builder
	q.Grow(len(chunk) * 80)
	q.WriteString("INSERT ")
	if d == sqldb.MySQL && tolerant {
		q.WriteString("IGNORE ")
	}
	q.WriteString(into + "VALUES ")
	for i, n := range chunk {
		if i > 0 {
			q.WriteByte(',')
		}
		q.WriteByte('(')
		q.WriteString(quote(d, n.column))
		q.WriteByte(',')
		q.WriteString(quote(d, n.whole))
		q.WriteByte(',')
		q.WriteString(strconv.Itoa(n.item))
		q.WriteString(",'done',")
		q.WriteString(claim)
		q.WriteByte(')')
	}
	if d == sqldb.SQLite && tolerant {
		q.WriteString(" ON CONFLICT (business_key) DO NOTHING")
	}
	return q.String(), nil
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
