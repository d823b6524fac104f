package postgres

import (
	"context"
	"sync"
)

// home is where the store is, as of when it last asked.
type home struct {
	mu   sync.Mutex
	at   place // zero: not asked yet
	name string
}

// is reports whether a place is the store's own.
func (h *home) is(at any) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return at == any(h.at) && h.at != place{}
}

func (h *home) called() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.name
}

func (h *home) learn(ctx context.Context, s *Store) error {
	_, err := look(ctx, s, func(c *conn) (struct{}, error) {
		at, name, err := c.place(s.dialect.schema)
		if err == nil {
			h.mu.Lock()
			h.at, h.name = at, name
			h.mu.Unlock()
		}
		return struct{}{}, err
	})
	return err
}
