package sqlite

import (
	"context"
	"database/sql/driver"
	"fmt"
	"io"
	"strings"
)

// conn is a connection with its prepared statements. It is used by one
// goroutine at a time. It speaks to the driver without database/sql between
// them: rows come without reflection and statements stay prepared for life.
type conn struct {
	dc    driverConn
	stmts map[string]*stmt
	app   *appTx // where set, statements are run in it
	// wrote is set by every statement that may have changed something.
	wrote bool
}

type driverConn interface {
	driver.Conn
	driver.ConnPrepareContext
}

type stmt struct {
	driverStmt
	args []driver.NamedValue
	dest row
}

type driverStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

func connect(ctx context.Context, c driver.Connector) (*conn, error) {
	dc, err := c.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &conn{dc: dc.(driverConn), stmts: map[string]*stmt{}}, nil
}

func (c *conn) close() error {
	for _, s := range c.stmts {
		_ = s.Close()
	}
	return c.dc.Close()
}

func (c *conn) prepare(ctx context.Context, query string) (*stmt, error) {
	if s := c.stmts[query]; s != nil {
		return s, nil
	}
	ds, err := c.dc.PrepareContext(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("%w in %s", err, query)
	}
	s := &stmt{driverStmt: ds.(driverStmt)}
	c.stmts[query] = s
	return s, nil
}

// bind fills the statement's arguments: int64, int, bool, string, []byte, nil.
func (s *stmt) bind(args []any) []driver.NamedValue {
	if cap(s.args) < len(args) {
		s.args = make([]driver.NamedValue, len(args))
		for i := range s.args {
			s.args[i].Ordinal = i + 1
		}
	}
	s.args = s.args[:len(args)]
	for i, a := range args {
		switch v := a.(type) {
		case int:
			s.args[i].Value = int64(v)
		case bool:
			s.args[i].Value = flag(v)
		default:
			s.args[i].Value = a
		}
	}
	return s.args
}

// exec runs a statement and answers how many rows it changed.
func (c *conn) exec(query string, args ...any) (int64, error) {
	if c.app != nil {
		return c.app.exec(query, args)
	}
	s, err := c.prepare(context.Background(), query)
	if err != nil {
		return 0, err
	}
	c.wrote = true
	res, err := s.ExecContext(context.Background(), s.bind(args))
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// script runs statements that take no arguments and are run once.
func (c *conn) script(ctx context.Context, text string) error {
	s, err := c.dc.PrepareContext(ctx, text)
	if err != nil {
		return err
	}
	defer s.Close()
	_, err = s.(driverStmt).ExecContext(ctx, nil)
	return err
}

// query calls scan with each row. The row is reused for the next one. A
// statement that is being read must not be run again by scan.
func (c *conn) query(ctx context.Context, query string, args []any, scan func(row) error) error {
	if c.app != nil {
		return c.app.query(query, args, scan)
	}
	s, err := c.prepare(ctx, query)
	if err != nil {
		return err
	}
	rows, err := s.QueryContext(ctx, s.bind(args))
	if err != nil {
		return err
	}
	defer rows.Close()
	if s.dest == nil {
		s.dest = make(row, len(rows.Columns()))
	}
	for {
		if err := rows.Next(s.dest); err != nil {
			if err == io.EOF {
				return nil
			}
			return err
		}
		if err := scan(s.dest); err != nil {
			return err
		}
	}
}

// returning is query for a statement that changes something.
func (c *conn) returning(query string, args []any, scan func(row) error) error {
	c.wrote = true
	return c.query(context.Background(), query, args, scan)
}

// one reads the first row; found is false where there is none.
func (c *conn) one(ctx context.Context, query string, args []any, scan func(row)) (found bool, err error) {
	err = c.query(ctx, query, args, func(r row) error {
		if !found {
			scan(r)
		}
		found = true
		return nil
	})
	return found, err
}

// number reads one number, 0 for NULL or no row.
func (c *conn) number(ctx context.Context, query string, args ...any) (n int64, err error) {
	_, err = c.one(ctx, query, args, func(r row) { n = r.int(0) })
	return n, err
}

const chunk = 64

var marks64 = strings.Repeat("?,", chunk-1) + "?"

// in runs head + a list of placeholders + tail for keys in chunks, with args
// before the keys. The last key is repeated to fill a chunk, so that there are
// three statements to prepare and not sixty-four.
func (c *conn) in(ctx context.Context, head, tail string, args []any, keys []int64, scan func(row) error) error {
	for len(keys) > 0 {
		size, marks := chunk, marks64
		switch {
		case len(keys) == 1:
			size, marks = 1, marks64[:1]
		case len(keys) <= 8:
			size, marks = 8, marks64[:15]
		}
		part := keys[:min(size, len(keys))]
		keys = keys[len(part):]
		bound := make([]any, 0, len(args)+size)
		bound = append(bound, args...)
		for i := range size {
			bound = append(bound, part[min(i, len(part)-1)])
		}
		if err := c.query(ctx, head+marks+tail, bound, scan); err != nil {
			return err
		}
	}
	return nil
}

// row is one row of a result. NULL reads as the zero value.
type row []driver.Value

func (r row) int(i int) int64 {
	n, _ := r[i].(int64)
	return n
}

func (r row) str(i int) string {
	s, _ := r[i].(string)
	return s
}

func (r row) bytes(i int) []byte {
	switch v := r[i].(type) {
	case []byte:
		return v
	case string:
		return []byte(v)
	}
	return nil
}

func (r row) bool(i int) bool { return r.int(i) != 0 }
func (r row) null(i int) bool { return r[i] == nil }
