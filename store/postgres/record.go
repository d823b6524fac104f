package postgres

import (
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

// keep keeps what an attempt said and its effects, to be recorded.
func (f *finishing) keep(r *store.Report, o *occ) (created, reused int) {
	if r.Error != "" || r.Output != "" || r.ExitCode != nil || len(r.Result) > 0 {
		s := &f.said
		s.seqs, s.numbers, s.exits = append(s.seqs, o.seq), append(s.numbers, int32(o.attempt)), append(s.exits, exitText(r.ExitCode))
		s.errors, s.outputs, s.results = append(s.errors, plain(r.Error)), append(s.outputs, plain(r.Output)), append(s.results, plain(string(r.Result)))
	}
	return f.keepEffects(r, o)
}

// record puts in line to write what was kept.
func (f *finishing) record() {
	if s := &f.said; len(s.seqs) > 0 {
		f.later(`INSERT INTO duly.reports (seq, number, exit_code, error, output, result)
			SELECT seq, number, nullif(exit, '')::bigint, nullif(error, ''), nullif(output, ''), nullif(result, '')
			FROM unnest(?::bigint[], ?::integer[], ?::text[], ?::text[], ?::text[], ?::text[]) u (seq, number, exit, error, output, result)
			ON CONFLICT (seq, number) DO UPDATE SET exit_code = excluded.exit_code, error = excluded.error, output = excluded.output, result = excluded.result`,
			s.seqs, s.numbers, s.exits, s.errors, s.outputs, s.results)
	}
	f.recordEffects()
}

func exitText(code *int) string {
	if code == nil {
		return ""
	}
	return strconv.Itoa(*code)
}
