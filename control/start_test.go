package control_test

import (
	"sync"
	"testing"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/control"
	"github.com/duly-dev/duly/store"
)

func external() *duly.Schedule {
	return &duly.Schedule{Timezone: "Europe/Berlin", Period: duly.PeriodDay, PeriodOffset: -1, Lease: duly.Duration(10 * time.Second)}
}

// begin starts a period and wants it to go well.
func (w *world) begin(req control.StartRequest) control.Started {
	w.Helper()
	req.Schedule, req.By, req.Define = "a", "cron", external()
	s, err := w.Start(w.ctx, req)
	w.must(err)
	return s
}

func TestStartMakesTheScheduleOnFirstUse(t *testing.T) {
	for _, c := range []struct {
		name string
		req  control.StartRequest
		id   string
		due  string
	}{
		{"due now", control.StartRequest{}, "a@2000-01-02", "2000-01-02T23:30"}, // half past midnight in Berlin, for the day before
		{"by due time", control.StartRequest{Due: at("2000-01-05T23:00")}, "a@2000-01-05", "2000-01-05T23:00"},
		{"by period", control.StartRequest{Period: "2000-01-05"}, "a@2000-01-05", "2000-01-05T23:00"}, // when the day after it begins
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				until("2000-01-02T23:30")
				s := w.begin(c.req)
				if s.ID != c.id || s.Existing || s.Capability != "external:"+c.id {
					w.Errorf("started %+v", s)
				}
				o := w.occurrence(s.ID)
				if o.Origin != duly.OriginExternal || o.State != duly.Pending || !o.Due.Equal(at(c.due)) {
					w.Errorf("occurrence %+v", o)
				}
				def, err := w.st.Schedule(w.ctx, "a")
				if err != nil || !def.External || def.Owner != "exec" || def.Timezone != "Europe/Berlin" {
					w.Errorf("schedule %+v, %v", def, err)
				}
			})
		})
	}
}

func TestTwoThatStartAtOnceMeetTheSameOccurrence(t *testing.T) {
	inBubble(t, func(w *world) {
		const starters = 8
		made := make([]control.Started, starters)
		var starting sync.WaitGroup
		for i := range made {
			starting.Go(func() { made[i] = w.begin(control.StartRequest{Period: "2000-01-01"}) })
		}
		starting.Wait()
		fresh := 0
		for _, s := range made {
			if s.ID != "a@2000-01-01" || s.Seq != made[0].Seq {
				w.Errorf("started %+v", s)
			}
			if !s.Existing {
				fresh++
			}
		}
		node := w.join(made[0].Capability)
		if claims := w.claim(node, made[0].Capability); fresh != 1 || len(claims) != 1 || len(w.claim(node, made[0].Capability)) != 0 {
			w.Errorf("%d made it, %d claims", fresh, len(claims))
		}
	})
}

func TestStartOfWhatHasEnded(t *testing.T) {
	for _, c := range []struct {
		outcome duly.Outcome
		retried bool
		state   duly.State // after
	}{
		{duly.AttemptSucceeded, false, duly.Succeeded},
		{duly.AttemptFailed, true, duly.Pending},
		{duly.AttemptUncertain, false, duly.Uncertain},
		{duly.AttemptCancelled, true, duly.Pending},
	} {
		t.Run(string(c.outcome), func(t *testing.T) {
			inBubble(t, func(w *world) {
				first := w.begin(control.StartRequest{Period: "2000-01-01"})
				node := w.join(first.Capability)
				w.finish(node, w.claim(node, first.Capability)[0], c.outcome)
				again := w.begin(control.StartRequest{Period: "2000-01-01"})
				if again.ID != first.ID || !again.Existing || again.Retried != c.retried || w.occurrence(first.ID).State != c.state {
					w.Errorf("again %+v, now %s", again, w.occurrence(first.ID).State)
				}
				if claims := w.claim(node, first.Capability); (len(claims) == 1) != c.retried {
					w.Errorf("%d claims", len(claims))
				}
			})
		})
	}
}

func TestStartEndsTheAttemptOfADeadOwner(t *testing.T) {
	inBubble(t, func(w *world) {
		first := w.begin(control.StartRequest{Period: "2000-01-01"})
		node := w.join(first.Capability)
		old := w.claim(node, first.Capability)[0]
		time.Sleep(9 * time.Second)
		if s := w.begin(control.StartRequest{Period: "2000-01-01"}); s.State != duly.Running || s.Retried {
			w.Errorf("while it is owned: %+v", s)
		}
		time.Sleep(2 * time.Second)
		if s := w.begin(control.StartRequest{Period: "2000-01-01"}); s.State != duly.Pending {
			w.Errorf("when its lease has run out: %+v", s)
		}
		claims := w.claim(node, first.Capability)
		if len(claims) != 1 || claims[0].Attempt != 2 || claims[0].Token <= old.Token {
			w.Errorf("claimed %+v", claims)
		}
	})
}

func TestAnEarlierPeriodHoldsNobodyUp(t *testing.T) {
	inBubble(t, func(w *world) {
		w.begin(control.StartRequest{Period: "2000-01-01"}) // its platform never comes back
		second := w.begin(control.StartRequest{Period: "2000-01-02"})
		if claims := w.claim(w.join(second.Capability), second.Capability); len(claims) != 1 || claims[0].Period != "2000-01-02" {
			w.Errorf("claimed %+v", claims)
		}
	})
}

func TestStartRefuses(t *testing.T) {
	inBubble(t, func(w *world) {
		w.apply(daily("timed"))
		_, err := w.Start(w.ctx, control.StartRequest{Schedule: "timed", By: "cron", Define: external()})
		w.wantCode(err, duly.CodeConflict, "timed by Duly itself")
		_, err = w.Start(w.ctx, control.StartRequest{Schedule: "unknown", By: "cron"})
		w.wantCode(err, duly.CodeNotFound, "unknown")
		_, err = w.Start(w.ctx, control.StartRequest{Schedule: "a", By: "cron", Define: external(), Period: "2000-01-01", Due: at("2000-01-01T00:00")})
		w.wantCode(err, duly.CodeInvalid, "not both")
		_, err = w.Start(w.ctx, control.StartRequest{Schedule: "a", By: "cron", Define: external(), Period: "January"})
		w.wantCode(err, duly.CodeInvalid, "January")
		bad := external()
		bad.Timezone = "Mars/Olympus"
		_, err = w.Start(w.ctx, control.StartRequest{Schedule: "b", By: "cron", Define: bad})
		w.wantCode(err, duly.CodeInvalid, "Mars/Olympus")
		all, _, err := w.st.Occurrences(w.ctx, store.OccurrenceFilter{}, store.Page{})
		if err != nil || len(all) != 0 {
			w.Errorf("made %v, %v", all, err)
		}
	})
}
