package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"sync"

	"github.com/duly-dev/duly"
)

// maxReaders bounds the connections that read. Each has its own page cache.
const maxReaders = 4

// readers is the pool of connections that read. They see the last commit and
// wait for nobody.
type readers struct {
	connector driver.Connector
	file      *openedFile
	free      chan struct{} // one token for each connection that may be in use

	mu     sync.Mutex
	idle   []*conn
	closed bool
}

var errClosed = &duly.Error{Code: duly.CodeUnavailable, Message: "the store is closed"}

func (p *readers) init(c driver.Connector, file *openedFile) {
	p.connector, p.file = c, file
	p.free = make(chan struct{}, maxReaders)
	for range maxReaders {
		p.free <- struct{}{}
	}
}

// with lends a connection to fn for one snapshot of the store.
func (p *readers) with(ctx context.Context, fn func(*conn) error) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-p.free:
	}
	defer func() { p.free <- struct{}{} }()
	if err := p.file.check(); err != nil {
		return err
	}
	c, err := p.take(ctx)
	if err != nil {
		return err
	}
	err = fn(c)
	// An answer that is an error of Duly's own says nothing against the
	// connection.
	var known *duly.Error
	p.giveBack(c, err == nil || errors.As(err, &known))
	return err
}

func (p *readers) take(ctx context.Context) (*conn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errClosed
	}
	if n := len(p.idle); n > 0 {
		c := p.idle[n-1]
		p.idle = p.idle[:n-1]
		return c, nil
	}
	return connect(ctx, p.connector)
}

func (p *readers) giveBack(c *conn, sound bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || !sound {
		_ = c.close()
		return
	}
	p.idle = append(p.idle, c)
}

func (p *readers) close() error {
	p.mu.Lock()
	p.closed = true
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()
	var first error
	for _, c := range idle {
		if err := c.close(); first == nil {
			first = err
		}
	}
	return first
}

// read runs fn on a reading connection, inside one transaction so that its
// queries agree with each other.
func read[T any](ctx context.Context, s *Store, fn func(*conn) (T, error)) (T, error) {
	var res T
	err := s.readers.with(ctx, func(c *conn) error {
		if _, err := c.exec("BEGIN"); err != nil {
			return err
		}
		var err error
		res, err = fn(c)
		if _, end := c.exec("COMMIT"); err == nil {
			err = end
		}
		return err
	})
	if err != nil {
		var zero T
		return zero, s.classify(err)
	}
	return res, nil
}
