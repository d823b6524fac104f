package cli

import (
	"context"
	"strings"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/api"
	"github.com/duly-dev/duly/cron"
)

// instant reads a flag that names a time: RFC 3339, local time in a zone, a
// date (its first instant there), "now", or a distance from now such as "+2h"
// or "-7d". An empty one is fallback.
func (inv *invocation) instant(flag, text string, zone *time.Location, fallback time.Time) (time.Time, error) {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return fallback, nil
	case text == "now":
		return inv.now().UTC(), nil
	case text[0] == '+' || text[0] == '-':
		d, err := duly.ParseDuration(text[1:])
		if err != nil {
			return time.Time{}, duly.Invalid("--"+flag, "%v", err)
		}
		if text[0] == '-' {
			d = -d
		}
		return inv.now().UTC().Add(d.Std()), nil
	}
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return t.UTC(), nil
	}
	for _, layout := range []string{"2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04", time.DateOnly} {
		t, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		// A local time that the clocks jump over is the first one after it.
		y, m, d := t.Date()
		at := cron.Resolve(zone, cron.DST{}, y, m, d, t.Hour(), t.Minute(), t.Second())
		if len(at) == 0 && y < 1970 {
			return time.Time{}, duly.Invalid("--"+flag, "%s is out of range: there are the years from 1970 on", text)
		}
		if len(at) == 0 {
			return time.Time{}, duly.Invalid("--"+flag, "%s does not exist in %s", text, zone)
		}
		return at[0].UTC(), nil
	}
	return time.Time{}, withHint(duly.Invalid("--"+flag, "%q is not a time", text),
		"write RFC 3339 (2026-11-28T09:00:00Z), local time (2026-11-28T09:00), a date (2026-11-28), now, or a distance from now (-7d, +2h)")
}

// instantOf reads a flag that names a time in the zone of a schedule; an empty
// one is the zero time, and asks for no zone.
func (inv *invocation) instantOf(ctx context.Context, client *api.Client, schedule, flag, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	zone, err := newZones(client).of(ctx, schedule)
	if err != nil {
		return time.Time{}, err
	}
	return inv.instant(flag, text, zone, time.Time{})
}
