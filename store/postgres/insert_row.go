package postgres

import (
	"slices"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// newRow is an occurrence on its way into the store.
type newRow struct {
	*store.NewOccurrence
	due *dueRow // in a firing

	schedule       string
	sid, seq, prev int64
	state          int64
	waiting        int64
	laneNumber
	maker   int64
	payload string
}

// count of the periods that a row stands for.
func (r *newRow) count() int64 { return max(1, int64(r.Count)) }

// leaseOf is how long ownership lasts.
func (r *newRow) leaseOf() time.Duration {
	if r.Lease <= 0 {
		return duly.DefaultLease.Std()
	}
	return r.Lease
}

// expired reports whether it may not start any more.
func (r *newRow) expired(now int64) bool {
	by := micros(r.StartBy)
	return by != 0 && by < now
}

// columns are the values of many rows, each column an array. NULL travels as 0
// or "".
type columns struct {
	seq, sid, due, revision, definition, lease, prev, intervalStart, lane, queue, notBefore, startBy []int64
	state, waiting, origin, priority                                                                 []int16
	count                                                                                            []int32
	serial                                                                                           []bool
	period, covers, reason, payload                                                                  []string
}

// Two ways to insert: with what most occurrences have, and with everything.
const (
	insertPlain = `INSERT INTO duly.occurrences (seq, sid, period, due, state, waiting, origin, revision, definition, lane, priority, lease, serial, prev, interval_start,
		maker, created_at, attempt, tries, token, holder, started_at, lease_until)
	SELECT seq, sid, period, due, state, waiting, origin, revision, definition, lane, priority, lease, serial, nullif(prev, 0), nullif(interval_start, 0),
		nullif(?1::bigint, 0), ?2::bigint, CASE WHEN state = 1 THEN 1 ELSE 0 END, CASE WHEN state = 1 THEN 1 ELSE 0 END,
		CASE WHEN state = 1 THEN nextval('duly.tokens') END, CASE WHEN state = 1 THEN nullif(?3::bigint, 0) END, CASE WHEN state = 1 THEN ?2::bigint END, CASE WHEN state = 1 THEN ?2::bigint + lease END
	FROM unnest(?4::bigint[], ?5::bigint[], ?6::text[], ?7::bigint[], ?8::smallint[], ?9::smallint[], ?10::smallint[], ?11::bigint[], ?12::bigint[], ?13::bigint[],
		?14::smallint[], ?15::bigint[], ?16::boolean[], ?17::bigint[], ?18::bigint[])
		u (seq, sid, period, due, state, waiting, origin, revision, definition, lane, priority, lease, serial, prev, interval_start)`
	insertAny = `INSERT INTO duly.occurrences (seq, sid, period, due, state, waiting, origin, revision, definition, lane, priority, lease, serial, prev, interval_start,
		maker, created_at, attempt, tries, token, holder, started_at, lease_until, queue, not_before, start_by, finished_at, covers, count, reason, payload)
	SELECT seq, sid, period, due, state, waiting, origin, revision, definition, lane, priority, lease, serial, nullif(prev, 0), nullif(interval_start, 0),
		nullif(?1::bigint, 0), ?2::bigint, CASE WHEN state = 1 THEN 1 ELSE 0 END, CASE WHEN state = 1 THEN 1 ELSE 0 END,
		CASE WHEN state = 1 THEN nextval('duly.tokens') END, CASE WHEN state = 1 THEN nullif(?3::bigint, 0) END, CASE WHEN state = 1 THEN ?2::bigint END, CASE WHEN state = 1 THEN ?2::bigint + lease END,
		nullif(queue, 0), nullif(not_before, 0), nullif(start_by, 0), CASE WHEN state > 1 THEN ?2::bigint END, nullif(covers, ''), nullif(count, 1), nullif(reason, ''), nullif(payload, '')
	FROM unnest(?4::bigint[], ?5::bigint[], ?6::text[], ?7::bigint[], ?8::smallint[], ?9::smallint[], ?10::smallint[], ?11::bigint[], ?12::bigint[], ?13::bigint[],
		?14::smallint[], ?15::bigint[], ?16::boolean[], ?17::bigint[], ?18::bigint[],
		?19::bigint[], ?20::bigint[], ?21::bigint[], ?22::text[], ?23::integer[], ?24::text[], ?25::text[])
		u (seq, sid, period, due, state, waiting, origin, revision, definition, lane, priority, lease, serial, prev, interval_start,
		queue, not_before, start_by, covers, count, reason, payload)`
)

// insert puts rows in line to be inserted. One whose schedule@period exists is
// a unique violation, after which the transaction is repeated with care. granted
// is told the tokens of those that are claimed at once.
func (t *tx) insert(all []*newRow, maker, holder, now int64, granted func(seq, token int64)) {
	for rows := range slices.Chunk(all, chunk) {
		c := &columns{}
		rare := false
		for _, r := range rows {
			rare = c.add(r) || rare
		}
		args := []any{
			maker, now, holder, c.seq, c.sid, c.period, c.due, c.state, c.waiting, c.origin, c.revision, c.definition, c.lane, c.priority, c.lease, c.serial,
			c.prev, c.intervalStart,
		}
		query := insertPlain
		if rare {
			query, args = insertAny, append(args, c.queue, c.notBefore, c.startBy, c.covers, c.count, c.reason, c.payload)
		}
		if granted == nil {
			t.later(query, args...)
			continue
		}
		t.ask(query+" RETURNING seq, token", args, func(r row) error {
			if !r.null(1) {
				granted(r.int(0), r.int(1))
			}
			return nil
		})
	}
}

// add adds a row and reports whether it has anything out of the ordinary.
func (c *columns) add(r *newRow) (rare bool) {
	coversList := ""
	if len(r.Covers) > 1 || len(r.Covers) == 1 && r.Covers[0] != r.Period {
		coversList = plain(list(r.Covers))
	}
	c.seq, c.sid, c.due, c.revision = append(c.seq, r.seq), append(c.sid, r.sid), append(c.due, micros(r.Due)), append(c.revision, r.Revision)
	c.definition, c.lease, c.prev = append(c.definition, r.Definition), append(c.lease, r.leaseOf().Microseconds()), append(c.prev, r.prev)
	c.intervalStart, c.lane, c.queue = append(c.intervalStart, micros(r.IntervalStart)), append(c.lane, r.lane), append(c.queue, r.queue)
	c.notBefore, c.startBy = append(c.notBefore, micros(r.NotBefore)), append(c.startBy, micros(r.StartBy))
	c.state, c.waiting, c.origin = append(c.state, int16(r.state)), append(c.waiting, int16(r.waiting)), append(c.origin, int16(originCode(r.Origin)))
	c.priority, c.count, c.serial = append(c.priority, int16(r.Priority)), append(c.count, int32(r.count())), append(c.serial, r.Serial)
	c.period, c.covers, c.reason, c.payload = append(c.period, plain(r.Period)), append(c.covers, coversList), append(c.reason, plain(r.Reason)), append(c.payload, plain(r.payload))
	return r.state > running || r.queue != 0 || coversList != "" || r.Reason != "" || r.payload != "" || r.Count > 1 || !r.NotBefore.IsZero() || !r.StartBy.IsZero()
}

// existingRows reports which rows exist.
func (t *tx) existingRows(rows []*newRow) ([]bool, error) {
	existing := make([]bool, len(rows))
	sids, periods := make([]int64, len(rows)), make([]string, len(rows))
	type identity struct {
		sid    int64
		period string
	}
	seen := map[identity]bool{}
	for i, r := range rows {
		sids[i], periods[i] = r.sid, plain(r.Period)
		key := identity{r.sid, periods[i]}
		existing[i], seen[key] = seen[key], true
	}
	err := t.query(`SELECT u.n FROM unnest(?::bigint[], ?::text[]) WITH ORDINALITY u (sid, period, n)
		WHERE (SELECT o.seq FROM duly.occurrences o WHERE o.period = u.period AND o.sid = u.sid) IS NOT NULL`, []any{sids, periods}, func(r row) error {
		existing[r.int(0)-1] = true
		return nil
	})
	return existing, err
}
