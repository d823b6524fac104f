package timing

import (
	"time"

	"github.com/duly-dev/duly/calendar"
	"github.com/duly-dev/duly/cron"
)

// exclusion takes instants away: those of a source, the windows of a length
// that a source opens, one window, or whole local dates.
type exclusion struct {
	source   *source
	length   time.Duration // of the windows; 0: the instants themselves
	from, to time.Time
	dates    map[calendar.Date]bool
}

// window is from <= t < to.
type window struct{ from, to time.Time }

func (x exclusion) sequence(anchor time.Time) cron.Sequence {
	if x.source == nil {
		return nil
	}
	return x.source.sequence(anchor)
}

// window returns the window around an instant in which nothing is due.
func (x exclusion) window(seq cron.Sequence, n time.Time, loc *time.Location) (window, bool) {
	switch {
	case x.dates != nil:
		if !x.dates[calendar.DateOf(n, loc)] {
			return window{}, false
		}
		return localDay(n, loc), true
	case seq == nil:
		return window{x.from, x.to}, !n.Before(x.from) && n.Before(x.to)
	case x.length == 0:
		return window{n, n.Add(1)}, has(seq, n)
	}
	opened, ok := seq.Prev(n.Add(1))
	w := window{opened, opened.Add(x.length)}
	return w, ok && n.Before(w.to)
}

// localDay returns the span of instants around n that have its local date, up
// to a part of the day that a zone lived through twice.
func localDay(n time.Time, loc *time.Location) window {
	d := calendar.DateOf(n, loc)
	w := window{startOf(d, loc), startOf(d.AddDays(1), loc)}
	if w.from.After(n) {
		w.from = n
	}
	if !w.to.After(n) {
		w.to = n.Add(1)
	}
	return w
}
