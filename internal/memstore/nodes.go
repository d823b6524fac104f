package memstore

import (
	"context"
	"slices"
	"time"

	"github.com/duly-dev/duly/store"
)

const defaultTTL = 30 * time.Second

// Join implements store.Nodes.
func (s *Store) Join(ctx context.Context, info store.NodeInfo) (int64, error) {
	return step(ctx, s, func() (int64, error) {
		now := s.now(time.Time{})
		s.expireNodes(now)
		if info.TTL <= 0 {
			info.TTL = defaultTTL
		}
		info.Capabilities = slices.Clone(info.Capabilities)
		s.nodeSeq++
		n := &node{declared: map[string]map[string]int64{}}
		n.NodeStatus = store.NodeStatus{ID: s.nodeSeq, NodeInfo: info, JoinedAt: now, SeenAt: now, Until: now.Add(info.TTL), State: "live"}
		s.nodes = append(s.nodes, n)
		s.event(store.TopicNodes, "")
		return n.ID, nil
	})
}

// Beat implements store.Nodes.
func (s *Store) Beat(ctx context.Context, id int64, ttl time.Duration, load store.NodeLoad) error {
	return do(ctx, s, func() error {
		now := s.now(time.Time{})
		n := s.node(id)
		if n == nil || !n.live(now) {
			return sessionEnded(id)
		}
		n.SeenAt, n.Until, n.TTL, n.NodeLoad = now, now.Add(ttl), ttl, load
		s.event(store.TopicNodes, "")
		return nil
	})
}

// Leave implements store.Nodes.
func (s *Store) Leave(ctx context.Context, id int64) error {
	return do(ctx, s, func() error {
		n := s.node(id)
		if n == nil || n.ended {
			return sessionEnded(id)
		}
		now := s.now(time.Time{})
		n.ended, n.State, n.SeenAt = true, "left", now
		s.event(store.TopicNodes, "")
		s.undeclare(n, now)
		return nil
	})
}

// expireNodes ends the sessions that were not kept alive.
func (s *Store) expireNodes(now time.Time) {
	for _, n := range s.nodes {
		if n.ended || n.live(now) {
			continue
		}
		n.ended, n.State = true, "gone"
		s.event(store.TopicNodes, "")
		s.undeclare(n, now)
	}
}

// NodeList implements store.Reader.
func (s *Store) NodeList(ctx context.Context) ([]store.NodeStatus, error) {
	return step(ctx, s, func() ([]store.NodeStatus, error) {
		now := s.now(time.Time{})
		all := []store.NodeStatus{}
		for _, n := range slices.Backward(s.nodes) {
			status := n.NodeStatus
			if !n.ended && !n.live(now) {
				status.State = "gone"
			}
			all = append(all, status)
		}
		return all, nil
	})
}
