package pacing

import "testing"

func TestNoSpanHoldsMoreStartsThanTheRateAllows(t *testing.T) {
	const count, per = 3, 1000
	var starts []int64
	text := ""
	for now := int64(1_000_000); now < 1_010_000; now += 7 {
		r := Rate{Count: count, Per: per}
		r.Read(text)
		if next := r.Next(now); (next == now) != (r.Room(now) > 0) {
			t.Fatalf("at %d: next at %d with room for %d", now, next, r.Room(now))
		}
		if r.Room(now) > 0 {
			r.Add(now, 1)
			starts = append(starts, now)
		}
		text = r.Text()
	}
	for i := count; i < len(starts); i++ {
		if starts[i]-starts[i-count] < per {
			t.Fatalf("%d starts within %d", count+1, starts[i]-starts[i-count])
		}
	}
	if len(starts) < 10*count*8/10 {
		t.Errorf("only %d starts", len(starts))
	}
}

func TestStartsOfTheFutureDoNotCount(t *testing.T) {
	r := Rate{Count: 1, Per: 1000}
	r.Add(1_000_000, 1)
	if r.Room(1_000_000) != 0 || r.Room(500_000) != 1 {
		t.Errorf("room %d, and %d after the clock was set back", r.Room(1_000_000), r.Room(500_000))
	}
}

func TestAPauseHoldsUntilItsEnd(t *testing.T) {
	for _, c := range []struct {
		p     Pause
		now   int64
		holds bool
		open  int64
	}{
		{Pause{}, 10, false, 10},
		{Pause{Since: 5}, 10, true, 0},
		{Pause{Since: 5, Until: 20}, 19, true, 20},
		{Pause{Since: 5, Until: 20}, 20, false, 20},
		{Pause{Since: 5, Until: 20}, 30, false, 30},
	} {
		if c.p.Holds(c.now) != c.holds || c.p.Open(c.now) != c.open {
			t.Errorf("%+v at %d: holds %t, open %d", c.p, c.now, c.p.Holds(c.now), c.p.Open(c.now))
		}
	}
}
