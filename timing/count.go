package timing

import (
	"time"

	"github.com/duly-dev/duly/cron"
)

// Cheap reports whether Count costs by the days of a window at most, and not
// by the instants in it.
func (s Sequence) Cheap() bool {
	return len(s.t.sources) == 0 ||
		len(s.t.sources) == 1 && len(s.except) == 0 && s.t.business == nil && s.real == nil && !s.distinct &&
			(s.t.sources[0].plain != nil || s.t.sources[0].every != 0)
}

// Count returns how many dues lie in a window, from < At <= to. Where Cheap it
// is exact whatever the number. Otherwise it stops at max and says so.
func (s Sequence) Count(from, to time.Time, max int) (n int, capped bool) {
	if !s.Cheap() {
		for range s.Between(from, to) {
			if n++; n >= max {
				return n, true
			}
		}
		return n, false
	}
	if start := s.t.start; !start.IsZero() && from.Before(start) {
		from = start.Add(-1)
	}
	if end := s.t.end; !end.IsZero() && !to.Before(end) {
		to = end.Add(-1)
	}
	if s.base == nil || !from.Before(to) {
		return 0, false
	}
	if src := s.t.sources[0]; src.plain != nil {
		return countCron(*src.plain, s.base, s.t.loc, from, to), false
	}
	return countEvery(s.base, s.t.sources[0].every, from, to), false
}

func countEvery(s cron.Sequence, every time.Duration, from, to time.Time) int {
	first, ok := s.Next(from)
	last, _ := s.Prev(to.Add(1))
	if !ok || first.After(to) {
		return 0
	}
	return int(last.Sub(first)/every) + 1
}

// countCron counts the instants of an expression in a zone, from < t <= to.
// Away from the changes of the zone's offset it counts wall times, which is
// quick; around each change, as far as its effects extend, it lists instants.
func countCron(wall wallCount, s cron.Sequence, loc *time.Location, from, to time.Time) int {
	n, pos := 0, from
	for pos.Before(to) {
		change, width, ok := nextChange(loc, pos.Add(-maxShift), to.Add(maxShift))
		for ok && !change.Add(width).After(pos) {
			change, width, ok = nextChange(loc, change, to.Add(maxShift))
		}
		calm := to
		if ok {
			calm = earlier(to, change.Add(-width-time.Second))
		}
		if pos.Before(calm) {
			n += wall.between(local(pos, loc), local(calm, loc))
			pos = calm
		}
		if !ok {
			break
		}
		rough := earlier(to, change.Add(width))
		for range cron.Between(s, pos, rough) {
			n++
		}
		pos = rough
	}
	return n
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// local returns the wall clock's reading as a time of UTC.
func local(t time.Time, loc *time.Location) time.Time {
	_, offset := t.In(loc).Zone()
	return t.Add(time.Duration(offset) * time.Second)
}

// wallCount counts the wall times of an expression. Each matching day has as
// many as any other, and so have each matching hour and minute of one.
type wallCount struct {
	walls             cron.Sequence // in UTC, where every wall time exists once
	day, hour, minute int
}

func newWallCount(expr *cron.Expr) *wallCount {
	c := &wallCount{walls: expr.In(time.UTC, cron.DST{})}
	first, ok := c.walls.Next(time.Unix(0, 0).Add(-1))
	if !ok {
		return c
	}
	minute, hour, day := first.Truncate(time.Minute), first.Truncate(time.Hour), first.Truncate(24*time.Hour)
	for range cron.Between(c.walls, minute.Add(-1), minute.Add(time.Minute-1)) {
		c.minute++
	}
	c.hour = c.minute * c.parts(hour, time.Hour, time.Minute)
	c.day = c.hour * c.parts(day, 24*time.Hour, time.Hour)
	return c
}

// parts counts the parts of a span in which anything is due.
func (c wallCount) parts(start time.Time, span, part time.Duration) (n int) {
	t, ok := c.walls.Next(start.Add(-1))
	for ok && t.Before(start.Add(span)) {
		n++
		t, ok = c.walls.Next(t.Truncate(part).Add(part - 1))
	}
	return n
}

// between counts from < t <= to, by whole days, hours and minutes as far as
// they fit.
func (c wallCount) between(from, to time.Time) (n int) {
	units := [...]struct {
		size  time.Duration
		count int
	}{{24 * time.Hour, c.day}, {time.Hour, c.hour}, {time.Minute, c.minute}, {time.Second, 1}}
	t, ok := c.walls.Next(from)
	for ok && !t.After(to) {
		for _, u := range units {
			begin := t.Truncate(u.size)
			end := begin.Add(u.size - time.Second)
			if begin.After(from) && !end.After(to) || u.size == time.Second {
				n += u.count
				from = end
				break
			}
		}
		t, ok = c.walls.Next(from)
	}
	return n
}
