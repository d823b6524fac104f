package pgxeffect

import (
	"context"
	"errors"
	"net"

	"github.com/jackc/pgx/v5"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/internal/sqldb"
)

// lost makes an error of a connection that is gone one that package sqldb knows
// as such: not all of pgx's say so.
func lost(c *pgx.Conn, err error) error {
	switch {
	case err == nil, sqldb.Ended(err), errors.Is(err, pgx.ErrTxClosed), duly.CodeOf(err) != duly.CodeInternal:
		return err
	case sqldb.Postgres.FaultOf(err) == sqldb.Other && c != nil && c.IsClosed():
		return gone{err}
	}
	return err
}

type gone struct{ error }

func (e gone) Unwrap() []error { return []error{e.error, net.ErrClosed} }

// hasEnded reports whether a transaction was ended by its handle. Its connection
// is somebody else's then.
func hasEnded(tx pgx.Tx) bool {
	return errors.Is(tx.SendBatch(context.Background(), &pgx.Batch{}).Close(), pgx.ErrTxClosed)
}
