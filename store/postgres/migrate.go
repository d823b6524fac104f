package postgres

import (
	"context"
	"embed"
	"fmt"
	"io/fs"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

//go:embed migrations/*.sql
var migrations embed.FS

// steps lists the migrations in order. The schema's version is their count.
func steps() ([]string, error) {
	names, err := fs.Glob(migrations, "migrations/*.sql") // sorted
	if err != nil {
		return nil, err
	}
	list := make([]string, len(names))
	for i, name := range names {
		text, err := migrations.ReadFile(name)
		if err != nil {
			return nil, err
		}
		list[i] = string(text)
	}
	return list, nil
}

// oldestServer is PostgreSQL 13, as server_version_num says it.
const oldestServer = 130000

// prepareSchema checks the schema, and makes or migrates it if that is wanted.
func (s *Store) prepareSchema(ctx context.Context, opt store.Options) error {
	list, err := steps()
	if err != nil {
		return err
	}
	pc, err := s.acquire(ctx)
	if err != nil {
		return err
	}
	defer pc.Release()
	c := newConn(ctx, &s.dialect, pc.Conn())
	if err := s.checkServer(c); err != nil {
		return err
	}
	older, err := s.checkVersion(c, len(list))
	if err != nil || !older {
		return err
	}
	if opt.NoMigrate || opt.ReadOnly {
		return missing(s.cfg.name, fmt.Sprintf("has no schema %q of version %d; run duly migrate", s.cfg.schema, len(list)))
	}
	return s.migrate(c, list)
}

// checkServer refuses servers that are too old, and databases that cannot hold
// every text: what a command prints in one language must not be in the way of
// its report. SQL_ASCII keeps bytes as they are, which will do.
func (s *Store) checkServer(c *conn) error {
	var version int64
	var encoding string
	if _, err := c.one("SELECT current_setting('server_version_num')::bigint, current_setting('server_encoding')", nil, func(r row) {
		version, encoding = r.int(0), r.str(1)
	}); err != nil {
		return err
	}
	if version < oldestServer {
		return duly.Invalid("store", "%s is PostgreSQL %d; 13 or later is needed", s.cfg.name, version/10000)
	}
	if encoding != "UTF8" && encoding != "SQL_ASCII" {
		return duly.Invalid("store", "%s holds text as %s, which not every text fits into: make a database for Duly (CREATE DATABASE duly ENCODING 'UTF8' LOCALE 'C.UTF-8' TEMPLATE template0)", s.cfg.name, encoding)
	}
	return nil
}

// version is that of the schema, 0 where there is none.
func (s *Store) version(c *conn) (n int64, err error) {
	there, err := c.number("SELECT count(*) FROM pg_class k JOIN pg_namespace n ON n.oid = k.relnamespace WHERE n.nspname = ? AND k.relname = 'schema_version'", s.cfg.schema)
	if err != nil || there == 0 {
		return 0, err
	}
	return c.number("SELECT version FROM duly.schema_version")
}

// checkVersion refuses a schema from a newer Duly and answers whether
// migrations are missing.
func (s *Store) checkVersion(c *conn, known int) (older bool, err error) {
	version, err := s.version(c)
	if err == nil && version > int64(known) {
		err = duly.Invalid("store", "%s has schema %q of a newer Duly (version %d; this one knows %d): use that version, or a schema of its own", s.cfg.name, s.cfg.schema, version, known)
	}
	return version < int64(known), err
}

// migrate brings the schema up to date in one transaction. Of many processes
// that open a new one at the same time, one makes it and the others, who wait
// for its lock, find it made. The lock ends with the transaction, so that it
// works behind a pooler.
func (s *Store) migrate(c *conn, list []string) (err error) {
	if _, err := c.exec("BEGIN"); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			c.undo()
		}
	}()
	if _, err := c.exec("SELECT pg_advisory_xact_lock(?, hashtext(?))", int32(lockMigrate), s.cfg.schema); err != nil {
		return err
	}
	older, err := s.checkVersion(c, len(list)) // again: somebody may have been faster
	if err != nil {
		return err
	}
	if !older {
		_, err = c.exec("COMMIT")
		return err
	}
	version, err := s.version(c)
	if err != nil {
		return err
	}
	if version == 0 {
		if err := c.script(`CREATE SCHEMA IF NOT EXISTS ` + s.dialect.schema + `; CREATE TABLE duly.schema_version (one boolean PRIMARY KEY DEFAULT true CHECK (one), version bigint NOT NULL);
			INSERT INTO duly.schema_version (version) VALUES (0)`); err != nil {
			return err
		}
	}
	for i, text := range list[version:] {
		if err := c.script(text); err != nil {
			return fmt.Errorf("migration %d: %w", int(version)+i+1, err)
		}
	}
	c.later("UPDATE duly.schema_version SET version = ?", int64(len(list)))
	_, err = c.exec("COMMIT")
	return err
}

// script runs statements that take no arguments.
func (c *conn) script(text string) error {
	_, err := c.pc.PgConn().Exec(c.ctx, c.render(text)).ReadAll()
	return err
}
