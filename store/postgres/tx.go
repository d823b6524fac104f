package postgres

import (
	"context"
	"encoding/json"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// maxRepeats bounds how often a transaction is begun anew after it met another
// one.
const maxRepeats = 8

// tx is a transaction that changes something. What is counted is added up and
// written at the end: its row is the last that is locked.
type tx struct {
	*conn
	s      *Store
	tally  [tallyCount]int64
	skips  map[skipKey]int64
	events events
	// urgent: others may have something to do now.
	urgent bool
	// careful is set when the transaction is repeated because something that
	// was taken to be new existed.
	careful bool
}

type skipKey struct {
	sid    int64
	reason string
}

// What is counted, by column of tallies: states come first, then the trimmed
// ones of each state.
const (
	tallyTrimmed   = 9
	tallySchedules = 18
	tallyPaused    = 19
	tallyCount     = 20
)

// write runs fn in a transaction and returns what fn answered once that is
// durable. fn may run more than once; it must not change what it captured.
func write[T any](ctx context.Context, s *Store, fn func(*tx) (T, error)) (T, error) {
	var zero T
	if s.readOnly {
		return zero, duly.Errorf(duly.CodeInvalid, "%s was opened for reading only", s.cfg.name)
	}
	careful := false
	for repeats := 0; ; repeats++ {
		res, stale, err := try(ctx, s, careful, fn)
		switch {
		case err == nil:
			return res, nil
		case repeats == maxRepeats:
		case state(err) == uniqueViolation:
			careful = true
			continue
		case stale || collided(err):
			continue
		}
		if disconnected(err) {
			s.names.forget()
		}
		return zero, s.classify(err)
	}
}

// try runs fn in one transaction. stale: the connection was dead at its first
// use.
func try[T any](ctx context.Context, s *Store, careful bool, fn func(*tx) (T, error)) (res T, stale bool, err error) {
	pc, err := s.acquire(ctx)
	if err != nil {
		return res, false, err
	}
	defer pc.Release()
	t := &tx{conn: newConn(ctx, &s.dialect, pc.Conn()), s: s, careful: careful, skips: map[skipKey]int64{}}
	t.patience = s.cfg.patience()
	t.later("BEGIN ISOLATION LEVEL READ COMMITTED")
	s.local(t.conn)
	if res, err = protect(t, fn); err == nil {
		err = t.commit()
	}
	if err != nil {
		stale = t.stale(err)
		t.undo()
		return res, stale, err
	}
	s.watchers.publish(t.events)
	s.notifier.tell(t.events, t.urgent)
	return res, false, nil
}

// protect keeps a panic of a caller's function from leaving a transaction open.
func protect[T any](t *tx, fn func(*tx) (T, error)) (res T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = duly.Errorf(duly.CodeInternal, "%v\n%s", p, debug.Stack())
		}
	}()
	return fn(t)
}

// commit writes what was added up, and commits, in one round trip with what is
// in line.
func (t *tx) commit() error {
	t.flushSkips()
	t.flushTally()
	t.later("COMMIT")
	t.committing = true
	return t.send()
}

var updateTally = func() string {
	var b strings.Builder
	for i := range tallyCount {
		n := strconv.Itoa(i)
		b.WriteString(", n" + n + " = n" + n + " + ?")
	}
	return "UPDATE duly.tallies SET " + b.String()[2:] + " WHERE slot = pg_backend_pid() % 128"
}()

func (t *tx) flushTally() {
	if t.tally == [tallyCount]int64{} {
		return
	}
	args := make([]any, tallyCount)
	for i, n := range t.tally {
		args[i] = n
	}
	t.later(updateTally, args...)
}

// updateTallyApart adds to a row of those that are for applications'
// transactions. How long such a transaction stays open nobody knows, and no
// commit is to wait for its row: each connection has one of its own, and is in
// one transaction at a time. Trim sees to it that they do not become many.
var updateTallyApart = func() string {
	var set, values []string
	for i := range tallyCount {
		n := "n" + strconv.Itoa(i)
		set, values = append(set, n+" = c."+n+" + excluded."+n), append(values, "?::bigint")
	}
	return "INSERT INTO duly.tallies AS c (slot, " + tallyColumns + ") SELECT 128 + pg_backend_pid(), " + strings.Join(values, ", ") +
		" ON CONFLICT (slot) DO UPDATE SET " + strings.Join(set, ", ")
}()

// tallyColumns lists what is counted.
var tallyColumns = func() string {
	names := make([]string, tallyCount)
	for i := range names {
		names[i] = "n" + strconv.Itoa(i)
	}
	return strings.Join(names, ", ")
}()

// flushTallyApart is flushTally in an application's transaction.
func (t *tx) flushTallyApart() {
	args := make([]any, tallyCount)
	for i, n := range t.tally {
		args[i] = n
	}
	t.later(updateTallyApart, args...)
}

// How long a transaction waits for what may be held by one of the application's:
// reports and renewals, which are given again, and what people ask for.
const (
	lockPatience   = 250 * time.Millisecond
	changePatience = 3 * time.Second
)

// hurry has the transaction fail where it waits longer for a lock.
func (t *tx) hurry(patience time.Duration) {
	t.later("SELECT set_config('lock_timeout', ?, true)", strconv.FormatInt(patience.Milliseconds(), 10))
}

// asked is write for what people ask of schedules and occurrences: who waits for
// a transaction of the application's is told so, and soon.
func asked[T any](ctx context.Context, s *Store, fn func(*tx) (T, error)) (T, error) {
	return write(ctx, s, func(t *tx) (T, error) {
		t.hurry(changePatience)
		return fn(t)
	})
}

func (t *tx) flushSkips() {
	if len(t.skips) == 0 {
		return
	}
	var sids, counts []int64
	var reasons []string
	for k, n := range t.skips {
		sids, reasons, counts = append(sids, k.sid), append(reasons, k.reason), append(counts, n)
	}
	t.later(`INSERT INTO duly.skips AS k (sid, reason, count) SELECT * FROM unnest(?::bigint[], ?::text[], ?::bigint[]) u (sid, reason, count) ORDER BY sid, reason
		ON CONFLICT (sid, reason) DO UPDATE SET count = k.count + excluded.count`, sids, reasons, counts)
}

// moved counts transitions; from is -1 for occurrences that did not exist.
func (t *tx) moved(from, to, n int64) {
	if from >= 0 {
		t.tally[from] -= n
	}
	t.tally[to] += n
}

// skip counts periods that were not run.
func (t *tx) skip(sid int64, reason string, n int64) {
	t.skips[skipKey{sid, plain(reason[:min(len(reason), maxKey)])}] += n
}

// event notes what happened, for those who watch.
func (t *tx) event(topic store.Topic, schedule string) { t.events.add(topic, schedule) }

// audit leaves a row about a change that somebody made, who does not like to
// wait.
func (t *tx) audit(at int64, by, action, object, why string, before, after json.RawMessage) {
	t.urgent = true
	t.later("INSERT INTO duly.audit (at, by, action, object, why, before, after) VALUES (?, ?, ?, ?, ?, ?, ?)",
		at, plain(by), action, plain(object), opt(plain(why)), raw(before), raw(after))
}

// changing keeps changes of definitions and sessions one after the other, on
// all nodes. It comes before every other lock. Once it is held, a schedule that
// an application's transaction holds is not waited for long, as all other
// changes and joins would wait too.
func (t *tx) changing() {
	t.urgent = true
	t.later("SELECT pg_advisory_xact_lock(?, hashtext(?))", int32(lockChanges), t.schema)
	t.hurry(changePatience)
}

// The first keys of advisory locks, which live as long as their transaction;
// the second is the schema.
const (
	lockMigrate = 0x44756c79 // "Duly"
	lockChanges = 0x44756c7a
)

// look runs fn on a connection, each line of statements for itself.
func look[T any](ctx context.Context, s *Store, fn func(*conn) (T, error)) (T, error) {
	var zero T
	for repeats := 0; ; repeats++ {
		pc, err := s.acquire(ctx)
		if err != nil {
			return zero, s.classify(err)
		}
		c := newConn(ctx, &s.dialect, pc.Conn())
		c.patience = s.cfg.patience()
		res, err := fn(c)
		stale := err != nil && c.stale(err)
		pc.Release()
		if err == nil {
			return res, nil
		}
		if !stale || repeats == maxRepeats {
			return zero, s.classify(err)
		}
	}
}

// read runs fn in a transaction that reads, so that its queries agree with each
// other.
func read[T any](ctx context.Context, s *Store, fn func(*conn) (T, error)) (T, error) {
	return look(ctx, s, func(c *conn) (T, error) {
		c.later("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
		s.local(c)
		res, err := fn(c)
		if err == nil {
			_, err = c.exec("COMMIT")
		}
		if err != nil {
			c.undo()
		}
		return res, err
	})
}
