package sqlite

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/duly-dev/duly/store"
)

// Claim implements store.Worker.
func (s *Store) Claim(ctx context.Context, req store.ClaimRequest) (store.ClaimResult, error) {
	return write(ctx, s, func(t *tx) (store.ClaimResult, error) {
		c, err := newClaiming(t, at(req.Now), &req)
		if err != nil {
			return store.ClaimResult{}, err
		}
		if err := inOrder(func() error { return c.choose(nil) }, c.hand); err != nil {
			return store.ClaimResult{}, err
		}
		return c.res, nil
	})
}

// claiming is one claim under way.
type claiming struct {
	*tx
	req    *store.ClaimRequest
	now    int64
	holder int64
	// capabilities is the request's as a JSON list.
	capabilities string
	queues       map[int64]*queueState
	picked       []candidate // by choose, with tokens from firstToken on
	firstToken   int64
	leftOver     bool // some that were picked exist already; others may go instead
	res          store.ClaimResult
}

func newClaiming(t *tx, now int64, req *store.ClaimRequest) (*claiming, error) {
	holder, err := t.maker(req.Node)
	if err != nil {
		return nil, err
	}
	return &claiming{
		tx: t, req: req, now: now, holder: holder, capabilities: list(req.Capabilities),
		queues: map[int64]*queueState{}, res: store.ClaimResult{Now: instant(now)},
	}, nil
}

// prelude lets time pass: what waited for now is ready, what waited too long
// is missed.
func (c *claiming) prelude() error {
	n, err := c.number(bg, "SELECT EXISTS (SELECT 1 FROM occurrences INDEXED BY occurrences_delayed WHERE waiting = 2 AND not_before <= ?)", c.now)
	if err != nil {
		return err
	}
	if n != 0 {
		if _, err := c.exec("UPDATE occurrences INDEXED BY occurrences_delayed SET waiting = 1 WHERE waiting = 2 AND not_before <= ?", c.now); err != nil {
			return err
		}
	}
	for {
		some, more, err := c.expire(c.now, defaultLimit)
		if err != nil {
			return err
		}
		c.res.Missed = append(c.res.Missed, some...)
		if !more {
			return nil
		}
	}
}

// choose picks what to take, of what is ready in the file and of rows that are
// not inserted yet. The latter are marked to be inserted as running.
func (c *claiming) choose(rows []*newRow) error {
	c.picked, c.leftOver = nil, false
	max := c.req.Max - len(c.res.Claims)
	if max <= 0 {
		return nil
	}
	if err := c.prelude(); err != nil {
		return err
	}
	groups, err := c.readyGroups(max)
	if err != nil {
		return err
	}
	if err := c.addRows(groups, rows); err != nil {
		return err
	}
	if c.picked, err = pick(slices.Collect(maps.Values(groups)), max); err != nil || len(c.picked) == 0 {
		return err
	}
	if c.firstToken, err = c.reserve(counterToken, len(c.picked)); err != nil {
		return err
	}
	for i, p := range c.picked {
		if r := p.row; r != nil {
			r.state, r.waiting, r.token, r.holder = running, 0, c.firstToken+int64(i), c.holder
		}
	}
	return nil
}

// addRows adds new rows to the queues that a claim chooses from.
func (c *claiming) addRows(groups map[int64]*group, rows []*newRow) error {
	can := map[string]bool{}
	for _, name := range c.req.Capabilities {
		can[name] = true
	}
	lanes := map[int64]*memoryLane{}
	for _, r := range rows {
		if r.state != pending || r.waiting != waitSlot || !can[r.Capability] || r.expired(c.now) {
			continue
		}
		l := lanes[r.queue]
		if l == nil {
			l = &memoryLane{}
			lanes[r.queue] = l
			g, err := c.group(groups, r.queue)
			if err != nil {
				return err
			}
			g.lanes = append(g.lanes, l)
		}
		l.add(candidate{seq: r.seq, priority: int64(r.Priority), due: micros(r.Due), queue: r.queue, row: r})
	}
	for _, l := range lanes {
		l.sort()
	}
	return nil
}

// hand opens an attempt for each that was picked.
func (c *claiming) hand() error {
	claims, err := c.details(c.picked)
	if err != nil {
		return err
	}
	fromFile := int64(0)
	c.res.Claims = slices.Grow(c.res.Claims, len(c.picked))
	for i, p := range c.picked {
		if p.row != nil && p.row.existed {
			c.leftOver = true
			continue
		}
		if p.row != nil {
			c.res.Claims = append(c.res.Claims, p.row.claim(c.now))
			c.queueOf(&c.res.Claims[len(c.res.Claims)-1], p.queue, p.row.Serial)
		} else {
			claim := claims[p.seq]
			if claim == nil {
				return fmt.Errorf("occurrence %d is in an index but not in the table", p.seq)
			}
			claim.Token = c.firstToken + int64(i)
			if err := c.start(claim); err != nil {
				return err
			}
			fromFile++
			c.res.Claims = append(c.res.Claims, *claim)
		}
		c.started(p.queue)
	}
	if err := c.moved(pending, running, fromFile); err != nil {
		return err
	}
	if len(c.res.Claims) > 0 {
		c.event(store.TopicOccurrences, claimTopic(c.res.Claims))
	}
	return c.saveStarts()
}

func claimTopic(claims []store.Claim) string {
	if len(claims) == 1 {
		return claims[0].Schedule
	}
	return ""
}

// claim is what a worker is told of a new row that it runs.
func (r *newRow) claim(now int64) store.Claim {
	claim := store.Claim{
		Seq: r.seq, Schedule: r.due.Schedule, Period: r.Period, Covers: r.Covers, Due: r.Due, IntervalStart: r.IntervalStart, Origin: r.Origin,
		Revision: r.Revision, Definition: r.Definition, Attempt: 1, Tries: 1, Token: r.token, Lease: r.leaseOf(),
		LeaseUntil: instant(now + r.leaseOf().Microseconds()),
	}
	if len(claim.Covers) == 0 {
		claim.Covers = []string{r.Period}
	}
	return claim
}

// details reads what a worker is told.
func (c *claiming) details(picked []candidate) (map[int64]*store.Claim, error) {
	var seqs []int64
	for _, p := range picked {
		if p.row == nil {
			seqs = append(seqs, p.seq)
		}
	}
	claims := make(map[int64]*store.Claim, len(seqs))
	err := c.in(bg, `SELECT o.seq, s.id, o.period, o.covers, o.due, o.interval_start, o.origin, o.queue, o.revision, o.definition,
			o.payload, o.attempt, o.tries, o.lease, o.serial
		FROM occurrences o JOIN schedules s ON s.sid = o.sid WHERE o.seq IN (`, ")", nil, seqs, func(r row) error {
		claim := &store.Claim{
			Seq: r.int(0), Schedule: r.str(1), Period: r.str(2), Covers: covers(r.str(3), r.str(2)), Due: instant(r.int(4)),
			IntervalStart: instant(r.int(5)), Origin: originCodes[r.int(6)], Revision: r.int(8), Definition: r.int(9),
			Payload: r.bytes(10), Attempt: int(r.int(11)) + 1, Tries: int(r.int(12)) + 1, Lease: span(r.int(13)),
			LeaseUntil: instant(c.now + r.int(13)),
		}
		c.queueOf(claim, r.int(7), r.bool(14))
		claims[claim.Seq] = claim
		return nil
	})
	return claims, err
}

// queueOf fills in what a claim says of its queue.
func (c *claiming) queueOf(claim *store.Claim, queue int64, serial bool) {
	claim.Exclusive = serial
	if q := c.queues[queue]; queue != 0 && q != nil {
		claim.Queue, claim.Exclusive = q.name, q.concurrency == 1
	}
}

// start opens an attempt. The one before it, if there was one, moves out of
// the occurrence's row.
func (c *claiming) start(claim *store.Claim) error {
	if claim.Attempt > 1 {
		if _, err := c.exec(`INSERT INTO attempts (seq, number, tries, token, holder, started_at, ended_at, outcome, late, created, reused)
			SELECT seq, attempt, tries, token, holder, started_at, ended_at, outcome, late, created, reused FROM occurrences WHERE seq = ?`, claim.Seq); err != nil {
			return err
		}
	}
	_, err := c.exec(`UPDATE occurrences SET state = 1, waiting = NULL, attempt = ?, tries = ?, token = ?, holder = ?, started_at = ?, lease_until = ?, granted = NULL,
			ended_at = NULL, outcome = NULL, late = NULL, created = NULL, reused = NULL, cancelled = NULL WHERE seq = ?`,
		claim.Attempt, claim.Tries, claim.Token, opt(c.holder), c.now, micros(claim.LeaseUntil), claim.Seq)
	return err
}
