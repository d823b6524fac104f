package sqlite

import (
	"context"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// Finish implements store.Worker.
func (s *Store) Finish(ctx context.Context, _ int64, reports []store.Report) ([]store.Finished, error) {
	if len(reports) == 0 {
		return nil, nil
	}
	return write(ctx, s, func(t *tx) ([]store.Finished, error) {
		f := &finishing{endings: newEndings(t, now())}
		seqs := make([]int64, len(reports))
		for i, r := range reports {
			seqs[i] = r.Seq
		}
		found, err := t.occs(seqs)
		if err != nil {
			return nil, err
		}
		answers := make([]store.Finished, len(reports))
		for i := range reports {
			if answers[i], err = f.report(&reports[i], found[reports[i].Seq]); err != nil {
				return nil, err
			}
		}
		return answers, f.close()
	})
}

type finishing struct{ *endings }

// report takes one report. The error is the store's; the report's own is in
// the answer.
func (f *finishing) report(r *store.Report, o *occ) (store.Finished, error) {
	if o == nil {
		return store.Finished{Err: duly.Errorf(duly.CodeNotFound, "there is no occurrence with seq %d", r.Seq)}, nil
	}
	answer := store.Finished{Schedule: o.schedule, Period: o.period}
	var err error
	switch {
	case outcomeCode(r.Outcome) <= 0 || r.Outcome == duly.AttemptLost:
		answer.Err = duly.Invalid("outcome", "is %q, which is no outcome that a worker reports", r.Outcome)
	case r.Token != o.token:
		answer.Late, answer.Err, err = f.superseded(r, o)
	case o.state == running:
		answer.Err, err = f.owned(r, o)
		answer.Late = o.late
	case o.outcome == outcomeLost:
		err = f.tooLate(r, o)
		answer.Late = true
	default: // reported before, perhaps in a transaction that nobody heard of
		answer.Late = o.late
		f.told(o.schedule)
	}
	answer.State = stateCodes[o.state]
	return answer, err
}

// owned takes the report of an attempt that still owns its occurrence.
func (f *finishing) owned(r *store.Report, o *occ) (refused, err error) {
	to := stateCode(r.Next.State)
	if !duly.CanMove(duly.Running, duly.StepFinish, r.Next.State) {
		return duly.Invalid("next.state", "a report cannot make an occurrence %q", r.Next.State), nil
	}
	created, reused, err := f.record(r, o)
	if err != nil {
		return nil, err
	}
	return nil, f.end(o, ending{
		outcome: outcomeCode(r.Outcome), late: f.now > o.leaseUntil, created: created, reused: reused, next: r.Next, to: to,
	})
}

// tooLate takes a report after the attempt was ended as lost, before another
// one was claimed. What is final counts, marked late. What would only try
// again changes nothing more than what the attempt is known to have said.
func (f *finishing) tooLate(r *store.Report, o *occ) error {
	created, reused, err := f.record(r, o)
	if err != nil {
		return err
	}
	end := ending{outcome: outcomeCode(r.Outcome), late: true, created: created, reused: reused, next: r.Next, to: stateCode(r.Next.State)}
	end.next.Uncounted = false
	if duly.CanMove(stateCodes[o.state], duly.StepFinish, r.Next.State) || o.state == failed && end.to == failed {
		return f.end(o, end)
	}
	o.late = true
	_, err = f.exec("UPDATE occurrences SET late = 1, created = ?, reused = ? WHERE seq = ?", opt(created), opt(reused), o.seq)
	return err
}

// superseded answers a report whose token is not the newest. If it says what
// was said before, it is answered as it was then. Otherwise it is kept beside
// its attempt and refused.
func (f *finishing) superseded(r *store.Report, o *occ) (late bool, refused, err error) {
	var number, outcome int64
	found, err := f.one(bg, "SELECT number, outcome, late FROM attempts WHERE seq = ? AND token = ?", []any{o.seq, r.Token}, func(row row) {
		number, outcome, late = row.int(0), row.int(1), row.bool(2)
	})
	switch {
	case err != nil:
		return false, nil, err
	case !found:
		return false, duly.Errorf(duly.CodeNotFound, "%s has no attempt with token %d", o.id(), r.Token), nil
	case outcome == outcomeCode(r.Outcome):
		return late, nil, nil
	}
	_, err = f.exec(`INSERT INTO reports (seq, number, stale_outcome, stale_at, stale_error) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET stale_outcome = excluded.stale_outcome, stale_at = excluded.stale_at, stale_error = excluded.stale_error
		WHERE stale_outcome IS NULL`, o.seq, number, outcomeCode(r.Outcome), f.now, opt(r.Error))
	f.told(o.schedule)
	return false, duly.Errorf(duly.CodeStaleToken, "%s: token %d was superseded by %d; the report is kept and changes nothing", o.id(), r.Token, o.token), err
}

// record keeps what an attempt said and its effects.
func (f *finishing) record(r *store.Report, o *occ) (created, reused int, err error) {
	if r.Error != "" || r.Output != "" || r.ExitCode != nil || len(r.Result) > 0 {
		var exit any
		if r.ExitCode != nil {
			exit = *r.ExitCode
		}
		_, err := f.exec(`INSERT INTO reports (seq, number, exit_code, error, output, result) VALUES (?, ?, ?, ?, ?, ?)
			ON CONFLICT DO UPDATE SET exit_code = excluded.exit_code, error = excluded.error, output = excluded.output, result = excluded.result`,
			o.seq, o.attempt, exit, opt(r.Error), opt(r.Output), raw(r.Result))
		if err != nil {
			return 0, 0, err
		}
	}
	return f.effects(r, o)
}
