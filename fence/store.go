package fence

import (
	"context"
	"sync"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/internal/sqldb"
)

// Store remembers the greatest token seen for each resource.
type Store interface {
	// Raise makes token the greatest one seen for resource, or fails with
	// ErrStale where a greater one was seen. Raising to the same token again
	// is fine.
	Raise(ctx context.Context, resource string, token int64) error
}

// StoreFunc makes a Store of a function, for destinations that keep their
// tokens somewhere else. The function compares and remembers in one step, by
// the rule that is Guard.
type StoreFunc func(ctx context.Context, resource string, token int64) error

// Raise calls f.
func (f StoreFunc) Raise(ctx context.Context, resource string, token int64) error {
	return f(ctx, resource, token)
}

// DB begins transactions in the application's database. Package effect makes
// one: effect.Postgres.DB(db) and so on, or pgxeffect.DB(pool).
type DB[X any] = sqldb.DB[X]

// SQL is a Store in the application's database, in the table that [Check] uses
// too. Each Raise is a transaction of its own.
func SQL[X any](db DB[X]) Store {
	return StoreFunc(func(ctx context.Context, resource string, token int64) error {
		if db == nil {
			return duly.Invalid("db", "is missing")
		}
		return sqldb.InTx(ctx, db, func(tx sqldb.Session[X]) error {
			return Check(ctx, tx, resource, token)
		})
	})
}

// Memory is a Store in this process. It starts from nothing whenever the
// process does, and knows nothing of other processes: it suits a destination
// that is itself a part of this process. The zero value is ready.
type Memory struct {
	mu   sync.Mutex
	seen map[string]int64
}

// Raise implements Store.
func (m *Memory) Raise(_ context.Context, resource string, token int64) error {
	if resource == "" {
		return duly.Invalid("resource", "is missing")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := Guard(m.seen[resource], token); err != nil {
		return err
	}
	if m.seen == nil {
		m.seen = map[string]int64{}
	}
	m.seen[resource] = token
	return nil
}
