package lease_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/lease"
	"github.com/duly-dev/duly/store"
	_ "github.com/duly-dev/duly/store/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// inBubble runs a test in fake time over a real store.
func inBubble(t *testing.T, test func(t *testing.T, ctx context.Context, st store.Store)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		st, err := store.Open(ctx, "sqlite:"+filepath.Join(t.TempDir(), "duly.db")+"?synchronous=off&poll=0", store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := st.Close(); err != nil {
				t.Error(err)
			}
		}()
		test(t, ctx, st)
	})
}

// cut is a source whose renewals fail as if the store could not be reached.
type cut struct {
	store.Store
	off atomic.Bool
}

func (c *cut) RenewLease(ctx context.Context, name, owner string, ttl time.Duration) (duly.Lease, error) {
	if c.off.Load() {
		return duly.Lease{}, duly.Errorf(duly.CodeUnavailable, "cut off")
	}
	return c.Store.RenewLease(ctx, name, owner, ttl)
}

func TestALeaseIsRenewedForAsLongAsItIsHeld(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context, st store.Store) {
		err := lease.Do(ctx, st, "a", lease.Options{TTL: 3 * time.Second}, func(ctx context.Context, l *lease.Lease) error {
			for range 20 {
				time.Sleep(time.Second)
				if _, err := lease.Acquire(ctx, st, "a", lease.Options{}); duly.CodeOf(err) != duly.CodeConflict {
					t.Errorf("somebody else was granted it: %v", err)
				}
			}
			return ctx.Err()
		})
		if err != nil {
			t.Error(err)
		}
		l, err := lease.Acquire(ctx, st, "a", lease.Options{})
		if err != nil {
			t.Fatalf("it was not given back: %v", err)
		}
		if err := l.Release(); err != nil {
			t.Error(err)
		}
	})
}

func TestTheContextEndsBeforeTheLeaseCanHaveRunOut(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context, st store.Store) {
		from := &cut{Store: st}
		var ended, granted time.Time
		err := lease.Do(ctx, from, "a", lease.Options{TTL: 10 * time.Second}, func(ctx context.Context, l *lease.Lease) error {
			time.Sleep(5 * time.Second)
			from.off.Store(true)
			other := make(chan struct{})
			go func() {
				defer close(other)
				next, err := lease.Acquire(context.WithoutCancel(ctx), st, "a", lease.Options{Wait: time.Minute})
				if err != nil {
					t.Error(err)
					return
				}
				granted = time.Now()
				if next.Token() <= l.Token() {
					t.Errorf("token %d after %d", next.Token(), l.Token())
				}
				if err := next.Release(); err != nil {
					t.Error(err)
				}
			}()
			<-ctx.Done()
			ended = time.Now()
			<-other
			return context.Cause(ctx)
		})
		if !errors.Is(err, lease.ErrLost) {
			t.Errorf("Do answered %v", err)
		}
		if !ended.Before(granted) {
			t.Errorf("the holder was told at %v, the next one had it at %v", ended, granted)
		}
	})
}

func TestFieldCase_B50_ALateReleaseChangesNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context, st store.Store) {
		if _, err := st.Acquire(ctx, store.AcquireRequest{Name: "a", Owner: "owner-a", TTL: time.Second}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(1500 * time.Millisecond)
		b, err := lease.Acquire(ctx, st, "a", lease.Options{TTL: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		if err := st.ReleaseLease(ctx, "a", "owner-a"); duly.CodeOf(err) != duly.CodeNotHolder {
			t.Errorf("a's late release: %v", err)
		}
		if _, err := st.RenewLease(ctx, "a", "owner-a", time.Minute); duly.CodeOf(err) != duly.CodeNotHolder {
			t.Errorf("a's late renewal: %v", err)
		}
		if _, err := lease.Acquire(ctx, st, "a", lease.Options{}); duly.CodeOf(err) != duly.CodeConflict {
			t.Errorf("c was let in: %v", err)
		}
		if err := b.Release(); err != nil {
			t.Errorf("b had lost it: %v", err)
		}
	})
}

func TestWaitersAreServedInTheOrderInWhichTheyCame(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context, st store.Store) {
		first, err := lease.Acquire(ctx, st, "a", lease.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var order []int
		var waiters sync.WaitGroup
		for i := range 5 {
			waiters.Go(func() {
				err := lease.Do(ctx, st, "a", lease.Options{Wait: time.Minute}, func(context.Context, *lease.Lease) error {
					mu.Lock()
					defer mu.Unlock()
					order = append(order, i)
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			})
			time.Sleep(500 * time.Millisecond)
		}
		if err := first.Release(); err != nil {
			t.Error(err)
		}
		waiters.Wait()
		if fmt.Sprint(order) != "[0 1 2 3 4]" {
			t.Errorf("served in order %v", order)
		}
	})
}

// Mutual exclusion is shown by holders that really overlap if they can.
func TestFieldCase_B98_AtMostOneHoldsALease(t *testing.T) {
	st, err := store.Open(context.Background(), "sqlite:"+filepath.Join(t.TempDir(), "duly.db")+"?synchronous=off", store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	var inside, most, total, newest atomic.Int64
	var holders sync.WaitGroup
	for range 20 {
		holders.Go(func() {
			for range 20 {
				err := lease.Do(t.Context(), st, "counter", lease.Options{Wait: time.Minute}, func(_ context.Context, l *lease.Lease) error {
					now := inside.Add(1)
					defer inside.Add(-1)
					most.Store(max(most.Load(), now))
					if before := newest.Swap(l.Token()); before >= l.Token() {
						t.Errorf("token %d was granted after %d", l.Token(), before)
					}
					total.Add(1)
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	holders.Wait()
	if most.Load() != 1 || total.Load() != 400 {
		t.Errorf("at most %d held it at once, %d times in all", most.Load(), total.Load())
	}
}

func TestAcquireRefusesWhatCannotBeMeant(t *testing.T) {
	for _, c := range []struct {
		name string
		opt  lease.Options
	}{{"", lease.Options{}}, {"a", lease.Options{TTL: time.Millisecond}}} {
		if _, err := lease.Acquire(context.Background(), nil, c.name, c.opt); duly.CodeOf(err) != duly.CodeInvalid {
			t.Errorf("Acquire(%q, %+v): %v", c.name, c.opt, err)
		}
	}
}
