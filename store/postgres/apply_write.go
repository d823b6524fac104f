package postgres

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/duly-dev/duly/store"
)

func sortBy[T any, K cmp.Ordered](list []T, key func(T) K) {
	slices.SortFunc(list, func(a, b T) int { return cmp.Compare(key(a), key(b)) })
}

// carryOut makes the changes, with an audit row for each.
func (a *applying) carryOut(t *tx) error {
	var created []*creation
	var updated []*definition
	for _, ch := range a.changes {
		switch {
		case ch.def == nil:
		case ch.Action == store.ActionCreate:
			created = append(created, &creation{was: ch.was, def: ch.def})
		case ch.Action == store.ActionUpdate:
			updated = append(updated, ch.def)
		}
	}
	if err := t.create(created, a.req.Owner, a.req.By, a.now); err != nil {
		return err
	}
	if err := t.define(updated); err != nil {
		return err
	}
	queues, err := t.queues(updated)
	if err != nil {
		return err
	}
	for _, ch := range a.changes {
		switch {
		case ch.Action == store.ActionKeep:
			continue
		case ch.Kind == "queue":
			a.writeQueue(t, ch)
		case ch.Action == store.ActionRemove:
			if err := t.removeSchedule(ch.was, a.now); err != nil {
				return err
			}
			t.audit(a.now, a.req.By, "remove", "schedule/"+ch.ID, "", ch.Before, nil)
		case ch.Action == store.ActionUpdate:
			a.writeUpdate(t, ch, queues)
		}
		t.event(store.TopicSchedules, ch.ID)
	}
	return nil
}

func (a *applying) writeUpdate(t *tx, ch *change, queues map[string]int64) {
	if ch.was.owner != a.req.Owner {
		t.later("UPDATE duly.schedules SET owner = ?, orphaned_at = NULL, updated_at = ? WHERE sid = ?", a.req.Owner, a.now, ch.was.sid)
	}
	if !bytes.Equal(ch.was.hash, ch.def.hash) {
		next := func(anchor, after int64) int64 { return micros(ch.def.Next(instant(anchor), instant(after))) }
		t.revise(ch.was, ch.def.number, &ch.def.Schedule, queues[ch.def.Schedule.Queue], next, a.req.By, a.now)
	}
	t.audit(a.now, a.req.By, "update", "schedule/"+ch.ID, ch.Reason, ch.Before, ch.After)
}

// removeSchedule ends a schedule, whose lock is held. Its rows stay for the
// sake of history.
func (t *tx) removeSchedule(s *sched, now int64) error {
	const reason = "the schedule was removed"
	t.later(`UPDATE duly.schedules SET removed_at = ?, updated_at = ?, orphaned_at = NULL,
			paused_at = NULL, paused_by = NULL, paused_why = NULL, paused_until = NULL, paused_policy = NULL,
			resume_from = NULL, resume_to = NULL, resume_by = NULL, resume_policy = NULL WHERE sid = ?`, now, now, s.sid)
	// One that is being claimed is waited for, and found to be running below.
	n, err := t.exec("UPDATE duly.occurrences SET state = ?, waiting = 0, finished_at = ?, reason = ? WHERE (state < 2 AND waiting < 3 OR waiting = 3) AND sid = ? AND state = 0",
		cancelled, now, reason, s.sid)
	if err != nil {
		return err
	}
	t.later("UPDATE duly.occurrences SET cancelled = ? WHERE state < 2 AND waiting < 3 AND sid = ? AND state = 1 AND cancelled IS NULL", reason, s.sid)
	t.later("UPDATE duly.tracks SET next_due = NULL, held = NULL, halted = false, open = open - ? WHERE sid = ?", n, s.sid)
	t.moved(pending, cancelled, n)
	t.tally[tallySchedules]--
	if s.paused {
		t.tally[tallyPaused]--
	}
	t.event(store.TopicOccurrences, s.id)
	t.event(store.TopicCancels, s.id)
	return nil
}

func (a *applying) writeQueue(t *tx, ch *change) {
	if ch.Action == store.ActionRemove { // what still names it finds the default
		t.later("UPDATE duly.queues SET owner = NULL, concurrency = 1, rate_count = 0, rate_per = 0, starts = NULL WHERE queue = ?", ch.id)
		t.audit(a.now, a.req.By, "remove", "queue/"+ch.ID, "", ch.Before, nil)
		return
	}
	q := ch.queue
	per := q.Rate.Per.Std().Microseconds()
	t.later(`INSERT INTO duly.queues AS q (name, owner, concurrency, rate_count, rate_per) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (name) DO UPDATE SET starts = CASE WHEN q.rate_per = excluded.rate_per THEN q.starts END, owner = excluded.owner,
			concurrency = excluded.concurrency, rate_count = excluded.rate_count, rate_per = excluded.rate_per`,
		q.Name, a.req.Owner, q.Concurrency, q.Rate.Count, per)
	t.event(store.TopicOccurrences, "") // there may be room now
	t.audit(a.now, a.req.By, string(ch.Action), "queue/"+q.Name, ch.Reason, ch.Before, ch.After)
}
