package node

import (
	"testing"
	"time"
)

func TestOnlyAJumpThatADelayCannotExplainIsOne(t *testing.T) {
	start := time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC)
	at := func(d time.Duration) time.Time { return start.Add(d) }
	for name, c := range map[string]struct {
		answered, now, jump time.Duration
	}{
		"a slow answer":               {6 * time.Second, 0, 0},
		"one that came late":          {6 * time.Second, 6 * time.Second, 0},
		"a jump":                      {2 * time.Millisecond, time.Hour, time.Hour - time.Millisecond},
		"a jump behind a slow answer": {6 * time.Second, time.Hour, time.Hour - 3*time.Second},
		"a jump back":                 {2 * time.Millisecond, -time.Hour, -time.Hour - time.Millisecond},
	} {
		var clock clock
		clock.observe(start, start, start)
		if got := clock.observe(start, at(c.answered), at(c.now)); got != c.jump {
			t.Errorf("%s: a jump of %v, want %v", name, got, c.jump)
		}
	}
}
