package postgres

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// Retry implements store.Operator.
func (s *Store) Retry(ctx context.Context, occurrence, by, why string) error {
	return s.operate(ctx, occurrence, func(e *endings, o *occ) error {
		from := stateCodes[o.state]
		if from == duly.Succeeded || !duly.CanMove(from, duly.StepRetry, duly.Pending) {
			return refused(o, "tried again")
		}
		return e.again(o, by, why, "retry")
	})
}

// Cancel implements store.Operator.
func (s *Store) Cancel(ctx context.Context, occurrence, by, why string) error {
	return s.operate(ctx, occurrence, func(e *endings, o *occ) error {
		reason := plain(because("cancelled by", by, why))
		if o.state == running {
			if o.cancelled != "" {
				return nil
			}
			e.told(o.schedule)
			e.event(store.TopicCancels, o.schedule)
			e.later("UPDATE duly.occurrences SET cancelled = ? WHERE seq = ?", reason, o.seq)
			e.audit(e.now, by, "cancel", "occurrence/"+o.id(), why, stateJSON(o.state), nil)
			return nil
		}
		if !duly.CanMove(stateCodes[o.state], duly.StepCancel, duly.Cancelled) {
			return refused(o, "cancelled")
		}
		e.later("UPDATE duly.occurrences SET state = ?, waiting = 0, not_before = NULL, finished_at = ?, reason = ? WHERE seq = ?", cancelled, e.now, reason, o.seq)
		e.operated(o, cancelled, by, why, "cancel")
		return nil
	})
}

// Resolve implements store.Operator.
func (s *Store) Resolve(ctx context.Context, occurrence string, to duly.State, by, why string) error {
	return s.operate(ctx, occurrence, func(e *endings, o *occ) error {
		if !duly.CanMove(stateCodes[o.state], duly.StepResolve, to) {
			return refused(o, "resolved as "+string(to))
		}
		if to == duly.Pending {
			return e.again(o, by, why, "resolve")
		}
		e.later("UPDATE duly.occurrences SET state = ?, finished_at = ?, reason = ? WHERE seq = ?", succeeded, e.now, plain(because("resolved by", by, why)), o.seq)
		e.operated(o, succeeded, by, why, "resolve")
		return nil
	})
}

// operate carries out what a person asks of one occurrence.
func (s *Store) operate(ctx context.Context, occurrence string, step func(*endings, *occ) error) error {
	_, err := asked(ctx, s, func(t *tx) (struct{}, error) {
		o, now, err := t.occ(occurrence)
		if err != nil {
			return struct{}{}, err
		}
		e := newEndings(t, now)
		if err := step(e, o); err != nil {
			return struct{}{}, err
		}
		e.close()
		return struct{}{}, nil
	})
	return err
}

// occ finds and locks an occurrence by its ID.
func (t *tx) occ(id string) (o *occ, now int64, err error) {
	schedule, period, ok := duly.SplitOccurrenceID(id)
	if !ok {
		return nil, 0, duly.Invalid("occurrence", "%q names no occurrence; write schedule@period", id)
	}
	found, err := t.one(selectOcc+`, duly.clock() FROM duly.occurrences o JOIN duly.tracks t ON t.sid = o.sid
		WHERE o.period = ? AND o.sid = (SELECT sid FROM duly.schedules WHERE id = ?)`+lockOcc, []any{plain(period), plain(schedule)}, func(r row) {
		o, now = readOcc(r), r.int(17)
	})
	if err == nil && !found {
		err = notFound("occurrence", id)
	}
	return o, now, err
}

const sendBack = `UPDATE duly.occurrences SET state = 0, waiting = ?, tries = 0, not_before = NULL, start_by = NULL, finished_at = NULL, merged_into = NULL,
	reason = ? WHERE seq = ?`

// waitingAgain is what an occurrence waits for that was sent back; a serial one
// for earlier ones, until it is settled.
func waitingAgain(o *occ) int64 {
	if o.serial {
		return waitEarlier
	}
	return waitSlot
}

// again sends an ended occurrence back to pending, as if it were new, but with
// its history.
func (e *endings) again(o *occ, by, why, action string) error {
	gone, err := e.number("SELECT count(*) FROM duly.schedules WHERE sid = ? AND removed_at IS NOT NULL", o.sid)
	if err != nil {
		return err
	}
	if gone != 0 {
		return duly.Errorf(duly.CodeConflict, "%s cannot be tried again: its schedule was removed", o.id())
	}
	verb := map[string]string{"retry": "retried by", "resolve": "resolved by"}[action]
	e.later(sendBack, waitingAgain(o), plain(because(verb, by, why)), o.seq)
	e.operated(o, pending, by, why, action)
	return nil
}

// operated does what follows from a person's step.
func (e *endings) operated(o *occ, to int64, by, why, action string) {
	e.audit(e.now, by, action, "occurrence/"+o.id(), why, stateJSON(o.state), stateJSON(to))
	e.put(o, to)
}

// put moves an occurrence that a person has put somewhere else.
func (e *endings) put(o *occ, to int64) {
	e.changed(o, to)
	e.displace = e.displace || to == pending
	e.told(o.schedule)
	o.state = to
	e.hold(o, false)
}

func refused(o *occ, what string) error {
	return duly.Errorf(duly.CodeConflict, "%s is %s and cannot be %s", o.id(), stateCodes[o.state], what)
}

func because(verb, by, why string) string {
	text := verb + " " + by
	if why != "" {
		text += ": " + why
	}
	return strings.TrimSpace(text)
}

func stateJSON(state int64) json.RawMessage {
	b, _ := json.Marshal(map[string]duly.State{"state": stateCodes[state]})
	return b
}

// Pause implements store.Operator.
func (s *Store) Pause(ctx context.Context, req store.PauseRequest) error {
	_, err := asked(ctx, s, func(t *tx) (struct{}, error) {
		sc, err := t.existing(req.Schedule)
		if err != nil {
			return struct{}{}, err
		}
		now, err := t.clock(req.Now)
		if err != nil {
			return struct{}{}, err
		}
		if !sc.paused {
			t.tally[tallyPaused]++
		}
		until := opt(micros(req.Until))
		t.later(`UPDATE duly.schedules SET paused_at = coalesce(paused_at, ?), paused_by = ?, paused_why = ?, paused_until = ?, paused_policy = ?, updated_at = ? WHERE sid = ?`,
			now, plain(req.By), opt(plain(req.Why)), until, opt(string(req.Policy)), now, sc.sid)
		t.later("UPDATE duly.tracks SET next_due = ?, halted = true WHERE sid = ?", until, sc.sid)
		t.event(store.TopicSchedules, req.Schedule)
		after, err := json.Marshal(store.PauseStatus{At: instant(now), By: req.By, Why: req.Why, Until: req.Until, Policy: req.Policy})
		t.audit(now, req.By, "pause", "schedule/"+req.Schedule, req.Why, nil, after)
		return struct{}{}, err
	})
	return err
}

// Resume implements store.Operator. The schedule is due at once, so that the
// planner decides on what came due meanwhile and finds its next due time.
func (s *Store) Resume(ctx context.Context, req store.ResumeRequest) error {
	_, err := asked(ctx, s, func(t *tx) (struct{}, error) {
		sc, err := t.existing(req.Schedule)
		if err != nil {
			return struct{}{}, err
		}
		now, err := t.clock(req.Now)
		if err != nil {
			return struct{}{}, err
		}
		if !sc.paused {
			return struct{}{}, duly.Errorf(duly.CodeConflict, "schedule %s is not paused", req.Schedule)
		}
		t.tally[tallyPaused]--
		t.later(`UPDATE duly.schedules SET resume_from = coalesce(resume_from, paused_at), resume_to = ?, resume_by = ?, resume_policy = ?,
				paused_at = NULL, paused_by = NULL, paused_why = NULL, paused_until = NULL, paused_policy = NULL, updated_at = ? WHERE sid = ?`,
			now, plain(req.By), opt(string(req.Policy)), now, sc.sid)
		t.later("UPDATE duly.tracks SET next_due = ?, halted = true WHERE sid = ?", now, sc.sid)
		t.event(store.TopicSchedules, req.Schedule)
		after, err := json.Marshal(map[string]duly.CatchUpPolicy{"policy": req.Policy})
		t.audit(now, req.By, "resume", "schedule/"+req.Schedule, "", nil, after)
		return struct{}{}, err
	})
	return err
}
