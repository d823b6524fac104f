package lease

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"os"
	"sync"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// ErrLost is the cause of a context whose lease was lost or could not be
// renewed in time.
var ErrLost = errors.New("the lease was lost, so somebody else may hold it")

// Options tune an acquisition. The zero value tries once.
type Options struct {
	// TTL is how long ownership lasts between renewals; a holder that dies
	// blocks others for at most this long. Default 30s, at least 1s.
	TTL time.Duration
	// Wait is how long to wait for another holder. Default 0: try once.
	// Waiters are served in the order in which they came.
	Wait time.Duration
	// Holder tells people who holds it. Default: host name and process number.
	Holder string
}

// Source gives out leases: a store, or a client of the API.
type Source interface {
	Acquire(ctx context.Context, req store.AcquireRequest) (duly.Lease, error)
	RenewLease(ctx context.Context, name, owner string, ttl time.Duration) (duly.Lease, error)
	ReleaseLease(ctx context.Context, name, owner string) error
}

// TrustWindow is how much of a lease its holder believes in. The rest covers a
// timer that fires late and the time that code needs to stop.
func TrustWindow(ttl time.Duration) time.Duration {
	return ttl - min(ttl/4, max(ttl/10, 200*time.Millisecond))
}

// Do calls fn while it holds the lease called name. Its error is fn's, or of
// code conflict where somebody else holds the lease, or wraps ErrLost where
// fn returned because the lease was lost.
func Do(ctx context.Context, from Source, name string, opt Options, fn func(ctx context.Context, l *Lease) error) error {
	l, err := Acquire(ctx, from, name, opt)
	if err != nil {
		return err
	}
	defer l.Release()
	if err := fn(l.Context(), l); err != nil {
		if errors.Is(context.Cause(l.Context()), ErrLost) && !errors.Is(err, ErrLost) {
			return fmt.Errorf("%w: %w", ErrLost, err)
		}
		return err
	}
	return nil
}

// Lease is a lease that this process holds and keeps.
type Lease struct {
	name, owner string
	token       int64
	ttl         time.Duration
	from        Source

	ctx     context.Context
	cancel  context.CancelCauseFunc
	keeping sync.WaitGroup
	stop    chan struct{}
	once    sync.Once
	err     error
}

// Acquire takes the lease called name and keeps it until Release, or until it
// is lost. Code conflict: somebody else holds it (longer than Options.Wait).
func Acquire(ctx context.Context, from Source, name string, opt Options) (*Lease, error) {
	if name == "" || len(name) > 500 {
		return nil, duly.Invalid("name", "a lease has a name of 1 to 500 bytes")
	}
	if opt.TTL == 0 {
		opt.TTL = 30 * time.Second
	}
	if opt.TTL < time.Second {
		return nil, duly.Invalid("ttl", "is %v; a lease lasts at least 1s", opt.TTL)
	}
	if opt.Holder == "" {
		host, _ := os.Hostname()
		opt.Holder = fmt.Sprintf("%s-%d", host, os.Getpid())
	}
	req := store.AcquireRequest{Name: name, Owner: rand.Text(), Holder: opt.Holder, TTL: opt.TTL}
	granted, asked, err := wait(ctx, from, req, opt.Wait)
	if err != nil {
		return nil, err
	}
	l := &Lease{name: name, owner: req.Owner, token: granted.Token, ttl: opt.TTL, from: from, stop: make(chan struct{})}
	l.ctx, l.cancel = context.WithCancelCause(ctx)
	l.keeping.Add(1)
	go l.keep(asked)
	return l, nil
}

// wait asks until the lease is granted or patience is at its end.
func wait(ctx context.Context, from Source, req store.AcquireRequest, patience time.Duration) (duly.Lease, time.Time, error) {
	deadline := time.Now().Add(patience)
	var released <-chan struct{}
	for {
		left := time.Until(deadline)
		if patience > 0 {
			// A place in the queue outlives two missed turns, no more: a waiter
			// that died must not hold up the others.
			req.Wait = 3 * time.Second
		}
		asked := time.Now()
		granted, err := from.Acquire(ctx, req)
		if err == nil {
			return granted, asked, nil
		}
		if code := duly.CodeOf(err); code != duly.CodeConflict && code != duly.CodeUnavailable || left <= 0 {
			return duly.Lease{}, asked, err
		}
		pause := 50*time.Millisecond + time.Duration(mathrand.Int64N(int64(150*time.Millisecond)))
		if until := time.Until(granted.Until); duly.CodeOf(err) == duly.CodeConflict && until > 0 && until < pause {
			pause = until
		}
		if released == nil {
			var stop func()
			released, stop = watch(ctx, from)
			defer stop()
		}
		select {
		case <-ctx.Done():
			return duly.Lease{}, asked, context.Cause(ctx)
		case <-released:
		case <-time.After(min(pause, left)):
		}
	}
}

// watch tells of changes to leases where the source can: a store does, a
// client of the API waits at the server instead.
func watch(ctx context.Context, from Source) (changed <-chan struct{}, stop func()) {
	watcher, ok := from.(interface {
		Watch(ctx context.Context, notify func(store.Event)) error
	})
	wake := make(chan struct{}, 1)
	if !ok {
		return wake, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		// Asking again after a pause is what counts; this only hurries it.
		_ = watcher.Watch(ctx, func(e store.Event) {
			if e.Topic != store.TopicLeases && e.Topic != store.TopicAny {
				return
			}
			select {
			case wake <- struct{}{}:
			default:
			}
		})
	}()
	return wake, func() { cancel(); <-ended }
}

// Context ends when the lease is lost (cause ErrLost), released, or when the
// context given to Acquire ends.
func (l *Lease) Context() context.Context { return l.ctx }

// Token is the fencing token.
func (l *Lease) Token() int64 { return l.token }

// Release gives the lease up. Code not_holder: it had been lost before, and
// what was done under it may have overlapped with another holder. Releasing
// again answers the same.
func (l *Lease) Release() error {
	l.once.Do(func() {
		close(l.stop)
		l.keeping.Wait()
		l.cancel(context.Canceled)
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		l.err = l.from.ReleaseLease(ctx, l.name, l.owner)
	})
	return l.err
}

// keep renews at a third of the lease. Renewals are sent beside the timer that
// ends the trust, so that a store that hangs cannot stretch it.
func (l *Lease) keep(asked time.Time) {
	defer l.keeping.Done()
	expiry := time.AfterFunc(time.Until(asked.Add(TrustWindow(l.ttl))), func() { l.cancel(ErrLost) })
	defer expiry.Stop()
	next := asked.Add(l.ttl / 3)
	for {
		select {
		case <-l.stop:
			return
		case <-l.ctx.Done():
			return
		case <-time.After(time.Until(next)):
		}
		asked = time.Now()
		asking, cancel := context.WithTimeout(l.ctx, l.ttl/2)
		_, err := l.from.RenewLease(asking, l.name, l.owner, l.ttl)
		cancel()
		switch duly.CodeOf(err) {
		case "":
			expiry.Reset(time.Until(asked.Add(TrustWindow(l.ttl))))
			next = asked.Add(l.ttl / 3)
		case duly.CodeNotHolder, duly.CodeNotFound:
			l.cancel(ErrLost)
			return
		default: // the store does not answer; try several times within the lease
			next = time.Now().Add(min(l.ttl/12, time.Second))
		}
	}
}
