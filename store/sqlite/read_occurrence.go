package sqlite

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

const occurrenceColumns = `o.seq, s.id, o.period, o.due, o.state, o.waiting, o.origin, o.revision, q.name, o.priority, o.interval_start, o.not_before, o.start_by,
	m.name, m.tzdata, o.created_at, o.finished_at, o.covers, o.count, o.reason, o.merged_into,
	o.attempt, o.token, h.name, o.started_at, o.ended_at, o.lease_until, o.outcome, o.late, o.created, o.reused`

// CROSS JOIN keeps SQLite from turning the loops round: lists come in the order
// of what stands before.
const occurrenceJoins = ` CROSS JOIN schedules s ON s.sid = o.sid LEFT JOIN queues q ON q.queue = o.queue
	LEFT JOIN makers m ON m.maker = o.maker LEFT JOIN makers h ON h.maker = o.holder`

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
		o.Attempts = append(o.Attempts, readAttempt(r[21:]))
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
		err := c.query(ctx, "SELECT "+occurrenceColumns+" FROM occurrences o"+occurrenceJoins+" WHERE o.period = ? AND o.sid = (SELECT sid FROM schedules WHERE id = ?)",
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
		if err := c.attachAttempts(ctx, all, true); err != nil {
			return duly.Occurrence{}, err
		}
		o := all[0]
		if err := c.attachUnowned(ctx, &o); err != nil {
			return duly.Occurrence{}, err
		}
		err = c.query(ctx, "SELECT key, attempt, token, created_at, result, open FROM effects WHERE sid = (SELECT sid FROM schedules WHERE id = ?) AND period = ? ORDER BY effect",
			[]any{schedule, period}, func(r row) error {
				o.Effects = append(o.Effects, duly.Effect{Key: r.str(0), Attempt: int(r.int(1)), Token: r.int(2), CreatedAt: instant(r.int(3)), Result: r.bytes(4), Open: r.bool(5)})
				return nil
			})
		return o, err
	})
}

// attachAttempts adds the attempts before the newest ones, and what attempts
// said.
func (c *conn) attachAttempts(ctx context.Context, all []duly.Occurrence, output bool) error {
	bySeq := make(map[int64]*duly.Occurrence, len(all))
	var seqs []int64
	for i := range all {
		if len(all[i].Attempts) > 0 {
			bySeq[all[i].Seq] = &all[i]
			seqs = append(seqs, all[i].Seq)
		}
	}
	seen := map[[2]int64]bool{} // a chunk may name an occurrence twice
	err := c.in(ctx, `SELECT a.number, a.token, m.name, a.started_at, a.ended_at, NULL, a.outcome, a.late, a.created, a.reused, a.seq
		FROM attempts a LEFT JOIN makers m ON m.maker = a.holder WHERE a.seq IN (`, ")", nil, seqs, func(r row) error {
		if o := bySeq[r.int(10)]; !seen[[2]int64{r.int(10), r.int(0)}] {
			seen[[2]int64{r.int(10), r.int(0)}] = true
			o.Attempts = append(o.Attempts, readAttempt(r))
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, o := range bySeq {
		slices.SortFunc(o.Attempts, func(a, b duly.Attempt) int { return cmp.Compare(a.Number, b.Number) })
	}
	columns := "seq, number, exit_code, error, result, stale_outcome, stale_at, stale_error, "
	if output {
		columns += "output"
	} else {
		columns += "NULL"
	}
	return c.in(ctx, "SELECT "+columns+" FROM reports WHERE seq IN (", ")", nil, seqs, func(r row) error {
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
		a.Error, a.Result, a.Output = r.str(3), r.bytes(4), r.str(8)
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
		err := c.query(ctx, query, args, func(r row) error {
			all = append(all, readOccurrence(r))
			return nil
		})
		if err != nil {
			return err
		}
		if err := c.attachAttempts(ctx, all, false); err != nil {
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
	codes := make([]string, len(states))
	for i, st := range states {
		codes[i] = strconv.FormatInt(stateCode(st), 10)
	}
	from := "occurrences o"
	where := clause{}
	all := func(ok func(duly.State) bool) bool {
		return len(states) > 0 && !slices.ContainsFunc(states, func(s duly.State) bool { return !ok(s) })
	}
	with := ""
	switch {
	case f.Schedule != "":
		with = `WITH RECURSIVE chain (seq, prev) AS (
			SELECT o.seq, o.prev FROM schedules s JOIN occurrences o ON o.seq = s.newest WHERE s.id = ?
			UNION ALL SELECT o.seq, o.prev FROM chain JOIN occurrences o ON o.seq = chain.prev) `
		from = "chain CROSS JOIN occurrences o ON o.seq = chain.seq"
		where.args = append(where.args, f.Schedule)
	case all(duly.State.NeedsAttention):
		from = "occurrences o INDEXED BY occurrences_attention"
		where.text = " AND o.state > 5"
	case all(duly.State.Open):
		from = `(SELECT seq FROM occurrences INDEXED BY occurrences_front WHERE state < 2 AND waiting IS NOT 3
			UNION ALL SELECT seq FROM occurrences INDEXED BY occurrences_blocked WHERE waiting = 3) open JOIN occurrences o ON o.seq = open.seq`
	}
	where.add(" AND o.seq < ?", before)
	if len(codes) > 0 {
		where.text += " AND o.state IN (" + strings.Join(codes, ", ") + ")"
	}
	if !f.From.IsZero() {
		where.add(" AND o.due >= ?", micros(f.From))
	}
	if !f.To.IsZero() {
		where.add(" AND o.due < ?", micros(f.To))
	}
	order := " ORDER BY o.seq DESC LIMIT ?"
	if with != "" {
		order = " LIMIT ?" // the chain is in order
	}
	where.add(order, n+1)
	return with + "SELECT " + occurrenceColumns + " FROM " + from + occurrenceJoins + " WHERE true" + where.text, where.args, nil
}

// Attempts implements store.Reader.
func (s *Store) Attempts(ctx context.Context, keys []store.AttemptKey) ([]store.AttemptFacts, error) {
	return read(ctx, s, func(c *conn) ([]store.AttemptFacts, error) {
		facts := make([]store.AttemptFacts, len(keys))
		for i, k := range keys {
			_, err := c.one(ctx, `SELECT s.id, o.period, o.definition, coalesce(a.number, o.attempt), coalesce(a.tries, o.tries)
				FROM occurrences o JOIN schedules s ON s.sid = o.sid LEFT JOIN attempts a ON a.seq = o.seq AND a.token = ?1
				WHERE o.seq = ?2 AND (o.token = ?1 OR a.token = ?1)`, []any{k.Token, k.Seq}, func(r row) {
				facts[i] = store.AttemptFacts{
					Seq: k.Seq, Schedule: r.str(0), Period: r.str(1), Definition: r.int(2), Attempt: int(r.int(3)), Tries: int(max(1, r.int(4))),
				}
			})
			if err != nil {
				return nil, err
			}
		}
		return facts, nil
	})
}
