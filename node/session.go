package node

import (
	"context"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
	"github.com/duly-dev/duly/target"
)

func (n *Node) sessionID() int64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.session
}

// awaitSession joins before anything else happens; it answers false when ctx
// ended first. A store that is down at the start is waited for.
func (n *Node) awaitSession(ctx context.Context) bool {
	for ctx.Err() == nil {
		err := n.join(ctx)
		if err == nil {
			n.available.up(n.log)
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		select {
		case <-ctx.Done():
		case <-time.After(n.available.down(n.log, err)):
		}
	}
	return false
}

// join opens a session and declares what this program carries.
func (n *Node) join(ctx context.Context) error {
	session, err := n.store.Join(ctx, n.info())
	if err != nil {
		return err
	}
	n.mu.Lock()
	declared := n.declared
	n.mu.Unlock()
	if len(declared) == 0 {
		n.enter(session)
		return nil
	}
	res, err := n.store.Declare(ctx, store.DeclareRequest{Node: session, Owner: "code:" + n.opt.App, Schedules: declared})
	if err != nil {
		n.leave(session) // or every try would leave a session behind
		return err
	}
	n.enter(session)
	for _, c := range res.Changes {
		switch c.Action {
		case store.ActionKeep:
		case store.ActionIgnore:
			n.log.Warn("declared schedule is not in force", "schedule", c.ID, "why", c.Reason)
		default:
			n.log.Info("schedule declared", "schedule", c.ID, "action", c.Action, "revision", c.Revision)
		}
	}
	return nil
}

// enter makes a session the node's. One that nothing was declared in must not
// be: it would be kept alive, and the declarations never made.
func (n *Node) enter(session int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.session = session
}

// keepSession beats three times within the session's life.
func (n *Node) keepSession(ctx context.Context) {
	beat := time.NewTicker(n.opt.SessionTTL / 3)
	defer beat.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-beat.C:
		}
		session := n.sessionID()
		if session == 0 {
			continue
		}
		err := n.store.Beat(ctx, session, n.opt.SessionTTL, n.load())
		if err == nil {
			n.available.answered()
		}
		if duly.CodeOf(err) == duly.CodeNotFound {
			n.log.Warn("the session had expired; joining again")
			err = n.join(ctx)
		}
		if err != nil && ctx.Err() == nil {
			n.log.Debug("beat failed", "error", err)
		}
	}
}

func (n *Node) load() store.NodeLoad {
	return store.NodeLoad{Running: n.active.size(), ClockOffset: n.clock.lead(), Draining: n.draining.Load()}
}

// leave ends a session, so that the node list says left, not gone.
func (n *Node) leave(session int64) {
	if session == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := n.store.Leave(ctx, session); err != nil {
		n.log.Debug("leaving failed; the session will expire", "error", err)
	}
}

// watch turns the store's events into wake-ups of the dispatcher, and of the
// keeper for attempts that somebody may want ended.
func (n *Node) watch(ctx context.Context) {
	for ctx.Err() == nil {
		err := n.store.Watch(ctx, func(e store.Event) {
			signal(n.wake)
			if e.Topic == store.TopicSchedules {
				signal(n.alone.changed)
			}
			switch e.Topic {
			case store.TopicCancels:
				n.active.hurry(e.Schedule, hurryEvery)
			case store.TopicAny:
				n.active.hurry("", suspectEvery)
			}
		})
		if ctx.Err() != nil {
			return
		}
		n.log.Debug("wake-ups interrupted; the dispatcher looks every second meanwhile", "error", err)
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

// drain lets running attempts end: by themselves, then cancelled.
func (n *Node) drain() {
	n.draining.Store(true)
	if count := n.active.size(); count > 0 {
		n.log.Info("draining", "running", count, "for", n.opt.DrainTime)
	}
	if n.waitDrained(n.opt.DrainTime) {
		return
	}
	grace := n.opt.CancelGrace
	n.active.each(func(a *attempt) {
		a.cancel(target.ErrDraining)
		if p := a.compiled(); p != nil {
			grace = max(grace, n.grace(p))
		}
	})
	if !n.waitDrained(grace + time.Second) {
		n.log.Error("handlers ignore their cancellation; leaving them behind", "running", n.active.size())
	}
}

func (n *Node) waitDrained(d time.Duration) bool {
	select {
	case <-n.active.drained():
		return true
	case <-time.After(d):
		return false
	}
}
