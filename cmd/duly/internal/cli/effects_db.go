package cli

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib" // pgx
	"github.com/spf13/cobra"
	_ "modernc.org/sqlite" // sqlite

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/effect"
)

const dbHelp = "the application's `database`: sqlite:FILE, postgres://USER@HOST/NAME or mysql://USER@HOST/NAME (DULY_DB)"

const dbHint = "name it as sqlite:FILE, postgres://USER:PASSWORD@HOST/NAME or mysql://USER:PASSWORD@HOST/NAME, with --db or in DULY_DB"

// dbFlag adds --db. The environment keeps a password out of the list of
// processes.
func dbFlag(c *cobra.Command, db *string) { c.Flags().StringVar(db, "db", "", dbHelp) }

// intent is what a command wants with the application's database.
type intent int

const (
	toRead   intent = iota // nothing is made or changed
	toChange               // rows are
	toMake                 // tables are
)

// ledger opens the effect ledger in the application's database.
func (inv *invocation) ledger(ctx context.Context, flag string, want intent) (effect.DB[*sql.Tx], error) {
	raw := cmp.Or(flag, inv.getenv("DULY_DB"))
	if raw == "" {
		return nil, withHint(usagef("which database holds the effect ledger?"), dbHint)
	}
	at, err := parseDB(raw, want)
	if err != nil {
		return nil, withHint(err, dbHint)
	}
	db, err := sql.Open(at.driver, at.dsn)
	if err != nil {
		return nil, withHint(duly.Invalid("db", "%s: %v", visibleURL(raw), err), dbHint)
	}
	inv.closers = append(inv.closers, db.Close)
	db.SetMaxOpenConns(4)
	if err := db.PingContext(ctx); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, duly.Errorf(duly.CodeUnavailable, "the application's database %s does not answer: %w", visibleURL(raw), err)
	}
	return at.dialect.DB(db), nil
}

// database is how database/sql finds one.
type database struct {
	dialect     effect.Dialect
	driver, dsn string
}

// parseDB reads an URL. Its scheme names the dialect.
func parseDB(raw string, want intent) (database, error) {
	scheme, rest, ok := strings.Cut(raw, ":")
	if !ok {
		return database{}, duly.Invalid("db", "%q names no kind of database", raw)
	}
	dialect, err := effect.ParseDialect(scheme)
	if err != nil {
		return database{}, duly.Invalid("db", "databases of the kind %q are not known", scheme)
	}
	switch dialect {
	case effect.SQLite:
		dsn, err := sqliteDSN(rest, want)
		return database{dialect, "sqlite", dsn}, err
	case effect.MySQL:
		dsn, err := mysqlDSN(raw)
		return database{dialect, "mysql", dsn}, err
	}
	return database{dialect, "pgx", "postgres:" + rest}, nil
}

// sqliteDSN names an SQLite file as effect.Dialect.DB advises.
func sqliteDSN(rest string, want intent) (string, error) {
	file := strings.TrimPrefix(rest, "//") // sqlite://app.db, sqlite:///var/lib/app.db
	if file == "" || strings.HasPrefix(file, ":memory:") {
		return "", duly.Invalid("db", "sqlite:%s names no file", rest)
	}
	path, err := filepath.Abs(file)
	if err != nil {
		return "", duly.Invalid("db", "sqlite:%s: %v", rest, err)
	}
	q := url.Values{"mode": {"rw"}, "_pragma": {"busy_timeout(5000)"}}
	switch want {
	case toRead:
		q.Add("_pragma", "query_only(1)")
	case toChange:
		q.Set("_txlock", "immediate")
	case toMake:
		q.Set("_txlock", "immediate")
		q.Set("mode", "rwc")
	}
	if _, err := os.Stat(path); want != toMake && errors.Is(err, fs.ErrNotExist) {
		return "", duly.Errorf(duly.CodeNotFound, "the application's database %s does not exist", file)
	}
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // a Windows drive
	}
	return (&url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}).String(), nil
}

// mysqlDSN turns an URL into what the driver reads. Its parameters are the
// driver's own, and socket for one on this host.
func mysqlDSN(raw string) (string, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return "", duly.Invalid("db", "%v", withoutURL(err))
	}
	name := strings.TrimPrefix(u.Path, "/")
	if name == "" || strings.Contains(name, "/") {
		return "", duly.Invalid("db", "%s names no database after the host", visibleURL(raw))
	}
	cfg := mysql.NewConfig()
	cfg.User, cfg.DBName, cfg.InterpolateParams = u.User.Username(), name, true
	cfg.Passwd, _ = u.User.Password()
	cfg.Net, cfg.Addr = "tcp", u.Host
	if u.Port() == "" {
		cfg.Addr = cmp.Or(u.Host, "127.0.0.1") + ":3306"
	}
	q := u.Query()
	if socket := q.Get("socket"); socket != "" {
		cfg.Net, cfg.Addr = "unix", socket
		q.Del("socket")
	}
	dsn := cfg.FormatDSN()
	if len(q) > 0 {
		dsn += "&" + q.Encode()
	}
	if _, err := mysql.ParseDSN(dsn); err != nil {
		return "", duly.Invalid("db", "%s: %v", visibleURL(raw), err)
	}
	return dsn, nil
}

// withoutURL takes the URL, and the password in it, out of an error.
func withoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}
