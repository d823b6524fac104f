package postgres

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// What reports that share a transaction may come to, in number and in bytes.
const (
	maxGroup      = 4000
	maxGroupBytes = 8 << 20
)

// finisher gathers reports: those that wait while a commit is in flight share
// the next one. A lone caller waits for nobody. What others hold, above all an
// application's transaction that completes an attempt, is left to a second
// finisher, which waits for it: so that the first one never does.
type finisher struct {
	store   *Store
	patient *finisher // nil for the second one
	mu      sync.Mutex
	calls   []*finishCall
	wake    chan struct{}
	over    bool
	ended   chan struct{}
	// enough ends the transaction under way.
	ctx    context.Context
	enough context.CancelFunc
}

// finishCall is one call of Finish on its way.
type finishCall struct {
	reports []store.Report
	answers []store.Finished
	left    []int      // reports without an answer yet, by index
	done    chan error // buffered
}

// rest are the reports without an answer.
func (c *finishCall) rest() []store.Report {
	if len(c.left) == len(c.reports) {
		return c.reports
	}
	rest := make([]store.Report, len(c.left))
	for i, at := range c.left {
		rest[i] = c.reports[at]
	}
	return rest
}

// take keeps the answers to rest.
func (c *finishCall) take(answers []store.Finished) {
	held := c.left[:0]
	for i, at := range c.left {
		c.answers[at] = answers[i]
		if answers[i].Err == errHeld {
			held = append(held, at)
		}
	}
	c.left = held
}

func (c *finishCall) size() (n int) {
	for i := range c.reports {
		n += len(c.reports[i].Output) + len(c.reports[i].Result) + len(c.reports[i].Error)
	}
	return n
}

func (f *finisher) init(s *Store) {
	f.patient = &finisher{}
	f.patient.begin(s)
	f.begin(s)
}

func (f *finisher) begin(s *Store) {
	f.store, f.wake, f.ended = s, make(chan struct{}, 1), make(chan struct{})
	f.ctx, f.enough = context.WithCancel(context.Background())
	go f.loop()
}

// patienceAtEnd is how long each step of closing waits for a server that does
// not answer.
const patienceAtEnd = 2 * time.Second

// stop ends the finisher after the calls that wait.
func (f *finisher) stop() {
	f.end()
	f.patient.end()
}

func (f *finisher) end() {
	f.mu.Lock()
	f.over = true
	f.mu.Unlock()
	signal(f.wake)
	hurry := time.AfterFunc(patienceAtEnd, f.enough)
	defer hurry.Stop()
	<-f.ended
	f.enough()
}

// Finish implements store.Worker. A caller that leaves is answered
// unavailable; its reports may still be taken.
func (s *Store) Finish(ctx context.Context, _ int64, reports []store.Report) ([]store.Finished, error) {
	if len(reports) == 0 {
		return nil, nil
	}
	if s.readOnly {
		return nil, duly.Errorf(duly.CodeInvalid, "%s was opened for reading only", s.cfg.name)
	}
	c := &finishCall{
		reports: slices.Clone(reports), // a caller that leaves has them back
		answers: make([]store.Finished, len(reports)), left: make([]int, len(reports)), done: make(chan error, 1),
	}
	for i := range c.left {
		c.left[i] = i
	}
	if !s.finisher.put(c) {
		return nil, errClosed
	}
	select {
	case err := <-c.done:
		return c.answers, s.classify(err)
	case <-ctx.Done():
		return nil, s.classify(ctx.Err())
	}
}

func (f *finisher) put(c *finishCall) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.over {
		return false
	}
	f.calls = append(f.calls, c)
	signal(f.wake)
	return true
}

func (f *finisher) loop() {
	defer close(f.ended)
	for range f.wake {
		for {
			group := f.take()
			if len(group) == 0 {
				break
			}
			f.run(group)
		}
		f.mu.Lock()
		over := f.over && len(f.calls) == 0
		f.mu.Unlock()
		if over {
			return
		}
	}
}

func (f *finisher) take() []*finishCall {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, reports, size := 0, 0, 0
	for ; n < len(f.calls); n++ {
		c := f.calls[n]
		if n > 0 && (reports+len(c.reports) > maxGroup || size+c.size() > maxGroupBytes) {
			break
		}
		reports, size = reports+len(c.reports), size+c.size()
	}
	group := f.calls[:n:n]
	if f.calls = f.calls[n:]; len(f.calls) == 0 {
		f.calls = nil
	}
	return group
}

// run has a group share a transaction. Where that is refused for another reason
// than that the server is away, each call has one of its own, so that none
// suffers for another.
func (f *finisher) run(group []*finishCall) {
	var all []store.Report
	for _, c := range group {
		all = append(all, c.rest()...)
	}
	ctx, cancel := context.WithTimeout(f.ctx, f.store.cfg.statement)
	defer cancel()
	answers, err := f.finish(ctx, all)
	if err != nil && len(group) > 1 && duly.CodeOf(err) != duly.CodeUnavailable {
		for _, c := range group {
			answers, err = f.finish(ctx, c.rest())
			f.answer(c, answers, err)
		}
		return
	}
	for _, c := range group {
		n := len(c.left)
		if err != nil {
			n = 0
		}
		f.answer(c, answers[:n:n], err)
		answers = answers[n:]
	}
}

func (f *finisher) finish(ctx context.Context, reports []store.Report) ([]store.Finished, error) {
	if f.patient != nil {
		return f.store.finish(ctx, reports, false)
	}
	answers, err := f.store.finish(ctx, reports, true)
	if state(err) == lockNotAvailable {
		return f.store.finish(ctx, reports, false) // what is free by now
	}
	return answers, err
}

// answer answers a call, or hands on what was passed over.
func (f *finisher) answer(c *finishCall, answers []store.Finished, err error) {
	if err == nil {
		c.take(answers)
		if f.patient != nil && len(c.left) > 0 && f.patient.put(c) {
			return
		}
	}
	c.done <- err
}
