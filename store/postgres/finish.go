package postgres

import (
	"context"
	"slices"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// finish takes reports, in two round trips: one that locks, one that writes.
// What others hold at this moment is passed over and answered errHeld, or waited
// for where patient; then the error is that of lock_timeout if it takes long.
func (s *Store) finish(ctx context.Context, reports []store.Report, patient bool) ([]store.Finished, error) {
	return write(ctx, s, func(t *tx) ([]store.Finished, error) {
		f := &finishing{endings: newEndings(t, 0), passes: true}
		how := " SKIP LOCKED"
		if patient {
			how = ""
			t.hurry(lockPatience)
		}
		seqs := make([]int64, len(reports))
		for i, r := range reports {
			seqs[i] = r.Seq
		}
		found := map[int64]*occ{}
		f.askReported(reports, found, how)
		if slices.ContainsFunc(reports, func(r store.Report) bool { return r.Next.State == duly.Failed }) {
			f.askOpen(seqs)
		}
		var err error
		if f.now, err = t.clock(time.Time{}); err != nil {
			return nil, err
		}
		if err := f.readEnded(seqs, found); err != nil {
			return nil, err
		}
		return f.take(reports, found)
	})
}

// take takes reports whose occurrences were found, and puts in line to write
// them.
func (f *finishing) take(reports []store.Report, found map[int64]*occ) ([]store.Finished, error) {
	answers := make([]store.Finished, len(reports))
	for i := range reports {
		var err error
		if answers[i], err = f.report(&reports[i], found[reports[i].Seq]); err != nil {
			return nil, err
		}
	}
	f.record()
	f.close()
	return answers, nil
}

// askReported puts in line to find and lock what reports are about, but for
// attempts that have ended: a report that was given before, above all as a part
// of the application's transaction, writes nothing and so costs no commit.
func (f *finishing) askReported(reports []store.Report, found map[int64]*occ, how string) {
	seqs, tokens := make([]int64, len(reports)), make([]int64, len(reports))
	for i, r := range reports {
		seqs[i], tokens[i] = r.Seq, r.Token
	}
	f.ask(selectOcc+`FROM unnest(?::bigint[], ?::bigint[]) u (seq, token) JOIN duly.occurrences o ON o.seq = u.seq JOIN duly.tracks t ON t.sid = o.sid
		WHERE (o.token = u.token AND o.state <> 1 AND o.outcome <> 3) IS NOT TRUE`+lockOcc+how, []any{seqs, tokens}, func(r row) error {
		o := readOcc(r)
		found[o.seq], o.locked = o, true
		return nil
	})
}

// readEnded reads what askReported left out.
func (f *finishing) readEnded(seqs []int64, found map[int64]*occ) error {
	var rest []int64
	for _, seq := range unique(seqs) {
		if found[seq] == nil {
			rest = append(rest, seq)
		}
	}
	if len(rest) == 0 {
		return nil
	}
	return f.query(selectOcc+"FROM unnest(?::bigint[]) u (seq) JOIN duly.occurrences o ON o.seq = u.seq JOIN duly.tracks t ON t.sid = o.sid", []any{rest}, func(r row) error {
		found[r.int(0)] = readOcc(r)
		return nil
	})
}

// maxKey bounds a text that is part of an index, in bytes.
const maxKey = 2000

type finishing struct {
	*endings
	said    saidReports
	effects []toldEffect
	open    map[int64][]string // keys of effects, by seq, where that matters
	passes  bool               // what is not locked was passed over, unless it has ended
}

// errHeld answers a report about what another transaction holds.
var errHeld error = &duly.Error{Code: duly.CodeUnavailable, Message: "another transaction, such as one of the application that completes an attempt, holds the occurrence or its schedule; report again"}

// endedBy reports whether the attempt with a token has ended, and not as lost.
func (o *occ) endedBy(token int64) bool {
	return o.token == token && o.state != running && o.outcome != outcomeLost
}

// report takes one report. The error is the store's; the report's own is in
// the answer.
func (f *finishing) report(r *store.Report, o *occ) (store.Finished, error) {
	if o == nil {
		return store.Finished{Err: duly.Errorf(duly.CodeNotFound, "there is no occurrence with seq %d", r.Seq)}, nil
	}
	answer := store.Finished{Schedule: o.schedule, Period: o.period}
	if f.passes && !o.locked && !o.endedBy(r.Token) {
		answer.State, answer.Err = stateCodes[o.state], errHeld
		return answer, nil
	}
	var err error
	switch {
	case outcomeCode(r.Outcome) <= 0 || r.Outcome == duly.AttemptLost:
		answer.Err = duly.Invalid("outcome", "is %q, which is no outcome that a worker reports", r.Outcome)
	case slices.ContainsFunc(r.Effects, func(e store.EffectReport) bool { return len(e.Key) > maxKey }):
		answer.Err = duly.Invalid("effects.key", "is longer than %d bytes", maxKey)
	case r.Token != o.token:
		answer.Late, answer.Err, err = f.superseded(r, o)
	case o.state == running:
		answer.Err = f.owned(r, o)
		answer.Late = o.late
	case o.outcome == outcomeLost:
		f.tooLate(r, o)
		answer.Late = true
	default: // reported before
		answer.Late = o.late
		f.repeated(o)
	}
	answer.State = stateCodes[o.state]
	return answer, err
}

// repeated wakes those who watch: that of an application's transaction was
// heard by nobody yet.
func (f *finishing) repeated(o *occ) {
	f.told(o.schedule)
	f.urgent = f.urgent || o.open > 0
}

// owned takes the report of an attempt that still owns its occurrence.
func (f *finishing) owned(r *store.Report, o *occ) (refused error) {
	to := stateCode(r.Next.State)
	if !duly.CanMove(duly.Running, duly.StepFinish, r.Next.State) {
		return duly.Invalid("next.state", "a report cannot make an occurrence %q", r.Next.State)
	}
	created, reused := f.keep(r, o)
	end := ending{outcome: outcomeCode(r.Outcome), late: f.now > o.leaseUntil, created: created, reused: reused, next: r.Next, to: to}
	end.unlessOpen(f.openAfter(r, o))
	f.end(o, end)
	return nil
}

// tooLate takes a report after the attempt was ended as lost, before another
// one was claimed. What is final counts, marked late. What would only try
// again changes nothing more than what the attempt is known to have said.
func (f *finishing) tooLate(r *store.Report, o *occ) {
	created, reused := f.keep(r, o)
	end := ending{outcome: outcomeCode(r.Outcome), late: true, created: created, reused: reused, next: r.Next, to: stateCode(r.Next.State)}
	end.next.Uncounted = false
	if duly.CanMove(stateCodes[o.state], duly.StepFinish, r.Next.State) || o.state == failed && end.to == failed {
		end.unlessOpen(f.openAfter(r, o))
		f.end(o, end)
		return
	}
	o.late = true
	f.later("UPDATE duly.occurrences SET late = true, created = ?, reused = ? WHERE seq = ?", opt(int64(created)), opt(int64(reused)), o.seq)
}

// superseded answers a report whose token is not the newest. If it says what
// was said before, it is answered as it was then. Otherwise it is kept beside
// its attempt and refused.
func (f *finishing) superseded(r *store.Report, o *occ) (late bool, refused, err error) {
	var number, outcome int64
	found, err := f.one("SELECT number, outcome, late FROM duly.attempts WHERE seq = ? AND token = ?", []any{o.seq, r.Token}, func(row row) {
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
	f.later(`INSERT INTO duly.reports AS p (seq, number, stale_outcome, stale_at, stale_error) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (seq, number) DO UPDATE SET stale_outcome = excluded.stale_outcome, stale_at = excluded.stale_at, stale_error = excluded.stale_error
		WHERE p.stale_outcome IS NULL`, o.seq, number, outcomeCode(r.Outcome), f.now, opt(plain(r.Error)))
	f.told(o.schedule)
	return false, duly.Errorf(duly.CodeStaleToken, "%s: token %d was superseded by %d; the report is kept and changes nothing", o.id(), r.Token, o.token), nil
}
