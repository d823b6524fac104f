package bench

import (
	"context"
	"sync"
	"time"

	"github.com/duly-dev/duly/store"
)

// stopwatch notes the longest step of a store. No statement within a step can
// have taken longer.
type stopwatch struct {
	store.Store
	mu   sync.Mutex
	name string
	most time.Duration
}

func (s *stopwatch) longest() (string, time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.name, s.most
}

func timed[T any](s *stopwatch, name string, step func() (T, error)) (T, error) {
	start := time.Now()
	res, err := step()
	took := time.Since(start)
	s.mu.Lock()
	defer s.mu.Unlock()
	if took > s.most {
		s.name, s.most = name, took
	}
	return res, err
}

func (s *stopwatch) Fire(ctx context.Context, req store.FireRequest) (store.FireResult, error) {
	return timed(s, "fire", func() (store.FireResult, error) { return s.Store.Fire(ctx, req) })
}

func (s *stopwatch) Horizon(ctx context.Context) (store.Horizon, error) {
	return timed(s, "horizon", func() (store.Horizon, error) { return s.Store.Horizon(ctx) })
}

func (s *stopwatch) Claim(ctx context.Context, req store.ClaimRequest) (store.ClaimResult, error) {
	return timed(s, "claim", func() (store.ClaimResult, error) { return s.Store.Claim(ctx, req) })
}

func (s *stopwatch) Renew(ctx context.Context, node int64, items []store.Renewal) ([]store.Renewed, error) {
	return timed(s, "renew", func() ([]store.Renewed, error) { return s.Store.Renew(ctx, node, items) })
}

func (s *stopwatch) Finish(ctx context.Context, node int64, reports []store.Report) ([]store.Finished, error) {
	return timed(s, "finish", func() ([]store.Finished, error) { return s.Store.Finish(ctx, node, reports) })
}

func (s *stopwatch) Reap(ctx context.Context, req store.ReapRequest) (store.ReapResult, error) {
	return timed(s, "reap", func() (store.ReapResult, error) { return s.Store.Reap(ctx, req) })
}
