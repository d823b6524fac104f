package sqlite

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"time"

	lib "modernc.org/sqlite/lib"

	"github.com/duly-dev/duly"
)

//go:embed migrations/*.sql
var migrations embed.FS

// applicationID marks a SQLite file as Duly's: "Duly" in ASCII.
const applicationID = 0x44756c79

// steps lists the migrations in order. The schema's version is their count and
// is kept in the file's header, with the application's mark.
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

// header is what the first page says about whose file this is.
type header struct {
	application, version int64
	empty                bool
}

func readHeader(ctx context.Context, c *conn) (h header, err error) {
	if h.application, err = c.number(ctx, "PRAGMA application_id"); err != nil {
		return h, err
	}
	if h.version, err = c.number(ctx, "PRAGMA user_version"); err != nil {
		return h, err
	}
	objects, err := c.number(ctx, "SELECT count(*) FROM sqlite_schema")
	h.empty = objects == 0 && h.application == 0 && h.version == 0
	return h, err
}

// readHeaderAlone is readHeader outside a transaction: it makes one of its own,
// or a file that another process is just making would be seen half made.
func readHeaderAlone(ctx context.Context, c *conn) (header, error) {
	if err := c.script(ctx, "BEGIN"); err != nil {
		return header{}, err
	}
	h, err := readHeader(ctx, c)
	if ended := c.script(context.WithoutCancel(ctx), "ROLLBACK"); err == nil {
		err = ended
	}
	return h, err
}

// check refuses a file that is not Duly's, or is from a newer Duly. It answers
// whether migrations are missing.
func (h header) check(path string, known int64) (older bool, err error) {
	switch {
	case h.empty:
		return true, nil
	case h.application != applicationID:
		return false, duly.Invalid("store", "%s is a SQLite database of another program (application_id %#x); choose another file", path, h.application)
	case h.version > known:
		return false, duly.Invalid("store", "%s was written by a newer Duly (schema %d; this one knows %d): use that version, or a file of its own", path, h.version, known)
	}
	return h.version < known, nil
}

// migrate brings the file up to date in one transaction, so that of several
// processes that open one new file at the same time, one makes it and the
// others find it made.
func (s *Store) migrate(ctx context.Context, c *conn, opt migrateOptions) error {
	list, err := steps()
	if err != nil {
		return err
	}
	known := int64(len(list))
	h, err := readHeaderAlone(ctx, c)
	if err != nil {
		return err
	}
	older, err := h.check(s.cfg.path, known)
	if err != nil || !older {
		return err
	}
	if opt.refuse {
		if h.empty {
			return duly.Invalid("store", "%s has no schema yet; run duly migrate", s.cfg.path)
		}
		return duly.Invalid("store", "%s has schema %d and this version needs %d; run duly migrate", s.cfg.path, h.version, known)
	}
	if err := s.writeAhead(ctx, c); err != nil {
		return err
	}
	if err := c.script(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	if err := s.migrateLocked(ctx, c, list); err != nil {
		_ = c.script(context.Background(), "ROLLBACK")
		return err
	}
	return c.script(ctx, "COMMIT")
}

type migrateOptions struct{ refuse bool }

func (s *Store) migrateLocked(ctx context.Context, c *conn, list []string) error {
	h, err := readHeader(ctx, c) // again: somebody may have been faster
	if err != nil {
		return err
	}
	if older, err := h.check(s.cfg.path, int64(len(list))); err != nil || !older {
		return err
	}
	for i := h.version; i < int64(len(list)); i++ {
		if err := c.script(ctx, list[i]); err != nil {
			return fmt.Errorf("migration %d: %w", i+1, err)
		}
	}
	return c.script(ctx, fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, len(list)))
}

// writeAhead switches the file to WAL, for good. The switch answers "busy" at
// once while another process is at it, whatever the timeout.
func (s *Store) writeAhead(ctx context.Context, c *conn) error {
	deadline := time.Now().Add(s.cfg.busy)
	for {
		var mode string
		_, err := c.one(ctx, "PRAGMA journal_mode = wal", nil, func(r row) { mode = r.str(0) })
		switch {
		case err == nil && mode == "wal":
			return nil
		case err == nil:
			return duly.Invalid("store", "%s: this file system does not support SQLite's write-ahead log (journal mode stays %q); use a local disk", s.cfg.path, mode)
		case primary(err) != lib.SQLITE_BUSY || time.Now().After(deadline):
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Millisecond):
		}
	}
}
