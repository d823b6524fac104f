package pgxeffect

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/effect"
	"github.com/duly-dev/duly/internal/sqldb"
)

// Tx hands an open transaction over to effect.Once, effect.Batch and
// fence.Check.
func Tx(tx pgx.Tx) effect.Tx { return pgxTx{tx} }

// Beginner begins transactions: a *pgxpool.Pool, or a *pgx.Conn that nobody else
// uses meanwhile.
type Beginner interface {
	BeginTx(ctx context.Context, options pgx.TxOptions) (pgx.Tx, error)
}

// DB hands a pool over to effect.Do, effect.DoBatch, effect.External and the
// like.
func DB(db Beginner) effect.DB[pgx.Tx] { return pgxDB{db} }

type pgxTx struct{ tx pgx.Tx }

func (t pgxTx) Dialect() sqldb.Dialect { return sqldb.Postgres }

func (t pgxTx) Send(ctx context.Context, all ...sqldb.Statement) error {
	if t.tx == nil {
		return duly.Invalid("tx", "is missing")
	}
	return lost(t.tx.Conn(), send(ctx, t.tx, all))
}

func (t pgxTx) Raw(_ context.Context, first ...sqldb.Statement) (any, func() (bool, error), error) {
	if t.tx == nil {
		return nil, nil, duly.Invalid("tx", "is missing")
	}
	if hasEnded(t.tx) {
		return nil, nil, errEnded
	}
	if len(first) == 0 {
		return t.tx, func() (bool, error) { return true, nil }, nil
	}
	// Outside of a transaction a batch would be one of its own, and commit.
	if t.tx.Conn().PgConn().TxStatus() == 'I' {
		return nil, nil, errEnded
	}
	p := &preceded{Tx: t.tx, first: first}
	return p, func() (bool, error) { return len(p.first) == 0, p.err }, nil
}

func (t pgxTx) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	if t.tx == nil {
		return 0, duly.Invalid("tx", "is missing")
	}
	tag, err := t.tx.Exec(ctx, sqldb.Postgres.Rebind(query), args...)
	return tag.RowsAffected(), lost(t.tx.Conn(), err)
}

func (t pgxTx) Query(ctx context.Context, query string, args []any, each func(sqldb.Row) error) error {
	if t.tx == nil {
		return duly.Invalid("tx", "is missing")
	}
	rows, err := t.tx.Query(ctx, sqldb.Postgres.Rebind(query), args...)
	if err != nil {
		return lost(t.tx.Conn(), err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := each(rows); err != nil {
			return err
		}
	}
	return lost(t.tx.Conn(), rows.Err())
}

var errEnded = duly.Errorf(duly.CodeConflict, "the transaction has been ended already")

type pgxDB struct{ db Beginner }

func (d pgxDB) Dialect() sqldb.Dialect { return sqldb.Postgres }

func (d pgxDB) Begin(ctx context.Context) (sqldb.Session[pgx.Tx], error) {
	s := &session{}
	switch db := d.db.(type) {
	case nil:
		return sqldb.Session[pgx.Tx]{}, duly.Invalid("db", "is missing")
	case *pgxpool.Pool:
		s.later = db
	case *pgx.Conn:
		s.later = db
	default: // which may do more than to begin
		tx, err := db.BeginTx(ctx, pgx.TxOptions{})
		if err != nil {
			return sqldb.Session[pgx.Tx]{}, err
		}
		s.tx = tx
	}
	return sqldb.Session[pgx.Tx]{Tx: s, Native: func() pgx.Tx { return s.tx }, Commit: s.commit, Rollback: s.rollback, Gone: s.gone}, nil
}
