package cli

import (
	"context"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/api"
	"github.com/duly-dev/duly/cron"
)

// zones knows in which zone each schedule's times are read.
type zones struct {
	client *api.Client
	known  map[string]*time.Location
}

func newZones(client *api.Client) *zones {
	return &zones{client: client, known: map[string]*time.Location{}}
}

// manySchedules is from how many schedules on it is cheaper to ask for all.
const manySchedules = 5

// learn asks for the zones of the schedules of a list, in few requests.
func (z *zones) learn(ctx context.Context, items []duly.Occurrence) error {
	names := map[string]bool{}
	for _, o := range items {
		names[o.Schedule] = true
	}
	if len(names) < manySchedules {
		return nil
	}
	all, err := z.client.Schedules(ctx, api.ScheduleQuery{Page: api.Page{Limit: 1000}})
	if err != nil {
		return err
	}
	for _, s := range all.Items {
		z.known[s.ID] = zoneOf(s.Schedule)
	}
	return nil
}

// of returns a schedule's zone. The history of a schedule that was removed is
// in UTC.
func (z *zones) of(ctx context.Context, schedule string) (*time.Location, error) {
	if loc := z.known[schedule]; loc != nil {
		return loc, nil
	}
	s, err := z.client.Schedule(ctx, schedule)
	if err != nil && duly.CodeOf(err) != duly.CodeNotFound {
		return nil, err
	}
	loc := zoneOf(s.Schedule)
	z.known[schedule] = loc
	return loc, nil
}

// zoneOf falls back to UTC for a zone that this program does not know, as one
// that a newer server accepted.
func zoneOf(s duly.Schedule) *time.Location {
	loc, err := cron.LoadZone(s.WithDefaults().Timezone)
	if err != nil {
		return time.UTC
	}
	return loc
}
