package sqlite

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
			if len(firings[i].Ask) == 0 {
				continue
			}
			asked = true
			if err := f.look(f.due[i].sid, &due[i], firings[i].Ask); err != nil {
				return nil, err
			}
		}
		if !asked {
			return firings, nil
		}
	}
}

// look tells which of the periods that were asked for exist, by name or under
// that of another one.
func (f *firing) look(sid int64, due *store.DueSchedule, periods []string) error {
	exists := make(map[string]bool, len(due.Exists)+len(periods))
	maps.Copy(exists, due.Exists)
	for _, p := range periods {
		n, err := f.number(bg, "SELECT count(*) FROM occurrences WHERE period = ? AND sid = ?", p, sid)
		if err != nil {
			return err
		}
		exists[p] = n > 0
	}
	if len(exists) == len(due.Exists) {
		return duly.Errorf(duly.CodeInternal, "the planner asks again what exists of %s", due.Schedule)
	}
	due.Exists = exists
	return f.query(bg, "SELECT covers FROM occurrences INDEXED BY occurrences_covering WHERE sid = ? AND due > ? AND covers IS NOT NULL",
		[]any{sid, micros(due.Cursor)}, func(r row) error {
			for _, p := range unlist(r.str(0)) {
				if _, asked := exists[p]; asked {
					exists[p] = true
				}
			}
			return nil
		})
}
