package codes

import (
	"fmt"
	"testing"

	"github.com/duly-dev/duly"
)

// Databases out there hold these numbers.
func TestNumbersNeverMove(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{fmt.Sprint(States()), "[pending running succeeded skipped merged cancelled failed uncertain missed]"},
		{fmt.Sprint(Waitings()), "[ slot time earlier]"},
		{fmt.Sprint(Origins()), "[schedule catch_up trigger backfill external]"},
		{fmt.Sprint(Outcomes()), "[running succeeded failed lost timed_out cancelled released uncertain]"},
	} {
		if c.got != c.want {
			t.Errorf("numbered %s, want %s", c.got, c.want)
		}
	}
}

func TestOpenAndAttentionAreRangesOfNumbers(t *testing.T) {
	states := States()
	if len(states) != len(duly.States) {
		t.Fatalf("%d of %d states have a number", len(states), len(duly.States))
	}
	for n, s := range states {
		if s.Open() != (n < Succeeded) || s.NeedsAttention() != (n > Cancelled) || Of(states[:], s) != int64(n) {
			t.Errorf("%s has number %d", s, n)
		}
	}
	if Of(states[:], "no such") != -1 {
		t.Error("an unknown state has a number")
	}
}
