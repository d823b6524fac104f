package memstore

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// Options are for New. The zero value is ready to use.
type Options struct {
	// Clock is the store's. Default time.Now.
	Clock func() time.Time
	// Bugs are for tests of tests. Default none.
	Bugs Bugs
}

// Store is a store in memory.
type Store struct {
	opt  Options
	defs definitions

	mu        sync.Mutex
	mark      time.Time // the highest now that a Fire has seen
	ahead     time.Time // the highest mark before the clock was set back
	seq       int64
	token     int64
	schedules map[string]*schedule
	turns     map[string]int // the last one given, by queue
	bySeq     map[int64]*occurrence
	all       []*occurrence // in the order of creation
	open      []*occurrence // those of them that are unfinished
	queues    map[string]*queue
	effects   []*effect
	effectSeq int
	nodes     []*node // in the order of their numbers
	nodeSeq   int64
	leases    map[string]*namedLease
	audit     []store.AuditRow
	auditSeq  int64
	counts    map[duly.State]int64
	watchers  []chan store.Event
	events    []store.Event // of the step under way
}

var _ store.Store = (*Store)(nil)

// New makes an empty store.
func New(opt Options) *Store {
	if opt.Clock == nil {
		opt.Clock = time.Now
	}
	return &Store{
		opt: opt, schedules: map[string]*schedule{}, turns: map[string]int{}, bySeq: map[int64]*occurrence{}, queues: map[string]*queue{},
		leases: map[string]*namedLease{}, counts: map[duly.State]int64{},
	}
}

// schedule is a definition with where it stands.
type schedule struct {
	id           string
	owner        string
	revisions    []store.Revision
	def          duly.Schedule
	hash         string
	anchor       time.Time
	cursor, next time.Time
	turn         int // its number within its queue
	fired        int
	held         *occurrence
	created      time.Time
	updated      time.Time
	orphaned     time.Time
	removed      time.Time
	succeeded    time.Time
	paused       *store.PauseStatus
	resume       *store.Resume
	occurrences  map[string]*occurrence // by period
	chain        []*occurrence          // in the order of creation
	met          []int64                // definitions, in the order in which they were first declared
	once         map[string]once
	skips        map[string]int64
	unowned      []duly.Unowned
}

// once is what a request with an idempotency key made.
type once struct {
	seqs []int64
	at   time.Time
}

func (s *schedule) revision() store.Revision { return s.revisions[len(s.revisions)-1] }

// occurrence is one with its attempts. What of duly.Occurrence is derived is
// filled in when it is read.
type occurrence struct {
	duly.Occurrence
	sched      *schedule
	definition int64
	place      store.Placement
	payload    json.RawMessage
	tries      int
	attempts   []*attempt
	cancelled  string // while running: wanted ended, and why
}

type attempt struct {
	duly.Attempt
	tries   int
	granted time.Duration // the lease as it was last renewed; 0: the definition's
}

// newest is the newest attempt, nil before the first.
func (o *occurrence) newest() *attempt {
	if len(o.attempts) == 0 {
		return nil
	}
	return o.attempts[len(o.attempts)-1]
}

// tokenOf is the newest token granted, 0 before the first.
func (o *occurrence) tokenOf() int64 {
	if a := o.newest(); a != nil {
		return a.Token
	}
	return 0
}

func byDue(a, b *occurrence) int { return cmp.Or(a.Due.Compare(b.Due), cmp.Compare(a.Seq, b.Seq)) }
func bySeq(a, b *occurrence) int { return cmp.Compare(a.Seq, b.Seq) }

// now is the given instant or the store's own, as all stores keep it.
func (s *Store) now(given time.Time) time.Time {
	if given.IsZero() {
		given = s.opt.Clock()
	}
	return given.Round(0).UTC().Truncate(time.Microsecond)
}

// kept is an instant, or none, as all stores keep it.
func (s *Store) kept(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return s.now(t)
}

// step makes one atomic step and wakes the watchers after it.
func step[T any](ctx context.Context, s *Store, do func() (T, error)) (T, error) {
	if err := ctx.Err(); err != nil {
		var none T
		return none, &duly.Error{Code: duly.CodeUnavailable, Message: "the call was over before it began", Err: err}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = s.events[:0]
	res, err := do()
	for _, e := range s.events {
		for _, w := range s.watchers {
			select {
			case w <- e:
			default: // it has enough to wake up for
			}
		}
	}
	return res, err
}

// do is step for those that answer only an error.
func do(ctx context.Context, s *Store, change func() error) error {
	_, err := step(ctx, s, func() (struct{}, error) { return struct{}{}, change() })
	return err
}

func (s *Store) event(topic store.Topic, schedule string) {
	s.events = append(s.events, store.Event{Topic: topic, Schedule: schedule})
}

// wanted notes that a running attempt of a schedule is wanted ended.
func (s *Store) wanted(schedule string) {
	s.event(store.TopicOccurrences, schedule)
	s.event(store.TopicCancels, schedule)
}

// maxPendingEvents is how many wake-ups wait for a slow watcher.
const maxPendingEvents = 64

// Watch implements store.Store.
func (s *Store) Watch(ctx context.Context, notify func(store.Event)) error {
	events := make(chan store.Event, maxPendingEvents)
	s.mu.Lock()
	s.watchers = append(s.watchers, events)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.watchers = slices.DeleteFunc(s.watchers, func(w chan store.Event) bool { return w == events })
	}()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case e := <-events:
			notify(e)
		}
	}
}

// Close does nothing: what is in memory ends with the process, and a store may
// be looked at after a "restart".
func (s *Store) Close() error { return nil }

// note leaves an audit row.
func (s *Store) note(at time.Time, by, action, object, why string, before, after json.RawMessage) {
	s.auditSeq++
	s.audit = append(s.audit, store.AuditRow{Seq: s.auditSeq, At: at, By: by, Action: action, Object: object, Why: why, Before: before, After: after})
}

func notFound(what, id string) error {
	return duly.Errorf(duly.CodeNotFound, "there is no %s %s", what, id)
}

// existing finds a schedule that was not removed.
func (s *Store) existing(id string) (*schedule, error) {
	if sc := s.schedules[id]; sc != nil && sc.removed.IsZero() {
		return sc, nil
	}
	return nil, notFound("schedule", id)
}

// find finds an occurrence by its ID.
func (s *Store) find(id string) (*occurrence, error) {
	schedule, period, ok := duly.SplitOccurrenceID(id)
	if !ok {
		return nil, duly.Invalid("occurrence", "%q names no occurrence; write schedule@period", id)
	}
	if sc := s.schedules[schedule]; sc != nil && sc.occurrences[period] != nil {
		return sc.occurrences[period], nil
	}
	return nil, notFound("occurrence", id)
}

// move puts an occurrence into another state and keeps the counts.
func (s *Store) move(o *occurrence, to duly.State) {
	s.counts[o.State]--
	s.counts[to]++
	was := o.State
	o.State = to
	at, listed := slices.BinarySearchFunc(s.open, o, bySeq)
	switch {
	case to.Open() && !listed:
		s.open = slices.Insert(s.open, at, o)
	case !to.Open() && listed:
		s.open = slices.Delete(s.open, at, at+1)
	}
	if was != to {
		s.event(store.TopicOccurrences, o.Schedule)
	}
}

// end makes a move that ends an occurrence, for a reason.
func (s *Store) end(o *occurrence, to duly.State, at time.Time, reason string) {
	s.move(o, to)
	o.FinishedAt, o.Reason, o.NotBefore = at, reason, time.Time{}
}

// blocked reports whether an occurrence waits for another one of its schedule:
// one that runs, an earlier one, or one that holds it.
func (s *Store) blocked(o *occurrence) bool {
	if !o.place.Serial || s.opt.Bugs.ClaimIgnoresOrder {
		return false
	}
	if o.sched.held != nil && o.sched.held != o {
		return true
	}
	for _, x := range s.open {
		if x.sched == o.sched && x != o && (x.State == duly.Running || byDue(x, o) < 0) {
			return true
		}
	}
	return false
}

// waiting says what a pending occurrence waits for.
func (s *Store) waiting(o *occurrence, now time.Time) duly.Waiting {
	switch {
	case o.State != duly.Pending:
		return ""
	case s.blocked(o):
		return duly.WaitingEarlier
	case o.NotBefore.After(now):
		return duly.WaitingTime
	}
	return duly.WaitingSlot
}
