package postgres

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/duly-dev/duly/store"
)

// saidReports are what attempts said, to be written together.
type saidReports struct {
	seqs                     []int64
	numbers                  []int32
	exits                    []string // a number, or "" for none
	errors, outputs, results []string
}

// madeEffect is an effect that an attempt made or found.
type madeEffect struct {
	store.EffectReport
	sid, token int64
	attempt    int64
	period     string
}

// keep keeps what an attempt said and its effects, to be recorded.
func (f *finishing) keep(r *store.Report, o *occ) (created, reused int) {
	if r.Error != "" || r.Output != "" || r.ExitCode != nil || len(r.Result) > 0 {
		s := &f.said
		s.seqs, s.numbers, s.exits = append(s.seqs, o.seq), append(s.numbers, int32(o.attempt)), append(s.exits, exitText(r.ExitCode))
		s.errors, s.outputs, s.results = append(s.errors, plain(r.Error)), append(s.outputs, plain(r.Output)), append(s.results, plain(string(r.Result)))
	}
	for _, e := range r.Effects {
		f.effects = append(f.effects, madeEffect{EffectReport: e, sid: o.sid, period: o.period, token: r.Token, attempt: o.attempt})
		if e.Reused {
			reused++
		} else {
			created++
		}
	}
	return created, reused
}

// record puts in line to write what was kept. Effects go in the order of their
// keys, so that no two calls wait for each other in a circle.
func (f *finishing) record() {
	if s := &f.said; len(s.seqs) > 0 {
		f.later(`INSERT INTO duly.reports (seq, number, exit_code, error, output, result)
			SELECT seq, number, nullif(exit, '')::bigint, nullif(error, ''), nullif(output, ''), nullif(result, '')
			FROM unnest(?::bigint[], ?::integer[], ?::text[], ?::text[], ?::text[], ?::text[]) u (seq, number, exit, error, output, result)
			ON CONFLICT (seq, number) DO UPDATE SET exit_code = excluded.exit_code, error = excluded.error, output = excluded.output, result = excluded.result`,
			s.seqs, s.numbers, s.exits, s.errors, s.outputs, s.results)
	}
	f.recordCreated()
	f.recordReused()
}

func (f *finishing) recordCreated() {
	var sids, tokens []int64
	var attempts []int32
	var keys, periods, results []string
	for _, e := range f.effects {
		if !e.Reused {
			sids, tokens, attempts = append(sids, e.sid), append(tokens, e.token), append(attempts, int32(e.attempt))
			keys, periods, results = append(keys, plain(e.Key)), append(periods, plain(e.period)), append(results, plain(string(e.Result)))
		}
	}
	if len(keys) == 0 {
		return
	}
	f.later(`INSERT INTO duly.effects (sid, token, created_at, reused, attempt, key, period, result)
		SELECT sid, token, ?, 0, attempt, key, period, nullif(result, '')
		FROM unnest(?::bigint[], ?::bigint[], ?::integer[], ?::text[], ?::text[], ?::text[]) u (sid, token, attempt, key, period, result)
		ON CONFLICT (key, sid, period, attempt) DO NOTHING`, f.now, sids, tokens, attempts, keys, periods, results)
}

// recordReused counts what was found. One that no attempt told of is recorded
// as found.
func (f *finishing) recordReused() {
	var found []madeEffect
	for _, e := range f.effects {
		if e.Reused {
			found = append(found, e)
		}
	}
	slices.SortStableFunc(found, func(a, b madeEffect) int { return cmp.Compare(a.Key, b.Key) })
	for _, e := range found {
		f.later(`WITH known AS (UPDATE duly.effects SET reused = reused + 1
				WHERE effect = (SELECT effect FROM duly.effects WHERE key = ?1 ORDER BY (sid = ?2 AND period = ?3) DESC, effect LIMIT 1) RETURNING effect)
			INSERT INTO duly.effects (key, sid, period, attempt, token, created_at, reused, result)
			SELECT ?1, ?2, ?3, 0, 0, ?4, 1, ?5::text WHERE NOT EXISTS (SELECT 1 FROM known) ON CONFLICT (key, sid, period, attempt) DO NOTHING`,
			plain(e.Key), e.sid, plain(e.period), f.now, raw(e.Result))
	}
}

func exitText(code *int) string {
	if code == nil {
		return ""
	}
	return strconv.Itoa(*code)
}
