package effect

import (
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/internal/sqldb"
)

// Entry is an effect as the ledger has it.
type Entry struct {
	Key    string          `json:"key"`
	State  State           `json:"state"`
	Result json.RawMessage `json:"result,omitempty"`
	// Occurrence, Attempt, Token and Resource say who made it, or called last;
	// they are empty where no lease owned the code.
	Occurrence string `json:"occurrence,omitempty"`
	Attempt    int    `json:"attempt,omitempty"`
	Token      int64  `json:"token,omitempty"`
	Resource   string `json:"resource,omitempty"`
	// IdempotencyKey is what the provider of an external effect was given.
	IdempotencyKey string `json:"idempotency_key,omitempty"`
	// Calls counts the calls that may have had an external effect; ClaimUntil
	// is until when one of them may be under way.
	Calls      int       `json:"calls,omitempty"`
	ClaimUntil time.Time `json:"claim_until,omitzero"`
	CreatedAt  time.Time `json:"created_at"`
	FinishedAt time.Time `json:"finished_at,omitzero"`
	// ResolvedBy is the person who decided what had happened.
	ResolvedBy string    `json:"resolved_by,omitempty"`
	ResolvedAt time.Time `json:"resolved_at,omitzero"`
}

const entryColumns = `id, business_key, state, result, occurrence, attempt, token, resource, idempotency_key, calls, claim_until, created_at, finished_at, resolved_by, resolved_at`

// Get finds an effect by its business key. Errors: not_found.
func Get[X any](ctx context.Context, db DB[X], key string) (Entry, error) {
	e, err := newEffect(key)
	if err != nil {
		return Entry{}, err
	}
	all, _, err := query(ctx, db, `WHERE id = ?`, e.id)
	if err == nil && len(all) == 0 {
		err = duly.Errorf(duly.CodeNotFound, "%s is not in the ledger", e.name())
	}
	if err != nil {
		return Entry{}, err
	}
	return all[0], nil
}

// Filter selects effects. What is empty selects all.
type Filter struct {
	Prefix     string // of the business key
	Occurrence string
	State      State
	Limit      int    // default 100, at most 1000
	Cursor     string // from the List before
}

// List answers effects, the newest first, and the cursor of the next page, empty
// where there is none.
func List[X any](ctx context.Context, db DB[X], f Filter) ([]Entry, string, error) {
	switch {
	case f.Limit == 0:
		f.Limit = 100
	case f.Limit < 0 || f.Limit > 1000:
		return nil, "", duly.Invalid("limit", "is %d; it must be between 1 and 1000", f.Limit)
	}
	var where []string
	var args []any
	add := func(condition string, values ...any) {
		where, args = append(where, condition), append(args, values...)
	}
	if f.Prefix != "" {
		prefix := sqldb.Printable(f.Prefix)
		add("substr(business_key, 1, ?) = ?", len(prefix), prefix)
	}
	if f.Occurrence != "" {
		add("occurrence = ?", sqldb.Printable(f.Occurrence))
	}
	if f.State != "" {
		add("state = ?", string(f.State))
	}
	if f.Cursor != "" {
		at, id, err := parseCursor(f.Cursor)
		if err != nil {
			return nil, "", err
		}
		add("(created_at < ? OR created_at = ? AND id < ?)", at, at, id)
	}
	suffix := "ORDER BY created_at DESC, id DESC LIMIT " + strconv.Itoa(f.Limit+1)
	if len(where) > 0 {
		suffix = "WHERE " + strings.Join(where, " AND ") + " " + suffix
	}
	all, ids, err := query(ctx, db, suffix, args...)
	if err != nil || len(all) <= f.Limit {
		return all, "", err
	}
	last := f.Limit - 1
	return all[:f.Limit], fmt.Sprintf("%d.%x", all[last].CreatedAt.UnixMicro(), ids[last]), nil
}

func parseCursor(cursor string) (at int64, id []byte, err error) {
	left, right, _ := strings.Cut(cursor, ".")
	at, err = strconv.ParseInt(left, 10, 64)
	if err == nil {
		id, err = hex.DecodeString(right)
	}
	if err != nil {
		return 0, nil, duly.Invalid("cursor", "is not one of List's")
	}
	return at, id, nil
}

func query[X any](ctx context.Context, db DB[X], suffix string, args ...any) ([]Entry, [][]byte, error) {
	if db == nil {
		return nil, nil, duly.Invalid("db", "is missing")
	}
	var all []Entry
	var ids [][]byte
	err := sqldb.InTx(ctx, db, func(tx sqldb.Session[X]) error {
		all, ids = nil, nil
		err := tx.Query(ctx, "SELECT "+entryColumns+" FROM duly_effects "+suffix, args, func(r sqldb.Row) error {
			entry, id, err := scanEntry(r)
			all, ids = append(all, entry), append(ids, id)
			return err
		})
		if err != nil {
			return sqldb.Explain(ctx, tx, "read the ledger", err)
		}
		return nil
	})
	return all, ids, err
}

func scanEntry(r sqldb.Row) (Entry, []byte, error) {
	var e Entry
	var id []byte
	var key, state, occurrence, resource string
	var result, idempotencyKey, resolvedBy sql.NullString
	var claimUntil, createdAt int64
	var finishedAt, resolvedAt sql.NullInt64
	err := r.Scan(&id, &key, &state, &result, &occurrence, &e.Attempt, &e.Token, &resource, &idempotencyKey, &e.Calls,
		&claimUntil, &createdAt, &finishedAt, &resolvedBy, &resolvedAt)
	if err != nil {
		return e, nil, err
	}
	for _, name := range []struct {
		to   *string
		from string
	}{{&e.Key, key}, {&e.Occurrence, occurrence}, {&e.Resource, resource}, {&e.ResolvedBy, resolvedBy.String}} {
		if *name.to, err = sqldb.ParsePrintable(name.from); err != nil {
			return e, nil, duly.Errorf(duly.CodeInternal, "the ledger holds a name that was not written by Duly: %q: %w", name.from, err)
		}
	}
	e.State, e.IdempotencyKey = State(state), idempotencyKey.String
	if result.Valid {
		e.Result = json.RawMessage(result.String)
	}
	e.CreatedAt, e.FinishedAt, e.ResolvedAt = micros(createdAt), micros(finishedAt.Int64), micros(resolvedAt.Int64)
	if e.State == Started {
		e.ClaimUntil = micros(claimUntil)
	}
	return e, id, nil
}

// micros is a time of the ledger; 0 is none.
func micros(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.UnixMicro(n).UTC()
}
