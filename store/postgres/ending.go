package postgres

import (
	"slices"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// occ is an occurrence as a step finds it, locked together with its schedule.
type occ struct {
	seq, sid   int64
	schedule   string
	period     string
	state      int64
	attempt    int64
	tries      int64
	token      int64
	leaseUntil int64
	outcome    int64
	late       bool
	cancelled  string // wanted ended, and why
	definition int64
	holder     int64
	holds      bool // its schedule is held by it
	serial     bool
	open       int64 // unfinished ones of its schedule
	locked     bool  // by this transaction
}

func (o *occ) id() string { return duly.OccurrenceID(o.schedule, o.period) }

const (
	selectOcc = `SELECT o.seq, o.sid, t.id, o.period, o.state, o.attempt, o.tries, o.token, o.lease_until, o.outcome, o.late, o.cancelled,
		o.definition, o.holder, t.held = o.seq, o.serial, t.open `
	// lockOcc locks schedules before their occurrences, in the order of both.
	lockOcc = " ORDER BY t.sid, o.seq FOR NO KEY UPDATE OF t, o"
)

func readOcc(r row) *occ {
	return &occ{
		seq: r.int(0), sid: r.int(1), schedule: r.str(2), period: r.str(3), state: r.int(4), attempt: r.int(5), tries: r.int(6),
		token: r.int(7), leaseUntil: r.int(8), outcome: r.int(9), late: r.bool(10), cancelled: r.str(11), definition: r.int(12), holder: r.int(13),
		holds: r.bool(14), serial: r.bool(15), open: r.int(16),
	}
}

// askOccs puts in line to find and lock occurrences by seq.
func (t *tx) askOccs(seqs []int64, found map[int64]*occ) {
	t.ask(selectOcc+"FROM unnest(?::bigint[]) u (seq) JOIN duly.occurrences o ON o.seq = u.seq JOIN duly.tracks t ON t.sid = o.sid"+lockOcc, []any{unique(seqs)}, func(r row) error {
		found[r.int(0)] = readOcc(r)
		return nil
	})
}

func unique(keys []int64) []int64 {
	keys = slices.Clone(keys)
	slices.Sort(keys)
	return slices.Compact(keys)
}

// ending is how an attempt ends and where its occurrence goes.
type ending struct {
	outcome         int64
	late            bool
	created, reused int
	next            store.Next
	to              int64
}

// endings gathers the ends of several attempts, to be written together.
type endings struct {
	*tx
	now    int64
	plains plainEndings
	others otherEndings
	tracks map[int64]*trackChange
	topic  string
	count  int
	// displace: something was made or sent back, and may come before what is
	// ready.
	displace bool
}

// trackChange is what ends mean for a schedule.
type trackChange struct {
	sid       int64
	open      int64 // as it was
	opened    int64 // by how much it grows
	succeeded bool
	held      int64 // 0: as it was, -1: by none, or the seq
	alone     bool  // nothing waits for an earlier one
}

type plainEndings struct {
	seqs            []int64
	states, outcome []int16
	reasons         []string
}

type otherEndings struct {
	seqs, notBefore         []int64
	states, waits, outcomes []int16
	tries, created, reused  []int32
	late                    []bool
	reasons                 []string
}

func newEndings(t *tx, now int64) *endings {
	return &endings{tx: t, now: now, tracks: map[int64]*trackChange{}}
}

func (e *endings) track(o *occ) *trackChange {
	c := e.tracks[o.sid]
	if c == nil {
		c = &trackChange{sid: o.sid, open: o.open}
		e.tracks[o.sid] = c
	}
	return c
}

// end closes the newest attempt of o and moves o on.
func (e *endings) end(o *occ, end ending) {
	if o.cancelled != "" && end.to == pending {
		end.to, end.next = cancelled, store.Next{State: duly.Cancelled, Reason: o.cancelled}
	}
	e.write(o, &end)
	e.changed(o, end.to)
	e.displace = e.displace || end.to == pending // one that is due earlier may have been sent back meanwhile
	e.hold(o, end.next.Hold && end.to != pending && end.to != succeeded)
	e.told(o.schedule)
	o.state, o.outcome, o.late, o.cancelled = end.to, end.outcome, end.late, ""
}

// changed counts a change of state and what it means for the schedule.
func (e *endings) changed(o *occ, to int64) {
	c := e.track(o)
	if o.state != to {
		e.moved(o.state, to, 1)
	}
	c.opened += flag(to < succeeded) - flag(o.state < succeeded)
	c.succeeded = c.succeeded || to == succeeded
}

// write keeps an ending to be written. Most attempts end for good and without
// ado.
func (e *endings) write(o *occ, end *ending) {
	reason := plain(end.next.Reason)
	if o.state == running && end.to != pending && !end.late && !end.next.Uncounted && end.created == 0 && end.reused == 0 && o.cancelled == "" {
		p := &e.plains
		p.seqs, p.states, p.outcome, p.reasons = append(p.seqs, o.seq), append(p.states, int16(end.to)), append(p.outcome, int16(end.outcome)), append(p.reasons, reason)
		return
	}
	waiting, notBefore := int16(0), int64(0)
	if end.to == pending {
		waiting = waitSlot
		if end.next.Delay > 0 {
			waiting, notBefore = waitTime, e.now+end.next.Delay.Microseconds()
		}
	}
	if end.next.Uncounted {
		o.tries--
	}
	w := &e.others
	w.seqs, w.notBefore, w.states, w.waits = append(w.seqs, o.seq), append(w.notBefore, notBefore), append(w.states, int16(end.to)), append(w.waits, waiting)
	w.outcomes, w.tries, w.late, w.reasons = append(w.outcomes, int16(end.outcome)), append(w.tries, int32(o.tries)), append(w.late, end.late), append(w.reasons, reason)
	w.created, w.reused = append(w.created, int32(end.created)), append(w.reused, int32(end.reused))
}

// hold sets or clears that o keeps the later ones of its schedule waiting.
func (e *endings) hold(o *occ, holds bool) {
	if o.holds == holds {
		return
	}
	o.holds = holds
	if c := e.track(o); holds {
		c.held = o.seq
	} else {
		c.held = -1
	}
}

func (e *endings) told(schedule string) {
	if e.count++; e.count == 1 {
		e.topic = schedule
	} else if e.topic != schedule {
		e.topic = ""
	}
}

// close puts in line what the ends have in common.
func (e *endings) close() {
	if p := &e.plains; len(p.seqs) > 0 {
		e.later(`UPDATE duly.occurrences o SET state = u.state, finished_at = ?1, reason = nullif(u.reason, ''), lease_until = NULL, ended_at = ?1, outcome = u.outcome
			FROM unnest(?2::bigint[], ?3::smallint[], ?4::smallint[], ?5::text[]) u (seq, state, outcome, reason) WHERE o.seq = u.seq`,
			e.now, p.seqs, p.states, p.outcome, p.reasons)
	}
	if w := &e.others; len(w.seqs) > 0 {
		e.later(`UPDATE duly.occurrences o SET state = u.state, waiting = u.waiting, not_before = nullif(u.not_before, 0), finished_at = CASE WHEN u.state > 1 THEN ?1::bigint END,
				reason = nullif(u.reason, ''), tries = u.tries, lease_until = NULL, ended_at = ?1, outcome = u.outcome, late = nullif(u.late, false),
				created = nullif(u.created, 0), reused = nullif(u.reused, 0), cancelled = NULL
			FROM unnest(?2::bigint[], ?3::bigint[], ?4::smallint[], ?5::smallint[], ?6::smallint[], ?7::integer[], ?8::integer[], ?9::integer[], ?10::boolean[], ?11::text[])
				u (seq, not_before, state, waiting, outcome, tries, created, reused, late, reason) WHERE o.seq = u.seq`,
			e.now, w.seqs, w.notBefore, w.states, w.waits, w.outcomes, w.tries, w.created, w.reused, w.late, w.reasons)
	}
	e.closeTracks()
	if e.count > 0 {
		e.event(store.TopicOccurrences, e.topic)
	}
}

func (e *endings) closeTracks() {
	var sids, opened, held, settle []int64
	var done []bool
	for _, c := range e.tracks {
		sids, opened, held, done = append(sids, c.sid), append(opened, c.opened), append(held, c.held), append(done, c.succeeded)
		if c.open+c.opened > 0 && !c.alone {
			settle = append(settle, c.sid)
		}
	}
	if len(sids) == 0 {
		return
	}
	e.later(`UPDATE duly.tracks t SET open = t.open + u.opened, succeeded_at = CASE WHEN u.done THEN greatest(t.succeeded_at, ?) ELSE t.succeeded_at END,
			held = CASE WHEN u.held < 0 THEN NULL ELSE coalesce(nullif(u.held, 0), t.held) END
		FROM unnest(?::bigint[], ?::bigint[], ?::bigint[], ?::boolean[]) u (sid, opened, held, done) WHERE t.sid = u.sid`, e.now, sids, opened, held, done)
	e.urgent = e.urgent || e.displace || len(settle) > 0
	e.settle(settle, e.now, e.displace)
}
