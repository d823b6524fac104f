package storetest

import (
	"context"
	"sync"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// Faulty is a real store behind a line that can be cut, is slow, or loses
// replies: what a program must survive, without a store that is imitated.
type Faulty struct {
	st store.Store

	mu     sync.Mutex
	faults Faults
}

var _ store.Store = (*Faulty)(nil)

// Faults are what happens to calls.
type Faults struct {
	// Outage answers every call unavailable, without making it.
	Outage bool
	// LoseReply makes the call and answers unavailable, where it returns true
	// for the name of the method. It may be called by many at once.
	LoseReply func(method string) bool
	// Delay is how long a call is on its way, or until its context ends.
	Delay time.Duration
}

// NewFaulty puts a faultless line in front of a store, which stays the
// caller's to close.
func NewFaulty(st store.Store) *Faulty { return &Faulty{st: st} }

// Set chooses the faults of calls from now on. The zero Faults heals the line.
func (f *Faulty) Set(faults Faults) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = faults
}

func (f *Faulty) current() Faults {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.faults
}

// through sends a call down the line.
func through[T any](ctx context.Context, f *Faulty, method string, call func() (T, error)) (T, error) {
	var none T
	faults := f.current()
	if faults.Delay > 0 {
		select {
		case <-ctx.Done():
			return none, &duly.Error{Code: duly.CodeUnavailable, Message: "the call ended on its way", Err: ctx.Err()}
		case <-time.After(faults.Delay):
		}
	}
	if faults.Outage {
		return none, duly.Errorf(duly.CodeUnavailable, "the store is out of reach")
	}
	res, err := call()
	if faults.LoseReply != nil && faults.LoseReply(method) {
		return none, duly.Errorf(duly.CodeUnavailable, "the reply to %s was lost", method)
	}
	return res, err
}

// do is through for calls that answer only an error.
func do(ctx context.Context, f *Faulty, method string, call func() error) error {
	_, err := through(ctx, f, method, func() (struct{}, error) { return struct{}{}, call() })
	return err
}

// listed is a page with its cursor.
type listed[T any] struct {
	items  []T
	cursor string
}

func pageThrough[T any](ctx context.Context, f *Faulty, method string, call func() ([]T, string, error)) ([]T, string, error) {
	l, err := through(ctx, f, method, func() (l listed[T], err error) {
		l.items, l.cursor, err = call()
		return l, err
	})
	return l.items, l.cursor, err
}

// Watch wakes nobody through an outage; wake-ups may be lost.
func (f *Faulty) Watch(ctx context.Context, notify func(store.Event)) error {
	return f.st.Watch(ctx, func(e store.Event) {
		if !f.current().Outage {
			notify(e)
		}
	})
}

// Close does nothing: the store behind is its owner's.
func (f *Faulty) Close() error { return nil }
