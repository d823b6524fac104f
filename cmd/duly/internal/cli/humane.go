package cli

import (
	"fmt"
	"time"
)

// instantIn writes an instant as a person in that zone would see it, precise
// enough to be given back to --from.
func instantIn(t time.Time, zone *time.Location) string {
	if t.IsZero() {
		return nothing
	}
	layout := time.RFC3339
	if t.Nanosecond()/int(time.Millisecond) != 0 {
		layout = "2006-01-02T15:04:05.000Z07:00"
	}
	return t.In(zone).Format(layout)
}

// dueIn writes an instant to the second, with a hint of how far off that is.
func dueIn(t time.Time, zone *time.Location, now time.Time) string {
	if t.IsZero() {
		return nothing
	}
	return fmt.Sprintf("%s (%s)", t.In(zone).Format(time.RFC3339), relative(t, now))
}

// relative says how far off an instant is: "in 5h", "3m ago", "now".
func relative(t, now time.Time) string {
	d := t.Sub(now)
	switch {
	case d >= time.Second:
		return "in " + span(d)
	case d <= -time.Second:
		return span(-d) + " ago"
	}
	return "now"
}

// span writes a length of time in its largest unit, and in the one below it
// where that makes a difference worth reading: 42s, 1h20m, 5h, 3d4h, 17d.
func span(d time.Duration) string {
	units := []struct {
		name string
		size time.Duration
	}{{"y", 365 * 24 * time.Hour}, {"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}}
	for i, u := range units {
		if d < u.size {
			continue
		}
		n := d / u.size
		if n >= 5 || i+1 == len(units) {
			return fmt.Sprintf("%d%s", n, u.name)
		}
		below := units[i+1]
		if rest := (d % u.size) / below.size; rest > 0 {
			return fmt.Sprintf("%d%s%d%s", n, u.name, rest, below.name)
		}
		return fmt.Sprintf("%d%s", n, u.name)
	}
	return took(d)
}

// took writes how long something lasted, short times to the millisecond.
func took(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return span(d)
}
