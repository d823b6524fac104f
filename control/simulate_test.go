package control_test

import (
	"testing"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/control"
	"github.com/duly-dev/duly/store"
)

func TestSimulateComparesWithWhatIsStored(t *testing.T) {
	inBubble(t, func(w *world) {
		every := duly.Schedule{ID: "every", Timing: duly.Timing{Every: duly.Duration(time.Hour)}, Target: duly.Target{Handler: "work"}}
		w.apply(daily("same"), daily("moved"), every)
		until("2000-01-01T12:30")
		moved := daily("moved")
		moved.Cron = "0 10 * * *"
		every.Priority = 5
		res, err := w.Simulate(w.ctx, control.SimulateRequest{Schedules: []duly.Schedule{daily("same"), moved, every, daily("new")}})
		w.must(err)
		if !res.From.Equal(at("2000-01-01T12:30")) || res.To.Sub(res.From) != 365*24*time.Hour {
			w.Errorf("from %v to %v; want a year from now", res.From, res.To)
		}
		for i, c := range []struct {
			id                                   string
			action                               store.Action
			before, after, added, dropped, moved int
		}{
			{"same", store.ActionKeep, 365, 365, 0, 0, 0},
			{"moved", store.ActionUpdate, 365, 365, 0, 0, 365},
			{"every", store.ActionUpdate, 365 * 24, 365 * 24, 0, 0, 0}, // an interval keeps its anchor
			{"new", store.ActionCreate, 0, 365, 365, 0, 0},
		} {
			s := res.Schedules[i]
			if s.ID != c.id || s.Action != c.action || s.Before != c.before || s.After != c.after || s.Added != c.added || s.Dropped != c.dropped || s.Moved != c.moved {
				w.Errorf("%s: %s, %d before, %d after, %d added, %d dropped, %d moved", s.ID, s.Action, s.Before, s.After, s.Added, s.Dropped, s.Moved)
			}
		}
		if s, err := w.st.Schedule(w.ctx, "moved"); err != nil || s.Revision != 1 {
			w.Errorf("simulating changed %+v, %v", s, err)
		}
	})
}

func TestSimulateRefusesWhatCannotBeMeant(t *testing.T) {
	inBubble(t, func(w *world) {
		bad := daily("bad")
		bad.Cron = "0 9 30 2 *"
		_, err := w.Simulate(w.ctx, control.SimulateRequest{Schedules: []duly.Schedule{bad}})
		w.wantCode(err, duly.CodeInvalid, "bad")
		_, err = w.Simulate(w.ctx, control.SimulateRequest{Schedules: []duly.Schedule{daily("a")}, From: at("2001-01-01T00:00"), To: at("2001-01-01T00:00")})
		w.wantCode(err, duly.CodeInvalid, "to")
	})
}
