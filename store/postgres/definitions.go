package postgres

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/internal/content"
	"github.com/duly-dev/duly/store"
)

// definition is a definition as the store keeps it.
type definition struct {
	store.Definition
	content json.RawMessage // without the ID
	hash    []byte
	number  int64 // once it is defined
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

// chunk bounds the arrays that travel with one statement.
const chunk = 5000

// define gives contents their numbers, made on first use.
func (t *tx) define(defs []*definition) error {
	for part := range slices.Chunk(defs, chunk) {
		byHash := map[string]int64{}
		var hashes [][]byte
		var contents []string
		for _, d := range part {
			if _, twice := byHash[string(d.hash)]; !twice {
				byHash[string(d.hash)] = 0
				hashes, contents = append(hashes, d.hash), append(contents, plain(string(d.content)))
			}
		}
		t.later("INSERT INTO duly.definitions (hash, content) SELECT * FROM unnest(?::bytea[], ?::text[]) u (hash, content) ORDER BY hash ON CONFLICT DO NOTHING", hashes, contents)
		err := t.query("SELECT hash, definition FROM duly.definitions WHERE hash = ANY(?)", []any{hashes}, func(r row) error {
			byHash[string(r.bytes(0))] = r.int(1)
			return nil
		})
		if err != nil {
			return err
		}
		for _, d := range part {
			d.number = byHash[string(d.hash)]
		}
	}
	return nil
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
	open         int64
	content      json.RawMessage
}

const selectSched = `SELECT s.sid, s.id, s.owner, t.revision, t.definition, d.hash, t.anchor, t.cursor, t.next_due, s.removed_at, s.paused_at, s.resume_from, s.orphaned_at,
	t.newest, t.held, t.open, d.content
	FROM duly.schedules s JOIN duly.tracks t ON t.sid = s.sid JOIN duly.definitions d ON d.definition = t.definition `

func readSched(r row) *sched {
	return &sched{
		sid: r.int(0), id: r.str(1), owner: r.str(2), revision: r.int(3), definition: r.int(4), hash: r.bytes(5), anchor: r.int(6), cursor: r.int(7),
		nextDue: r.int(8), removed: !r.null(9), paused: !r.null(10), resuming: !r.null(11), orphaned: !r.null(12), newest: r.int(13), held: r.int(14),
		open: r.int(15), content: r.json(16),
	}
}

const lockSched = " FOR NO KEY UPDATE OF t"

// scheds finds schedules by ID, removed ones too.
func (c *conn) scheds(ids []string, lock string) (map[string]*sched, error) {
	found := make(map[string]*sched, len(ids))
	for part := range slices.Chunk(ids, chunk) {
		err := c.query(selectSched+"WHERE s.id = ANY(?) ORDER BY t.sid"+lock, []any{part}, func(r row) error {
			found[r.str(1)] = readSched(r)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// existing finds a schedule that is not removed, and locks it.
func (t *tx) existing(id string) (*sched, error) {
	found, err := t.scheds([]string{id}, lockSched)
	if err == nil && (found[id] == nil || found[id].removed) {
		err = notFound("schedule", id)
	}
	return found[id], err
}

func (c *conn) content(definition int64) (content json.RawMessage, err error) {
	found, err := c.one("SELECT content FROM duly.definitions WHERE definition = ?", []any{definition}, func(r row) { content = r.json(0) })
	if err == nil && !found {
		err = duly.Errorf(duly.CodeNotFound, "there is no definition %d", definition)
	}
	return content, err
}

// creation is a schedule on its way into the store.
type creation struct {
	was *sched // where it comes back
	def *definition
	*sched
}

// create makes schedules, or brings back ones that were removed. A removed one
// keeps its number, so that its history stays one and periods stay unique.
func (t *tx) create(all []*creation, owner, by string, now int64) error {
	if len(all) == 0 {
		return nil
	}
	defs := make([]*definition, len(all))
	for i, c := range all {
		defs[i] = c.def
	}
	if err := t.define(defs); err != nil {
		return err
	}
	queues, err := t.queues(defs)
	if err != nil {
		return err
	}
	for part := range slices.Chunk(all, chunk) {
		if err := t.createSome(part, queues, owner, by, now); err != nil {
			return err
		}
	}
	t.tally[tallySchedules] += int64(len(all))
	return nil
}

func (t *tx) createSome(all []*creation, queues map[string]int64, owner, by string, now int64) error {
	var sids []int64
	if err := t.query("SELECT nextval(pg_get_serial_sequence(?, 'sid')) FROM generate_series(1, ?)", []any{t.schema + ".schedules", len(all)}, func(r row) error {
		sids = append(sids, r.int(0))
		return nil
	}); err != nil {
		return err
	}
	slices.Sort(sids)
	turns, err := t.turns(all, queues)
	if err != nil {
		return err
	}
	n := len(all)
	ids, audits, afters := make([]string, n), make([]string, n), make([]string, n)
	numbers, queueIDs, anchors, next, revisions, newest, wants := make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n)
	for i, c := range all {
		id := c.def.Schedule.ID
		c.sched = &sched{sid: sids[i], id: id, owner: owner, revision: 1, definition: c.def.number, hash: c.def.hash, anchor: now - now%1_000_000, cursor: now, content: c.def.content}
		if c.was != nil {
			c.sid, c.revision, c.newest = c.was.sid, c.was.revision+1, c.was.newest
		}
		c.nextDue = micros(c.def.Next(instant(c.anchor), instant(c.cursor)))
		sids[i], ids[i], numbers[i], queueIDs[i], anchors[i] = c.sid, id, c.definition, queues[c.def.Schedule.Queue], c.anchor
		next[i], revisions[i], newest[i], wants[i] = c.nextDue, c.revision, c.newest, wantsOf(&c.def.Schedule)
		audits[i], afters[i] = "schedule/"+id, plain(string(c.def.content))
	}
	t.later(`INSERT INTO duly.schedules (sid, id, owner, queue, created_at, updated_at)
		SELECT sid, id, ?, nullif(queue, 0), ?, ? FROM unnest(?::bigint[], ?::text[], ?::bigint[]) u (sid, id, queue)
		ON CONFLICT (sid) DO UPDATE SET owner = excluded.owner, queue = excluded.queue, created_at = excluded.created_at, updated_at = excluded.updated_at,
			removed_at = NULL, orphaned_at = NULL, alone = NULL`, owner, now, now, sids, ids, queueIDs)
	t.later(`INSERT INTO duly.tracks (sid, id, next_due, turn, cursor, newest, revision, revision_from, definition, anchor, wants)
		SELECT sid, id, nullif(next, 0), turn, ?, nullif(newest, 0), revision, ?, definition, anchor, wants
		FROM unnest(?::bigint[], ?::text[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[]) u (sid, id, next, turn, newest, revision, definition, anchor, wants)
		ON CONFLICT (sid) DO UPDATE SET next_due = excluded.next_due, turn = excluded.turn, cursor = excluded.cursor, fired = 0, revision = excluded.revision,
			revision_from = excluded.revision_from, definition = excluded.definition, anchor = excluded.anchor, wants = excluded.wants`,
		now, now, sids, ids, next, turns, newest, revisions, numbers, anchors, wants)
	var alone []int64
	for _, c := range all {
		if c.def.Schedule.WhenUnavailable == duly.UnavailableRun {
			alone = append(alone, c.sid)
		}
	}
	t.alone(alone, true)
	t.later("INSERT INTO duly.revisions (sid, number, definition, from_at, by) SELECT sid, number, definition, ?, ? FROM unnest(?::bigint[], ?::bigint[], ?::bigint[]) u (sid, number, definition)",
		now, plain(by), sids, revisions, numbers)
	t.later(`INSERT INTO duly.audit (at, by, action, object, after) SELECT ?, ?, 'create', object, after FROM unnest(?::text[], ?::text[]) u (object, after)`, now, plain(by), audits, afters)
	return t.send()
}

// turns gives each new schedule its turn: its number within its queue, so that
// of what is due at one instant each queue's first comes before any queue's
// second. One that moves to another queue keeps the turn that it has.
func (t *tx) turns(all []*creation, queues map[string]int64) ([]int64, error) {
	given := map[int64]int64{}
	for _, c := range all {
		given[queues[c.def.Schedule.Queue]]++
	}
	numbers := slices.Sorted(maps.Keys(given))
	counts := make([]int64, len(numbers))
	for i, queue := range numbers {
		counts[i] = given[queue]
	}
	last := map[int64]int64{}
	err := t.query(`INSERT INTO duly.turns AS t (queue, turn) SELECT * FROM unnest(?::bigint[], ?::bigint[]) u (queue, turn) ORDER BY queue
		ON CONFLICT (queue) DO UPDATE SET turn = t.turn + excluded.turn RETURNING queue, turn`, []any{numbers, counts}, func(r row) error {
		last[r.int(0)] = r.int(1)
		return nil
	})
	turns := make([]int64, len(all))
	for i, c := range all {
		queue := queues[c.def.Schedule.Queue]
		given[queue]--
		turns[i] = last[queue] - given[queue]
	}
	return turns, err
}

// queues gives the shared queues that definitions name their numbers, made on
// first use.
func (t *tx) queues(defs []*definition) (map[string]int64, error) {
	numbers := map[string]int64{}
	var names []string
	for _, d := range defs {
		if q := d.Schedule.Queue; q != "" {
			if _, twice := numbers[q]; !twice {
				numbers[q] = 0
				names = append(names, q)
			}
		}
	}
	if len(names) == 0 {
		return numbers, nil
	}
	slices.SortFunc(names, cmp.Compare)
	t.later("INSERT INTO duly.queues (name) SELECT name FROM unnest(?::text[]) u (name) ON CONFLICT DO NOTHING", names)
	err := t.query("SELECT name, queue FROM duly.queues WHERE name = ANY(?)", []any{names}, func(r row) error {
		numbers[r.str(0)] = r.int(1)
		return nil
	})
	return numbers, err
}

// revise puts another definition, which has its number, in force from now. What
// came due before is still owed under the old one: then the cursor stays, and
// the schedule stays due. Where nothing is owed the cursor moves up to now, so
// that the old definition is out of the planner's sight. next answers when the
// new one is first due; nil leaves that to the planner, at once.
func (t *tx) revise(s *sched, def int64, schedule *duly.Schedule, queue int64, next func(anchor, after int64) int64, by string, now int64) {
	s.revision++
	s.definition = def
	owed := s.nextDue != 0 && s.nextDue <= now || s.resuming
	if !s.paused && !owed {
		s.cursor = max(s.cursor, now)
		s.nextDue = now
		if next != nil {
			s.nextDue = next(s.anchor, s.cursor)
		}
	}
	t.later("UPDATE duly.tracks SET revision = ?, revision_from = ?, definition = ?, wants = ?, cursor = ?, next_due = ? WHERE sid = ?",
		s.revision, now, def, wantsOf(schedule), s.cursor, opt(s.nextDue), s.sid)
	t.later("UPDATE duly.schedules SET queue = ?, updated_at = ? WHERE sid = ?", opt(queue), now, s.sid)
	t.alone([]int64{s.sid}, schedule.WhenUnavailable == duly.UnavailableRun)
	t.later("INSERT INTO duly.revisions (sid, number, definition, from_at, by) VALUES (?, ?, ?, ?, ?)", s.sid, s.revision, s.definition, now, plain(by))
}
