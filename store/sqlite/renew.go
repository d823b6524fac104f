package sqlite

import (
	"context"

	"github.com/duly-dev/duly/store"
)

// Renew implements store.Worker.
func (s *Store) Renew(ctx context.Context, _ int64, items []store.Renewal) ([]store.Renewed, error) {
	if len(items) == 0 {
		return nil, nil
	}
	return write(ctx, s, func(t *tx) ([]store.Renewed, error) {
		now := now()
		seqs := make([]int64, len(items))
		for i, it := range items {
			seqs[i] = it.Seq
		}
		found, err := t.occs(seqs)
		if err != nil {
			return nil, err
		}
		answers := make([]store.Renewed, len(items))
		for i, it := range items {
			o := found[it.Seq]
			switch {
			case o == nil:
				answers[i] = store.Renewed{Lost: true, Reason: "the occurrence is gone"}
				continue
			case o.token != it.Token:
				answers[i] = store.Renewed{Lost: true, Reason: "another attempt was granted a newer token"}
				continue
			case o.state != running:
				answers[i] = store.Renewed{Lost: true, Reason: "the attempt has ended: the occurrence is " + string(stateCodes[o.state])}
				continue
			}
			until := now + it.Lease.Microseconds()
			if _, err := t.exec("UPDATE occurrences SET lease_until = ?, granted = nullif(?, lease) WHERE seq = ?", until, it.Lease.Microseconds(), o.seq); err != nil {
				return nil, err
			}
			answers[i] = store.Renewed{Cancelled: o.cancelled != "", Reason: o.cancelled, Until: instant(until)}
		}
		return answers, nil
	})
}
