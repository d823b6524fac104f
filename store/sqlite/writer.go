package sqlite

import (
	"context"
	"database/sql/driver"
	"math/rand/v2"
	"runtime/debug"
	"sync"
	"time"

	lib "modernc.org/sqlite/lib"

	"github.com/duly-dev/duly"
)

const (
	// maxBatch bounds the calls that share a transaction.
	maxBatch = 256
	// neighbourly is how long another process that wrote is taken to be still
	// interested: so long, the writer leaves the door open for a moment after
	// each commit, since SQLite has no queue for its lock and a busy process
	// would keep it for itself.
	neighbourly = 2 * time.Second
	doorOpen    = 500 * time.Microsecond
	// doorShut bounds how long a busy writer keeps the door shut: one that has
	// not been let in yet cannot be known, and would starve.
	doorShut = 50 * time.Millisecond
	// lonely is by how much it looks for changes less often after that time.
	lonely = 8
)

// writer owns the connection that writes. Callers hand it closures, which it
// runs in shared transactions; see doc.go.
type writer struct {
	store     *Store
	connector driver.Connector

	mu      sync.Mutex
	calls   []*call
	stopped bool
	wake    chan struct{} // something waits, or the writer must stop
	ended   chan struct{}
	closed  error

	// The rest belongs to the goroutine.
	conn     *conn // nil after a failure that left it in doubt
	known    *known
	version  int64     // the file's data version when known was read
	neighbor time.Time // when another process last wrote
	opened   time.Time // when the door was last open
	rested   time.Time // when the last batch had ended
}

// call is a closure on its way through the writer.
type call struct {
	ctx  context.Context
	fn   func(*tx) error
	done chan error // buffered
}

func startWriter(ctx context.Context, s *Store, connector driver.Connector) (*writer, error) {
	w := &writer{store: s, connector: connector, wake: make(chan struct{}, 1), ended: make(chan struct{})}
	c, err := connect(ctx, connector)
	if err != nil {
		return nil, err
	}
	w.conn = c
	go w.loop()
	return w, nil
}

// write has the writer run fn in a transaction and returns what fn answered,
// once that is durable. fn may run more than once; it must not change what it
// captured. A caller may leave while its call waits; a call that runs is
// waited for, so what it captured is free again when write returns.
func write[T any](ctx context.Context, s *Store, fn func(*tx) (T, error)) (T, error) {
	var res, zero T
	if s.readOnly {
		return zero, duly.Errorf(duly.CodeInvalid, "%s was opened for reading only", s.cfg.path)
	}
	c := &call{ctx: ctx, done: make(chan error, 1), fn: func(t *tx) (err error) {
		res, err = fn(t)
		return err
	}}
	err := s.writer.put(c)
	if err == nil {
		select {
		case err = <-c.done:
		case <-ctx.Done():
			if s.writer.withdraw(c) {
				err = ctx.Err()
			} else {
				err = <-c.done
			}
		}
	}
	if err != nil {
		return zero, s.classify(err)
	}
	return res, nil
}

func (w *writer) put(c *call) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped {
		return errClosed
	}
	w.calls = append(w.calls, c)
	signal(w.wake)
	return nil
}

// withdraw takes back a call that has not begun.
func (w *writer) withdraw(c *call) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range w.calls {
		if w.calls[i] == c {
			w.calls = append(w.calls[:i], w.calls[i+1:]...)
			return true
		}
	}
	return false
}

func (w *writer) stop() error {
	w.mu.Lock()
	w.stopped = true
	signal(w.wake)
	w.mu.Unlock()
	<-w.ended
	return w.closed
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func (w *writer) loop() {
	defer close(w.ended)
	defer func() {
		if w.conn != nil {
			w.closed = w.conn.close()
		}
	}()
	for {
		select {
		case <-w.wake:
		case <-w.store.watchers.poll():
			w.lookAround()
			continue
		}
		for w.work() {
		}
		w.mu.Lock()
		over := w.stopped && len(w.calls) == 0
		w.mu.Unlock()
		if over {
			return
		}
	}
}

// work runs one batch, if anything waits. Calls stay withdrawable until the
// transaction has begun, which may take a while if another process holds it.
func (w *writer) work() bool {
	w.mu.Lock()
	first := w.calls
	w.mu.Unlock()
	if len(first) == 0 {
		return false
	}
	if time.Since(w.rested) >= doorOpen {
		w.opened = time.Now() // nothing was going on: whoever wanted to could
	}
	err := w.begin()
	calls := w.take()
	if err != nil {
		answer(calls, err)
		return true
	}
	if len(calls) == 0 { // all were withdrawn
		w.rollback()
		return true
	}
	w.run(calls)
	if time.Since(w.neighbor) < neighbourly || time.Since(w.opened) > doorShut {
		time.Sleep(doorOpen)
		w.opened = time.Now()
	}
	w.rested = time.Now()
	return true
}

func (w *writer) take() []*call {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := min(len(w.calls), maxBatch)
	calls := w.calls[:n:n]
	w.calls = w.calls[n:]
	if len(w.calls) == 0 {
		w.calls = nil
	}
	return calls
}

func answer(calls []*call, err error) {
	for _, c := range calls {
		c.done <- err
	}
}

// begin opens a transaction, waiting for other processes up to the timeout.
func (w *writer) begin() error {
	if err := w.store.file.check(); err != nil {
		return err
	}
	deadline := time.Now().Add(w.store.cfg.busy)
	for {
		err := w.tryBegin()
		if err == nil || primary(err) != lib.SQLITE_BUSY || time.Now().After(deadline) {
			return err
		}
		w.neighbor = time.Now()
		time.Sleep(200*time.Microsecond + rand.N(800*time.Microsecond))
	}
}

func (w *writer) tryBegin() error {
	if w.conn == nil {
		c, err := connect(context.Background(), w.connector)
		if err != nil {
			return err
		}
		if err := w.store.checkVersion(c); err != nil {
			_ = c.close()
			return err
		}
		w.conn = c
	}
	if _, err := w.conn.exec("BEGIN IMMEDIATE"); err != nil {
		w.doubt(err)
		return err
	}
	version, err := w.conn.number(context.Background(), "PRAGMA data_version")
	if err != nil {
		w.rollback()
		return err
	}
	if version != w.version {
		w.noticed(version)
	}
	return nil
}

// run runs calls in the transaction that is open, commits, and answers them.
// If one fails after it has written, all are undone, and each has a
// transaction of its own.
func (w *writer) run(calls []*call) {
	if w.known == nil {
		w.known = newKnown()
	}
	t := newTx(w.conn, w.known)
	errs := make([]error, len(calls))
	for i, c := range calls {
		w.conn.wrote = false
		if errs[i] = protect(t, c.fn); errs[i] == nil || !w.conn.wrote {
			continue
		}
		w.rollback()
		w.doubt(errs[i])
		if len(calls) == 1 {
			c.done <- errs[i]
			return
		}
		for _, alone := range calls {
			if err := w.begin(); err != nil {
				alone.done <- err
				continue
			}
			w.run([]*call{alone})
		}
		return
	}
	if err := w.commit(t); err != nil {
		answer(calls, err)
		return
	}
	w.store.watchers.publish(t.events)
	for i, c := range calls {
		c.done <- errs[i]
	}
}

func (w *writer) commit(t *tx) error {
	err := t.flush()
	if err == nil {
		_, err = w.conn.exec("COMMIT")
	}
	if err != nil {
		w.rollback()
		w.doubt(err)
	}
	return err
}

// rollback ends the transaction. SQLite has done so by itself after some
// errors; then this fails, which is as good.
func (w *writer) rollback() {
	_, _ = w.conn.exec("ROLLBACK")
	w.known = nil
}

// doubt drops the connection after an error that may have broken it.
func (w *writer) doubt(err error) {
	if unsound(err) && w.conn != nil {
		_ = w.conn.close()
		w.conn, w.known, w.version = nil, nil, 0
	}
}

// protect keeps a panic of a caller's function from ending the writer.
func protect(t *tx, fn func(*tx) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = duly.Errorf(duly.CodeInternal, "%v\n%s", p, debug.Stack())
		}
	}()
	return fn(t)
}

// lookAround notices what other processes did, for those who watch. Waking up
// is what costs, so it looks less often while nobody else writes.
func (w *writer) lookAround() {
	if w.conn == nil {
		return
	}
	version, err := w.conn.number(context.Background(), "PRAGMA data_version")
	if err != nil || version == w.version {
		if time.Since(w.neighbor) > neighbourly {
			w.store.watchers.pace(lonely * w.store.cfg.poll)
		}
		return
	}
	w.noticed(version)
}

// noticed notes that another process has written.
func (w *writer) noticed(version int64) {
	if w.version != 0 {
		w.neighbor = time.Now()
		w.store.watchers.pace(w.store.cfg.poll)
		w.store.watchers.changedElsewhere()
	}
	w.version, w.known = version, nil
}
