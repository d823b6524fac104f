package node

import (
	"context"
	"sync"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

const (
	maxReportBatch = 1000
	// finalReports bounds how long a node that ends tries to deliver its last
	// reports to a store that does not answer.
	finalReports = 5 * time.Second
	// reportsFirst is how long the reaping of leases waits for reports that an
	// outage has held.
	reportsFirst = time.Second
	// heldAgain is when a report is given again about something that a
	// transaction of the application holds.
	heldAgain = 500 * time.Millisecond
)

// reportQueue holds what attempts came to until the store has answered.
type reportQueue struct {
	mu      sync.Mutex
	waiting []store.Report
	inHand  int
	locked  []store.Report // answered unavailable, to be given again
	again   time.Time
	arrived chan struct{}
	failed  bool          // the last batch had no answer
	hurry   chan struct{} // the store is back
	settled chan struct{} // a batch was answered, or had none
}

func (q *reportQueue) init() {
	q.arrived, q.hurry, q.settled = make(chan struct{}, 1), make(chan struct{}, 1), make(chan struct{}, 1)
}

func (q *reportQueue) put(r store.Report) {
	q.mu.Lock()
	q.waiting = append(q.waiting, r)
	q.mu.Unlock()
	signal(q.arrived)
}

// take removes a batch; done or putBack must follow.
func (q *reportQueue) take(most int) []store.Report {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.locked) > 0 && !time.Now().Before(q.again) {
		q.waiting, q.locked = append(q.waiting, q.locked...), nil
	}
	batch := q.waiting[:min(len(q.waiting), most)]
	q.waiting = q.waiting[len(batch):]
	if len(q.waiting) == 0 {
		q.waiting = nil
	}
	q.inHand = len(batch)
	return batch
}

func (q *reportQueue) done() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.inHand, q.failed = 0, false
	signal(q.settled)
}

func (q *reportQueue) putBack(batch []store.Report) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(append([]store.Report(nil), batch...), q.waiting...)
	q.inHand, q.failed = 0, true
	signal(q.settled)
}

// lock keeps a report that cannot be taken for now, while others are.
func (q *reportQueue) lock(r store.Report) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.locked) == 0 {
		q.again = time.Now().Add(heldAgain)
	}
	q.locked = append(q.locked, r)
}

// lockedUntil is when to look at those again, zero where there are none.
func (q *reportQueue) lockedUntil() (at time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.locked) > 0 {
		at = q.again
	}
	return at
}

// refused reports whether what waits had no answer the last time.
func (q *reportQueue) refused() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.failed && len(q.waiting)+q.inHand > 0
}

// held counts the reports that the store has not answered yet.
func (q *reportQueue) held() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting) + q.inHand + len(q.locked)
}

// report delivers reports in batches: one grows while the one before is on its
// way. Through an outage they are held and sent again until they are accepted
// or refused. When ctx ends it delivers what is left.
func (n *Node) report(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), finalReports)
			defer cancel()
			n.deliver(last)
			if left := n.reports.held(); left > 0 {
				n.log.Error("the store did not take the last reports; their attempts will count as lost", "reports", left)
			}
			return
		case <-n.reports.arrived:
			n.deliver(ctx)
		}
	}
}

// deliver sends until nothing waits or ctx ends. What others hold is not waited
// for alone: what arrives meanwhile is sent.
func (n *Node) deliver(ctx context.Context) {
	most := maxReportBatch
	for {
		batch := n.reports.take(most)
		if len(batch) == 0 {
			if !n.awaitLocked(ctx) {
				return
			}
			continue
		}
		answers, err := n.store.Finish(ctx, n.sessionID(), batch)
		if err != nil {
			if ctx.Err() == nil && duly.CodeOf(err) != duly.CodeUnavailable {
				most = n.isolate(batch, err)
			}
			n.reports.putBack(batch)
			if ctx.Err() != nil {
				return // which says nothing about the store
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(n.available.down(n.log, err)):
			case <-n.reports.hurry:
			}
			continue
		}
		n.available.answered()
		n.reports.done()
		most = min(2*most, maxReportBatch)
		for i, answer := range answers {
			n.answered(batch[i], answer)
		}
	}
}

// awaitLocked waits until there may be something to send while a report is
// locked; false where none is, or ctx has ended.
func (n *Node) awaitLocked(ctx context.Context) bool {
	at := n.reports.lockedUntil()
	if at.IsZero() {
		return false
	}
	timer := time.NewTimer(time.Until(at))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-n.reports.arrived:
	case <-timer.C:
	}
	return true
}

// reportAgain has what was held through an outage delivered, now that the store
// answers. Before leases are reaped it waits for that: an attempt that is over
// is not to be called lost, and made again, for want of its report.
func (n *Node) reportAgain(ctx context.Context, reaping bool) {
	if !n.reports.refused() {
		return
	}
	signal(n.reports.hurry)
	enough := time.NewTimer(reportsFirst)
	defer enough.Stop()
	for reaping && n.reports.refused() {
		select {
		case <-ctx.Done():
			return
		case <-enough.C:
			return
		case <-n.reports.settled:
		}
	}
}

// isolate deals with a batch that the store answers but cannot take: one
// report in it must not keep the others. They are sent one by one, and the one
// that is in the way is sent without what its target printed, since that it
// ended matters more than what it said.
func (n *Node) isolate(batch []store.Report, err error) (most int) {
	if len(batch) == 1 {
		r := &batch[0]
		n.log.Error("the store cannot take a report; sending it without its output and result", "token", r.Token, "outcome", r.Outcome, "error", err)
		r.Output, r.Result, r.Error = "", nil, "not recorded: the store could not take what the attempt said"
	}
	return 1
}

func (n *Node) answered(r store.Report, answer store.Finished) {
	if duly.CodeOf(answer.Err) == duly.CodeUnavailable {
		n.reports.lock(r)
		return
	}
	if n.completedBefore(r, answer) {
		r.Outcome = duly.AttemptSucceeded
	}
	switch duly.CodeOf(answer.Err) {
	case "":
		n.stats.finished(r.Outcome, answer.Late)
	case duly.CodeStaleToken:
		n.stats.stale.Add(1)
		n.log.Warn("report refused: another attempt was granted a newer token", "occurrence", duly.OccurrenceID(answer.Schedule, answer.Period), "token", r.Token, "outcome", r.Outcome)
	default:
		n.log.Error("report refused", "token", r.Token, "outcome", r.Outcome, "error", answer.Err)
	}
}
