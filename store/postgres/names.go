package postgres

import (
	"context"
	"sync"

	"github.com/jackc/pgx/v5"
)

// names remembers the numbers of what has a number for life: lanes, queues and
// the makers that nodes are. What it does not know is learned in a transaction
// of its own, so that nothing is remembered that could be undone.
type names struct {
	mu     sync.Mutex
	lanes  map[laneName]laneNumber
	makers map[int64]int64 // by node
}

type laneName struct{ capability, queue string }

// laneNumber is a lane with its shared queue, 0 for schedules' own.
type laneNumber struct{ lane, queue int64 }

func (n *names) lane(name laneName) (laneNumber, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	lane, ok := n.lanes[name]
	return lane, ok
}

// forget drops everything, since a server that comes back may be another one,
// which was promoted before it had heard of the newest names.
func (n *names) forget() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lanes, n.makers = nil, nil
}

// learn gives lanes, and the queues they are in, a number. It is called from
// within transactions, so its connection is not one of the pool's, which might
// all be in such transactions.
func (n *names) learn(ctx context.Context, s *Store, lanes []laneName) error {
	if len(lanes) == 0 {
		return nil
	}
	pc, err := pgx.ConnectConfig(ctx, s.cfg.pool.ConnConfig.Copy())
	if err != nil {
		return err
	}
	defer func() { _ = pc.Close(context.WithoutCancel(ctx)) }()
	c := newConn(ctx, &s.dialect, pc)
	c.patience = s.cfg.patience()
	var capabilities, queues []string
	for _, l := range lanes {
		capabilities, queues = append(capabilities, l.capability), append(queues, l.queue)
	}
	c.later("INSERT INTO duly.queues (name) SELECT DISTINCT name FROM unnest(?::text[]) u (name) WHERE name <> '' ORDER BY name ON CONFLICT DO NOTHING", queues)
	if err := c.send(); err != nil {
		return err
	}
	const wanted = `SELECT DISTINCT u.capability COLLATE "C" AS capability, u.queue COLLATE "C" AS name, coalesce((SELECT q.queue FROM duly.queues q WHERE q.name = u.queue), 0) AS queue
		FROM unnest(?::text[], ?::text[]) u (capability, queue)`
	c.later("INSERT INTO duly.lanes (capability, queue) SELECT capability, queue FROM ("+wanted+") w ORDER BY capability, queue ON CONFLICT DO NOTHING", capabilities, queues)
	learned := map[laneName]laneNumber{}
	if err := c.send(); err != nil {
		return err
	}
	err = c.query("SELECT w.capability, w.name, l.lane, l.queue FROM ("+wanted+") w JOIN duly.lanes l ON l.capability = w.capability AND l.queue = w.queue",
		[]any{capabilities, queues}, func(r row) error {
			learned[laneName{r.str(0), r.str(1)}] = laneNumber{r.int(2), r.int(3)}
			return nil
		})
	if err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.lanes == nil {
		n.lanes = map[laneName]laneNumber{}
	}
	for name, number := range learned {
		n.lanes[name] = number
	}
	return nil
}

// maker is who a node is in history, 0 for a node that is not known.
func (t *tx) maker(node int64) (int64, error) {
	n := &t.s.names
	n.mu.Lock()
	m, ok := n.makers[node]
	n.mu.Unlock()
	if ok || node == 0 {
		return m, nil
	}
	m, err := t.number("SELECT maker FROM duly.nodes WHERE node = ?", node)
	if err == nil && m != 0 {
		n.mu.Lock()
		if n.makers == nil {
			n.makers = map[int64]int64{}
		}
		n.makers[node] = m
		n.mu.Unlock()
	}
	return m, err
}
