package sqldb

import (
	"strconv"
	"strings"

	"github.com/duly-dev/duly"
)

// Dialect is a kind of SQL.
type Dialect string

// The dialects. MySQL is MariaDB's too.
const (
	SQLite   Dialect = "sqlite"
	Postgres Dialect = "postgres"
	MySQL    Dialect = "mysql"
)

// Check answers an error for anything but the three dialects.
func (d Dialect) Check() error {
	switch d {
	case SQLite, Postgres, MySQL:
		return nil
	}
	return duly.Invalid("dialect", "is %q; known are sqlite, postgres and mysql", string(d))
}

// Rebind turns the ? of a statement into what the dialect calls a parameter.
// Statements hold no other question mark.
func (d Dialect) Rebind(query string) string {
	if d != Postgres {
		return query
	}
	var b strings.Builder
	b.Grow(len(query) + 16)
	for n := 1; ; n++ {
		before, after, found := strings.Cut(query, "?")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		b.WriteByte('$')
		b.WriteString(strconv.Itoa(n))
		query = after
	}
}

// Now is the database's clock as an SQL expression: microseconds since 1970 in
// UTC, as of the moment and not of the transaction's begin.
func (d Dialect) Now() string {
	switch d {
	case Postgres:
		return "(extract(epoch from clock_timestamp()) * 1000000)::bigint"
	case MySQL:
		return "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))"
	}
	return "CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER) * 1000"
}

// Latest ends a SELECT that must see what others have committed by now. MySQL
// would otherwise answer as of the transaction's first read; it takes a lock on
// what is read for that.
func (d Dialect) Latest() string {
	if d == MySQL {
		return " LOCK IN SHARE MODE"
	}
	return ""
}

// ForUpdate ends a SELECT of a row that nobody else may change until the
// transaction ends. SQLite has one writer at a time and needs no words for it.
func (d Dialect) ForUpdate() string {
	if d == SQLite {
		return ""
	}
	return " FOR UPDATE"
}
