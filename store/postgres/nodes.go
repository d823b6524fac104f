package postgres

import (
	"context"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

const (
	endedLeft = 1
	endedGone = 2

	defaultTTL = 30 * time.Second
)

// Join implements store.Nodes.
func (s *Store) Join(ctx context.Context, node store.NodeInfo) (int64, error) {
	if node.TTL <= 0 {
		node.TTL = defaultTTL
	}
	return write(ctx, s, func(t *tx) (id int64, err error) {
		t.changing()
		if err := t.expireNodes(0); err != nil {
			return 0, err
		}
		name, tzdata := plain(node.Name), plain(node.TZData)
		t.later("INSERT INTO duly.makers (name, tzdata) VALUES (?, ?) ON CONFLICT DO NOTHING", name, tzdata)
		ttl := node.TTL.Microseconds()
		t.event(store.TopicNodes, "")
		return t.number(`INSERT INTO duly.nodes (maker, host, pid, version, capabilities, slots, ttl, joined_at, seen_at, until)
			SELECT maker, ?, ?, ?, ?, ?, ?, duly.clock(), duly.clock(), duly.clock() + ? FROM duly.makers WHERE name = ? AND tzdata = ? RETURNING node`,
			plain(node.Host), int64(node.PID), plain(node.Version), plain(list(node.Capabilities)), int64(node.Slots), ttl, ttl, name, tzdata)
	})
}

// Beat implements store.Nodes. It is one statement: a thousand nodes beat.
func (s *Store) Beat(ctx context.Context, node int64, ttl time.Duration, load store.NodeLoad) error {
	_, err := write(ctx, s, func(t *tx) (struct{}, error) {
		n, err := t.exec(`UPDATE duly.nodes SET seen_at = duly.clock(), until = duly.clock() + ?1::bigint, ttl = ?1, running = ?2, clock_offset = ?3, draining = ?4
			WHERE node = ?5 AND ended IS NULL AND until > duly.clock()`,
			ttl.Microseconds(), int64(load.Running), load.ClockOffset.Microseconds(), load.Draining, node)
		if err == nil && n == 0 {
			err = sessionEnded(node)
		}
		return struct{}{}, err
	})
	if err == nil { // for this process alone: thousands of beats need not wake everybody
		s.watchers.publish(events{store.TopicNodes: ""})
	}
	return err
}

func sessionEnded(node int64) error {
	return duly.Errorf(duly.CodeNotFound, "session %d has ended: join again", node)
}

// Leave implements store.Nodes.
func (s *Store) Leave(ctx context.Context, node int64) error {
	_, err := write(ctx, s, func(t *tx) (struct{}, error) {
		t.changing()
		if err := t.send(); err != nil {
			return struct{}{}, err
		}
		now, err := t.clock(time.Time{})
		if err != nil {
			return struct{}{}, err
		}
		n, err := t.exec("UPDATE duly.nodes SET ended = ?, seen_at = ? WHERE node = ? AND ended IS NULL", endedLeft, now, node)
		if err == nil && n == 0 {
			err = sessionEnded(node)
		}
		if err != nil {
			return struct{}{}, err
		}
		t.event(store.TopicNodes, "")
		return struct{}{}, t.undeclare([]int64{node}, now)
	})
	return err
}

// expireNodes ends the sessions that were not kept alive; 0 is the store's now.
// The lock of changes is in line or held.
func (t *tx) expireNodes(now int64) error {
	if err := t.send(); err != nil { // the lock comes before what it guards is seen
		return err
	}
	var gone []int64
	err := t.query(`UPDATE duly.nodes SET ended = ? WHERE ended IS NULL AND until <= coalesce(nullif(?::bigint, 0), duly.clock())
		RETURNING node, coalesce(nullif(?::bigint, 0), duly.clock())`, []any{endedGone, now, now}, func(r row) error {
		gone, now = append(gone, r.int(0)), r.int(1)
		return nil
	})
	if err != nil || len(gone) == 0 {
		return err
	}
	t.event(store.TopicNodes, "")
	return t.undeclare(gone, now)
}
