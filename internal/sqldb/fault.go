package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"reflect"
	"strings"
	"syscall"
)

// Fault is what a database's error means to a transaction.
type Fault int

// The faults. Other is everything that is nothing of these.
const (
	Other     Fault = iota
	Conflict        // serialization failure, deadlock, busy: the whole transaction can be tried again
	Lost            // the connection is gone, and with it the answer
	Aborted         // an earlier error has already doomed the transaction
	ReadOnly        // the transaction or the database takes no writes
	NoTable         // a table or a column of ours is missing, or not as it should be
	Generic         // SQLite's code for what has no code of its own, a missing table too
	Duplicate       // a unique key is taken
	Refused         // any other answer of the database itself
)

// FaultOf reads an error by the code that the driver gives, never by its text.
// No driver is linked for that: PostgreSQL's answer SQLState() (pgx, lib/pq),
// MySQL's holds a Number (go-sql-driver), SQLite's a Code (modernc, mattn,
// ncruces).
func (d Dialect) FaultOf(err error) Fault {
	fault := Other
	walk(err, func(e error) bool {
		fault = d.faultOf(e)
		return fault != Other
	})
	return fault
}

func (d Dialect) faultOf(err error) Fault {
	switch d {
	case Postgres:
		if e, ok := err.(interface{ SQLState() string }); ok {
			return postgresFault(e.SQLState())
		}
	case MySQL:
		if n, ok := number(err, "Number", reflect.Uint16); ok {
			return mysqlFault(n)
		}
	case SQLite:
		if n, ok := sqliteCode(err); ok {
			return sqliteFault(n)
		}
	}
	switch err {
	case driver.ErrBadConn, sql.ErrConnDone, io.EOF, io.ErrUnexpectedEOF, net.ErrClosed,
		syscall.ECONNRESET, syscall.ECONNREFUSED, syscall.EPIPE:
		return Lost
	}
	return Other
}

func postgresFault(state string) Fault {
	switch state {
	case "40001", "40P01", "55P03": // serialization failure, deadlock, lock not available
		return Conflict
	case "23505":
		return Duplicate
	case "25P02":
		return Aborted
	case "25006":
		return ReadOnly
	case "42P01", "42703": // undefined table, undefined column
		return NoTable
	case "57P01", "57P02", "57P03", "25P03": // shutting down, crashed, starting up, idle for too long
		return Lost
	}
	if strings.HasPrefix(state, "08") {
		return Lost
	}
	return Refused
}

func mysqlFault(number int64) Fault {
	switch number {
	case 1205, 1213, 1020, 3572, 1614: // lock wait timeout, deadlock, row changed since it was read, no wait, branch rolled back by deadlock
		return Conflict
	case 1062, 1586:
		return Duplicate
	case 1290, 1792, 1836: // --read-only, read-only transaction, read-only mode
		return ReadOnly
	case 1146, 1054, 1364: // no such table, unknown column, a column without its default
		return NoTable
	case 1053, 1077, 1927, 1047: // shutting down, shut down, killed, not ready
		return Lost
	}
	return Refused
}

func sqliteFault(code int64) Fault {
	if code == 1555 || code == 2067 { // primary key, unique constraint
		return Duplicate
	}
	switch code & 0xff { // the primary code
	case 1:
		return Generic
	case 5, 6: // busy, locked
		return Conflict
	case 8:
		return ReadOnly
	}
	return Refused
}

// sqliteCode reads the code of an SQLite driver's error: a method or a field.
// Errors of other packages have codes too, so the package's name counts.
func sqliteCode(err error) (int64, bool) {
	v := reflect.ValueOf(err)
	if !strings.Contains(packageOf(v.Type()), "sqlite") {
		return 0, false
	}
	if m := v.MethodByName("Code"); m.IsValid() && m.Type().NumIn() == 0 && m.Type().NumOut() == 1 {
		if out := m.Type().Out(0); isInteger(out.Kind()) {
			return integer(m.Call(nil)[0]), true
		}
	}
	return number(err, "Code", reflect.Int)
}

// number reads a field of an error that is a struct.
func number(err error, field string, kind reflect.Kind) (int64, bool) {
	v := reflect.ValueOf(err)
	if v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return 0, false
	}
	f := v.FieldByName(field)
	if !f.IsValid() || f.Kind() != kind {
		return 0, false
	}
	return integer(f), true
}

func packageOf(t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.PkgPath()
}

func isInteger(k reflect.Kind) bool { return k >= reflect.Int && k <= reflect.Uint64 }

func integer(v reflect.Value) int64 {
	if v.CanInt() {
		return v.Int()
	}
	return int64(v.Uint())
}

// walk visits an error and what it wraps, until visit says that is enough.
func walk(err error, visit func(error) bool) bool {
	if err == nil {
		return false
	}
	if visit(err) {
		return true
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		return walk(e.Unwrap(), visit)
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			if walk(inner, visit) {
				return true
			}
		}
	}
	return false
}

// Ended reports whether err says that ctx ended.
func Ended(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
