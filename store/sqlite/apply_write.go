package sqlite

import (
	"bytes"

	"github.com/duly-dev/duly/store"
)

// carryOut makes the changes, with an audit row for each.
func (a *applying) carryOut(t *tx) error {
	for _, ch := range a.changes {
		var err error
		switch {
		case ch.Action == store.ActionKeep:
			continue
		case ch.Kind == "queue":
			err = a.writeQueue(t, ch)
		case ch.Action == store.ActionRemove:
			err = a.writeRemoval(t, ch)
		case ch.Action == store.ActionCreate:
			_, err = t.create(ch.was, ch.def, a.req.Owner, a.req.By, a.now)
		default:
			err = a.writeUpdate(t, ch)
		}
		if err != nil {
			return err
		}
		t.event(store.TopicSchedules, ch.ID)
	}
	return nil
}

func (a *applying) writeUpdate(t *tx, ch *change) error {
	if ch.was.owner != a.req.Owner {
		if _, err := t.exec("UPDATE schedules SET owner = ?, orphaned_at = NULL, updated_at = ? WHERE sid = ?", a.req.Owner, a.now, ch.was.sid); err != nil {
			return err
		}
	}
	if !bytes.Equal(ch.was.hash, ch.def.hash) {
		def, err := t.define(ch.def)
		if err != nil {
			return err
		}
		next := func(anchor, after int64) int64 { return micros(ch.def.Next(instant(anchor), instant(after))) }
		if err := t.revise(ch.was, def, &ch.def.Schedule, next, a.req.By, a.now); err != nil {
			return err
		}
	}
	return t.audit(a.now, a.req.By, "update", "schedule/"+ch.ID, ch.Reason, ch.Before, ch.After)
}

func (a *applying) writeRemoval(t *tx, ch *change) error {
	if err := t.removeSchedule(ch.was, a.now); err != nil {
		return err
	}
	return t.audit(a.now, a.req.By, "remove", "schedule/"+ch.ID, "", ch.Before, nil)
}

// removeSchedule ends a schedule. Its row stays for the sake of history.
func (t *tx) removeSchedule(s *sched, now int64) error {
	_, err := t.exec(`UPDATE schedules SET removed_at = ?, updated_at = ?, next_due = NULL, held = NULL, orphaned_at = NULL,
			paused_at = NULL, paused_by = NULL, paused_why = NULL, paused_until = NULL, paused_policy = NULL,
			resume_from = NULL, resume_to = NULL, resume_by = NULL, resume_policy = NULL WHERE sid = ?`, now, now, s.sid)
	if err != nil {
		return err
	}
	if _, err := t.count(counterSchedules, -1); err != nil {
		return err
	}
	if s.paused {
		if _, err := t.count(counterPaused, -1); err != nil {
			return err
		}
	}
	const reason = "the schedule was removed"
	for _, which := range []string{
		"INDEXED BY occurrences_blocked SET state = ?, waiting = NULL, finished_at = ?, reason = ? WHERE waiting = 3 AND sid = ?",
		"INDEXED BY occurrences_front SET state = ?, waiting = NULL, finished_at = ?, reason = ? WHERE state < 2 AND waiting IS NOT 3 AND sid = ? AND state = 0",
	} {
		n, err := t.exec("UPDATE occurrences "+which, cancelled, now, reason, s.sid)
		if err != nil {
			return err
		}
		if err := t.moved(pending, cancelled, n); err != nil {
			return err
		}
	}
	t.event(store.TopicOccurrences, s.id)
	t.event(store.TopicCancels, s.id)
	_, err = t.exec("UPDATE occurrences INDEXED BY occurrences_front SET cancelled = ? WHERE state < 2 AND waiting IS NOT 3 AND sid = ? AND state = 1 AND cancelled IS NULL", reason, s.sid)
	return err
}

func (a *applying) writeQueue(t *tx, ch *change) error {
	if ch.Action == store.ActionRemove { // what still names it finds the default
		_, err := t.exec("UPDATE queues SET owner = NULL, concurrency = 1, rate_count = 0, rate_per = 0, starts = NULL WHERE queue = ?", ch.id)
		if err != nil {
			return err
		}
		return t.audit(a.now, a.req.By, "remove", "queue/"+ch.ID, "", ch.Before, nil)
	}
	q := ch.queue
	id, err := t.queue(q.Name)
	if err != nil {
		return err
	}
	per := q.Rate.Per.Std().Microseconds()
	_, err = t.exec("UPDATE queues SET starts = CASE WHEN rate_per = ? THEN starts END, owner = ?, concurrency = ?, rate_count = ?, rate_per = ? WHERE queue = ?",
		per, a.req.Owner, q.Concurrency, q.Rate.Count, per, id)
	if err != nil {
		return err
	}
	t.event(store.TopicOccurrences, "") // there may be room now
	return t.audit(a.now, a.req.By, string(ch.Action), "queue/"+q.Name, ch.Reason, ch.Before, ch.After)
}
