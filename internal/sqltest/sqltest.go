//go:build unix

package sqltest

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"path/filepath"
	"sync"
	"testing"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"
)

// Servers are the servers of a test binary. The zero value is ready.
type Servers struct {
	// Durable makes them sync every commit to the disk, as in production.
	// Without it tests are quicker, and only a crash of the server would tell.
	Durable bool

	mu       sync.Mutex
	postgres *server
	mariadb  *server
	made     int // databases
}

// Database is a fresh database of one test.
type Database struct {
	Name    string // sqlite, postgres, mariadb
	Dialect string // sqlite, postgres, mysql
	Driver  string // what database/sql knows its driver as
	DSN     string // for pgx itself too
}

// Run runs the tests, then stops the servers, and answers the exit code.
func (s *Servers) Run(m *testing.M) int {
	defer s.Stop()
	return m.Run()
}

// Stop stops what was started and removes its files.
func (s *Servers) Stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, srv := range []*server{s.postgres, s.mariadb} {
		if srv != nil {
			srv.stop()
		}
	}
	s.postgres, s.mariadb = nil, nil
}

// Each runs a test once with each kind of database.
func (s *Servers) Each(t *testing.T, test func(t *testing.T, d Database)) {
	t.Helper()
	for _, kind := range []struct {
		name string
		open func(testing.TB) Database
	}{{"sqlite", SQLite}, {"postgres", s.Postgres}, {"mariadb", s.MariaDB}} {
		t.Run(kind.name, func(t *testing.T) { test(t, kind.open(t)) })
	}
}

// SQLite gives a test an SQLite file, opened the way Duly recommends.
func SQLite(t testing.TB) Database {
	file := url.URL{Scheme: "file", OmitHost: true, Path: filepath.Join(t.TempDir(), "app.db")}
	dsn := file.String() + "?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)&_txlock=immediate"
	return Database{Name: "sqlite", Dialect: "sqlite", Driver: "sqlite", DSN: dsn}
}

// Postgres gives a test a database on a PostgreSQL server.
func (s *Servers) Postgres(t testing.TB) Database {
	t.Helper()
	srv, name := s.server(t, &s.postgres, startPostgres)
	db := Database{Name: "postgres", Dialect: "postgres", Driver: "pgx", DSN: srv.dsn(name)}
	create(t, db.Driver, srv.dsn("postgres"), name)
	return db
}

// MariaDB gives a test a database on a MariaDB server.
func (s *Servers) MariaDB(t testing.TB) Database {
	t.Helper()
	srv, name := s.server(t, &s.mariadb, startMariaDB)
	db := Database{Name: "mariadb", Dialect: "mysql", Driver: "mysql", DSN: srv.dsn(name)}
	create(t, db.Driver, srv.dsn(""), name)
	return db
}

// server answers a running server and a new database's name.
func (s *Servers) server(t testing.TB, slot **server, start func(durable bool) (*server, error)) (*server, string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if *slot == nil {
		srv, err := start(s.Durable)
		if err != nil {
			t.Fatal(err)
		}
		*slot = srv
	}
	s.made++
	return *slot, fmt.Sprintf("test_%d", s.made)
}

func create(t testing.TB, driver, dsn, name string) {
	t.Helper()
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(context.Background(), "CREATE DATABASE "+name); err != nil {
		t.Fatal(err)
	}
}

// Open opens the database until the test ends.
func (d Database) Open(t testing.TB) *sql.DB {
	t.Helper()
	db, err := sql.Open(d.Driver, d.DSN)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("close %s: %v", d.Name, err)
		}
	})
	return db
}
