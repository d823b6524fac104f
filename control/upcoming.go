package control

import (
	"context"
	"time"

	"github.com/duly-dev/duly"
)

// Upcoming is a time at which a schedule comes due.
type Upcoming struct {
	Due time.Time
	// Local is Due on a clock in the schedule's zone: 2006-01-02T15:04:05+01:00.
	Local  string
	Period string
	// Skip says why nothing will happen then; empty where something will.
	Skip string
}

// MaxUpcoming is how many times Upcoming lists at most.
const MaxUpcoming = 1000

// Upcoming lists the next n times at which a schedule comes due after an
// instant; the zero instant is the store's now.
func (c *Control) Upcoming(ctx context.Context, schedule string, after time.Time, n int) ([]Upcoming, error) {
	if n < 1 || n > MaxUpcoming {
		return nil, duly.Invalid("n", "is %d; it must lie between 1 and %d", n, MaxUpcoming)
	}
	s, p, err := c.planned(ctx, schedule)
	if err != nil {
		return nil, err
	}
	if after.IsZero() {
		if after, err = c.now(ctx); err != nil {
			return nil, err
		}
	}
	paused := func(time.Time) string { return "" }
	if s.Paused != nil {
		paused = func(due time.Time) string {
			if until := s.Paused.Until; !until.IsZero() && !due.Before(until) {
				return ""
			}
			return "paused by " + s.Paused.By
		}
	}
	left := n // of those that run, where the schedule is limited
	if s.Limit > 0 {
		left = max(s.Limit-s.Fired, 0)
	}
	var list []Upcoming
	for d := range p.Timing.Sequence(s.Anchor).PerPeriod(time.Time{}).Between(after, after.AddDate(1000, 0, 0)) {
		if len(list) == n || left == 0 {
			break
		}
		u := Upcoming{Due: d.At, Local: p.Local(d.At), Period: d.Period, Skip: d.Skip}
		if u.Skip == "" {
			left--
			u.Skip = paused(d.At)
		}
		list = append(list, u)
	}
	return list, nil
}
