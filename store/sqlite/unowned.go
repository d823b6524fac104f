package sqlite

import (
	"context"
	"encoding/json"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// RecordUnowned implements store.Worker.
func (s *Store) RecordUnowned(ctx context.Context, done []store.UnownedReport) error {
	_, err := write(ctx, s, func(t *tx) (struct{}, error) {
		now := now()
		for i := range done {
			if err := t.recordUnowned(&done[i], now); err != nil {
				return struct{}{}, err
			}
		}
		return struct{}{}, nil
	})
	return err
}

func (t *tx) recordUnowned(u *store.UnownedReport, now int64) error {
	var exit any
	if u.ExitCode != nil {
		exit = *u.ExitCode
	}
	n, err := t.exec(`INSERT INTO unowned (sid, due, node, started_at, period, ended_at, outcome, exit_code, error, recorded_at)
		SELECT sid, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM schedules WHERE id = ? ON CONFLICT DO NOTHING`,
		micros(u.Due), u.Node, micros(u.StartedAt), u.Period, micros(u.FinishedAt), outcomeCode(u.Outcome), exit, opt(u.Error), now, u.Schedule)
	if err != nil || n == 0 {
		return err
	}
	after, err := json.Marshal(u.Unowned)
	if err != nil {
		return err
	}
	t.event(store.TopicOccurrences, u.Schedule)
	return t.audit(now, u.Node, "unowned", "occurrence/"+duly.OccurrenceID(u.Schedule, u.Period), "the store was out of reach", nil, after)
}

// attachUnowned adds what was done without ownership of the periods that an
// occurrence stands for.
func (c *conn) attachUnowned(ctx context.Context, o *duly.Occurrence) error {
	since := o.Due
	if o.Count > 1 || len(o.Covers) > 1 {
		since = o.IntervalStart
	}
	return c.query(ctx, `SELECT period, node, due, started_at, ended_at, outcome, exit_code, error, recorded_at FROM unowned
		WHERE sid = (SELECT sid FROM schedules WHERE id = ?) AND (period = ? OR due > ? AND due <= ?) ORDER BY due, started_at, node`,
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

// alone marks schedules that run while the store is out of reach. Others pay
// nothing for it.
func (t *tx) alone(sid int64, s *duly.Schedule, was bool) error {
	is := s.WhenUnavailable == duly.UnavailableRun
	if !is && !was {
		return nil
	}
	_, err := t.exec("UPDATE schedules SET alone = ? WHERE sid = ?", opt(flag(is)), sid)
	return err
}
