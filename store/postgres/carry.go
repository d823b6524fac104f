package postgres

import (
	"context"
	"database/sql"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/duly-dev/duly"
)

// statements is what a transaction of database/sql can do.
type statements interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// oneByOne is the carrier of database/sql, whatever driver is behind it: a
// round trip for each statement, lists as text.
type oneByOne struct{ to statements }

func (o oneByOne) carry(ctx context.Context, line *pgx.Batch, steps []step) error {
	for i, q := range line.QueuedQueries {
		if err := o.one(ctx, q, steps[i]); err != nil {
			return err
		}
	}
	return nil
}

func (o oneByOne) one(ctx context.Context, q *pgx.QueuedQuery, s step) error {
	args := make([]any, len(q.Arguments))
	for i, a := range q.Arguments {
		args[i] = literal(a)
	}
	if s.scan == nil {
		res, err := o.to.ExecContext(ctx, q.SQL, args...)
		if err == nil && s.rows != nil {
			*s.rows, err = res.RowsAffected()
		}
		return err
	}
	rows, err := o.to.QueryContext(ctx, q.SQL, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	r := row{raw: make([][]byte, len(columns)), fields: make([]pgconn.FieldDescription, len(columns))} // of text, as it were
	values, dest := make([]any, len(columns)), make([]any, len(columns))
	for i := range dest {
		dest[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return err
		}
		for i, v := range values {
			if r.raw[i], err = text(v); err != nil {
				return err
			}
		}
		if err := s.scan(r); err != nil {
			return err
		}
	}
	return rows.Err()
}

// text is a value as the server writes it.
func text(v any) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case int64:
		return strconv.AppendInt(nil, v, 10), nil
	case string:
		return []byte(v), nil
	case []byte:
		return v, nil
	case bool:
		if v {
			return []byte("t"), nil
		}
		return []byte("f"), nil
	}
	return nil, duly.Errorf(duly.CodeInternal, "the driver answers a %T, which was not asked for", v)
}

// literal binds a list as the server reads it, and leaves the rest.
func literal(arg any) any {
	switch list := arg.(type) {
	case []int64:
		return array(list, func(n int64) string { return strconv.FormatInt(n, 10) })
	case []int32:
		return array(list, func(n int32) string { return strconv.Itoa(int(n)) })
	case []int16:
		return array(list, func(n int16) string { return strconv.Itoa(int(n)) })
	case []bool:
		return array(list, strconv.FormatBool)
	case []string:
		return array(list, quote)
	}
	return arg
}

func array[T any](list []T, text func(T) string) string {
	var b strings.Builder
	b.WriteByte('{')
	for i, v := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(text(v))
	}
	b.WriteByte('}')
	return b.String()
}

// quote makes a text an element of a list.
func quote(s string) string {
	return `"` + strings.ReplaceAll(strings.ReplaceAll(s, `\`, `\\`), `"`, `\"`) + `"`
}
