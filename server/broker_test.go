package server

import (
	"context"
	"testing"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/api"
	"github.com/duly-dev/duly/control"
	"github.com/duly-dev/duly/store"
)

func TestALongPollIsWokenWithinMilliseconds(t *testing.T) {
	b := setup(t)
	b.put(t, daily("a"))
	node := b.join(t)
	type got struct {
		res api.ClaimResult
		at  time.Time
		err error
	}
	for round := range 3 {
		answered := make(chan got)
		go func() {
			res, err := b.Claim(b.ctx, api.ClaimRequest{Node: node, Capabilities: []string{"handler:work"}, Wait: duly.Duration(20 * time.Second)})
			answered <- got{res, time.Now(), err}
		}()
		b.server.awaitWaiting(t, 1)
		began := time.Now()
		b.trigger(t, "a")
		triggered := time.Now()
		g := <-answered
		if g.err != nil || len(g.res.Claims) != 1 {
			t.Fatalf("answered %+v, %v", g.res, g.err)
		}
		t.Logf("round %d: trigger took %v, claimed %v after it began", round, triggered.Sub(began), g.at.Sub(began))
		if woken := g.at.Sub(triggered); woken > 500*time.Millisecond {
			t.Errorf("round %d: the long poll was woken %v after the trigger was answered", round, woken)
		}
		b.finishOne(t, node, g.res.Claims[0], duly.AttemptSucceeded, api.Details{})
	}
}

// awaitWaiting returns when so many long polls wait.
func (s *Server) awaitWaiting(t *testing.T, n int) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for {
		s.broker.mu.Lock()
		waiting := len(s.broker.waiting)
		s.broker.mu.Unlock()
		if waiting == n {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d long polls wait, not %d", waiting, n)
		}
		time.Sleep(time.Millisecond)
	}
}

func TestManyWaitingWorkersShareTheWork(t *testing.T) {
	b := setup(t)
	s := daily("a")
	s.Overlap = duly.OverlapAllow
	b.put(t, s)
	node := b.join(t)
	const workers = 20
	claims := make(chan api.Claim, workers)
	for range workers {
		go func() {
			res, err := b.Claim(b.ctx, api.ClaimRequest{Node: node, Capabilities: []string{"handler:work"}, Wait: duly.Duration(30 * time.Second)})
			if err != nil || len(res.Claims) != 1 {
				t.Errorf("a worker got %+v, %v", res, err)
			}
			for _, c := range res.Claims {
				claims <- c
			}
		}()
	}
	// One that can do something else must neither get any of it nor hold it up.
	other := make(chan api.ClaimResult, 1)
	go func() {
		res, err := b.Claim(b.ctx, api.ClaimRequest{Node: node, Capabilities: []string{"handler:other"}, Wait: duly.Duration(time.Second)})
		if err != nil {
			t.Error(err)
		}
		other <- res
	}()
	b.server.awaitWaiting(t, workers+1)
	for range workers {
		b.trigger(t, "a")
	}
	seen := map[int64]bool{}
	for range workers {
		seen[(<-claims).Seq] = true
	}
	if len(seen) != workers {
		t.Errorf("%d occurrences were handed out %d times", len(seen), workers)
	}
	if res := <-other; len(res.Claims) != 0 {
		t.Errorf("a worker that cannot do it got %+v", res.Claims)
	}
}

func TestALongPollAnswersWithNothingWhenItsWaitIsOver(t *testing.T) {
	b := setup(t)
	node := b.join(t)
	began := time.Now()
	res, err := b.Claim(b.ctx, api.ClaimRequest{Node: node, Capabilities: []string{"handler:work"}, Wait: duly.Duration(50 * time.Millisecond)})
	if err != nil || res.Claims == nil || len(res.Claims) != 0 || res.Now.IsZero() || time.Since(began) < 50*time.Millisecond {
		t.Errorf("got %+v, %v after %v", res, err, time.Since(began))
	}
}

func TestALongPollEndsAtOnceWhenItsClientOrTheServerGoesAway(t *testing.T) {
	b := setup(t)
	b.put(t, daily("a"))
	node := b.join(t)
	ctx, cancel := context.WithCancel(b.ctx)
	failed := make(chan error)
	ask := func(ctx context.Context) {
		_, err := b.Claim(ctx, api.ClaimRequest{Node: node, Capabilities: []string{"handler:work"}, Wait: duly.Duration(time.Minute)})
		failed <- err
	}
	go ask(ctx)
	b.server.awaitWaiting(t, 1)
	cancel()
	if err := <-failed; err != context.Canceled {
		t.Errorf("the client's error is %v", err)
	}
	b.server.awaitWaiting(t, 0)
	b.trigger(t, "a")
	if c := b.claimOne(t, node); c.Attempt != 1 {
		t.Errorf("the client that went away took attempt 1: %+v", c)
	}

	go ask(b.ctx)
	b.server.awaitWaiting(t, 1)
	closing := time.Now()
	b.server.Close()
	if err := <-failed; err != nil || time.Since(closing) > 5*time.Second {
		t.Errorf("after Close: %v, %v", err, time.Since(closing))
	}
}

// Waited keeps a worker from losing the time of a long poll off its lease, and
// must never say more than there was.
func TestAClaimSaysHowLongItsRequestHadWaited(t *testing.T) {
	b := setup(t)
	b.put(t, daily("a"))
	node := b.join(t)
	got := make(chan api.ClaimResult, 1)
	asked := time.Now()
	go func() {
		res, err := b.Claim(b.ctx, api.ClaimRequest{Node: node, Capabilities: []string{"handler:work"}, Wait: duly.Duration(time.Minute)})
		if err != nil {
			t.Error(err)
		}
		got <- res
	}()
	b.server.awaitWaiting(t, 1)
	waiting := time.Now()
	<-time.After(20 * time.Millisecond)
	least := time.Since(waiting)
	b.trigger(t, "a")
	res := <-got
	if waited, most := res.Waited.Std(), time.Since(asked); waited < least.Truncate(time.Millisecond) || waited > most {
		t.Errorf("the request waited %v to %v, and the answer says %v", least, most, waited)
	}
	if res.Now.Add(res.Claims[0].Lease.Std()).Before(res.Claims[0].LeaseUntil) {
		t.Errorf("the lease until %v begins after the claim at %v", res.Claims[0].LeaseUntil, res.Now)
	}
}

func TestWorkThatNobodyHearsOfGoesBackUncounted(t *testing.T) {
	b := setup(t)
	b.put(t, daily("a"))
	node := b.join(t)
	b.trigger(t, "a")
	ctx, cancel := context.WithCancel(b.ctx)
	s := New(&leaving{Store: b.store, left: cancel}, control.New(b.store), Options{})
	t.Cleanup(s.Close)
	in := &claimInput{Body: api.ClaimRequest{Node: node, Capabilities: []string{"handler:work"}}}
	if _, err := s.claim(ctx, in); err != context.Canceled {
		t.Fatalf("a client that is gone was answered: %v", err)
	}
	c := b.claimOne(t, node)
	if c.Attempt != 2 || c.Tries != 1 {
		t.Errorf("afterwards it is attempt %d, try %d", c.Attempt, c.Tries)
	}
}

// leaving is a real store whose client goes away while it claims.
type leaving struct {
	store.Store
	left context.CancelFunc
}

func (l *leaving) Claim(ctx context.Context, req store.ClaimRequest) (store.ClaimResult, error) {
	l.left()
	return l.Store.Claim(ctx, req)
}
