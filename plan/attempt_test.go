package plan

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

func retrying(change func(*duly.Schedule)) duly.Schedule {
	s := duly.Schedule{Timing: duly.Timing{Cron: "0 0 * * *"}, Retry: duly.Retry{MaxAttempts: 3, Backoff: duly.Duration(10 * time.Second), MaxBackoff: duly.Duration(15 * time.Second)}}
	if change != nil {
		change(&s)
	}
	return s
}

func TestWhatFollowsAnAttempt(t *testing.T) {
	hold := func(s *duly.Schedule) { s.OnFailure = duly.OnFailureHold }
	for _, c := range []struct {
		name   string
		change func(*duly.Schedule)
		a      Attempt
		want   store.Next // Reason: what it must contain
	}{
		{"success", nil, Attempt{Outcome: duly.AttemptSucceeded, Tries: 1}, store.Next{State: duly.Succeeded}},
		{"a first failure backs off", nil, Attempt{Number: 1, Tries: 1, Outcome: duly.AttemptFailed, Error: "no route", Random: 0.5}, store.Next{State: duly.Pending, Delay: 5 * time.Second, Reason: "attempt 1 of 3 failed: no route"}},
		{"the backoff doubles up to its bound", nil, Attempt{Number: 2, Tries: 2, Outcome: duly.AttemptFailed, Random: 0.5}, store.Next{State: duly.Pending, Delay: 7500 * time.Millisecond, Reason: "attempt 2 of 3 failed"}},
		{"a timeout is a failure", nil, Attempt{Number: 1, Tries: 1, Outcome: duly.AttemptTimedOut, Random: 0.1}, store.Next{State: duly.Pending, Delay: time.Second, Reason: "timed out"}},
		{"the last failure ends it", nil, Attempt{Number: 4, Tries: 3, Outcome: duly.AttemptFailed, Error: "no route"}, store.Next{State: duly.Failed, Reason: "attempt 3 of 3 failed: no route"}},
		{"and holds what comes later, if told to", hold, Attempt{Number: 3, Tries: 3, Outcome: duly.AttemptFailed}, store.Next{State: duly.Failed, Reason: "3 of 3", Hold: true}},
		{"a permanent error ends it at once", hold, Attempt{Number: 1, Tries: 1, Outcome: duly.AttemptFailed, Permanent: true, Error: "no such customer"}, store.Next{State: duly.Failed, Reason: "for good: no such customer", Hold: true}},
		{"the target's own wish goes before the backoff", nil, Attempt{Number: 1, Tries: 1, Outcome: duly.AttemptFailed, RetryAfter: time.Hour, Random: 0.5}, store.Next{State: duly.Pending, Delay: time.Hour, Reason: "failed"}},
		{"within a day", nil, Attempt{Number: 1, Tries: 1, Outcome: duly.AttemptFailed, RetryAfter: 1000 * time.Hour}, store.Next{State: duly.Pending, Delay: MaxRetryAfter, Reason: "failed"}},
		{"a wish does not add attempts", nil, Attempt{Number: 3, Tries: 3, Outcome: duly.AttemptFailed, RetryAfter: time.Hour}, store.Next{State: duly.Failed, Reason: "3 of 3"}},
		{"released is not counted", nil, Attempt{Number: 3, Tries: 3, Outcome: duly.AttemptReleased}, store.Next{State: duly.Pending, Uncounted: true, Reason: "given back"}},
		{"cancelled is the end", nil, Attempt{Number: 1, Tries: 1, Outcome: duly.AttemptCancelled, Error: "by ann"}, store.Next{State: duly.Cancelled, Reason: "cancelled: by ann"}},
		{"uncertain is never repeated", hold, Attempt{Number: 1, Tries: 1, Outcome: duly.AttemptUncertain, Error: "no answer"}, store.Next{State: duly.Uncertain, Reason: "unknown: no answer", Hold: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := After(mustCompile(t, retrying(c.change)), c.a)
			if !strings.Contains(got.Reason, c.want.Reason) {
				t.Errorf("reason %q does not say %q", got.Reason, c.want.Reason)
			}
			got.Reason = c.want.Reason
			if got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}

func TestWhatFollowsALostAttempt(t *testing.T) {
	p := mustCompile(t, retrying(func(s *duly.Schedule) { s.OnFailure = duly.OnFailureHold }))
	for _, c := range []struct {
		name string
		e    store.Expired
		want store.Next
	}{
		{"the first is repeated at once", store.Expired{Attempt: 1, Tries: 1, Node: "a-1"}, store.Next{State: duly.Pending, Reason: "attempt 1 ran out on a-1"}},
		{"the second backs off", store.Expired{Attempt: 2, Tries: 2, Node: "a-1"}, store.Next{State: duly.Pending, Delay: 5 * time.Second, Reason: "attempt 2 ran out"}},
		{"the last ends it", store.Expired{Attempt: 3, Tries: 3, Node: "a-1"}, store.Next{State: duly.Failed, Reason: "all 3 attempts are used up", Hold: true}},
		{"what was wanted ended has ended", store.Expired{Attempt: 1, Tries: 1, Cancelled: true}, store.Next{State: duly.Cancelled, Reason: "cancelled"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Expired(p, c.e, 0.5)
			if !strings.Contains(got.Reason, c.want.Reason) {
				t.Errorf("reason %q does not say %q", got.Reason, c.want.Reason)
			}
			got.Reason = c.want.Reason
			if got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}

func TestAnUnknownPlanHasTheDefaults(t *testing.T) {
	if got := After(nil, Attempt{Number: 1, Tries: 4, Outcome: duly.AttemptFailed}); got.State != duly.Pending {
		t.Errorf("%+v", got)
	}
	if got := Expired(nil, store.Expired{Attempt: 5, Tries: 5}, 0); got.State != duly.Failed {
		t.Errorf("%+v", got)
	}
}

// Whatever is reported, an occurrence goes where the state machine allows, and
// a delay stays within its bound.
func TestEveryDecisionIsATransitionThatExists(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		def := retrying(nil)
		def.ID, def.Target.Handler = "s", "h"
		def.Retry = duly.Retry{
			MaxAttempts: rapid.IntRange(0, 20).Draw(t, "max"),
			Backoff:     duly.Duration(rapid.Int64Range(0, int64(400*24*time.Hour)).Draw(t, "backoff")),
		}
		p, faults := Compile(def)
		if len(faults) > 0 {
			return
		}
		tries := rapid.IntRange(1, 1000).Draw(t, "tries")
		random := rapid.Float64Range(0, 0.999999).Draw(t, "random")
		outcome := rapid.SampledFrom(append(duly.Outcomes, duly.AttemptLost, "nonsense")).Draw(t, "outcome")
		next := After(p, Attempt{Number: tries, Tries: tries, Outcome: outcome, Permanent: rapid.Bool().Draw(t, "permanent"), Random: random})
		lost := Expired(p, store.Expired{Attempt: tries, Tries: tries, Cancelled: rapid.Bool().Draw(t, "cancelled")}, random)
		if !duly.CanMove(duly.Running, duly.StepFinish, next.State) || !duly.CanMove(duly.Running, duly.StepReap, lost.State) {
			t.Errorf("%s: to %s; lost: to %s", outcome, next.State, lost.State)
		}
		for _, n := range []store.Next{next, lost} {
			if n.Delay < 0 || n.Delay > p.Def.Retry.MaxBackoff.Std() {
				t.Errorf("delay %v", n.Delay)
			}
			if n.State != duly.Succeeded && n.Reason == "" {
				t.Errorf("%s without a reason", n.State)
			}
		}
	})
}
