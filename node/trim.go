package node

import (
	"context"
	"time"
)

// Old history goes in small steps with pauses between them, so that nothing
// that is due waits for it. All nodes do this; what one is deleting the others
// pass over.
const (
	trimBatch = 1000
	trimPause = 100 * time.Millisecond
	trimEvery = time.Minute
)

// trim deletes ended occurrences that are older than Options.History.
func (n *Node) trim(ctx context.Context) {
	if n.opt.History <= 0 {
		return
	}
	timer := time.NewTimer(trimEvery)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		deleted, err := n.store.Trim(ctx, n.clock.now().Add(-n.opt.History), trimBatch)
		if err != nil && ctx.Err() == nil {
			n.log.Warn("old history could not be deleted; trying again in a minute", "error", err)
		}
		if deleted < trimBatch {
			timer.Reset(trimEvery)
		} else {
			timer.Reset(trimPause)
		}
	}
}
