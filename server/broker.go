package server

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/duly-dev/duly/store"
)

// broker hands work to the workers that wait for it in long polls. One
// goroutine, which lives only while somebody waits, looks at the store's
// horizon and claims on behalf of the waiting, first come first served: an
// event costs one look, not a claim by each of a thousand workers.
type broker struct {
	store store.Store
	hub   *hub

	mu      sync.Mutex
	waiting []*waiter
	serving bool
	closed  bool
	done    sync.WaitGroup
	changed chan struct{} // somebody came or went
}

// waiter is a long poll. The broker's mutex guards busy and gone.
type waiter struct {
	req  store.ClaimRequest
	kind string       // those of one kind can do the same work
	got  chan claimed // buffered
	busy bool         // a claim for it is on its way
	gone bool         // it waits for that claim's answer and no longer
}

// claimed is the store's answer to a claim, and when it was asked: no lease in
// it can have begun earlier.
type claimed struct {
	res   store.ClaimResult
	asked time.Time
	err   error
}

const (
	// look is how often the horizon is looked at although no event came.
	look = time.Second
	// claimTime bounds one question to the store.
	claimTime = 10 * time.Second
	// maxRest bounds how long a kind of worker for which there was nothing,
	// although something was ready for others, is left alone: 1 ms the first
	// time, then twice as long each time.
	maxRest = 100 * time.Millisecond
)

func newBroker(st store.Store, h *hub) *broker {
	return &broker{store: st, hub: h, changed: make(chan struct{}, 1)}
}

// claim takes work, waiting for it up to wait. It answers at once, with
// nothing, when ctx or the server ends.
func (b *broker) claim(ctx context.Context, req store.ClaimRequest, wait time.Duration) claimed {
	first := b.ask(ctx, req)
	if first.err != nil || len(first.res.Claims) > 0 || wait <= 0 {
		return first
	}
	w := b.enter(req)
	if w == nil {
		return first
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case c := <-w.got:
		return c
	case <-timer.C:
	case <-ctx.Done():
	case <-b.hub.ending:
	}
	if b.leave(w) {
		return first
	}
	return <-w.got
}

// ask claims. It does not stop when the worker goes away: a claim that is
// granted and not heard of would be lost until its lease has run out, whereas
// one that is heard of can be given back.
func (b *broker) ask(ctx context.Context, req store.ClaimRequest) claimed {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), claimTime)
	defer cancel()
	asked := time.Now()
	res, err := b.store.Claim(ctx, req)
	return claimed{res, asked, err}
}

// enter queues a request; nil if the server has ended.
func (b *broker) enter(req store.ClaimRequest) *waiter {
	caps := slices.Sorted(slices.Values(req.Capabilities))
	w := &waiter{req: req, kind: strings.Join(caps, "\n"), got: make(chan claimed, 1)}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil
	}
	b.waiting = append(b.waiting, w)
	if !b.serving {
		b.serving = true
		b.done.Go(b.serve)
	}
	b.signal()
	return w
}

// leave takes a waiter out; false means that its answer is on its way or there.
func (b *broker) leave(w *waiter) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if w.busy {
		w.gone = true
		return false
	}
	defer b.signal()
	return b.remove(w)
}

// remove is called with the mutex held.
func (b *broker) remove(w *waiter) bool {
	i := slices.Index(b.waiting, w)
	if i < 0 {
		return false
	}
	b.waiting = slices.Delete(b.waiting, i, i+1)
	return true
}

func (b *broker) signal() {
	select {
	case b.changed <- struct{}{}:
	default:
	}
}

// close lets nobody wait any more, and waits for the broker's goroutine, which
// ends once those who wait have left: close the hub before.
func (b *broker) close() {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.done.Wait()
}

func (b *broker) serve() {
	sub := b.hub.subscribe()
	defer b.hub.unsubscribe(sub)
	rests := map[string]rest{}
	timer := time.NewTimer(look)
	defer timer.Stop()
	for {
		next := b.pass(rests)
		if b.idle() {
			return
		}
		timer.Reset(next)
		for waits := true; waits; {
			select {
			case <-sub.wake:
				waits = !sub.takeAny(store.TopicOccurrences)
			case <-b.changed:
				waits = false
			case <-timer.C:
				waits = false
			}
		}
	}
}

// idle reports whether nobody waits; the goroutine ends then.
func (b *broker) idle() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.serving = len(b.waiting) > 0
	return !b.serving
}

// rest keeps a kind of worker from asking in vain over and over.
type rest struct {
	vain  int
	until time.Time
}

// pass serves whom it can and answers when to look again.
func (b *broker) pass(rests map[string]rest) time.Duration {
	next := look
	served := map[string]bool{} // kinds that have all they can have for now
	for {
		w := b.first(served)
		if w == nil {
			return next
		}
		if left := time.Until(rests[w.kind].until); left > 0 {
			next, served[w.kind] = min(next, left), true
			continue
		}
		ready, in := b.ready()
		if !ready {
			return min(next, in)
		}
		if !b.serveOne(w) {
			vain := rests[w.kind].vain
			pause := min(time.Millisecond<<min(vain, 10), maxRest)
			rests[w.kind] = rest{vain: vain + 1, until: time.Now().Add(pause)}
			next, served[w.kind] = min(next, pause), true
			continue
		}
		delete(rests, w.kind)
	}
}

// first returns the waiter that has waited longest, of a kind that is not
// served.
func (b *broker) first(served map[string]bool) *waiter {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, w := range b.waiting {
		if !served[w.kind] {
			return w
		}
	}
	return nil
}

// ready looks whether anything may start now, or in what time.
func (b *broker) ready() (now bool, in time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), claimTime)
	defer cancel()
	h, err := b.store.Horizon(ctx)
	if err != nil || h.Ready.IsZero() {
		return false, look
	}
	if h.Ready.After(h.Now) {
		return false, max(h.Ready.Sub(h.Now), time.Millisecond)
	}
	return true, 0
}

// serveOne claims for a waiter; false means that there was nothing for it.
func (b *broker) serveOne(w *waiter) bool {
	b.mu.Lock()
	if !slices.Contains(b.waiting, w) {
		b.mu.Unlock()
		return true // it left meanwhile
	}
	w.busy = true
	b.mu.Unlock()

	c := b.ask(context.Background(), w.req)

	b.mu.Lock()
	defer b.mu.Unlock()
	w.busy = false
	vain := c.err == nil && len(c.res.Claims) == 0
	if vain && !w.gone {
		return false
	}
	b.remove(w)
	w.got <- c
	return !vain
}
