package postgres

import (
	"maps"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// decide has the planner decide, and answers what it asks. In ordinary times it
// asks nothing.
func (f *firing) decide(due []store.DueSchedule) ([]store.Firing, error) {
	for {
		firings := f.req.Plan(instant(f.now), due)
		if len(firings) > len(due) {
			return nil, duly.Errorf(duly.CodeInternal, "the planner answered %d firings for %d schedules", len(firings), len(due))
		}
		asked := false
		for i := range firings {
			if firings[i].Schedule != due[i].Schedule {
				return nil, duly.Errorf(duly.CodeInternal, "the planner answered for %s where %s was asked", firings[i].Schedule, due[i].Schedule)
			}
			asked = asked || len(firings[i].Ask) > 0
		}
		if !asked {
			return firings, nil
		}
		if err := f.look(due, firings); err != nil {
			return nil, err
		}
	}
}

// look tells which of the periods that were asked for exist, by name or under
// that of another one. The schedules are held, so that nobody else can make any
// meanwhile.
func (f *firing) look(due []store.DueSchedule, firings []store.Firing) error {
	exists := map[int64]map[string]bool{}
	var sids, cursors, owners []int64
	var periods []string
	for i := range firings {
		if len(firings[i].Ask) == 0 {
			continue
		}
		sid := f.due[i].sid
		known := make(map[string]bool, len(due[i].Exists)+len(firings[i].Ask))
		maps.Copy(known, due[i].Exists)
		for _, p := range firings[i].Ask {
			known[p] = false
			owners, periods = append(owners, sid), append(periods, plain(p))
		}
		if len(known) == len(due[i].Exists) {
			return duly.Errorf(duly.CodeInternal, "the planner asks again what exists of %s", due[i].Schedule)
		}
		due[i].Exists, exists[sid] = known, known
		sids, cursors = append(sids, sid), append(cursors, micros(due[i].Cursor))
	}
	f.ask(`SELECT u.sid, u.period FROM unnest(?::bigint[], ?::text[]) u (sid, period)
		WHERE (SELECT o.seq FROM duly.occurrences o WHERE o.period = u.period AND o.sid = u.sid) IS NOT NULL`, []any{owners, periods}, func(r row) error {
		exists[r.int(0)][r.str(1)] = true
		return nil
	})
	return f.query(`SELECT u.sid, o.covers FROM unnest(?::bigint[], ?::bigint[]) u (sid, cursor)
		CROSS JOIN LATERAL (SELECT covers FROM duly.occurrences o WHERE o.sid = u.sid AND o.due > u.cursor AND o.covers IS NOT NULL) o`, []any{sids, cursors}, func(r row) error {
		known := exists[r.int(0)]
		for _, p := range unlist(r.str(1)) {
			if _, asked := known[p]; asked {
				known[p] = true
			}
		}
		return nil
	})
}
