package plan

import (
	"fmt"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// Attempt is how an attempt ended, for After to decide on.
type Attempt struct {
	Number int // 1, 2, 3 …
	// Tries counts the attempts that count against the limit, with this one.
	Tries   int
	Outcome duly.Outcome
	Error   string // in words; empty for success
	// Permanent: no further attempt can mend it.
	Permanent bool
	// RetryAfter is how long the target asks to be left alone, instead of the
	// backoff. 0: it does not ask. At most MaxRetryAfter is granted.
	RetryAfter time.Duration
	// Random, 0 <= Random < 1, is the caller's dice for the backoff's jitter.
	Random float64
}

// MaxRetryAfter bounds how long a target may put off the next attempt.
const MaxRetryAfter = 24 * time.Hour

// After says where an occurrence goes when an attempt has ended.
//
// A failed or timed-out one is tried again until the attempts are used up; an
// uncertain one never is, as nobody knows what it did. One that a draining node
// gave back does not count. A nil plan stands for the defaults.
func After(p *Plan, a Attempt) store.Next {
	def := p.definition()
	switch a.Outcome {
	case duly.AttemptSucceeded:
		return store.Next{State: duly.Succeeded}
	case duly.AttemptCancelled:
		return store.Next{State: duly.Cancelled, Reason: because("cancelled", a.Error)}
	case duly.AttemptReleased:
		return store.Next{State: duly.Pending, Reason: because("given back by its node", a.Error), Uncounted: true}
	case duly.AttemptUncertain:
		return store.Next{State: duly.Uncertain, Reason: because("the outcome is unknown", a.Error), Hold: holds(def)}
	}
	what := "failed"
	switch a.Outcome {
	case duly.AttemptTimedOut:
		what = "timed out"
	case duly.AttemptLost:
		what = "was lost"
	}
	if a.Permanent {
		return store.Next{State: duly.Failed, Reason: because(fmt.Sprintf("attempt %d %s for good", a.Number, what), a.Error), Hold: holds(def)}
	}
	limit := def.Retry.MaxAttempts
	if a.Tries >= limit {
		return store.Next{State: duly.Failed, Reason: because(fmt.Sprintf("attempt %d of %d %s", a.Tries, limit, what), a.Error), Hold: holds(def)}
	}
	delay := backoff(def.Retry, a.Tries, a.Random)
	if a.RetryAfter > 0 {
		delay = min(a.RetryAfter, MaxRetryAfter)
	}
	if def.External {
		delay = 0 // its platform decides when to try again
	}
	return store.Next{State: duly.Pending, Reason: because(fmt.Sprintf("attempt %d of %d %s", a.Tries, limit, what), a.Error), Delay: delay}
}

// Expired says where an occurrence goes when the lease of its attempt has run
// out. The first attempt that is lost is repeated at once, since most often its
// node is gone and nothing was wrong with the work; later ones back off. Lost
// attempts count, so that work which kills its node cannot loop for ever. A nil
// plan stands for the defaults.
func Expired(p *Plan, e store.Expired, random float64) store.Next {
	def := p.definition()
	lost := fmt.Sprintf("the lease of attempt %d ran out", e.Attempt)
	if e.Node != "" {
		lost += " on " + e.Node
	}
	if e.Cancelled {
		return store.Next{State: duly.Cancelled, Reason: "cancelled; " + lost}
	}
	limit := def.Retry.MaxAttempts
	if e.Tries >= limit {
		return store.Next{State: duly.Failed, Reason: fmt.Sprintf("%s, and all %d attempts are used up", lost, limit), Hold: holds(def)}
	}
	next := store.Next{State: duly.Pending, Reason: lost}
	if e.Tries > 1 && !def.External {
		next.Delay = backoff(def.Retry, e.Tries-1, random)
	}
	return next
}

// definition is the plan's, or the defaults.
func (p *Plan) definition() duly.Schedule {
	if p == nil {
		return duly.Schedule{}.WithDefaults()
	}
	return p.Def
}

func holds(def duly.Schedule) bool { return def.OnFailure == duly.OnFailureHold }

func because(what, why string) string {
	if why == "" {
		return what
	}
	return what + ": " + why
}

// backoff doubles with every try up to its maximum, and carries full jitter:
// what waits for the same thing does not come back all at once.
func backoff(r duly.Retry, tries int, random float64) time.Duration {
	limit := r.MaxBackoff.Std()
	d := r.Backoff.Std()
	for i := 1; i < tries && d < limit; i++ {
		d *= 2
	}
	return time.Duration(float64(min(d, limit)) * random)
}
