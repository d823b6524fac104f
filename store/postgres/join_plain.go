package postgres

import (
	"slices"
	"strconv"
	"strings"

	"github.com/duly-dev/duly/internal/codes"
	"github.com/duly-dev/duly/store"
)

// isPlain reports whether a report says no more than that all went well at the
// first attempt, with what effects: most reports of a joined completion.
func isPlain(r *store.Report) bool {
	return r.Error == "" && r.Output == "" && r.ExitCode == nil && len(r.Result) == 0 && r.Next.Reason == "" &&
		!slices.ContainsFunc(r.Effects, func(e store.EffectReport) bool { return e.Open || e.Reused || len(e.Key) > maxKey })
}

// plainly does in one statement what finishing does in several: starting each is
// what costs, and here no other reports share it. It takes an occurrence that
// runs, in time, in its first attempt, and is its schedule's only open one, so
// that none can be waiting for its end. Of all others it says nothing. It locks
// as they do: the schedule, then the occurrence, and no row of counts that
// another transaction holds.
var plainly = func() string {
	n := func(state int) string { return "n" + strconv.Itoa(state) }
	return strings.NewReplacer("$ran", n(codes.Running), "$did", n(codes.Succeeded), "$momentary", momentary,
		"$running", strconv.Itoa(codes.Running), "$succeeded", strconv.Itoa(codes.Succeeded)).Replace(`
	WITH clock AS (SELECT $momentary AS now),
	found AS (SELECT o.seq, o.sid, t.id, o.period, clock.now
		FROM clock CROSS JOIN duly.occurrences o JOIN duly.tracks t ON t.sid = o.sid
		WHERE o.seq = ?1 AND o.token = ?2 AND o.state = $running AND o.attempt = 1 AND o.lease_until >= clock.now AND o.cancelled IS NULL
			AND t.open = 1 AND t.held IS DISTINCT FROM o.seq
		FOR NO KEY UPDATE OF t, o),
	made AS (INSERT INTO duly.effects (sid, token, created_at, reused, attempt, key, period, result)
		SELECT found.sid, ?2, found.now, 0, 1, u.key, found.period, nullif(u.result, '') FROM found CROSS JOIN unnest(?4::text[], ?5::text[]) u (key, result)
		ON CONFLICT (key, sid, period, attempt) DO NOTHING),
	ended AS (UPDATE duly.occurrences o SET state = $succeeded, waiting = 0, not_before = NULL, finished_at = (SELECT now FROM found), ended_at = (SELECT now FROM found),
			lease_until = NULL, outcome = ?3::smallint, created = nullif(cardinality(?4::text[]), 0)
		WHERE o.seq = (SELECT seq FROM found)),
	closed AS (UPDATE duly.tracks t SET open = 0, succeeded_at = greatest(t.succeeded_at, (SELECT now FROM found)) WHERE t.sid = (SELECT sid FROM found)),
	counted AS (INSERT INTO duly.tallies AS c (slot, $ran, $did) SELECT 128 + pg_backend_pid(), -1, 1 FROM found
		ON CONFLICT (slot) DO UPDATE SET $ran = c.$ran - 1, $did = c.$did + 1)
	SELECT id, period FROM found`)
}()

// finishPlain answers whether it has finished the attempt. Of how plans are made
// it borrows no more than that they use the indexes, which are all unique here.
func (j *joining) finishPlain(r *store.Report) (answer store.Finished, done bool, err error) {
	keys, results := make([]string, len(r.Effects)), make([]string, len(r.Effects))
	for i, e := range r.Effects {
		keys[i], results[i] = plain(e.Key), plain(string(e.Result))
	}
	j.later("SELECT set_config('enable_seqscan', 'off', true)")
	done, err = j.one(plainly, []any{r.Seq, r.Token, int16(outcomeCode(r.Outcome)), keys, results}, func(found row) {
		answer = store.Finished{Schedule: found.str(0), Period: found.str(1), State: r.Next.State}
	})
	return answer, done, err
}
