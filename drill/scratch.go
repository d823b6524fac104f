package drill

import (
	"context"
	"crypto/rand"
	"database/sql"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/duly-dev/duly"
)

// scratch is a store of a scenario's own, in which everything may be broken.
type scratch struct {
	// nodes is the URL by which nodes reach the store, through what can be cut;
	// direct the one that always works.
	nodes, direct string
	// app is the sample's database.
	app string
	// cut takes the store away from the nodes, until back is called.
	cut func() (back func(), err error)

	closers []func()
}

func (s *scratch) close() {
	for i := len(s.closers) - 1; i >= 0; i-- {
		s.closers[i]()
	}
}

func storeKind(address string) string {
	if strings.HasPrefix(address, "postgres") {
		return "postgres"
	}
	return "sqlite"
}

func newScratch(ctx context.Context, address, dir string) (*scratch, error) {
	switch {
	case storeKind(address) == "postgres":
		return newSchema(ctx, address)
	case address == "sqlite" || strings.HasPrefix(address, "sqlite:"):
		return newFile(dir), nil
	}
	return nil, duly.Invalid("store", "drills are played on SQLite and PostgreSQL: give postgres://…, or no store for scratch files")
}

// busyTimeout is how long a node waits for a file that another one holds: well
// within a lease.
const busyTimeout = "200ms"

// newFile makes files. They are cut off by whoever holds the lock on writing:
// a backup that hangs, another program, a person in a shell.
func newFile(dir string) *scratch {
	file := filepath.Join(dir, "duly.db")
	// A drill kills processes and never the machine, so syncing to the disk
	// would only cost time.
	s := &scratch{direct: "sqlite:" + file + "?synchronous=normal", app: "sqlite:" + filepath.Join(dir, "app.db")}
	s.nodes = s.direct + "&busy_timeout=" + busyTimeout
	s.cut = func() (func(), error) {
		db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", OmitHost: true, Path: file}).String()+"?_pragma=busy_timeout(10000)")
		if err != nil {
			return nil, err
		}
		db.SetMaxOpenConns(1)
		if _, err = db.Exec("BEGIN EXCLUSIVE"); err != nil {
			_ = db.Close()
			return nil, err
		}
		return func() { _, _ = db.Exec("ROLLBACK"); _ = db.Close() }, nil
	}
	return s
}

// newSchema makes a schema in a database, which nodes reach through a proxy
// that can be cut.
func newSchema(ctx context.Context, address string) (*scratch, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, duly.Invalid("store", "is no URL")
	}
	plain := *u
	query := plain.Query()
	for _, ours := range []string{"schema", "pgbouncer", "listen_url", "max_conns", "statement_timeout", "poll"} {
		query.Del(ours)
	}
	plain.RawQuery = query.Encode()
	cfg, err := pgx.ParseConfig(plain.String())
	if err != nil {
		return nil, duly.Invalid("store", "cannot be read: %v", err)
	}
	name := "duly_drill_" + strings.ToLower(rand.Text()[:10])
	if err := execOn(ctx, cfg, "CREATE SCHEMA "+pgx.Identifier{name + "_app"}.Sanitize()); err != nil {
		return nil, duly.Errorf(duly.CodeUnavailable, "a scratch schema in %s: %w", u.Redacted(), err)
	}
	s := &scratch{}
	s.closers = append(s.closers, func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		for _, schema := range []string{name, name + "_app"} {
			_ = execOn(ctx, cfg, "DROP SCHEMA IF EXISTS "+pgx.Identifier{schema}.Sanitize()+" CASCADE")
		}
	})
	line, err := newProxy(pgNetwork(cfg.Host, cfg.Port))
	if err != nil {
		s.close()
		return nil, err
	}
	s.closers = append(s.closers, line.close)

	s.direct = withQuery(*u, map[string]string{"schema": name, "max_conns": "4"})
	app := plain
	s.app = withQuery(app, map[string]string{"search_path": name + "_app"})
	proxied := *u
	proxied.Host = line.address()
	fresh := map[string]string{"schema": name, "max_conns": "4", "connect_timeout": "2", "host": "", "port": "", "listen_url": ""}
	if u.Query().Get("sslmode") == "verify-full" {
		fresh["sslmode"] = "verify-ca" // the proxy has another name than the server
	}
	s.nodes = withQuery(proxied, fresh)
	s.cut = func() (func(), error) { line.cut(); return line.mend, nil }
	return s, nil
}

// withQuery sets parameters of a URL, and removes those that are empty.
func withQuery(u url.URL, set map[string]string) string {
	query := u.Query()
	for name, value := range set {
		if value == "" {
			query.Del(name)
		} else {
			query.Set(name, value)
		}
	}
	u.RawQuery = query.Encode()
	return u.String()
}

func execOn(ctx context.Context, cfg *pgx.ConnConfig, statement string) error {
	conn, err := pgx.ConnectConfig(ctx, cfg.Copy())
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	_, err = conn.Exec(ctx, statement)
	return err
}

// scratchFolder is a folder of a scenario's own.
func scratchFolder() (dir string, remove func(), err error) {
	dir, err = os.MkdirTemp("", "duly-drill-")
	if err != nil {
		return "", nil, err
	}
	return dir, func() { _ = os.RemoveAll(dir) }, nil
}
