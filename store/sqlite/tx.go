package sqlite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/duly-dev/duly/store"
)

// known is what the writer remembers between transactions. It is dropped when
// another process has written or a transaction was undone.
type known struct {
	counters map[string]int64
	lanes    map[laneKey]int64
	queues   map[string]int64
	makers   map[int64]int64 // by node
}

type laneKey struct {
	capability string
	queue      int64
}

func newKnown() *known {
	return &known{lanes: map[laneKey]int64{}, queues: map[string]int64{}, makers: map[int64]int64{}}
}

// tx is a transaction that several calls share. What is counted is added up
// and written once, at the end.
type tx struct {
	*conn
	known  *known
	dirty  map[string]bool
	skips  map[skipKey]int64
	events events
	// defined: a definition was made that nobody can read before the commit.
	defined bool
}

// errAlone has a call run in a transaction of its own.
var errAlone = errors.New("cannot share this transaction")

// committed makes sure that what the caller's own functions read through the
// store (planners read definitions) is there for them: on other connections,
// nothing of an open transaction is.
func (t *tx) committed() error {
	if !t.defined {
		return nil
	}
	t.wrote = true // undoes the batch
	return errAlone
}

type skipKey struct {
	sid    int64
	reason string
}

// bg is the context of the writer's statements: a caller that leaves must not
// break a transaction that others share.
var bg = context.Background()

func newTx(c *conn, k *known) *tx {
	return &tx{conn: c, known: k, dirty: map[string]bool{}, skips: map[skipKey]int64{}}
}

// The counters.
const (
	counterToken     = "token"     // the newest fencing token
	counterSeq       = "seq"       // the newest occurrence's
	counterMark      = "mark"      // the highest now that a firing has seen
	counterAhead     = "ahead"     // the highest mark before the clock was set back
	counterSchedules = "schedules" // that exist
	counterPaused    = "paused"
)

// counterState counts the occurrences in a state, trimmed ones too;
// counterTrimmed those that were trimmed.
func counterState(code int64) string   { return "state." + string(stateCodes[code]) }
func counterTrimmed(code int64) string { return "trimmed." + string(stateCodes[code]) }

func (t *tx) counters() (map[string]int64, error) {
	if t.known.counters != nil {
		return t.known.counters, nil
	}
	m := map[string]int64{}
	err := t.query(bg, "SELECT name, value FROM counters", nil, func(r row) error {
		m[r.str(0)] = r.int(1)
		return nil
	})
	if err != nil {
		return nil, err
	}
	t.known.counters = m
	return m, nil
}

// count adds to a counter and answers its value.
func (t *tx) count(name string, n int64) (int64, error) {
	m, err := t.counters()
	if err != nil {
		return 0, err
	}
	if n != 0 {
		m[name] += n
		t.dirty[name] = true
		t.wrote = true // to be undone with the rest
	}
	return m[name], nil
}

// reserve takes n numbers of a growing counter and answers the first.
func (t *tx) reserve(name string, n int) (int64, error) {
	last, err := t.count(name, int64(n))
	return last - int64(n) + 1, err
}

// raise sets a counter that only grows.
func (t *tx) raise(name string, to int64) error {
	v, err := t.count(name, 0)
	if err != nil || to <= v {
		return err
	}
	_, err = t.count(name, to-v)
	return err
}

// moved counts a transition; from is -1 for an occurrence that did not exist.
func (t *tx) moved(from, to int64, n int64) error {
	if from >= 0 {
		if _, err := t.count(counterState(from), -n); err != nil {
			return err
		}
	}
	_, err := t.count(counterState(to), n)
	return err
}

// skip counts periods that were not run.
func (t *tx) skip(sid int64, reason string, n int64) {
	t.skips[skipKey{sid, reason}] += n
	t.wrote = true
}

// event notes what happened, for those who watch.
func (t *tx) event(topic store.Topic, schedule string) { t.events.add(topic, schedule) }

// flush writes what was added up.
func (t *tx) flush() error {
	for name := range t.dirty {
		_, err := t.exec("INSERT INTO counters VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value", name, t.known.counters[name])
		if err != nil {
			return err
		}
	}
	for key, n := range t.skips {
		_, err := t.exec("INSERT INTO skips VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET count = count + excluded.count", key.sid, key.reason, n)
		if err != nil {
			return err
		}
	}
	return nil
}

// lane is the number of a lane, made on first use.
func (t *tx) lane(capability, queue string) (lane, queueID int64, err error) {
	if queue != "" {
		if queueID, err = t.queue(queue); err != nil {
			return 0, 0, err
		}
	}
	key := laneKey{capability, queueID}
	if id, ok := t.known.lanes[key]; ok {
		return id, queueID, nil
	}
	id, err := t.intern("SELECT lane FROM lanes WHERE capability = ? AND queue = ?",
		"INSERT INTO lanes (capability, queue) VALUES (?, ?) RETURNING lane", capability, queueID)
	if err == nil {
		t.known.lanes[key] = id
	}
	return id, queueID, err
}

// queue is the number of a shared queue, made on first use.
func (t *tx) queue(name string) (int64, error) {
	if id, ok := t.known.queues[name]; ok {
		return id, nil
	}
	id, err := t.intern("SELECT queue FROM queues WHERE name = ?",
		"INSERT INTO queues (name, concurrency, rate_count, rate_per) VALUES (?, 1, 0, 0) RETURNING queue", name)
	if err == nil {
		t.known.queues[name] = id
	}
	return id, err
}

// intern finds the number of a value, or makes it.
func (t *tx) intern(find, make string, args ...any) (id int64, err error) {
	found, err := t.one(bg, find, args, func(r row) { id = r.int(0) })
	if err != nil || found {
		return id, err
	}
	err = t.returning(make, args, func(r row) error {
		id = r.int(0)
		return nil
	})
	return id, err
}

// maker is who a node is in history, 0 for a node that is not known.
func (t *tx) maker(node int64) (int64, error) {
	if m, ok := t.known.makers[node]; ok || node == 0 {
		return m, nil
	}
	m, err := t.number(bg, "SELECT maker FROM nodes WHERE node = ?", node)
	if err == nil && m != 0 {
		t.known.makers[node] = m
	}
	return m, err
}

// audit leaves a row about a change that somebody made.
func (t *tx) audit(at int64, by, action, object, why string, before, after json.RawMessage) error {
	_, err := t.exec("INSERT INTO audit (at, by, action, object, why, before, after) VALUES (?, ?, ?, ?, ?, ?, ?)",
		at, by, action, object, opt(why), raw(before), raw(after))
	if err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	return nil
}
