package node

import (
	"context"
	"sync"
	"time"

	keep "github.com/duly-dev/duly/lease"
	"github.com/duly-dev/duly/plan"
	"github.com/duly-dev/duly/store"
	"github.com/duly-dev/duly/target"
)

// attempt is an occurrence that this node owns and works on.
type attempt struct {
	claim  store.Claim
	plan   *plan.Plan
	cancel context.CancelCauseFunc
	// renewing is held by a renewal on its way.
	renewing sync.WaitGroup

	mu         sync.Mutex
	trusted    time.Time     // monotonic: until then the lease surely holds
	renewAt    time.Time     // monotonic
	askedAt    time.Time     // monotonic: when the store was last asked
	newsAt     time.Time     // monotonic: when somebody last may have come to want it ended
	newsEvery  time.Duration // the least time between renewals for that, 0 for no news
	leaseUntil time.Time     // by the store's clock
	expiry     *time.Timer
	over       bool // reported, or nothing is to be reported any more

	// unowned is set where no lease owns it; see alone.go.
	unowned *unowned
	joined  bool // a part of the application's transaction, which may have committed
}

// maxUnasked bounds how long the store is not asked about an attempt, however
// long its lease: the answer says too that somebody wants it to stop.
const maxUnasked = 10 * time.Second

func renewEvery(lease time.Duration) time.Duration { return min(lease/3, maxUnasked) }

// trust starts or extends the time for which the node believes in its lease,
// counted from before the store was asked.
func (a *attempt) trust(asked time.Time, lease time.Duration, until time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.askedAt = asked
	a.trusted = asked.Add(keep.TrustWindow(lease))
	a.renewAt = asked.Add(renewEvery(lease))
	if !a.newsAt.Before(asked) { // the answer may be older than the news
		a.renewAt = asked.Add(min(a.newsEvery, renewEvery(lease)))
	} else {
		a.newsEvery = 0
	}
	a.leaseUntil = until
	if a.expiry != nil {
		a.expiry.Reset(time.Until(a.trusted))
	}
}

// guard arms the timer that cancels the handler when the lease is no longer
// to be trusted. It is armed only when an attempt lives long enough to be
// renewed, so that short ones cost no timer.
func (a *attempt) guard() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.expiry == nil && !a.over {
		a.expiry = time.AfterFunc(time.Until(a.trusted), func() { a.cancel(target.ErrLeaseLost) })
	}
}

// renews notes that a renewal is on its way, unless the attempt is over.
func (a *attempt) renews() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over {
		return false
	}
	a.renewing.Add(1)
	return true
}

// end marks the attempt as over; it answers false if it was already.
func (a *attempt) end() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over {
		return false
	}
	a.over = true
	if a.expiry != nil {
		a.expiry.Stop()
	}
	return true
}

func (a *attempt) isOver() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.over
}

// compiled is the attempt's plan, nil before it was read.
func (a *attempt) compiled() *plan.Plan {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.plan
}

func (a *attempt) until() time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.leaseUntil
}

// activeSet holds the attempts whose code has not returned yet, reported or
// not: a handler that ignores its cancellation keeps its slot, so that such
// handlers cannot pile up.
type activeSet struct {
	mu       sync.Mutex
	attempts map[*attempt]struct{}
	reserved int           // slots that are being claimed for; see Node.Take
	wanted   bool          // the dispatcher waits for a slot
	nextScan time.Time     // when the keeper looks next
	newsAt   time.Time     // monotonic: when attempts were last hurried
	sooner   chan struct{} // an attempt needs it to look earlier
	empty    chan struct{} // closed while there is none
}

func (s *activeSet) init() {
	s.attempts = map[*attempt]struct{}{}
	s.sooner = make(chan struct{}, 1)
	s.empty = make(chan struct{})
	close(s.empty)
}

func (s *activeSet) size() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.attempts)
}

// used counts the slots that nothing more can be claimed for.
func (s *activeSet) used() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.attempts) + s.reserved
}

// reserve keeps a slot free for one to be added, if fewer than slots are in
// use.
func (s *activeSet) reserve(slots int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.attempts)+s.reserved >= slots {
		return false
	}
	s.occupied()
	s.reserved++
	return true
}

// unreserve gives the slot back, and tells whether somebody waits for one.
func (s *activeSet) unreserve() (wanted bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reserved--
	s.vacated()
	wanted, s.wanted = s.wanted, false
	return wanted
}

// occupied and vacated keep s.empty, before something comes and after something
// went.
func (s *activeSet) occupied() {
	if len(s.attempts)+s.reserved == 0 {
		s.empty = make(chan struct{})
	}
}

func (s *activeSet) vacated() {
	if len(s.attempts)+s.reserved == 0 {
		close(s.empty)
	}
}

func (s *activeSet) add(a *attempt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.occupied()
	s.attempts[a] = struct{}{}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.unowned == nil && !s.newsAt.Before(a.askedAt) { // the news may have been about it
		a.renewAt = a.askedAt.Add(min(suspectEvery, renewEvery(a.claim.Lease)))
	}
	if s.nextScan.IsZero() || a.renewAt.Before(s.nextScan) {
		signal(s.sooner)
	}
}

// remove frees the slot and tells whether somebody waits for it.
func (s *activeSet) remove(a *attempt) (wanted bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.attempts, a)
	s.vacated()
	wanted, s.wanted = s.wanted, false
	return wanted
}

// hurry has attempts renewed soon that somebody may want ended: all of a
// schedule, or all where it is not known which. A renewal is how an attempt
// learns of it. No attempt is asked about twice within least. One that has
// joined the application's transaction is not asked about any more.
func (s *activeSet) hurry(schedule string, least time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.newsAt = time.Now()
	hurried := false
	for a := range s.attempts {
		if schedule != "" && a.claim.Schedule != schedule {
			continue
		}
		a.mu.Lock()
		if !a.over && !a.joined {
			a.newsAt = s.newsAt
			if a.newsEvery == 0 || least < a.newsEvery {
				a.newsEvery = least
			}
			if soon := a.askedAt.Add(least); a.renewAt.After(soon) {
				a.renewAt = soon
				hurried = hurried || soon.Before(s.nextScan)
			}
		}
		a.mu.Unlock()
	}
	if hurried {
		signal(s.sooner)
	}
}

const (
	// hurryEvery is the least time between two renewals of an attempt where it
	// was told that one is wanted ended.
	hurryEvery = time.Second
	// suspectEvery is that where all that is known is that something changed.
	// The renewals of other processes are such changes too.
	suspectEvery = 3 * time.Second
)

func (s *activeSet) wantSlots() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wanted = true
}

// of lists the attempts of a schedule that are not over.
func (s *activeSet) of(schedule string) (all []*attempt) {
	s.each(func(a *attempt) {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.claim.Schedule == schedule && !a.over {
			all = append(all, a)
		}
	})
	return all
}

// drained is closed when no attempt is left.
func (s *activeSet) drained() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.empty
}

func (s *activeSet) each(fn func(*attempt)) {
	s.mu.Lock()
	all := make([]*attempt, 0, len(s.attempts))
	for a := range s.attempts {
		all = append(all, a)
	}
	s.mu.Unlock()
	for _, a := range all {
		fn(a)
	}
}

// scan lists the attempts whose renewal is due at now and answers when to look
// again. With one renewal it takes all that would be due soon after, so that
// renewals come in batches: what is renewed every so often, a quarter of that
// early at most.
func (s *activeSet) scan(now time.Time) (due []*attempt, next time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	next = now.Add(time.Hour)
	for a := range s.attempts {
		a.mu.Lock()
		over, renewAt, ahead := a.over, a.renewAt, min(renewEvery(a.claim.Lease), a.renewAt.Sub(a.askedAt))/4
		a.mu.Unlock()
		if over || a.unowned != nil {
			continue
		}
		if !renewAt.After(now.Add(ahead)) {
			due = append(due, a)
			continue
		}
		if renewAt.Before(next) {
			next = renewAt
		}
	}
	s.nextScan = next
	return due, next
}
