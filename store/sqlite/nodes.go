package sqlite

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
		now := now()
		if err := t.expireNodes(now); err != nil {
			return 0, err
		}
		maker, err := t.intern("SELECT maker FROM makers WHERE name = ? AND tzdata = ?",
			"INSERT INTO makers (name, tzdata) VALUES (?, ?) RETURNING maker", node.Name, node.TZData)
		if err != nil {
			return 0, err
		}
		ttl := node.TTL.Microseconds()
		err = t.returning(`INSERT INTO nodes (maker, host, pid, version, capabilities, slots, ttl, running, clock_offset, draining, joined_at, seen_at, until)
				VALUES (?, ?, ?, ?, ?, ?, ?, 0, 0, 0, ?, ?, ?) RETURNING node`,
			[]any{maker, node.Host, node.PID, node.Version, list(node.Capabilities), node.Slots, ttl, now, now, now + ttl}, func(r row) error {
				id = r.int(0)
				return nil
			})
		t.event(store.TopicNodes, "")
		return id, err
	})
}

// Beat implements store.Nodes.
func (s *Store) Beat(ctx context.Context, node int64, ttl time.Duration, load store.NodeLoad) error {
	_, err := write(ctx, s, func(t *tx) (struct{}, error) {
		now := now()
		n, err := t.exec(`UPDATE nodes SET seen_at = ?, until = ?, ttl = ?, running = ?, clock_offset = ?, draining = ? WHERE node = ? AND ended IS NULL AND until > ?`,
			now, now+ttl.Microseconds(), ttl.Microseconds(), load.Running, load.ClockOffset.Microseconds(), load.Draining, node, now)
		if err != nil {
			return struct{}{}, err
		}
		if n == 0 {
			return struct{}{}, sessionEnded(node)
		}
		t.event(store.TopicNodes, "")
		return struct{}{}, nil
	})
	return err
}

func sessionEnded(node int64) error {
	return duly.Errorf(duly.CodeNotFound, "session %d has ended: join again", node)
}

// Leave implements store.Nodes.
func (s *Store) Leave(ctx context.Context, node int64) error {
	_, err := write(ctx, s, func(t *tx) (struct{}, error) {
		now := now()
		n, err := t.exec("UPDATE nodes SET ended = ?, seen_at = ? WHERE node = ? AND ended IS NULL", endedLeft, now, node)
		if err != nil {
			return struct{}{}, err
		}
		if n == 0 {
			return struct{}{}, sessionEnded(node)
		}
		t.event(store.TopicNodes, "")
		return struct{}{}, t.undeclare(node, now)
	})
	return err
}

// expireNodes ends the sessions that were not kept alive.
func (t *tx) expireNodes(now int64) error {
	var gone []int64
	err := t.query(bg, "SELECT node FROM nodes INDEXED BY nodes_live WHERE ended IS NULL AND until <= ? ORDER BY until LIMIT 1000", []any{now}, func(r row) error {
		gone = append(gone, r.int(0))
		return nil
	})
	if err != nil {
		return err
	}
	for _, node := range gone {
		if _, err := t.exec("UPDATE nodes SET ended = ? WHERE node = ?", endedGone, node); err != nil {
			return err
		}
	}
	for _, node := range gone {
		if err := t.undeclare(node, now); err != nil {
			return err
		}
		t.event(store.TopicNodes, "")
	}
	return nil
}
