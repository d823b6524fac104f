//go:build unix

package postgres

import (
	"context"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/duly-dev/duly/internal/sqltest"
)

// TestRestartsOfTheServerLoseAndRepeatNothing restarts the server under nodes at
// work, once in order and once as a crash. Whoever is told unavailable does the
// same again.
func TestRestartsOfTheServerLoseAndRepeatNothing(t *testing.T) {
	server := sqltest.NewOwn(t)
	s := mustOpen(t, server.DSN())
	start := time.Now().Truncate(time.Minute)
	ids := crowdSchedules(t, s, start, 3)
	r := &rounds{t: t, start: start, seen: map[string]int{}, moved: make(chan struct{}, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for range 3 {
		node := mustOpen(t, server.DSN())
		wg.Go(func() { r.work(ctx, node) })
	}
	for _, how := range []syscall.Signal{syscall.SIGINT, syscall.SIGQUIT} {
		r.await(20)
		server.Stop(how)
		server.Start()
	}
	r.await(20)
	cancel()
	wg.Wait()
	r.check(s, ids)
}

// TestPromotionOfAStandbyLosesAndRepeatsNothing kills the primary under nodes at
// work. They name both servers, and find the one that writes.
func TestPromotionOfAStandbyLosesAndRepeatsNothing(t *testing.T) {
	a := sqltest.NewOwn(t)
	b := a.Standby()
	both := "postgres://postgres@" + a.Addr() + "," + b.Addr() + "/postgres"
	s := mustOpen(t, both)
	start := time.Now().Truncate(time.Minute)
	ids := crowdSchedules(t, s, start, 3)
	r := &rounds{t: t, start: start, seen: map[string]int{}, moved: make(chan struct{}, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for range 3 {
		node := mustOpen(t, both)
		wg.Go(func() { r.work(ctx, node) })
	}
	r.await(20)
	a.Stop(syscall.SIGKILL)
	b.Promote()
	r.await(20)
	cancel()
	wg.Wait()
	r.check(s, ids)
}
