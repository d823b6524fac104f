package control_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/control"
	"github.com/duly-dev/duly/store"
)

func TestAResumeDecidesOnWhatCameDueMeanwhile(t *testing.T) {
	const skipped, pending = " skipped", " pending"
	for _, c := range []struct {
		policy duly.CatchUpPolicy
		want   [3]string // of 01, 02 and 03 o'clock
	}{
		{duly.CatchUpNone, [3]string{skipped, skipped, skipped}},
		{duly.CatchUpLatest, [3]string{skipped, skipped, pending}},
		{duly.CatchUpAll, [3]string{pending, pending, pending}},
		{"", [3]string{skipped, skipped, pending}}, // the schedule's own: latest
	} {
		for _, way := range []string{"resume", "until"} {
			t.Run(way+" "+string(c.policy), func(t *testing.T) {
				inBubble(t, func(w *world) {
					w.apply(hourly("a"))
					until("2000-01-01T00:30")
					pause := store.PauseRequest{Schedule: "a", By: "ann", Why: "audit"}
					if way == "until" {
						pause.Until, pause.Policy = at("2000-01-01T03:30"), c.policy
					}
					w.must(w.Pause(w.ctx, pause))
					until("2000-01-01T03:00")
					w.fire()
					if got := w.list("a"); len(got) != 0 {
						w.Errorf("fired while paused: %v", got)
					}
					until("2000-01-01T03:30")
					if way == "resume" {
						w.must(w.Resume(w.ctx, store.ResumeRequest{Schedule: "a", By: "bob", Policy: c.policy}))
					}
					w.fire()
					want := []string{"2000-01-01T01+00:00" + c.want[0], "2000-01-01T02+00:00" + c.want[1], "2000-01-01T03+00:00" + c.want[2]}
					if diff := cmp.Diff(want, w.list("a")); diff != "" {
						w.Error(diff)
					}
					until("2000-01-01T04:00")
					w.fire()
					if got := w.list("a"); got[len(got)-1] != "2000-01-01T04+00:00 pending" {
						w.Errorf("it does not go on: %v", got)
					}
				})
			})
		}
	}
}

func TestAResumeThatCombinesCoversAll(t *testing.T) {
	inBubble(t, func(w *world) {
		w.apply(hourly("a"))
		until("2000-01-01T00:30")
		w.must(w.Pause(w.ctx, store.PauseRequest{Schedule: "a", By: "ann"}))
		until("2000-01-01T03:30")
		w.must(w.Resume(w.ctx, store.ResumeRequest{Schedule: "a", By: "ann", Policy: duly.CatchUpCombine}))
		w.fire()
		if diff := cmp.Diff([]string{"2000-01-01T01+00:00", "2000-01-01T02+00:00", "2000-01-01T03+00:00"}, w.occurrence("a@2000-01-01T03+00:00").Covers); diff != "" {
			w.Error(diff)
		}
	})
}

func TestAPauseSaysWhoAndWhy(t *testing.T) {
	inBubble(t, func(w *world) {
		w.apply(hourly("a"))
		w.must(w.Pause(w.ctx, store.PauseRequest{Schedule: "a", By: "ann", Why: "audit", Until: at("2000-01-02T00:00"), Policy: duly.CatchUpAll}))
		s, err := w.st.Schedule(w.ctx, "a")
		w.must(err)
		if p := s.Paused; p == nil || p.By != "ann" || p.Why != "audit" || !p.Until.Equal(at("2000-01-02T00:00")) || p.Policy != duly.CatchUpAll {
			w.Errorf("got %+v", s.Paused)
		}
	})
}

func TestAPauseThatCannotBeMeant(t *testing.T) {
	inBubble(t, func(w *world) {
		w.apply(hourly("a"))
		until("2000-01-01T12:00")
		w.wantCode(w.Pause(w.ctx, store.PauseRequest{Schedule: "a", By: "ann", Until: at("2000-01-01T11:59")}), duly.CodeInvalid, "until", "has passed")
		w.wantCode(w.Pause(w.ctx, store.PauseRequest{Schedule: "a", By: "ann", Until: at("2000-01-01T12:00")}), duly.CodeInvalid, "has passed")
		w.wantCode(w.Pause(w.ctx, store.PauseRequest{Schedule: "a", By: "ann", Policy: "some"}), duly.CodeInvalid, "none, latest, all, combine")
		w.wantCode(w.Pause(w.ctx, store.PauseRequest{Schedule: "b", By: "ann"}), duly.CodeNotFound)
		w.wantCode(w.Resume(w.ctx, store.ResumeRequest{Schedule: "a", By: "ann"}), duly.CodeConflict)
		w.wantCode(w.Resume(w.ctx, store.ResumeRequest{Schedule: "a", By: "ann", Policy: "some"}), duly.CodeInvalid, "none, latest, all, combine")
		if s, err := w.st.Schedule(w.ctx, "a"); err != nil || s.Paused != nil {
			w.Errorf("paused all the same: %+v, %v", s.Paused, err)
		}
	})
}

func TestUpcoming(t *testing.T) {
	inBubble(t, func(w *world) {
		def := daily("a")
		def.Timezone = "Europe/Berlin"
		def.Calendar = &duly.CalendarRule{}
		def.Limit = 2
		w.apply(def)
		w.must(w.Pause(w.ctx, store.PauseRequest{Schedule: "a", By: "ann", Until: at("2000-01-04T00:00")}))
		got, err := w.Upcoming(w.ctx, "a", time.Time{}, 10)
		w.must(err)
		want := []control.Upcoming{ // Saturday and Sunday have no business; after two that run it is over
			{Due: at("2000-01-01T08:00"), Local: "2000-01-01T09:00:00+01:00", Period: "2000-01-01", Skip: "calendar: no business day"},
			{Due: at("2000-01-02T08:00"), Local: "2000-01-02T09:00:00+01:00", Period: "2000-01-02", Skip: "calendar: no business day"},
			{Due: at("2000-01-03T08:00"), Local: "2000-01-03T09:00:00+01:00", Period: "2000-01-03", Skip: "paused by ann"},
			{Due: at("2000-01-04T08:00"), Local: "2000-01-04T09:00:00+01:00", Period: "2000-01-04"},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			w.Error(diff)
		}
		later, err := w.Upcoming(w.ctx, "a", at("2000-01-04T12:00"), 1)
		w.must(err)
		if len(later) != 1 || later[0].Period != "2000-01-05" {
			w.Errorf("got %+v", later)
		}
		for _, n := range []int{0, control.MaxUpcoming + 1} {
			_, err := w.Upcoming(w.ctx, "a", time.Time{}, n)
			w.wantCode(err, duly.CodeInvalid, "between 1 and 1000")
		}
		_, err = w.Upcoming(w.ctx, "b", time.Time{}, 1)
		w.wantCode(err, duly.CodeNotFound)
	})
}
