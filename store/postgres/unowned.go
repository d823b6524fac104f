package postgres

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// RecordUnowned implements store.Worker.
func (s *Store) RecordUnowned(ctx context.Context, done []store.UnownedReport) error {
	for part := range slices.Chunk(done, chunk) {
		_, err := write(ctx, s, func(t *tx) (struct{}, error) { return struct{}{}, t.recordUnowned(part) })
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) recordUnowned(done []store.UnownedReport) error {
	n := len(done)
	due, started, ended, outcomes := make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n)
	schedules, nodes, periods, errors, exits, afters := make([]string, n), make([]string, n), make([]string, n), make([]string, n), make([]string, n), make([]string, n)
	for i, u := range done {
		after, err := json.Marshal(u.Unowned)
		if err != nil {
			return err
		}
		due[i], started[i], ended[i], outcomes[i] = micros(u.Due), micros(u.StartedAt), micros(u.FinishedAt), outcomeCode(u.Outcome)
		schedules[i], nodes[i], periods[i], errors[i] = plain(u.Schedule), plain(u.Node), plain(u.Period), plain(u.Error)
		exits[i], afters[i] = exitText(u.ExitCode), plain(string(after))
	}
	t.urgent = true
	t.later(`WITH told AS (SELECT s.sid, u.* FROM unnest(?::text[], ?::bigint[], ?::text[], ?::bigint[], ?::text[], ?::bigint[], ?::bigint[], ?::text[], ?::text[], ?::text[])
				u (id, due, node, started_at, period, ended_at, outcome, exit, error, after) JOIN duly.schedules s ON s.id = u.id),
			kept AS (INSERT INTO duly.unowned (sid, due, node, started_at, period, ended_at, outcome, exit_code, error, recorded_at)
				SELECT sid, due, node, started_at, period, ended_at, outcome, nullif(exit, '')::bigint, nullif(error, ''), duly.clock() FROM told
				ORDER BY sid, due, node, started_at ON CONFLICT DO NOTHING RETURNING sid, due, node, started_at)
		INSERT INTO duly.audit (at, by, action, object, why, after)
		SELECT duly.clock(), node, 'unowned', 'occurrence/' || id || '@' || period, 'the store was out of reach', after FROM told JOIN kept USING (sid, due, node, started_at)`,
		schedules, due, nodes, started, periods, ended, outcomes, exits, errors, afters)
	t.event(store.TopicOccurrences, "")
	return nil
}

// attachUnowned adds what was done without ownership of the periods that an
// occurrence stands for.
func (c *conn) attachUnowned(o *duly.Occurrence) error {
	since := o.Due
	if o.Count > 1 || len(o.Covers) > 1 {
		since = o.IntervalStart
	}
	return c.query(`SELECT period, node, due, started_at, ended_at, outcome, exit_code, error, recorded_at FROM duly.unowned
		WHERE sid = (SELECT sid FROM duly.schedules WHERE id = ?) AND (period = ? OR due > ? AND due <= ?) ORDER BY due, started_at, node`,
		[]any{o.Schedule, o.Period, micros(since), micros(o.Due)}, func(r row) error {
			u := duly.Unowned{
				Period: r.str(0), Node: r.str(1), Due: instant(r.int(2)), StartedAt: instant(r.int(3)), FinishedAt: instant(r.int(4)),
				Outcome: outcomeCodes[r.int(5)], Error: r.str(7), RecordedAt: instant(r.int(8)),
			}
			if !r.null(6) {
				code := int(r.int(6))
				u.ExitCode = &code
			}
			o.Unowned = append(o.Unowned, u)
			return nil
		})
}

// alone puts in line to mark schedules that run while the store is out of
// reach, or no longer do.
func (t *tx) alone(sids []int64, is bool) {
	if len(sids) > 0 {
		t.later("UPDATE duly.schedules SET alone = nullif(?1::boolean, false) WHERE sid = ANY(?2) AND alone IS DISTINCT FROM nullif(?1::boolean, false)", is, sids)
	}
}
