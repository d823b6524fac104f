package node

import (
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/duly-dev/duly"
)

// availability remembers whether the store answers, so that an outage is
// logged once, not with every try, and many nodes do not come back at once.
type availability struct {
	mu      sync.Mutex
	heard   time.Time // monotonic: when the store last answered; zero: never yet
	since   time.Time // zero while the store answers
	last    error
	backoff *backoff.ExponentialBackOff
}

// down notes a failure and answers how long to wait: exponential from 100 ms
// to 5 s, with jitter.
func (a *availability) down(log *slog.Logger, err error) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.since.IsZero() {
		a.since = time.Now()
		a.backoff = &backoff.ExponentialBackOff{
			InitialInterval: 100 * time.Millisecond, RandomizationFactor: 0.5, Multiplier: 2, MaxInterval: 5 * time.Second,
		}
		a.backoff.Reset()
		say := log.Error
		if duly.CodeOf(err) == duly.CodeUnavailable {
			say = log.Warn
		}
		say("the store does not answer; nothing starts without ownership, trying on", "error", err)
	}
	a.last = err
	return a.backoff.NextBackOff()
}

// up notes that the store answered.
func (a *availability) up(log *slog.Logger) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.heard = time.Now()
	if a.since.IsZero() {
		return
	}
	log.Info("the store answers again", "after", time.Since(a.since).Round(time.Millisecond))
	a.since, a.last = time.Time{}, nil
}

// answered notes that the store answered a call in which it had something to
// write. One that can only be read is no help.
func (a *availability) answered() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.heard = time.Now()
}

// silence is for how long the store has not answered, 0 before it first did.
func (a *availability) silence() time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.heard.IsZero() {
		return 0
	}
	return time.Since(a.heard)
}

// err is why the store is down, nil while it answers.
func (a *availability) err() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.last
}

// Available returns nil while the store answers, and otherwise what it last
// said.
func (n *Node) Available() error { return n.available.err() }

func random() float64 { return rand.Float64() }
