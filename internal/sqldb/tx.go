package sqldb

import (
	"context"
	"database/sql"

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
	// Raw is the transaction as the application's driver calls it.
	Raw() any
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

// Session is a transaction that we began. Rollback after Commit does nothing.
type Session[X any] struct {
	Tx
	Native   X
	Commit   func(ctx context.Context) error
	Rollback func(ctx context.Context) error
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
func (t stdTx) Raw() any         { return t.s }

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
		Tx: NewTx(d.dialect, tx), Native: tx,
		Commit:   func(context.Context) error { return tx.Commit() },
		Rollback: func(context.Context) error { return tx.Rollback() },
	}, nil
}
