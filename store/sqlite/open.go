package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"modernc.org/sqlite"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

func init() {
	store.Register("sqlite", func(ctx context.Context, url string, opt store.Options) (store.Store, error) {
		return Open(ctx, url, opt)
	})
}

// Store is a SQLite file. It implements store.Store.
type Store struct {
	cfg      config
	readOnly bool
	file     openedFile
	readers  readers
	writer   *writer
	watchers watchers

	closing sync.Once
	closed  error
}

var _ store.Store = (*Store)(nil)

// Open opens the file that a URL names, and makes or migrates it unless opt
// says otherwise. The parameters of a URL are described in url.go. Errors have
// the code not_found where the file does not exist and may not be made, invalid
// where it cannot be used as it is, unavailable where trying again may help.
func Open(ctx context.Context, url string, opt store.Options) (*Store, error) {
	cfg, err := parse(url)
	if err != nil {
		return nil, err
	}
	s := &Store{cfg: cfg, readOnly: opt.ReadOnly}
	if err := s.open(ctx, opt); err != nil {
		_ = s.readers.close()
		return nil, s.classify(err)
	}
	return s, nil
}

func (s *Store) open(ctx context.Context, opt store.Options) error {
	if err := s.inspect(opt); err != nil {
		return err
	}
	mode := "rw"
	if opt.ReadOnly {
		mode = "ro"
	} else {
		if err := s.prepareFile(ctx, opt); err != nil {
			return err
		}
	}
	if err := s.file.note(s.cfg.path); err != nil {
		return err
	}
	reading, err := sqlite.NewConnector(s.cfg.dsn(mode, true))
	if err != nil {
		return err
	}
	s.readers.init(reading, &s.file)
	if err := s.readers.with(ctx, s.checkVersion); err != nil {
		return err
	}
	if opt.ReadOnly {
		return nil
	}
	writing, err := sqlite.NewConnector(s.cfg.dsn("rw", false))
	if err != nil {
		return err
	}
	s.writer, err = startWriter(ctx, s, writing)
	return err
}

// inspect finds what can be said about the path before SQLite is asked, whose
// own words ("unable to open database file") leave people guessing.
func (s *Store) inspect(opt store.Options) error {
	info, err := os.Stat(s.cfg.path)
	switch {
	case err == nil && info.IsDir():
		return duly.Invalid("store", "%s is a directory; name a file in it", s.cfg.path)
	case err == nil:
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return duly.Invalid("store", "%v", err)
	case opt.ReadOnly || opt.NoMigrate:
		return &duly.Error{Code: duly.CodeNotFound, Field: "store", Message: s.cfg.path + " does not exist"}
	}
	dir := filepath.Dir(s.cfg.path)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return duly.Invalid("store", "the directory %s does not exist; create it first", dir)
	}
	return s.makeFile()
}

// makeFile makes the file, empty, before SQLite would, which lets everybody
// read what it makes: definitions hold secrets. Its companions inherit its
// mode.
func (s *Store) makeFile() error {
	f, err := os.OpenFile(s.cfg.path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist): // another process was faster
		return nil
	case err != nil:
		return duly.Invalid("store", "%s cannot be made: %v", s.cfg.path, err)
	}
	return f.Close()
}

// prepareFile creates or migrates the file over a connection of its own.
func (s *Store) prepareFile(ctx context.Context, opt store.Options) error {
	connector, err := sqlite.NewConnector(s.cfg.dsn("rwc", false))
	if err != nil {
		return err
	}
	c, err := connect(ctx, connector)
	if err != nil {
		return err
	}
	defer c.close()
	// SQLite opens a file without permission to write read-only, without a
	// word. It is asked, rather than the file tried: closing a file that
	// SQLite has open elsewhere in this process would drop its locks.
	if ro, ok := c.dc.(interface{ IsReadOnly(string) (bool, error) }); ok {
		if is, err := ro.IsReadOnly("main"); err == nil && is {
			return duly.Invalid("store", "%s cannot be written: give this user the right to write the file and its directory, or choose another place", s.cfg.path)
		}
	}
	return s.migrate(ctx, c, migrateOptions{refuse: opt.NoMigrate})
}

// checkVersion is for openings that do not migrate.
func (s *Store) checkVersion(c *conn) error {
	list, err := steps()
	if err != nil {
		return err
	}
	h, err := readHeaderAlone(context.Background(), c)
	if err != nil {
		return err
	}
	older, err := h.check(s.cfg.path, int64(len(list)))
	if err == nil && older {
		err = duly.Invalid("store", "%s has schema %d and this version needs %d; run duly migrate", s.cfg.path, h.version, len(list))
	}
	return err
}

// Close ends the writer, the watchers and the connections. Calls under way end
// first; later ones are answered unavailable.
func (s *Store) Close() error {
	s.closing.Do(func() {
		if s.writer != nil {
			s.closed = s.writer.stop()
		}
		s.watchers.close()
		if err := s.readers.close(); s.closed == nil {
			s.closed = err
		}
	})
	return s.closed
}

// now is the store's clock.
func now() int64 { return time.Now().UnixMicro() }

// at is the instant of a request, or the store's now.
func at(t time.Time) int64 {
	if t.IsZero() {
		return now()
	}
	return t.UnixMicro()
}
