package pgxeffect

import (
	"errors"
	"net"

	"github.com/jackc/pgx/v5"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/internal/sqldb"
)

// lost makes an error of a connection that is gone, or was never there, one that
// package sqldb knows as such: not all of pgx's say so.
func lost(tx pgx.Tx, err error) error {
	switch {
	case err == nil, sqldb.Ended(err), errors.Is(err, pgx.ErrTxClosed), duly.CodeOf(err) != duly.CodeInternal:
		return err
	case sqldb.Postgres.FaultOf(err) != sqldb.Other:
		return err
	}
	if c := tx.Conn(); c != nil && !c.IsClosed() {
		return err
	}
	return gone{err}
}

type gone struct{ error }

func (e gone) Unwrap() []error { return []error{e.error, net.ErrClosed} }
