package postgres

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

func init() {
	open := func(ctx context.Context, url string, opt store.Options) (store.Store, error) {
		return Open(ctx, url, opt)
	}
	store.Register("postgres", open)
	store.Register("postgresql", open)
}

// Store is a PostgreSQL schema. It implements store.Store.
type Store struct {
	dialect  dialect
	cfg      config
	readOnly bool
	pool     *pgxpool.Pool
	names    names
	home     home
	finisher finisher
	notifier notifier
	watchers watchers

	// over ends what runs in the background.
	over   context.Context
	end    context.CancelFunc
	behind sync.WaitGroup

	closing sync.Once
}

var _ store.Store = (*Store)(nil)

// Open opens the schema that a URL names, and makes or migrates it unless opt
// says otherwise. The parameters of a URL are described in url.go. Errors have
// the code not_found where there is no schema and none may be made, invalid
// where it cannot be used as it is, unavailable where trying again may help.
func Open(ctx context.Context, url string, opt store.Options) (*Store, error) {
	cfg, err := parse(url)
	if err != nil {
		return nil, err
	}
	return open(ctx, cfg, opt)
}

func open(ctx context.Context, cfg config, opt store.Options) (_ *Store, err error) {
	s := &Store{cfg: cfg, readOnly: opt.ReadOnly}
	s.dialect.schema = pgx.Identifier{cfg.schema}.Sanitize()
	s.over, s.end = context.WithCancel(context.Background())
	if opt.ReadOnly {
		cfg.pool.ConnConfig.ValidateConnect = nil // a standby will do
	}
	if s.pool, err = pgxpool.NewWithConfig(ctx, cfg.pool); err != nil {
		return nil, s.classify(err)
	}
	if err := s.prepareSchema(ctx, opt); err != nil {
		s.end()
		s.pool.Close()
		return nil, s.classify(err)
	}
	s.finisher.init(s)
	s.notifier.init(s)
	s.watchers.init(s)
	return s, nil
}

// acquire lends a connection of the pool.
func (s *Store) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	if s.over.Err() != nil {
		return nil, errClosed
	}
	pc, err := s.pool.Acquire(ctx)
	if err != nil && s.over.Err() != nil {
		return nil, errClosed
	}
	if err != nil && disconnected(err) {
		s.names.forget()
	}
	return pc, err
}

// local makes the settings of a transaction where a pooler keeps them from
// being a connection's.
func (s *Store) local(c *conn) {
	if !s.cfg.pooled {
		return
	}
	settings := s.cfg.settings()
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		if name == "statement_timeout" || name == "idle_in_transaction_session_timeout" {
			c.later("SELECT set_config(?, ?, true)", name, settings[name])
		}
	}
}

// Close ends the watchers, what runs in the background and the connections.
// Calls under way end first, unless the server hangs; later ones are answered
// unavailable.
func (s *Store) Close() error {
	s.closing.Do(func() {
		s.finisher.stop()
		s.end()
		s.behind.Wait()
		s.watchers.close()
		s.closePool()
	})
	return nil
}

// closePool does not wait for connections to a server that hangs: the driver
// asks it to give up on what they were at, and ends them by itself within some
// 15 s, unless the process does so before.
func (s *Store) closePool() {
	closed := make(chan struct{})
	go func() { defer close(closed); s.pool.Close() }()
	select {
	case <-closed:
	case <-time.After(patienceAtEnd):
	}
}

// missing says that there is nothing to open.
func missing(name, why string) error {
	return &duly.Error{Code: duly.CodeNotFound, Field: "store", Message: name + " " + why}
}
