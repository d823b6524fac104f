package effect

import (
	"context"
	"encoding/json"
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
	// CreatedAt is when it happened or, for an external effect, was intended;
	// FinishedAt is when an external one's result was recorded.
	CreatedAt  time.Time `json:"created_at"`
	FinishedAt time.Time `json:"finished_at,omitzero"`
	// ResolvedBy is the person who decided what had happened.
	ResolvedBy string    `json:"resolved_by,omitempty"`
	ResolvedAt time.Time `json:"resolved_at,omitzero"`
}

// Get finds an effect by its business key. Errors: not_found.
func Get[X any](ctx context.Context, db DB[X], key string) (Entry, error) {
	e, err := fromHistory(key)
	if err != nil {
		return Entry{}, err
	}
	all, err := query(ctx, db, `FROM duly_effects WHERE business_key = ?`, e.column)
	if err == nil && len(all) == 0 {
		err = duly.Errorf(duly.CodeNotFound, "%s is not in the ledger", e.name())
	}
	if err != nil {
		return Entry{}, err
	}
	return all[0].entry()
}

// Find answers those of some effects that the ledger has, by the keys asked for. Up to
// 1000 may be asked for at once. A key that the ledger cannot have is not found.
func Find[X any](ctx context.Context, db DB[X], keys []string) (map[string]Entry, error) {
	if len(keys) > 1000 {
		return nil, duly.Invalid("keys", "are %d; at most 1000 are allowed", len(keys))
	}
	if db == nil {
		return nil, duly.Invalid("db", "is missing")
	}
	var wanted []numbered
	asked := make(map[string]string, len(keys))
	for _, key := range keys {
		if e, err := fromHistory(key); err == nil {
			asked[e.column] = key
			wanted = append(wanted, numbered{effect: e})
		}
	}
	found := make(map[string]Entry, len(wanted))
	err := sqldb.InTx(ctx, db, func(tx sqldb.Session[X]) error {
		rows, err := readMany(ctx, tx, noClaim, wanted)
		if err != nil {
			return sqldb.Explain(ctx, tx, "read the ledger", err)
		}
		clear(found)
		for _, r := range rows {
			e, err := r.entry()
			if err != nil {
				return err
			}
			found[asked[r.column]] = e
		}
		return nil
	})
	return found, err
}

// noClaim is the claim of no row.
const noClaim = 0

// Filter selects effects. What is empty selects all.
type Filter struct {
	Prefix     string // of the business key
	Occurrence string
	State      State
	Limit      int    // default 100, at most 1000
	Cursor     string // from the List before
}

// List answers effects in the order of their keys, and the cursor of the next
// page, empty where there is none. Prefix is looked up; the others are compared
// with each row.
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
		first, end := sqldb.KeyRange(f.Prefix)
		prefix := sqldb.PrintablePrefix(f.Prefix)
		same, _ := sqldb.KeyColumns(f.Prefix)
		const key = "coalesce(whole_key, business_key)"
		add("(business_key >= ? AND business_key < ? AND length("+key+") >= ? AND substr("+key+", 1, ?) = ? OR business_key = ?)",
			first, end, len(prefix), len(prefix), prefix, same)
	}
	if f.Occurrence != "" {
		occurrence := sqldb.Printable(f.Occurrence)
		add("(occurrence = ? OR item IS NOT NULL AND claim IN (SELECT claim FROM duly_batches WHERE occurrence = ?))", occurrence, occurrence)
	}
	if f.State != "" {
		add("state = ?", string(f.State))
	}
	if f.Cursor != "" {
		add("business_key > ?", f.Cursor)
	}
	from := "FROM duly_effects"
	if len(where) > 0 {
		from += " WHERE " + strings.Join(where, " AND ")
	}
	rows, err := query(ctx, db, from+" ORDER BY business_key LIMIT "+strconv.Itoa(f.Limit+1), args...)
	if err != nil {
		return nil, "", err
	}
	cursor := ""
	if len(rows) > f.Limit {
		rows = rows[:f.Limit]
		cursor = rows[f.Limit-1].column
	}
	all := make([]Entry, len(rows))
	for i, r := range rows {
		if all[i], err = r.entry(); err != nil {
			return nil, "", err
		}
	}
	return all, cursor, nil
}

func query[X any](ctx context.Context, db DB[X], from string, args ...any) ([]*row, error) {
	if db == nil {
		return nil, duly.Invalid("db", "is missing")
	}
	var all []*row
	err := sqldb.InTx(ctx, db, func(tx sqldb.Session[X]) (err error) {
		if all, err = readRows(ctx, tx, from, args...); err != nil {
			return sqldb.Explain(ctx, tx, "read the ledger", err)
		}
		return nil
	})
	return all, err
}

// entry is the row as others see it.
func (r *row) entry() (Entry, error) {
	e := Entry{
		State: r.state, Result: r.result, Attempt: r.attempt, Token: r.token, IdempotencyKey: r.idempotencyKey, Calls: r.calls,
		CreatedAt: micros(r.createdAt), FinishedAt: micros(r.finishedAt), ResolvedAt: micros(r.resolvedAt),
	}
	if r.state == Started {
		e.ClaimUntil = micros(r.claimUntil)
	}
	key := r.column
	if r.whole.Valid {
		key = r.whole.String
	}
	for _, name := range []struct {
		to   *string
		from string
	}{{&e.Key, key}, {&e.Occurrence, r.occurrence}, {&e.Resource, r.resource}, {&e.ResolvedBy, r.resolvedBy}} {
		var err error
		if *name.to, err = sqldb.ParsePrintable(name.from); err != nil {
			return e, duly.Errorf(duly.CodeInternal, "the ledger holds a name that was not written by Duly: %q: %w", name.from, err)
		}
	}
	return e, nil
}

// micros is a time of the ledger; 0 is none.
func micros(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.UnixMicro(n).UTC()
}
