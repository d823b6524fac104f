package node

import (
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// Take has step claim something for this node, and starts what step answers: so
// that whoever asks for an occurrence in the process that can run it needs one
// transaction and not two (store.InsertRequest.Claim). offer is for one free
// slot, which is kept for it; it is nil while the node has none, is not running
// or drains. The error is step's.
func (n *Node) Take(step func(offer *store.ClaimRequest) (*store.Claim, error)) error {
	if !n.reserve() {
		_, err := step(nil)
		return err
	}
	defer n.unreserve()
	asked := time.Now()
	claim, err := step(&store.ClaimRequest{Node: n.sessionID(), Max: 1, Capabilities: n.capabilities()})
	switch {
	case claim == nil:
	case n.draining.Load(): // meanwhile
		n.reports.put(store.Report{
			Seq: claim.Seq, Token: claim.Token, Outcome: duly.AttemptReleased,
			Next: store.Next{State: duly.Pending, Reason: "released: node " + n.opt.Name + " is draining", Uncounted: true},
		})
	default:
		n.start(asked, []store.Claim{*claim})
	}
	return err
}

func (n *Node) reserve() bool {
	if !n.active.reserve(n.opt.Slots) {
		return false
	}
	// Asked only now, as a drain waits for a slot that is kept.
	if n.sessionID() == 0 || n.draining.Load() {
		n.unreserve()
		return false
	}
	return true
}

func (n *Node) unreserve() {
	if n.active.unreserve() {
		signal(n.freed)
	}
}
