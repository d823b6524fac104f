package sqlite

import (
	"context"
	"encoding/json"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/internal/content"
	"github.com/duly-dev/duly/store"
)

// definition is a definition as the file keeps it.
type definition struct {
	store.Definition
	content json.RawMessage // without the ID
	hash    []byte
}

func encode(d store.Definition) (*definition, error) {
	text, hash, err := content.Encode(d.Schedule)
	if err != nil {
		return nil, err
	}
	return &definition{Definition: d, content: text, hash: hash}, nil
}

// encodeAll encodes definitions and refuses two for one schedule.
func encodeAll(all []store.Definition) ([]*definition, error) {
	seen := make(map[string]bool, len(all))
	list := make([]*definition, len(all))
	for i, d := range all {
		if seen[d.Schedule.ID] {
			return nil, duly.Invalid("id", "schedule %s is defined twice", d.Schedule.ID)
		}
		seen[d.Schedule.ID] = true
		var err error
		if list[i], err = encode(d); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// define is the number of a definition's content, made on first use.
func (t *tx) define(d *definition) (id int64, err error) {
	found, err := t.one(bg, "SELECT definition FROM definitions WHERE hash = ?", []any{d.hash}, func(r row) { id = r.int(0) })
	if err != nil || found {
		return id, err
	}
	t.defined = true
	err = t.returning("INSERT INTO definitions (hash, content) VALUES (?, ?) RETURNING definition", []any{d.hash, string(d.content)}, func(r row) error {
		id = r.int(0)
		return nil
	})
	return id, err
}

func wantsOf(s *duly.Schedule) int64 {
	switch s.Overlap {
	case duly.OverlapCombine:
		return wantsWaiting
	case duly.OverlapReplace:
		return wantsActive
	}
	return 0
}

// sched is a schedule as a change of definitions finds it.
type sched struct {
	sid          int64
	id           string
	owner        string
	revision     int64
	definition   int64
	hash         []byte
	anchor       int64
	cursor       int64
	nextDue      int64
	removed      bool
	paused       bool
	resuming     bool
	orphaned     bool
	newest, held int64
}

const selectSched = `SELECT s.sid, s.id, s.owner, s.revision, s.definition, d.hash, s.anchor, s.cursor, s.next_due, s.removed_at, s.paused_at, s.resume_from, s.orphaned_at, s.newest, s.held
	FROM schedules s JOIN definitions d ON d.definition = s.definition `

func readSched(r row) *sched {
	return &sched{
		sid: r.int(0), id: r.str(1), owner: r.str(2), revision: r.int(3), definition: r.int(4), hash: r.bytes(5), anchor: r.int(6), cursor: r.int(7),
		nextDue: r.int(8), removed: !r.null(9), paused: !r.null(10), resuming: !r.null(11), orphaned: !r.null(12), newest: r.int(13), held: r.int(14),
	}
}

// sched finds a schedule by ID, removed ones too; nil where there is none.
func (c *conn) sched(ctx context.Context, id string) (s *sched, err error) {
	_, err = c.one(ctx, selectSched+"WHERE s.id = ?", []any{id}, func(r row) { s = readSched(r) })
	return s, err
}

// existing finds a schedule that is not removed.
func (c *conn) existing(ctx context.Context, id string) (*sched, error) {
	s, err := c.sched(ctx, id)
	if err == nil && (s == nil || s.removed) {
		err = notFound("schedule", id)
	}
	return s, err
}

func (c *conn) content(ctx context.Context, definition int64) (content json.RawMessage, err error) {
	found, err := c.one(ctx, "SELECT content FROM definitions WHERE definition = ?", []any{definition}, func(r row) { content = r.bytes(0) })
	if err == nil && !found {
		err = duly.Errorf(duly.CodeNotFound, "there is no definition %d", definition)
	}
	return content, err
}

// create makes a schedule, or brings back one that was removed. A removed one
// keeps its number, so that its history stays one and periods stay unique.
func (t *tx) create(was *sched, d *definition, owner, by string, now int64) (*sched, error) {
	id := d.Schedule.ID
	def, err := t.define(d)
	if err != nil {
		return nil, err
	}
	s := &sched{id: id, owner: owner, revision: 1, definition: def, hash: d.hash, anchor: now - now%1_000_000, cursor: now}
	s.nextDue = micros(d.Next(instant(s.anchor), instant(s.cursor)))
	queue, err := t.sharedQueue(d.Schedule.Queue)
	if err != nil {
		return nil, err
	}
	turn, err := t.turn(queue)
	if err != nil {
		return nil, err
	}
	if was != nil {
		s.sid, s.revision, s.newest = was.sid, was.revision+1, was.newest
		_, err = t.exec(`UPDATE schedules SET owner = ?, revision = ?, revision_from = ?, definition = ?, wants = ?, queue = ?, turn = ?, anchor = ?, cursor = ?, next_due = ?,
				fired = 0, created_at = ?, updated_at = ?, removed_at = NULL, orphaned_at = NULL WHERE sid = ?`,
			owner, s.revision, now, def, wantsOf(&d.Schedule), queue, turn, s.anchor, s.cursor, opt(s.nextDue), now, now, s.sid)
	} else {
		err = t.returning(`INSERT INTO schedules (id, owner, revision, revision_from, definition, wants, queue, turn, anchor, cursor, next_due, fired, created_at, updated_at)
				VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?) RETURNING sid`,
			[]any{id, owner, s.revision, now, def, wantsOf(&d.Schedule), queue, turn, s.anchor, s.cursor, opt(s.nextDue), now, now}, func(r row) error {
				s.sid = r.int(0)
				return nil
			})
	}
	if err != nil {
		return nil, err
	}
	if _, err := t.count(counterSchedules, 1); err != nil {
		return nil, err
	}
	if err := t.alone(s.sid, &d.Schedule, was != nil); err != nil {
		return nil, err
	}
	if err := t.addRevision(s, by, now); err != nil {
		return nil, err
	}
	return s, t.audit(now, by, "create", "schedule/"+id, "", nil, d.content)
}

func (t *tx) addRevision(s *sched, by string, now int64) error {
	_, err := t.exec("INSERT INTO revisions (sid, number, definition, from_at, by) VALUES (?, ?, ?, ?, ?)", s.sid, s.revision, s.definition, now, by)
	return err
}

// turn is a new schedule's: its number within its queue, so that of what is due
// at one instant each queue's first comes before any queue's second. One that
// moves to another queue keeps the turn that it has.
func (t *tx) turn(queue any) (turn int64, err error) {
	err = t.returning("INSERT INTO turns (queue, turn) VALUES (coalesce(?, 0), 1) ON CONFLICT (queue) DO UPDATE SET turn = turn + 1 RETURNING turn", []any{queue}, func(r row) error {
		turn = r.int(0)
		return nil
	})
	return turn, err
}

func (t *tx) sharedQueue(name string) (any, error) {
	if name == "" {
		return nil, nil
	}
	return t.queue(name)
}

// revise puts another definition in force from now. What came due before is
// still owed under the old one: then the cursor stays, and the schedule stays
// due. Where nothing is owed the cursor moves up to now, so that the old
// definition is out of the planner's sight. next answers when the new one is
// first due; nil leaves that to the planner, at once.
func (t *tx) revise(s *sched, def int64, schedule *duly.Schedule, next func(anchor, after int64) int64, by string, now int64) error {
	s.revision++
	s.definition = def
	queue, err := t.sharedQueue(schedule.Queue)
	if err != nil {
		return err
	}
	owed := s.nextDue != 0 && s.nextDue <= now || s.resuming
	if !s.paused && !owed {
		s.cursor = max(s.cursor, now)
		s.nextDue = now
		if next != nil {
			s.nextDue = next(s.anchor, s.cursor)
		}
	}
	_, err = t.exec(`UPDATE schedules SET revision = ?, revision_from = ?, definition = ?, wants = ?, queue = ?, cursor = ?, next_due = ?, updated_at = ? WHERE sid = ?`,
		s.revision, now, def, wantsOf(schedule), queue, s.cursor, opt(s.nextDue), now, s.sid)
	if err != nil {
		return err
	}
	if err := t.alone(s.sid, schedule, true); err != nil {
		return err
	}
	return t.addRevision(s, by, now)
}
