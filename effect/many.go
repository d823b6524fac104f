package effect

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/internal/sqldb"
)

// A statement about many effects has this many rows and, since results have any
// length, about this many bytes at most: well below what servers take.
const (
	rowsPerStatement  = 1000
	bytesPerStatement = 1 << 20
)

// insertMany makes rows for effects that have none, and answers the rows that
// exist of the others, by their digest. done makes them done at once.
//
// Rows are inserted in the order of their digests: two batches that did so in
// differing orders would wait for each other.
func insertMany(ctx context.Context, tx Tx, w *work, effects []effect, done bool) (map[string]row, error) {
	sorted := slices.Clone(effects)
	slices.SortFunc(sorted, func(a, b effect) int { return bytes.Compare(a.id, b.id) })
	existing := map[string]row{}
	for chunk := range slices.Chunk(sorted, rowsPerStatement) {
		n, err := insertChunk(ctx, tx, w, chunk, done)
		if err != nil {
			return nil, sqldb.Explain(ctx, tx, "batch of effects", err)
		}
		// How many rows MySQL says it changed depends on the connection's flags.
		if n == int64(len(chunk)) && tx.Dialect() != sqldb.MySQL {
			continue
		}
		if err := readForeign(ctx, tx, w, chunk, existing); err != nil {
			return nil, sqldb.Explain(ctx, tx, "batch of effects", err)
		}
	}
	return existing, nil
}

func insertChunk(ctx context.Context, tx Tx, w *work, chunk []effect, done bool) (int64, error) {
	d := tx.Dialect()
	state, finished := "'started'", "NULL"
	if done {
		state, finished = "'done'", d.Now()
	}
	const columns = `INSERT INTO duly_effects (id, business_key, state, occurrence, attempt, token, resource, claim, claim_until, calls, created_at, finished_at) `
	occurrence, resource := sqldb.Printable(w.grant.Occurrence), sqldb.Printable(w.grant.Resource)
	if d == sqldb.Postgres {
		// Two arrays cost the server a fraction of what thousands of parameters do.
		ids, keys := newArray(len(chunk)), newArray(len(chunk))
		for _, e := range chunk {
			ids.bytes(e.id)
			keys.text(sqldb.Printable(e.key))
		}
		return tx.Exec(ctx, columns+`SELECT v.id, v.k, `+state+`, ?::text, ?::integer, ?::bigint, ?::text, ?::bytea, 0, 0, `+d.Now()+`, `+finished+`
			FROM unnest(?::bytea[], ?::text[]) AS v (id, k) ON CONFLICT (id) DO NOTHING`,
			occurrence, w.grant.Attempt, w.grant.Token, resource, w.claim, ids.String(), keys.String())
	}
	// Elsewhere the rows are literals: parameters are costly to prepare and to
	// bind, and every literal here is a number, hexadecimal, or quoted ASCII.
	maker := fmt.Sprintf("%s, %s, %d, %d, %s, x'%x', 0, 0, %s, %s", state, quote(d, occurrence), w.grant.Attempt, w.grant.Token, quote(d, resource), w.claim, d.Now(), finished)
	var q strings.Builder
	q.Grow(len(chunk) * (len(maker) + 160))
	q.WriteString(columns + "VALUES ")
	for i, e := range chunk {
		if i > 0 {
			q.WriteByte(',')
		}
		fmt.Fprintf(&q, "(x'%x', %s, %s)", e.id, quote(d, sqldb.Printable(e.key)), maker)
	}
	if d == sqldb.MySQL {
		q.WriteString(" ON DUPLICATE KEY UPDATE id = VALUES(id)")
	} else {
		q.WriteString(" ON CONFLICT (id) DO NOTHING")
	}
	return tx.Exec(ctx, q.String())
}

// readForeign reads those rows of a chunk that this try has not made.
func readForeign(ctx context.Context, tx Tx, w *work, chunk []effect, into map[string]row) error {
	d := tx.Dialect()
	query, args := `SELECT id, state, result, claim, occurrence, attempt FROM duly_effects WHERE id `, []any(nil)
	if d == sqldb.Postgres {
		ids := newArray(len(chunk))
		for _, e := range chunk {
			ids.bytes(e.id)
		}
		query, args = query+"= ANY(?::bytea[]) AND claim <> ?", []any{ids.String(), w.claim}
	} else {
		list := make([]string, len(chunk))
		for i, e := range chunk {
			list[i] = "x'" + hex.EncodeToString(e.id) + "'"
		}
		query += fmt.Sprintf("IN (%s) AND claim <> x'%x'", strings.Join(list, ","), w.claim)
	}
	return tx.Query(ctx, query+d.Latest(), args, func(rows sqldb.Row) error {
		var id []byte
		var state string
		var result sql.NullString
		var r row
		if err := rows.Scan(&id, &state, &result, &r.claim, &r.occurrence, &r.attempt); err != nil {
			return err
		}
		r.state = State(state)
		if result.Valid {
			r.result = json.RawMessage(result.String)
		}
		into[string(id)] = r
		return nil
	})
}

// completeMany stores the results of rows that this try has made.
func completeMany(ctx context.Context, tx Tx, w *work, effects []effect, results []json.RawMessage) error {
	for from := 0; from < len(effects); {
		to, size := from, 0
		for to < len(effects) && to-from < rowsPerStatement && size < bytesPerStatement {
			size += len(results[to])
			to++
		}
		n, err := completeChunk(ctx, tx, w, effects[from:to], results[from:to])
		if err != nil {
			return sqldb.Explain(ctx, tx, "batch of effects", err)
		}
		if n != int64(to-from) {
			return duly.Errorf(duly.CodeConflict, "batch of effects: its function has ended the transaction that it is part of")
		}
		from = to
	}
	return nil
}

func completeChunk(ctx context.Context, tx Tx, w *work, effects []effect, results []json.RawMessage) (int64, error) {
	d := tx.Dialect()
	if d == sqldb.Postgres {
		ids, texts := newArray(len(effects)), newArray(len(effects))
		for i, e := range effects {
			ids.bytes(e.id)
			texts.text(string(results[i]))
		}
		return tx.Exec(ctx, `UPDATE duly_effects e SET state = 'done', result = v.result, finished_at = `+d.Now()+`
			FROM unnest(?::bytea[], ?::text[]) AS v (id, result) WHERE e.id = v.id AND e.claim = ?`, ids.String(), texts.String(), w.claim)
	}
	var q strings.Builder
	if d == sqldb.SQLite {
		q.WriteString(`UPDATE duly_effects SET state = 'done', result = v.column2, finished_at = ` + d.Now() + ` FROM (VALUES `)
		for i, e := range effects {
			if i > 0 {
				q.WriteByte(',')
			}
			fmt.Fprintf(&q, "(x'%x', %s)", e.id, quote(d, string(results[i])))
		}
		fmt.Fprintf(&q, ") AS v WHERE id = v.column1 AND claim = x'%x'", w.claim)
		return tx.Exec(ctx, q.String())
	}
	// An INSERT whose rows all exist is how MySQL changes many rows at once.
	q.WriteString(`INSERT INTO duly_effects (id, business_key, state, result, occurrence, attempt, token, resource, claim, claim_until, calls, created_at) VALUES `)
	for i, e := range effects {
		if i > 0 {
			q.WriteByte(',')
		}
		fmt.Fprintf(&q, "(x'%x', '', 'done', %s, '', 0, 0, '', x'%x', 0, 0, 0)", e.id, quote(d, string(results[i])), w.claim)
	}
	q.WriteString(" ON DUPLICATE KEY UPDATE state = VALUES(state), result = VALUES(result), finished_at = " + d.Now())
	n, err := tx.Exec(ctx, q.String())
	return n / 2, err // MySQL counts a row that was changed twice
}

// quote makes a literal of printable ASCII.
func quote(d sqldb.Dialect, ascii string) string {
	if d == sqldb.MySQL { // whose quoting depends on the session's mode
		return "x'" + hex.EncodeToString([]byte(ascii)) + "'"
	}
	return "'" + strings.ReplaceAll(ascii, "'", "''") + "'"
}

// array writes an array the way PostgreSQL reads it from text, which every
// driver can send.
type array struct{ b strings.Builder }

func newArray(n int) *array {
	a := &array{}
	a.b.Grow(n * 72)
	a.b.WriteByte('{')
	return a
}

func (a *array) next() {
	if a.b.Len() > 1 {
		a.b.WriteByte(',')
	}
}

func (a *array) bytes(v []byte) {
	a.next()
	a.b.WriteString(`"\\x`)
	a.b.WriteString(hex.EncodeToString(v))
	a.b.WriteByte('"')
}

func (a *array) text(v string) {
	a.next()
	a.b.WriteByte('"')
	for i := range len(v) {
		if v[i] == '"' || v[i] == '\\' {
			a.b.WriteByte('\\')
		}
		a.b.WriteByte(v[i])
	}
	a.b.WriteByte('"')
}

func (a *array) String() string { return a.b.String() + "}" }
