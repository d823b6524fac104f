package postgres

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

const occurrenceColumns = `o.seq, s.id, o.period, o.due, o.state, o.waiting, o.origin, o.revision, q.name, o.priority, o.interval_start, o.not_before, o.start_by,
	m.name, m.tzdata, o.created_at, o.finished_at, o.covers, o.count, o.reason, o.merged_into,
	o.attempt, o.token, h.name, o.started_at, o.ended_at, o.lease_until, o.outcome, o.late, o.created, o.reused`

const occurrenceJoins = ` JOIN duly.schedules s ON s.sid = o.sid LEFT JOIN duly.queues q ON q.queue = o.queue
	LEFT JOIN duly.makers m ON m.maker = o.maker LEFT JOIN duly.makers h ON h.maker = o.holder`

func readOccurrence(r row) duly.Occurrence {
	o := duly.Occurrence{
		Seq: r.int(0), Schedule: r.str(1), Period: r.str(2), Due: instant(r.int(3)), State: stateCodes[r.int(4)], Waiting: waitingCodes[r.int(5)],
		Origin: originCodes[r.int(6)], Revision: r.int(7), Queue: r.str(8), Priority: int(r.int(9)), IntervalStart: instant(r.int(10)),
		StartBy: instant(r.int(12)), FiredBy: r.str(13), TZData: r.str(14), CreatedAt: instant(r.int(15)), FinishedAt: instant(r.int(16)),
		Covers: covers(r.str(17), r.str(2)), Count: int(max(1, r.int(18))), Reason: r.str(19), Attempts: []duly.Attempt{}, Effects: []duly.Effect{},
	}
	o.ID = duly.OccurrenceID(o.Schedule, o.Period)
	if o.State == duly.Pending {
		o.NotBefore = instant(r.int(11))
	}
	if !r.null(20) {
		o.MergedInto = duly.OccurrenceID(o.Schedule, r.str(20))
	}
	if r.int(21) > 0 {
		o.Attempts = append(o.Attempts, readAttempt(r.from(21)))
	}
	return o
}

// readAttempt reads number, token, node, started_at, ended_at, lease_until,
// outcome, late, created, reused.
func readAttempt(r row) duly.Attempt {
	return duly.Attempt{
		Number: int(r.int(0)), Token: r.int(1), Node: r.str(2), StartedAt: instant(r.int(3)), FinishedAt: instant(r.int(4)), LeaseUntil: instant(r.int(5)),
		Outcome: outcomeCodes[r.int(6)], Late: r.bool(7), Effects: duly.EffectCounts{Created: int(r.int(8)), Reused: int(r.int(9))},
	}
}

// Occurrence implements store.Reader.
func (s *Store) Occurrence(ctx context.Context, id string) (duly.Occurrence, error) {
	schedule, period, ok := duly.SplitOccurrenceID(id)
	if !ok {
		return duly.Occurrence{}, duly.Invalid("occurrence", "%q names no occurrence; write schedule@period", id)
	}
	return read(ctx, s, func(c *conn) (duly.Occurrence, error) {
		var all []duly.Occurrence
		err := c.query("SELECT "+occurrenceColumns+" FROM duly.occurrences o"+occurrenceJoins+" WHERE o.period = ? AND o.sid = (SELECT sid FROM duly.schedules WHERE id = ?)",
			[]any{period, schedule}, func(r row) error {
				all = append(all, readOccurrence(r))
				return nil
			})
		if err != nil {
			return duly.Occurrence{}, err
		}
		if len(all) == 0 {
			return duly.Occurrence{}, notFound("occurrence", id)
		}
		if err := c.attachAttempts(all, true); err != nil {
			return duly.Occurrence{}, err
		}
		o := all[0]
		if err := c.attachUnowned(&o); err != nil {
			return duly.Occurrence{}, err
		}
		err = c.query("SELECT key, attempt, token, created_at, result, open FROM duly.effects WHERE sid = (SELECT sid FROM duly.schedules WHERE id = ?) AND period = ? ORDER BY effect",
			[]any{schedule, period}, func(r row) error {
				o.Effects = append(o.Effects, duly.Effect{Key: r.str(0), Attempt: int(r.int(1)), Token: r.int(2), CreatedAt: instant(r.int(3)), Result: r.json(4), Open: r.bool(5)})
				return nil
			})
		return o, err
	})
}

// attachAttempts adds the attempts before the newest ones, and what attempts
// said.
func (c *conn) attachAttempts(all []duly.Occurrence, output bool) error {
	bySeq := make(map[int64]*duly.Occurrence, len(all))
	var seqs []int64
	for i := range all {
		if len(all[i].Attempts) > 0 {
			bySeq[all[i].Seq] = &all[i]
			seqs = append(seqs, all[i].Seq)
		}
	}
	if len(seqs) == 0 {
		return nil
	}
	c.ask(`SELECT a.number, a.token, m.name, a.started_at, a.ended_at, NULL::bigint, a.outcome, a.late, a.created, a.reused, a.seq
		FROM duly.attempts a LEFT JOIN duly.makers m ON m.maker = a.holder WHERE a.seq = ANY(?)`, []any{seqs}, func(r row) error {
		o := bySeq[r.int(10)]
		o.Attempts = append(o.Attempts, readAttempt(r))
		slices.SortFunc(o.Attempts, func(a, b duly.Attempt) int { return cmp.Compare(a.Number, b.Number) })
		return nil
	})
	columns := "seq, number, exit_code, error, result, stale_outcome, stale_at, stale_error, "
	if output {
		columns += "output"
	} else {
		columns += "NULL::text"
	}
	return c.query("SELECT "+columns+" FROM duly.reports WHERE seq = ANY(?)", []any{seqs}, func(r row) error {
		o := bySeq[r.int(0)]
		i := slices.IndexFunc(o.Attempts, func(a duly.Attempt) bool { return a.Number == int(r.int(1)) })
		if i < 0 {
			return nil
		}
		a := &o.Attempts[i]
		if !r.null(2) {
			code := int(r.int(2))
			a.ExitCode = &code
		}
		a.Error, a.Result, a.Output = r.str(3), r.json(4), r.str(8)
		if !r.null(5) {
			a.Stale = &duly.StaleReport{Outcome: outcomeCodes[r.int(5)], At: instant(r.int(6)), Error: r.str(7)}
		}
		return nil
	})
}

// Occurrences implements store.Reader. The cursor is a seq.
func (s *Store) Occurrences(ctx context.Context, f store.OccurrenceFilter, page store.Page) ([]duly.Occurrence, string, error) {
	n := limit(page)
	query, args, err := occurrencesQuery(f, page, n)
	if err != nil {
		return nil, "", err
	}
	return paged(ctx, s, n, func(c *conn, item func(duly.Occurrence)) error {
		var all []duly.Occurrence
		err := c.query(query, args, func(r row) error {
			all = append(all, readOccurrence(r))
			return nil
		})
		if err != nil {
			return err
		}
		if err := c.attachAttempts(all, false); err != nil {
			return err
		}
		for _, o := range all {
			item(o)
		}
		return nil
	}, func(o duly.Occurrence) string { return strconv.FormatInt(o.Seq, 10) })
}

// occurrencesQuery chooses the shortest way to what a filter wants: along a
// schedule's chain, over an index of what is open or needs attention, or back
// from the newest.
func occurrencesQuery(f store.OccurrenceFilter, page store.Page, n int) (string, []any, error) {
	before := int64(1<<63 - 1)
	if page.Cursor != "" {
		var err error
		if before, err = strconv.ParseInt(page.Cursor, 10, 64); err != nil {
			return "", nil, duly.Invalid("cursor", "%q is not a cursor of this list", page.Cursor)
		}
	}
	states := f.States
	if f.Attention {
		states = slices.DeleteFunc([]duly.State{duly.Failed, duly.Uncertain, duly.Missed}, func(s duly.State) bool { return len(f.States) > 0 && !slices.Contains(f.States, s) })
		if len(states) == 0 {
			states = []duly.State{""}
		}
	}
	codes := make([]int64, len(states))
	for i, st := range states {
		codes[i] = stateCode(st)
	}
	all := func(ok func(duly.State) bool) bool {
		return len(states) > 0 && !slices.ContainsFunc(states, func(s duly.State) bool { return !ok(s) })
	}
	from := "SELECT o.seq FROM duly.occurrences o WHERE o.seq < ?"
	where := clause{args: []any{before}}
	order := " ORDER BY o.seq DESC LIMIT ?"
	switch {
	case f.Schedule != "":
		from = `WITH RECURSIVE chain (seq, prev, state, due) AS (
			SELECT o.seq, o.prev, o.state, o.due FROM duly.tracks t JOIN duly.occurrences o ON o.seq = t.newest WHERE t.sid = (SELECT sid FROM duly.schedules WHERE id = ?)
			UNION ALL SELECT o.seq, o.prev, o.state, o.due FROM chain JOIN duly.occurrences o ON o.seq = chain.prev)
			SELECT o.seq FROM chain o WHERE o.seq < ?`
		where.args = []any{f.Schedule, before}
		order = " LIMIT ?" // the chain is in order, and walked no further than needed
	case all(duly.State.NeedsAttention):
		from += " AND o.state > 5"
	case all(duly.State.Open):
		from = `SELECT o.seq FROM (SELECT seq, state, due FROM duly.occurrences WHERE state < 2 AND waiting < 3
			UNION ALL SELECT seq, state, due FROM duly.occurrences WHERE waiting = 3) o WHERE o.seq < ?`
	}
	if len(codes) > 0 {
		where.add(" AND o.state = ANY(?)", codes)
	}
	if !f.From.IsZero() {
		where.add(" AND o.due >= ?", micros(f.From))
	}
	if !f.To.IsZero() {
		where.add(" AND o.due < ?", micros(f.To))
	}
	where.add(order, n+1)
	return "SELECT " + occurrenceColumns + " FROM (" + from + where.text + ") k JOIN duly.occurrences o ON o.seq = k.seq" + occurrenceJoins + " ORDER BY o.seq DESC", where.args, nil
}

// Attempts implements store.Reader.
func (s *Store) Attempts(ctx context.Context, keys []store.AttemptKey) ([]store.AttemptFacts, error) {
	facts := make([]store.AttemptFacts, len(keys))
	if len(keys) == 0 {
		return facts, nil
	}
	seqs, tokens := make([]int64, len(keys)), make([]int64, len(keys))
	for i, k := range keys {
		seqs[i], tokens[i] = k.Seq, k.Token
	}
	return read(ctx, s, func(c *conn) ([]store.AttemptFacts, error) {
		err := c.query(`SELECT u.n, o.seq, t.id, o.period, o.definition, coalesce(a.number, o.attempt), coalesce(a.tries, o.tries)
			FROM unnest(?::bigint[], ?::bigint[]) WITH ORDINALITY u (seq, token, n) JOIN duly.occurrences o ON o.seq = u.seq JOIN duly.tracks t ON t.sid = o.sid
			LEFT JOIN duly.attempts a ON a.seq = o.seq AND a.token = u.token WHERE o.token = u.token OR a.token = u.token`, []any{seqs, tokens}, func(r row) error {
			facts[r.int(0)-1] = store.AttemptFacts{
				Seq: r.int(1), Schedule: r.str(2), Period: r.str(3), Definition: r.int(4), Attempt: int(r.int(5)), Tries: int(max(1, r.int(6))),
			}
			return nil
		})
		return facts, err
	})
}
