package sqlite

import (
	"strings"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// occ is an occurrence as a step finds it.
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
}

func (o *occ) id() string { return duly.OccurrenceID(o.schedule, o.period) }

const selectOcc = `SELECT o.seq, o.sid, s.id, o.period, o.state, o.attempt, o.tries, o.token, o.lease_until, o.outcome, o.late, o.cancelled,
	o.definition, o.holder, s.held = o.seq, o.serial FROM occurrences o JOIN schedules s ON s.sid = o.sid `

func readOcc(r row) *occ {
	return &occ{
		seq: r.int(0), sid: r.int(1), schedule: r.str(2), period: r.str(3), state: r.int(4), attempt: r.int(5), tries: r.int(6),
		token: r.int(7), leaseUntil: r.int(8), outcome: r.int(9), late: r.bool(10), cancelled: r.str(11), definition: r.int(12), holder: r.int(13),
		holds: r.bool(14), serial: r.bool(15),
	}
}

// occs finds occurrences by seq.
func (t *tx) occs(seqs []int64) (map[int64]*occ, error) {
	found := make(map[int64]*occ, len(seqs))
	err := t.in(bg, selectOcc+"WHERE o.seq IN (", ")", nil, seqs, func(r row) error {
		found[r.int(0)] = readOcc(r)
		return nil
	})
	return found, err
}

// ending is how an attempt ends and where its occurrence goes.
type ending struct {
	outcome         int64
	late            bool
	created, reused int
	next            store.Next
	to              int64
}

// endings gathers what the ends of several attempts have in common.
type endings struct {
	*tx
	now    int64
	moves  map[[2]int64]int64 // how many went from a state to another
	settle map[int64]bool
	// succeeded lists schedules of which an occurrence did.
	succeeded []int64
	topic     string
	count     int
}

func newEndings(t *tx, now int64) *endings {
	return &endings{tx: t, now: now, moves: map[[2]int64]int64{}, settle: map[int64]bool{}}
}

// end closes the newest attempt of o and moves o on.
func (e *endings) end(o *occ, end ending) error {
	if o.cancelled != "" && end.to == pending {
		end.to, end.next = cancelled, store.Next{State: duly.Cancelled, Reason: o.cancelled}
	}
	if err := e.unlessOpen(o, &end); err != nil {
		return err
	}
	if err := e.write(o, &end); err != nil {
		return err
	}
	if end.to == succeeded {
		e.succeeded = append(e.succeeded, o.sid)
	}
	if err := e.hold(o, end.next.Hold && end.to != pending && end.to != succeeded); err != nil {
		return err
	}
	e.moves[[2]int64{o.state, end.to}]++
	e.settle[o.sid] = true
	e.told(o.schedule)
	o.state, o.outcome, o.late, o.cancelled = end.to, end.outcome, end.late, ""
	return nil
}

// write puts an ending into the occurrence's row. Most attempts end for good
// and without ado, and then the indexes of what waits need no look.
func (e *endings) write(o *occ, end *ending) error {
	plain := o.state == running && end.to != pending && !end.late && !end.next.Uncounted && end.created == 0 && end.reused == 0 && o.cancelled == ""
	if plain {
		_, err := e.exec("UPDATE occurrences SET state = ?, finished_at = ?, reason = ?, lease_until = NULL, ended_at = ?, outcome = ? WHERE seq = ?",
			end.to, e.now, opt(end.next.Reason), e.now, end.outcome, o.seq)
		return err
	}
	var waiting, notBefore, finishedAt any
	if end.to == pending {
		waiting = waitSlot
		if end.next.Delay > 0 {
			waiting, notBefore = waitTime, e.now+end.next.Delay.Microseconds()
		}
	} else {
		finishedAt = e.now
	}
	if end.next.Uncounted {
		o.tries--
	}
	_, err := e.exec(`UPDATE occurrences SET state = ?, waiting = ?, not_before = ?, finished_at = ?, reason = ?, tries = ?, lease_until = NULL,
			ended_at = ?, outcome = ?, late = ?, created = ?, reused = ?, cancelled = NULL WHERE seq = ?`,
		end.to, waiting, notBefore, finishedAt, opt(end.next.Reason), o.tries, e.now, end.outcome, opt(flag(end.late)),
		opt(end.created), opt(end.reused), o.seq)
	return err
}

// hold sets or clears that o keeps the later ones of its schedule waiting.
func (e *endings) hold(o *occ, holds bool) error {
	if o.holds == holds {
		return nil
	}
	o.holds = holds
	if !holds {
		_, err := e.exec("UPDATE schedules SET held = NULL WHERE sid = ? AND held = ?", o.sid, o.seq)
		return err
	}
	_, err := e.exec("UPDATE schedules SET held = ? WHERE sid = ?", o.seq, o.sid)
	return err
}

func (e *endings) told(schedule string) {
	if e.count++; e.count == 1 {
		e.topic = schedule
	} else if e.topic != schedule {
		e.topic = ""
	}
}

// success notes that schedules succeeded now. Several rows to a statement are
// faster here, since the table has no index beside itself.
func (t *tx) success(sids []int64, now int64) error {
	const head, one, tail = "INSERT INTO successes VALUES ", "(?, ?)", " ON CONFLICT DO UPDATE SET at = max(at, excluded.at)"
	for len(sids) > 0 {
		size, query := 1, head+one+tail
		if len(sids) >= chunk {
			size, query = chunk, head+strings.Repeat(one+",", chunk-1)+one+tail
		}
		args := make([]any, 0, 2*size)
		for _, sid := range sids[:size] {
			args = append(args, sid, now)
		}
		sids = sids[size:]
		if _, err := t.exec(query, args...); err != nil {
			return err
		}
	}
	return nil
}

// close does once what the ends have in common.
func (e *endings) close() error {
	for move, n := range e.moves {
		if move[0] == move[1] {
			continue
		}
		if err := e.moved(move[0], move[1], n); err != nil {
			return err
		}
	}
	if err := e.success(e.succeeded, e.now); err != nil {
		return err
	}
	if e.count > 0 {
		e.event(store.TopicOccurrences, e.topic)
	}
	return e.settleAll(e.settle, e.now)
}
