package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/duly-dev/duly"
)

// SQLSTATEs that this package asks about.
const (
	uniqueViolation      = "23505"
	serializationFailure = "40001"
	deadlockDetected     = "40P01"
	undefinedTable       = "42P01"
	invalidSchemaName    = "3F000"
	undefinedFunction    = "42883"
	readOnlyTransaction  = "25006"
	tooManyConnections   = "53300"
	diskFull             = "53100"
	queryCanceled        = "57014"
	lockNotAvailable     = "55P03"
	idleInTransaction    = "25P03"
	protocolClash        = "26000" // a prepared statement that is not there: a pooler is in between
	duplicatePrepared    = "42P05"
	noSuchCharacter      = "22021" // text with a NUL, or that is not UTF-8
)

// state is the SQLSTATE of an error of the server, "" for any other.
func state(err error) string {
	var e interface{ SQLState() string } // pgconn's, or that of the application's driver
	if errors.As(err, &e) {
		return e.SQLState()
	}
	return ""
}

// collided reports whether a transaction was undone because it met another one,
// so that beginning it anew is right.
func collided(err error) bool {
	switch state(err) {
	case serializationFailure, deadlockDetected:
		return true
	}
	return false
}

// disconnected reports whether the server cannot be reached or has ended the
// connection.
func disconnected(err error) bool {
	var connect *pgconn.ConnectError
	var network net.Error
	var e *pgconn.PgError
	switch {
	case errors.As(err, &connect), errors.As(err, &network):
		return true
	case errors.Is(err, pgconn.ErrConnClosed), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, driver.ErrBadConn), errors.Is(err, sql.ErrConnDone):
		return true
	case errors.As(err, &e):
		return strings.HasPrefix(e.Code, "08") || strings.HasPrefix(e.Code, "57P") || e.Code == idleInTransaction || e.Code == readOnlyTransaction
	}
	return false
}

// classify gives an error its code, by what the server calls it and never by
// its text, and says what to do. Errors that have a code pass.
func (s *Store) classify(err error) error {
	var known *duly.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	where := s.cfg.name
	switch state(err) {
	case "":
	case readOnlyTransaction:
		return unavailable(err, "%s only reads: it is a standby, or set read-only; name all hosts in the URL, and the one that writes is found", where)
	case tooManyConnections:
		return unavailable(err, "%s has no connection left: raise max_connections, or lower max_conns in the URL", where)
	case diskFull:
		return unavailable(err, "%s has no space left on its disk; make room and everything goes on by itself", where)
	case queryCanceled:
		return unavailable(err, "%s gave up on a statement: %v", where, err)
	case lockNotAvailable:
		return unavailable(err, "%s: another transaction, such as one of the application that completes an attempt, holds the schedule; try again", where)
	case protocolClash, duplicatePrepared:
		return unavailable(err, "%s is behind a pooler that does not keep prepared statements: add pgbouncer=true to the URL (%v)", where, err)
	case undefinedTable, invalidSchemaName, undefinedFunction:
		return &duly.Error{Code: duly.CodeInvalid, Field: "store", Message: where + " has lost its tables: run duly migrate, or restore a backup (" + err.Error() + ")", Err: err}
	case noSuchCharacter:
		return &duly.Error{Code: duly.CodeInvalid, Message: "a name or text holds a NUL or is not UTF-8", Err: err}
	default:
		return s.byClass(err)
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return unavailable(err, "the call ended before %s answered: %v", where, err)
	}
	if errors.Is(err, pgx.ErrNoRows) {
		return &duly.Error{Code: duly.CodeInternal, Message: err.Error(), Err: err}
	}
	// What is not of the server comes from the way to it.
	return unavailable(err, "%s cannot be reached: %v", where, err)
}

// byClass is for the errors that go by the first two letters.
func (s *Store) byClass(err error) error {
	switch class := state(err)[:2]; class {
	case "08", "40", "53", "55", "57", "58", "25":
		return unavailable(err, "%s: %v", s.cfg.name, err)
	case "28", "3D", "42":
		if state(err) == "42501" || class != "42" {
			return &duly.Error{Code: duly.CodeInvalid, Field: "store", Message: s.cfg.name + " refuses: " + err.Error(), Err: err}
		}
	}
	return &duly.Error{Code: duly.CodeInternal, Message: s.cfg.name + ": " + err.Error(), Err: err}
}

func unavailable(cause error, format string, args ...any) *duly.Error {
	e := duly.Errorf(duly.CodeUnavailable, format, args...)
	e.Err = cause
	return e
}

func notFound(kind, id string) *duly.Error {
	return duly.Errorf(duly.CodeNotFound, "%s %s does not exist", kind, id)
}

var errClosed = &duly.Error{Code: duly.CodeUnavailable, Message: "the store is closed"}
