//go:build unix

package postgres

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// rounds is work that goes on whatever the server does.
type rounds struct {
	t      *testing.T
	start  time.Time
	minute atomic.Int64
	mu     sync.Mutex
	seen   map[string]int
	moved  chan struct{} // a round went through
}

func (r *rounds) now() time.Time { return r.start.Add(time.Duration(r.minute.Load()) * time.Minute) }

// await waits for rounds to go through.
func (r *rounds) await(n int) {
	r.t.Helper()
	late := time.After(time.Minute)
	for range n {
		select {
		case <-r.moved:
		case <-late:
			r.t.Fatal("nothing goes through any more")
		}
	}
}

// again repeats a step until the store answers it.
func again[T any](ctx context.Context, r *rounds, step func() (T, error)) (res T, ok bool) {
	for {
		res, err := step()
		if err == nil {
			return res, true
		}
		if duly.CodeOf(err) != duly.CodeUnavailable {
			r.t.Error(err)
			return res, false
		}
		if ctx.Err() != nil {
			return res, false
		}
		time.Sleep(10 * time.Millisecond) // the caller's backoff
	}
}

func (r *rounds) work(ctx context.Context, s *Store) {
	for ctx.Err() == nil {
		r.minute.Add(1)
		if !r.round(ctx, s) {
			return
		}
		select {
		case r.moved <- struct{}{}:
		case <-ctx.Done():
		}
	}
}

func (r *rounds) round(ctx context.Context, s *Store) bool {
	claim := &store.ClaimRequest{Now: r.now(), Max: 20, Capabilities: []string{"handler:h"}}
	fired, ok := again(ctx, r, func() (store.FireResult, error) {
		return s.Fire(context.Background(), store.FireRequest{Now: r.now(), Plan: everyDue, Claim: claim})
	})
	if !ok {
		return false
	}
	r.mu.Lock()
	for _, f := range fired.Fired {
		if r.seen[duly.OccurrenceID(f.Schedule, f.Period)]++; r.seen[duly.OccurrenceID(f.Schedule, f.Period)] > 1 {
			r.t.Errorf("%s@%s was fired twice", f.Schedule, f.Period)
		}
	}
	r.mu.Unlock()
	return r.finish(ctx, s, fired.Claims)
}

func (r *rounds) finish(ctx context.Context, s *Store, claims []store.Claim) bool {
	reports := make([]store.Report, len(claims))
	for i, c := range claims {
		reports[i] = store.Report{Seq: c.Seq, Token: c.Token, Outcome: duly.AttemptSucceeded, Next: store.Next{State: duly.Succeeded}}
	}
	done, ok := again(ctx, r, func() ([]store.Finished, error) { return finishAll(context.Background(), s, 0, reports) })
	for _, d := range done {
		if d.Err != nil {
			r.t.Error(d.Err)
		}
	}
	return ok
}

// settle fires and ends what is left, what was claimed in an answer that was
// lost too: its lease runs out.
func (r *rounds) settle(s *Store) {
	r.t.Helper()
	ctx := r.t.Context()
	for {
		fired, err := s.Fire(ctx, store.FireRequest{Now: r.now(), Plan: everyDue})
		if err != nil {
			r.t.Fatal(err)
		}
		if !fired.More && len(fired.Fired) == 0 {
			break
		}
	}
	for {
		_, err := s.Reap(ctx, store.ReapRequest{Now: r.now().Add(time.Hour), Decide: func(store.Expired) store.Next { return store.Next{State: duly.Pending} }})
		if err != nil {
			r.t.Fatal(err)
		}
		res, err := s.Claim(ctx, store.ClaimRequest{Now: r.now(), Max: 1000, Capabilities: []string{"handler:h"}})
		if err != nil {
			r.t.Fatal(err)
		}
		if len(res.Claims) == 0 {
			return
		}
		r.finish(ctx, s, res.Claims)
	}
}

// check ends what is left and holds the store to its promises.
func (r *rounds) check(s *Store, ids []string) {
	r.t.Helper()
	r.settle(s)
	checkCounts(r.t, s)
	for _, id := range ids {
		all, _, err := s.Occurrences(r.t.Context(), store.OccurrenceFilter{Schedule: id}, store.Page{Limit: 1000})
		if err != nil {
			r.t.Fatal(err)
		}
		if len(all) != int(r.minute.Load()) {
			r.t.Errorf("%s has %d occurrences after %d minutes", id, len(all), r.minute.Load())
		}
		for _, o := range all {
			if o.State != duly.Succeeded {
				r.t.Errorf("%s is %s", o.ID, o.State)
			}
		}
	}
}
