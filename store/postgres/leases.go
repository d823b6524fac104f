package postgres

import (
	"context"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

const (
	selectLease = "SELECT name, owner, holder, token, acquired_at, until, (SELECT count(*) FROM duly.waiters w WHERE w.name = l.name AND w.until > ?) FROM duly.leases l "
	// An answer tells waiters apart from the caller, who waits no more.
	forgetWaiter = "DELETE FROM duly.waiters WHERE name = ? AND owner = ?"
)

func readLease(r row) duly.Lease {
	return duly.Lease{
		Name: r.str(0), Owner: r.str(1), Holder: r.str(2), Token: r.int(3), AcquiredAt: instant(r.int(4)), Until: instant(r.int(5)), Waiters: int(r.int(6)),
	}
}

// Acquire implements store.Leases.
func (s *Store) Acquire(ctx context.Context, req store.AcquireRequest) (duly.Lease, error) {
	if req.Name == "" || req.Owner == "" || req.TTL <= 0 {
		return duly.Lease{}, duly.Invalid("name", "a lease needs a name, an owner token and a time to live")
	}
	type answer struct {
		lease   duly.Lease
		refused error
	}
	// A refusal is an answer, not an error: the caller's place in the queue of
	// waiters must be kept.
	a, err := write(ctx, s, func(t *tx) (a answer, err error) {
		if err := t.named(req.Name); err != nil {
			return a, err
		}
		now, err := t.clock(req.Now)
		if err != nil {
			return a, err
		}
		a.lease, a.refused, err = t.acquire(&req, now)
		return a, err
	})
	if err != nil {
		return duly.Lease{}, err
	}
	return a.lease, a.refused
}

func (t *tx) acquire(req *store.AcquireRequest, now int64) (lease duly.Lease, refused, err error) {
	if _, err := t.exec("DELETE FROM duly.waiters WHERE name = ? AND until <= ?", req.Name, now); err != nil {
		return lease, nil, err
	}
	held, err := t.one(selectLease+"WHERE name = ? AND until > ?", []any{now, req.Name, now}, func(r row) { lease = readLease(r) })
	if err != nil {
		return lease, nil, err
	}
	if held && lease.Owner == req.Owner {
		return t.extend(lease, req.TTL, now)
	}
	first := ""
	if !held {
		if _, err := t.one("SELECT owner, holder FROM duly.waiters WHERE name = ? ORDER BY place LIMIT 1", []any{req.Name}, func(r row) {
			first, lease.Holder = r.str(0), r.str(1)
		}); err != nil {
			return lease, nil, err
		}
	}
	if !held && (first == "" || first == req.Owner) {
		return t.grant(req, now)
	}
	if req.Wait > 0 {
		wait := req.Wait.Microseconds()
		_, err = t.exec("INSERT INTO duly.waiters (name, owner, holder, wait, until) VALUES (?, ?, ?, ?, ?) ON CONFLICT (name, owner) DO UPDATE SET wait = excluded.wait, until = excluded.until",
			req.Name, req.Owner, req.Holder, wait, now+wait)
	} else {
		_, err = t.exec(forgetWaiter, req.Name, req.Owner)
	}
	if err != nil {
		return lease, nil, err
	}
	waiters, err := t.number("SELECT count(*) FROM duly.waiters WHERE name = ?", req.Name)
	lease.Name, lease.Owner, lease.Waiters = req.Name, "", int(waiters)
	if !held {
		return lease, duly.Errorf(duly.CodeConflict, "lease %s is free, and %s is first to have it", req.Name, lease.Holder), err
	}
	return lease, duly.Errorf(duly.CodeConflict, "lease %s is held by %s until %s", req.Name, lease.Holder, lease.Until.Format(time.RFC3339)), err
}

// named takes the lock of a lease's name, so that those who want it come one
// after the other.
func (t *tx) named(name string) error {
	_, err := t.exec("SELECT pg_advisory_xact_lock(hashtext(?), hashtext(?))", "lease "+t.schema, name)
	return err
}

// extend renews a lease for the owner that holds it.
func (t *tx) extend(lease duly.Lease, ttl time.Duration, now int64) (duly.Lease, error, error) {
	until := now + ttl.Microseconds()
	lease.Until = instant(until)
	_, err := t.exec("UPDATE duly.leases SET ttl = ?, until = ? WHERE name = ?", ttl.Microseconds(), until, lease.Name)
	return lease, nil, err
}

// grant makes a lease with a new token.
func (t *tx) grant(req *store.AcquireRequest, now int64) (lease duly.Lease, refused, err error) {
	if _, err := t.exec(forgetWaiter, req.Name, req.Owner); err != nil {
		return lease, nil, err
	}
	token, err := t.number("SELECT nextval('duly.tokens')")
	if err != nil {
		return lease, nil, err
	}
	waiters, err := t.number("SELECT count(*) FROM duly.waiters WHERE name = ?", req.Name)
	if err != nil {
		return lease, nil, err
	}
	ttl := req.TTL.Microseconds()
	lease = duly.Lease{
		Name: req.Name, Owner: req.Owner, Holder: req.Holder, Token: token, AcquiredAt: instant(now), Until: instant(now + ttl), Waiters: int(waiters),
	}
	t.event(store.TopicLeases, "")
	t.urgent = true
	_, err = t.exec(`INSERT INTO duly.leases (name, owner, holder, token, acquired_at, ttl, until) VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, holder = excluded.holder, token = excluded.token,
			acquired_at = excluded.acquired_at, ttl = excluded.ttl, until = excluded.until`,
		req.Name, req.Owner, req.Holder, token, now, ttl, now+ttl)
	return lease, nil, err
}

// RenewLease implements store.Leases.
func (s *Store) RenewLease(ctx context.Context, name, owner string, ttl time.Duration) (duly.Lease, error) {
	if ttl <= 0 {
		return duly.Lease{}, duly.Invalid("ttl", "is not positive")
	}
	return write(ctx, s, func(t *tx) (duly.Lease, error) {
		if err := t.named(name); err != nil {
			return duly.Lease{}, err
		}
		now, err := t.clock(time.Time{})
		if err != nil {
			return duly.Lease{}, err
		}
		lease, err := t.holding(name, owner, now)
		if err != nil {
			return duly.Lease{}, err
		}
		lease, _, err = t.extend(lease, ttl, now)
		return lease, err
	})
}

// ReleaseLease implements store.Leases.
func (s *Store) ReleaseLease(ctx context.Context, name, owner string) error {
	_, err := write(ctx, s, func(t *tx) (struct{}, error) {
		if err := t.named(name); err != nil {
			return struct{}{}, err
		}
		now, err := t.clock(time.Time{})
		if err != nil {
			return struct{}{}, err
		}
		if _, err := t.holding(name, owner, now); err != nil {
			return struct{}{}, err
		}
		t.event(store.TopicLeases, "")
		t.urgent = true
		_, err = t.exec("DELETE FROM duly.leases WHERE name = ?", name)
		return struct{}{}, err
	})
	return err
}

// holding finds the lease that an owner token holds.
func (t *tx) holding(name, owner string, now int64) (lease duly.Lease, err error) {
	found, err := t.one(selectLease+"WHERE name = ? AND owner = ? AND until > ?", []any{now, name, owner, now}, func(r row) { lease = readLease(r) })
	if err == nil && !found {
		err = duly.Errorf(duly.CodeNotHolder, "lease %s is not held by this owner token (any more)", name)
	}
	return lease, err
}
