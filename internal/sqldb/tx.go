package sqldb

import (
	"context"
	"database/sql"
	"errors"

	"github.com/duly-dev/duly"
)

// Tx is an open transaction of the application's database. The application
// began it and ends it.
type Tx interface {
	Dialect() Dialect
	// Exec answers how many rows a statement changed.
	Exec(ctx context.Context, query string, args ...any) (int64, error)
	// Query calls each for every row.
	Query(ctx context.Context, query string, args []any, each func(Row) error) error
	// Send runs statements in their order, in one round trip where the driver
	// can, and stops at the first error.
	Send(ctx context.Context, all ...Statement) error
	// Raw is the transaction as the application's driver calls it. Where there
	// are first statements, they have run, or run at the beginning of the next
	// batch that raw is given, in one round trip. ran answers whether they have,
	// and their error; where there is one, the transaction must be rolled back.
	Raw(ctx context.Context, first ...Statement) (raw any, ran func() (bool, error), err error)
}

// Statement is one that may travel with others.
type Statement struct {
	Query string
	Args  []any
	// Each is called for every row of a query; nil elsewhere.
	Each func(Row) error
	// Changed is told how many rows a statement that is no query has changed;
	// or nil. Its error is the statement's.
	Changed func(rows int64) error
}

// Row is a row to be read.
type Row interface {
	Scan(dest ...any) error
}

// DB begins transactions. X is what the application calls a transaction:
// *sql.Tx, or pgx.Tx.
type DB[X any] interface {
	Dialect() Dialect
	Begin(ctx context.Context) (Session[X], error)
}

// Session is a transaction of our own. It may begin with the first statement that
// it is given; until then there is nothing to commit. Rollback after Commit does
// nothing.
type Session[X any] struct {
	Tx
	// Native is the transaction as the application calls it, once it has begun.
	Native   func() X
	Commit   func(ctx context.Context) error
	Rollback func(ctx context.Context) error
	// Gone reports whether its connection is gone, whatever the function was told
	// or says itself: drivers have errors for that which only they know.
	Gone func(ctx context.Context) bool
}

// Statements is what database/sql can do with a transaction.
type Statements interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// NewTx makes a Tx of a transaction of database/sql.
func NewTx(d Dialect, s Statements) Tx { return stdTx{d, s} }

type stdTx struct {
	dialect Dialect
	s       Statements
}

func (t stdTx) Dialect() Dialect { return t.dialect }

func (t stdTx) Raw(ctx context.Context, first ...Statement) (any, func() (bool, error), error) {
	return t.s, func() (bool, error) { return true, nil }, t.Send(ctx, first...)
}

func (t stdTx) Send(ctx context.Context, all ...Statement) error {
	for _, s := range all {
		if s.Each != nil {
			if err := t.Query(ctx, s.Query, s.Args, s.Each); err != nil {
				return err
			}
			continue
		}
		n, err := t.Exec(ctx, s.Query, s.Args...)
		if err != nil {
			return err
		}
		if s.Changed == nil {
			continue
		}
		if err := s.Changed(n); err != nil {
			return err
		}
	}
	return nil
}

func (t stdTx) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	if err := t.check(); err != nil {
		return 0, err
	}
	res, err := t.s.ExecContext(ctx, t.dialect.Rebind(query), args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

func (t stdTx) Query(ctx context.Context, query string, args []any, each func(Row) error) error {
	if err := t.check(); err != nil {
		return err
	}
	rows, err := t.s.QueryContext(ctx, t.dialect.Rebind(query), args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := each(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// check refuses what has no transaction around its statements.
func (t stdTx) check() error {
	switch s := t.s.(type) {
	case nil:
		return duly.Invalid("tx", "is missing")
	case *sql.DB:
		return duly.Invalid("tx", "is a *sql.DB, whose statements are in no transaction: begin one")
	case *sql.Tx:
		if s == nil {
			return duly.Invalid("tx", "is a nil *sql.Tx")
		}
	}
	return t.dialect.Check()
}

// NewDB makes a DB of a database of database/sql.
func NewDB(d Dialect, db *sql.DB) DB[*sql.Tx] { return stdDB{d, db} }

type stdDB struct {
	dialect Dialect
	db      *sql.DB
}

func (d stdDB) Dialect() Dialect { return d.dialect }

func (d stdDB) Begin(ctx context.Context) (Session[*sql.Tx], error) {
	var none Session[*sql.Tx]
	if err := d.dialect.Check(); err != nil {
		return none, err
	}
	if d.db == nil {
		return none, duly.Invalid("db", "is missing")
	}
	tx, err := d.db.BeginTx(ctx, nil)
	if err != nil {
		return none, err
	}
	return Session[*sql.Tx]{
		Tx: NewTx(d.dialect, tx), Native: func() *sql.Tx { return tx },
		Commit:   func(context.Context) error { return tx.Commit() },
		Rollback: func(context.Context) error { return tx.Rollback() },
		Gone:     func(ctx context.Context) bool { return d.gone(ctx, tx) },
	}, nil
}

// gone asks for an answer, be it that the transaction is doomed.
func (d stdDB) gone(ctx context.Context, tx *sql.Tx) bool {
	if d.dialect == SQLite {
		return false
	}
	_, err := tx.ExecContext(ctx, "SELECT 1")
	fault := d.dialect.FaultOf(err)
	return err != nil && !errors.Is(err, sql.ErrTxDone) && !Ended(err) && (fault == Lost || fault == Other)
}
