package memstore

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// namedLease is a name with who holds it and who waits for it.
type namedLease struct {
	duly.Lease
	ttl     time.Duration
	until   time.Time
	waiters []*waiter // in the order in which they first asked
}

type waiter struct {
	owner, holder string
	wait          time.Duration
	until         time.Time
}

func (l *namedLease) held(now time.Time) bool { return l.Owner != "" && l.until.After(now) }

// answer is the lease as its holder is told.
func (l *namedLease) answer() duly.Lease {
	lease := l.Lease
	lease.Until, lease.Waiters = l.until, len(l.waiters)
	return lease
}

// lease is the one of a name, without waiters that gave up.
func (s *Store) lease(name string, now time.Time) *namedLease {
	l := s.leases[name]
	if l == nil {
		l = &namedLease{}
		s.leases[name] = l
	}
	l.Name = name
	l.waiters = slices.DeleteFunc(l.waiters, func(w *waiter) bool { return !w.until.After(now) })
	return l
}

func (l *namedLease) forget(owner string) {
	l.waiters = slices.DeleteFunc(l.waiters, func(w *waiter) bool { return w.owner == owner })
}

// Acquire implements store.Leases.
func (s *Store) Acquire(ctx context.Context, req store.AcquireRequest) (duly.Lease, error) {
	if req.Name == "" || req.Owner == "" || req.TTL <= 0 {
		return duly.Lease{}, duly.Invalid("name", "a lease needs a name, an owner token and a time to live")
	}
	return step(ctx, s, func() (duly.Lease, error) {
		now := s.now(req.Now)
		l := s.lease(req.Name, now)
		held := l.held(now)
		switch {
		case held && l.Owner == req.Owner:
			l.ttl, l.until = req.TTL, now.Add(req.TTL)
			return l.answer(), nil
		case !held && (len(l.waiters) == 0 || l.waiters[0].owner == req.Owner), s.opt.Bugs.AcquireWithoutLooking:
			l.forget(req.Owner)
			s.token++
			l.Owner, l.Holder, l.Token, l.AcquiredAt = req.Owner, req.Holder, s.token, now
			l.ttl, l.until = req.TTL, now.Add(req.TTL)
			s.event(store.TopicLeases, "")
			return l.answer(), nil
		}
		return l.refuse(&req, held, now)
	})
}

// refuse answers somebody who cannot have the lease now, and keeps a place.
func (l *namedLease) refuse(req *store.AcquireRequest, held bool, now time.Time) (duly.Lease, error) {
	i := slices.IndexFunc(l.waiters, func(w *waiter) bool { return w.owner == req.Owner })
	switch {
	case req.Wait <= 0:
		l.forget(req.Owner)
	case i < 0:
		l.waiters = append(l.waiters, &waiter{req.Owner, req.Holder, req.Wait, now.Add(req.Wait)})
	default:
		l.waiters[i].wait, l.waiters[i].until = req.Wait, now.Add(req.Wait)
	}
	if !held {
		first := l.waiters[0].holder
		return duly.Lease{Name: l.Name, Holder: first, Waiters: len(l.waiters)},
			duly.Errorf(duly.CodeConflict, "lease %s is free, and %s is first to have it", l.Name, first)
	}
	lease := l.answer()
	lease.Owner = ""
	return lease, duly.Errorf(duly.CodeConflict, "lease %s is held by %s until %s", l.Name, l.Holder, l.until.Format(time.RFC3339))
}

// RenewLease implements store.Leases.
func (s *Store) RenewLease(ctx context.Context, name, owner string, ttl time.Duration) (duly.Lease, error) {
	if ttl <= 0 {
		return duly.Lease{}, duly.Invalid("ttl", "is not positive")
	}
	return step(ctx, s, func() (duly.Lease, error) {
		now := s.now(time.Time{})
		l, err := s.holding(name, owner, now)
		if err != nil {
			return duly.Lease{}, err
		}
		l.ttl, l.until = ttl, now.Add(ttl)
		return l.answer(), nil
	})
}

// ReleaseLease implements store.Leases.
func (s *Store) ReleaseLease(ctx context.Context, name, owner string) error {
	return do(ctx, s, func() error {
		l, err := s.holding(name, owner, s.now(time.Time{}))
		if err != nil {
			return err
		}
		l.Lease, l.until = duly.Lease{}, time.Time{}
		s.event(store.TopicLeases, "")
		return nil
	})
}

func (s *Store) holding(name, owner string, now time.Time) (*namedLease, error) {
	l := s.lease(name, now)
	if !l.held(now) || l.Owner != owner {
		return nil, duly.Errorf(duly.CodeNotHolder, "lease %s is not held by this owner token (any more)", name)
	}
	return l, nil
}

// LeaseList implements store.Reader.
func (s *Store) LeaseList(ctx context.Context) ([]duly.Lease, error) {
	return step(ctx, s, func() ([]duly.Lease, error) {
		now := s.now(time.Time{})
		all := []duly.Lease{}
		for _, name := range slices.Sorted(maps.Keys(s.leases)) {
			if l := s.lease(name, now); l.held(now) {
				lease := l.answer()
				lease.Owner = ""
				all = append(all, lease)
			}
		}
		return all, nil
	})
}
