package effect

import (
	"database/sql"
	_ "embed"
	"strings"

	"github.com/duly-dev/duly/internal/sqldb"
)

// Dialect is the kind of SQL that the application's database speaks. It is
// named and not guessed: database/sql does not tell what is behind a
// transaction.
type Dialect string

// The dialects. MySQL is MariaDB's too.
const (
	SQLite   Dialect = "sqlite"
	Postgres Dialect = "postgres"
	MySQL    Dialect = "mysql"
)

// ParseDialect reads a dialect's name as people write it: sqlite, sqlite3,
// postgres, postgresql, pgx, mysql, mariadb.
func ParseDialect(name string) (Dialect, error) {
	switch strings.ToLower(name) {
	case "sqlite", "sqlite3":
		return SQLite, nil
	case "postgres", "postgresql", "pgx":
		return Postgres, nil
	case "mysql", "mariadb":
		return MySQL, nil
	}
	return "", sqldb.Dialect(name).Check()
}

// Tx is the application's own open transaction. [Dialect.Tx] makes one of a
// *sql.Tx, and package pgxeffect of a pgx.Tx. Its methods are Duly's business.
type Tx = sqldb.Tx

// DB begins transactions in the application's database. [Dialect.DB] makes one
// of a *sql.DB, and package pgxeffect of a pool of pgx. X is what a transaction
// is called there: *sql.Tx or pgx.Tx.
type DB[X any] = sqldb.DB[X]

// Statements is what a transaction of database/sql can do. A *sql.Tx is one, so
// is what wraps it (sqlx, bun), and a *sql.Conn between BEGIN and COMMIT. A
// *sql.DB is refused, since its statements are in no transaction.
type Statements = sqldb.Statements

// Tx hands a transaction over to [Once] and [Batch], and to fence.Check.
func (d Dialect) Tx(tx Statements) Tx { return sqldb.NewTx(sqldb.Dialect(d), tx) }

// DB hands a database over to [Do], [DoBatch], [External] and the like.
//
// SQLite is best opened with a busy timeout and transactions that are writers
// from the start; with modernc.org/sqlite:
// "file:app.db?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_txlock=immediate".
// MySQL saves a round trip in every statement with "interpolateParams=true".
func (d Dialect) DB(db *sql.DB) DB[*sql.Tx] { return sqldb.NewDB(sqldb.Dialect(d), db) }

var (
	//go:embed ddl/sqlite.sql
	sqliteDDL string
	//go:embed ddl/postgres.sql
	postgresDDL string
	//go:embed ddl/mysql.sql
	mysqlDDL string
)

// DDL is the SQL that creates the ledger's tables where they do not exist, for
// those who migrate their database by other means than [Migrate]. It is empty
// for an unknown dialect.
func DDL(d Dialect) string {
	switch d {
	case SQLite:
		return sqliteDDL
	case Postgres:
		return postgresDDL
	case MySQL:
		return mysqlDDL
	}
	return ""
}
