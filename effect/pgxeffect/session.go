package pgxeffect

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/internal/sqldb"
)

// session is a transaction of our own. It begins in the round trip of its first
// statements.
type session struct {
	pgxTx        // its tx is nil until it has begun
	later sender // begins it then
}

type sender interface {
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

func (s *session) Send(ctx context.Context, all ...sqldb.Statement) error {
	if s.tx != nil {
		return s.pgxTx.Send(ctx, all...)
	}
	line := &pgx.Batch{}
	line.BeginTx(pgx.TxOptions{})
	queue(line, all)
	answers := s.later.SendBatch(ctx, line)
	s.tx = answers.Tx()
	_, err := answers.Exec()
	if err == nil {
		err = read(answers, all)
	}
	if closed := answers.Close(); err == nil {
		err = closed
	}
	c := s.tx.Conn()
	if err != nil && c == nil && !sqldb.Ended(err) && sqldb.Postgres.FaultOf(err) == sqldb.Other {
		return gone{err} // the pool had none to give
	}
	return lost(c, err)
}

func (s *session) Exec(ctx context.Context, query string, args ...any) (n int64, err error) {
	if s.tx != nil {
		return s.pgxTx.Exec(ctx, query, args...)
	}
	err = s.Send(ctx, sqldb.Statement{Query: query, Args: args, Changed: func(rows int64) error {
		n = rows
		return nil
	}})
	return n, err
}

func (s *session) Query(ctx context.Context, query string, args []any, each func(sqldb.Row) error) error {
	if s.tx != nil {
		return s.pgxTx.Query(ctx, query, args, each)
	}
	return s.Send(ctx, sqldb.Statement{Query: query, Args: args, Each: each})
}

func (s *session) commit(ctx context.Context) error {
	if s.tx == nil {
		return nil
	}
	err := s.tx.Commit(ctx)
	if errors.Is(err, pgx.ErrTxCommitRollback) {
		return duly.Errorf(duly.CodeInvalid, "the transaction was rolled back: an error in it was passed over: %w", err)
	}
	return err
}

func (s *session) rollback(ctx context.Context) error {
	if s.tx == nil {
		return nil
	}
	return s.tx.Rollback(ctx)
}

func (s *session) gone(context.Context) bool {
	if s.tx == nil || hasEnded(s.tx) {
		return false
	}
	c := s.tx.Conn()
	return c != nil && c.IsClosed()
}
