package timing

import (
	"fmt"
	"strings"
	"time"

	"github.com/duly-dev/duly/cron"
)

// localLayouts are the ways to write a local time.
var localLayouts = [...]string{"2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04"}

// instant reads RFC 3339, or a local time of the zone.
func instant(text string, loc *time.Location, dst cron.DST) (time.Time, error) {
	text = strings.TrimSpace(text)
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		if y := t.UTC().Year(); y < 1970 || y > 9999 {
			return time.Time{}, fmt.Errorf("%q is outside the years 1970-9999", text)
		}
		return t.UTC(), nil
	}
	for _, layout := range localLayouts {
		wall, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		y, mo, d := wall.Date()
		h, mi, s := wall.Clock()
		found := cron.Resolve(loc, dst, y, mo, d, h, mi, s)
		if len(found) == 0 {
			return time.Time{}, fmt.Errorf("%q does not exist in %s, where the clocks jump over it, and dst.gap is skip; choose another time", text, loc)
		}
		return found[0], nil
	}
	if len(text) >= len(time.DateOnly) {
		if _, err := time.Parse(time.DateOnly, text[:len(time.DateOnly)]); err != nil && looksLikeDate(text) {
			return time.Time{}, fmt.Errorf("%q names a date that does not exist", text)
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a time: write 2026-11-28T09:00 (local time of the schedule's zone) or RFC 3339, 2026-11-28T09:00:00Z", text)
}

// looksLikeDate reports whether a text begins like YYYY-MM-DD.
func looksLikeDate(text string) bool {
	for i, r := range []byte(text[:len(time.DateOnly)]) {
		if i == 4 || i == 7 {
			if r != '-' {
				return false
			}
		} else if r < '0' || r > '9' {
			return false
		}
	}
	return true
}
