package sqlite

import (
	"context"
	"errors"
	"fmt"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/duly-dev/duly"
)

// primary is the primary result code of an error of SQLite, 0 for any other.
func primary(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}

// unsound reports whether the connection itself is in doubt after an error and
// is better opened anew.
func unsound(err error) bool {
	switch primary(err) {
	case lib.SQLITE_IOERR, lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB, lib.SQLITE_CANTOPEN, lib.SQLITE_READONLY, lib.SQLITE_NOMEM, lib.SQLITE_MISUSE:
		return true
	}
	return false
}

// classify gives an error of the driver its code and says what to do. Errors
// that have a code pass.
func (s *Store) classify(err error) error {
	var known *duly.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return unavailable(err, "the call ended before the store answered: %v", err)
	}
	file := s.cfg.path
	switch primary(err) {
	case 0:
		return &duly.Error{Code: duly.CodeInternal, Message: err.Error(), Err: err}
	case lib.SQLITE_FULL:
		return unavailable(err, "%s cannot grow: the disk (or max_page_count) is full; make room and everything goes on by itself", file)
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED:
		return unavailable(err, "%s is locked by another process for longer than %v", file, s.cfg.busy)
	case lib.SQLITE_READONLY:
		return unavailable(err, "%s cannot be written: check the permissions of the file and of its directory (%v)", file, err)
	case lib.SQLITE_IOERR:
		return unavailable(err, "reading or writing %s failed: check the disk (%v)", file, err)
	case lib.SQLITE_CANTOPEN:
		return unavailable(err, "%s cannot be opened: check that the directory exists and may be written (%v)", file, err)
	case lib.SQLITE_NOTADB:
		return &duly.Error{Code: duly.CodeInvalid, Field: "store", Message: file + " is not a SQLite database; choose another file", Err: err}
	case lib.SQLITE_CORRUPT:
		return unavailable(err, "%s is damaged: stop Duly, keep a copy, and restore a backup or recover it with sqlite3's .recover (%v)", file, err)
	case lib.SQLITE_INTERRUPT, lib.SQLITE_NOMEM, lib.SQLITE_PROTOCOL:
		return unavailable(err, "%s: %v", file, err)
	}
	return &duly.Error{Code: duly.CodeInternal, Message: fmt.Sprintf("%s: %v", file, err), Err: err}
}

func unavailable(cause error, format string, args ...any) *duly.Error {
	return &duly.Error{Code: duly.CodeUnavailable, Message: fmt.Sprintf(format, args...), Err: cause}
}

func notFound(kind, id string) *duly.Error {
	return duly.Errorf(duly.CodeNotFound, "%s %s does not exist", kind, id)
}
