package control_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/control"
)

func TestTrigger(t *testing.T) {
	for _, c := range []struct {
		name string
		req  control.TriggerRequest
		id   string // "a@manual-…" stands for its beginning
		due  string
	}{
		{"an identity of its own", control.TriggerRequest{}, "a@manual-20000103T120000Z-", "2000-01-03T12:00"},
		{"by period", control.TriggerRequest{Period: "2000-01-02"}, "a@2000-01-02", "2000-01-02T09:00"},
		{"by a period to come", control.TriggerRequest{Period: "2000-01-09"}, "a@2000-01-09", "2000-01-09T09:00"},
		{"by due time", control.TriggerRequest{Due: at("2000-01-02T09:00")}, "a@2000-01-02", "2000-01-02T09:00"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				def := daily("a")
				def.Jitter, def.StartDeadline = duly.Duration(time.Minute), duly.Duration(time.Hour)
				w.apply(def)
				until("2000-01-03T12:00")
				c.req.Schedule, c.req.By, c.req.Why = "a", "ann", "to see"
				made, err := w.Trigger(w.ctx, c.req)
				w.must(err)
				if !strings.HasPrefix(made.ID, c.id) || made.Existing {
					w.Errorf("made %+v", made)
				}
				o := w.occurrence(made.ID)
				if o.State != duly.Pending || o.Origin != duly.OriginTrigger || o.Revision != 1 || !o.Due.Equal(at(c.due)) || o.Reason != "triggered by ann to see" {
					w.Errorf("occurrence %+v", o)
				}
				if !o.NotBefore.IsZero() && o.NotBefore.After(time.Now()) || !o.StartBy.IsZero() {
					w.Errorf("a person said now, but not before %v, start by %v", o.NotBefore, o.StartBy)
				}
				again, err := w.Trigger(w.ctx, c.req)
				w.must(err)
				if own := strings.Contains(c.id, "manual"); again.Existing == own || (again.ID == made.ID) == own {
					w.Errorf("asked again: %+v", again)
				}
			})
		})
	}
}

func TestTriggerOnceAnswersWithTheSame(t *testing.T) { // B31
	inBubble(t, func(w *world) {
		w.apply(daily("a"), daily("b"))
		req := control.TriggerRequest{Schedule: "a", By: "ann", Once: "order-7"}
		first, err := w.Trigger(w.ctx, req)
		w.must(err)
		time.Sleep(time.Hour)
		second, err := w.Trigger(w.ctx, req)
		w.must(err)
		if !second.Existing || second.ID != first.ID || len(w.list("a")) != 1 {
			w.Errorf("first %+v, second %+v, %v", first, second, w.list("a"))
		}
		req.Schedule = "b"
		if other, err := w.Trigger(w.ctx, req); err != nil || other.Existing {
			w.Errorf("the key of another schedule: %+v, %v", other, err)
		}
	})
}

func TestTriggerNeverSwallowsTheScheduledOne(t *testing.T) {
	inBubble(t, func(w *world) {
		w.apply(daily("a"))
		until("2000-01-01T08:59")
		_, err := w.Trigger(w.ctx, control.TriggerRequest{Schedule: "a", By: "ann"})
		w.must(err)
		until("2000-01-01T09:00")
		w.fire()
		if got := w.list("a"); len(got) != 2 || got[1] != "2000-01-01 pending" {
			w.Errorf("got %v", got)
		}
	})
}

func TestTriggerReplacesThePayload(t *testing.T) {
	inBubble(t, func(w *world) {
		def := daily("a")
		def.Payload, def.Overlap = json.RawMessage(`{"region":"eu"}`), duly.OverlapAllow
		w.apply(def)
		_, err := w.Trigger(w.ctx, control.TriggerRequest{Schedule: "a", By: "ann", Period: "2000-01-01"})
		w.must(err)
		_, err = w.Trigger(w.ctx, control.TriggerRequest{Schedule: "a", By: "ann", Period: "2000-01-02", Payload: json.RawMessage(`{"region":"us"}`)})
		w.must(err)
		got := map[string]string{}
		for _, c := range w.claim(w.join("handler:work"), "handler:work") {
			got[c.Period] = w.payload(c)
		}
		if len(got) != 2 || got["2000-01-01"] != `{"region":"eu"}` || got["2000-01-02"] != `{"region":"us"}` {
			w.Errorf("got %v", got)
		}
	})
}

func TestTriggerInParallelDoesNotWaitForEarlierOnes(t *testing.T) {
	inBubble(t, func(w *world) {
		def := daily("a")
		def.Queue = "wide"
		_, err := w.Apply(w.ctx, control.ApplyRequest{Owner: "test", By: "ann", Schedules: []duly.Schedule{def}, Queues: []duly.Queue{{Name: "wide", Concurrency: 10}}})
		w.must(err)
		node := w.join("handler:work")
		for _, c := range []struct {
			parallel bool
			claimed  int
		}{{false, 1}, {false, 0}, {true, 1}} {
			_, err := w.Trigger(w.ctx, control.TriggerRequest{Schedule: "a", By: "ann", Parallel: c.parallel})
			w.must(err)
			if got := w.claim(node, "handler:work"); len(got) != c.claimed {
				w.Errorf("parallel %v: %d claimed, want %d", c.parallel, len(got), c.claimed)
			}
			time.Sleep(time.Second)
		}
	})
}

func TestTriggerRefusesWhatCannotBeMeant(t *testing.T) {
	for _, c := range []struct {
		name  string
		req   control.TriggerRequest
		code  duly.Code
		words string
	}{
		{"a schedule that is not there", control.TriggerRequest{Schedule: "b"}, duly.CodeNotFound, "b"},
		{"a period and a due time", control.TriggerRequest{Schedule: "a", Period: "2000-01-01", Due: at("2000-01-01T09:00")}, duly.CodeInvalid, "not both"},
		{"a period that it does not have", control.TriggerRequest{Schedule: "a", Period: "2000-01"}, duly.CodeInvalid, "2000-01"},
		{"a time at which it is not due", control.TriggerRequest{Schedule: "a", Due: at("2000-01-01T09:01")}, duly.CodeInvalid, "next at 2000-01-02T09:00:00Z"},
		{"a payload that is no JSON", control.TriggerRequest{Schedule: "a", Payload: json.RawMessage(`{`)}, duly.CodeInvalid, "payload"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				w.apply(daily("a"))
				_, err := w.Trigger(w.ctx, c.req)
				w.wantCode(err, c.code, c.words)
				if got := w.list("a"); len(got) != 0 {
					w.Errorf("made %v", got)
				}
			})
		})
	}
}
