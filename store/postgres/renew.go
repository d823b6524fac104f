package postgres

import (
	"context"
	"time"

	"github.com/duly-dev/duly/store"
)

// Renew implements store.Worker. What others hold at this moment, above all a
// transaction of the application that finishes it, is waited for last, in a
// transaction of its own: or all that is renewed with it would wait too. Where
// that takes long the answer is unavailable, and no connection is kept for it.
func (s *Store) Renew(ctx context.Context, _ int64, items []store.Renewal) ([]store.Renewed, error) {
	if len(items) == 0 {
		return nil, nil
	}
	answers, err := s.renew(ctx, items, false)
	if err != nil {
		return nil, err
	}
	var passed []int
	var again []store.Renewal
	for i, a := range answers {
		if a.Reason == reasonGone {
			passed, again = append(passed, i), append(again, items[i])
		}
	}
	if len(again) == 0 {
		return answers, nil
	}
	later, err := s.renew(ctx, again, true)
	if err != nil {
		return nil, err
	}
	for i, a := range later {
		answers[passed[i]] = a
	}
	return answers, nil
}

const reasonGone = "the occurrence is gone"

func (s *Store) renew(ctx context.Context, items []store.Renewal, patient bool) ([]store.Renewed, error) {
	type owned struct {
		token, state int64
		cancelled    string
	}
	how := " SKIP LOCKED"
	if patient {
		how = ""
	}
	return write(ctx, s, func(t *tx) ([]store.Renewed, error) {
		if patient {
			t.hurry(lockPatience)
		}
		seqs := make([]int64, len(items))
		for i, it := range items {
			seqs[i] = it.Seq
		}
		found := map[int64]owned{}
		t.ask(`SELECT o.seq, o.token, o.state, o.cancelled FROM unnest(?::bigint[]) u (seq) JOIN duly.occurrences o ON o.seq = u.seq
			ORDER BY o.seq FOR NO KEY UPDATE OF o`+how, []any{unique(seqs)}, func(r row) error {
			found[r.int(0)] = owned{r.int(1), r.int(2), r.str(3)}
			return nil
		})
		now, err := t.clock(time.Time{})
		if err != nil {
			return nil, err
		}
		answers := make([]store.Renewed, len(items))
		var renewed, until, granted []int64
		for i, it := range items {
			o, there := found[it.Seq]
			switch {
			case !there:
				answers[i] = store.Renewed{Lost: true, Reason: reasonGone}
				continue
			case o.token != it.Token:
				answers[i] = store.Renewed{Lost: true, Reason: "another attempt was granted a newer token"}
				continue
			case o.state != running:
				answers[i] = store.Renewed{Lost: true, Reason: "the attempt has ended: the occurrence is " + string(stateCodes[o.state])}
				continue
			}
			end := now + it.Lease.Microseconds()
			renewed, until, granted = append(renewed, it.Seq), append(until, end), append(granted, it.Lease.Microseconds())
			answers[i] = store.Renewed{Cancelled: o.cancelled != "", Reason: o.cancelled, Until: instant(end)}
		}
		if len(renewed) > 0 {
			t.later(`UPDATE duly.occurrences o SET lease_until = u.until, granted = nullif(u.granted, o.lease)
				FROM unnest(?::bigint[], ?::bigint[], ?::bigint[]) u (seq, until, granted) WHERE o.seq = u.seq`, renewed, until, granted)
		}
		return answers, nil
	})
}
