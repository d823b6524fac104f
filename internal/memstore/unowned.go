package memstore

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// RecordUnowned implements store.Worker.
func (s *Store) RecordUnowned(ctx context.Context, done []store.UnownedReport) error {
	return do(ctx, s, func() error {
		for _, u := range done {
			sc := s.schedules[u.Schedule]
			if sc == nil || slices.ContainsFunc(sc.unowned, func(k duly.Unowned) bool {
				return k.Due.Equal(u.Due) && k.Node == u.Node && k.StartedAt.Equal(u.StartedAt)
			}) {
				continue
			}
			after, err := json.Marshal(u.Unowned)
			if err != nil {
				return err
			}
			u.RecordedAt = s.now(time.Time{})
			sc.unowned = append(sc.unowned, u.Unowned)
			s.note(u.RecordedAt, u.Node, "unowned", "occurrence/"+duly.OccurrenceID(u.Schedule, u.Period), "the store was out of reach", nil, after)
			s.event(store.TopicOccurrences, u.Schedule)
		}
		return nil
	})
}

// unownedOf is what was done without ownership of the periods that an
// occurrence stands for.
func (o *occurrence) unownedOf() (all []duly.Unowned) {
	since := o.Due
	if o.Count > 1 || len(o.Covers) > 1 {
		since = o.IntervalStart
	}
	for _, u := range o.sched.unowned {
		if u.Period == o.Period || u.Due.After(since) && !u.Due.After(o.Due) {
			all = append(all, u)
		}
	}
	slices.SortFunc(all, func(a, b duly.Unowned) int {
		return cmp.Or(a.Due.Compare(b.Due), a.StartedAt.Compare(b.StartedAt), cmp.Compare(a.Node, b.Node))
	})
	return all
}
