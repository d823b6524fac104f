package sqlite

import (
	"context"
	"fmt"

	"github.com/duly-dev/duly/store"
)

// Claim implements store.Worker.
func (s *Store) Claim(ctx context.Context, req store.ClaimRequest) (store.ClaimResult, error) {
	return write(ctx, s, func(t *tx) (store.ClaimResult, error) {
		c, err := newClaiming(t, at(req.Now), &req)
		if err != nil {
			return store.ClaimResult{}, err
		}
		if err := c.prelude(); err != nil {
			return store.ClaimResult{}, err
		}
		if err := c.take(); err != nil {
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
	taken        []*newRow // by takeNew
	leftOver     bool      // others may go instead of what takeNew chose
	tooLate      bool      // some new ones may not start any more
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

// anyReady reports whether something waits that the claim could take.
func (c *claiming) anyReady() (bool, error) {
	n, err := c.number(bg, `SELECT EXISTS (SELECT 1 FROM json_each(?) c JOIN lanes l ON l.capability = c.value
		WHERE EXISTS (SELECT 1 FROM occurrences o INDEXED BY occurrences_ready WHERE o.waiting = 1 AND o.lane = l.lane))`, c.capabilities)
	return n != 0, err
}

// take claims what is ready.
func (c *claiming) take() error {
	max := c.req.Max - len(c.res.Claims)
	if max <= 0 {
		return nil
	}
	groups, err := c.readyGroups(max)
	if err != nil || len(groups) == 0 {
		return err
	}
	picked, err := pick(groups, max)
	if err != nil || len(picked) == 0 {
		return err
	}
	first, err := c.reserve(counterToken, len(picked))
	if err != nil {
		return err
	}
	claims, err := c.details(picked)
	if err != nil {
		return err
	}
	for i, p := range picked {
		claim := claims[p.seq]
		if claim == nil {
			return fmt.Errorf("occurrence %d is in an index but not in the table", p.seq)
		}
		claim.Token = first + int64(i)
		if err := c.start(claim); err != nil {
			return err
		}
		c.res.Claims = append(c.res.Claims, *claim)
		c.started(p.queue)
	}
	if err := c.moved(pending, running, int64(len(picked))); err != nil {
		return err
	}
	c.event(store.TopicOccurrences, claimTopic(c.res.Claims))
	return c.saveStarts()
}

func claimTopic(claims []store.Claim) string {
	if len(claims) == 1 {
		return claims[0].Schedule
	}
	return ""
}

// details reads what a worker is told.
func (c *claiming) details(picked []candidate) (map[int64]*store.Claim, error) {
	seqs := make([]int64, len(picked))
	for i, p := range picked {
		seqs[i] = p.seq
	}
	claims := make(map[int64]*store.Claim, len(picked))
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
	_, err := c.exec(`UPDATE occurrences SET state = 1, waiting = NULL, attempt = ?, tries = ?, token = ?, holder = ?, started_at = ?, lease_until = ?,
			ended_at = NULL, outcome = NULL, late = NULL, created = NULL, reused = NULL, cancelled = NULL WHERE seq = ?`,
		claim.Attempt, claim.Tries, claim.Token, opt(c.holder), c.now, micros(claim.LeaseUntil), claim.Seq)
	return err
}

// takeNew chooses among occurrences that are not inserted yet, by the same
// rules as take. They are to be inserted as running.
func (c *claiming) takeNew(rows []*newRow) error {
	can := map[string]bool{}
	for _, name := range c.req.Capabilities {
		can[name] = true
	}
	byQueue := map[int64]*memoryLane{}
	var order []int64
	for i, r := range rows {
		if r.state != pending || r.waiting != waitSlot || !can[r.Capability] || r.expired(c.now) {
			continue
		}
		if byQueue[r.queue] == nil {
			byQueue[r.queue] = &memoryLane{}
			order = append(order, r.queue)
		}
		byQueue[r.queue].add(candidate{seq: r.seq, priority: int64(r.Priority), due: micros(r.Due), queue: r.queue, index: i})
	}
	var groups []*group
	for _, queue := range order {
		q, err := c.queueState(queue)
		if err != nil {
			return err
		}
		byQueue[queue].sort()
		groups = append(groups, &group{room: q.room, lanes: []lane{byQueue[queue]}})
	}
	picked, err := pick(groups, c.req.Max)
	if err != nil || len(picked) == 0 {
		return err
	}
	token, err := c.reserve(counterToken, len(picked))
	if err != nil {
		return err
	}
	for i, p := range picked {
		r := rows[p.index]
		r.state, r.waiting, r.token, r.holder = running, 0, token+int64(i), c.holder
		c.taken = append(c.taken, r)
	}
	return nil
}

// addNew answers what takeNew chose, now that it is inserted. Some may have
// turned out to exist; then others may go instead.
func (c *claiming) addNew() error {
	for _, r := range c.taken {
		if r.existed {
			c.leftOver = true
			continue
		}
		claim := store.Claim{
			Seq: r.seq, Schedule: r.due.Schedule, Period: r.Period, Covers: r.Covers, Due: r.Due, IntervalStart: r.IntervalStart, Origin: r.Origin,
			Revision: r.Revision, Definition: r.Definition, Attempt: 1, Tries: 1, Token: r.token, Lease: r.leaseOf(),
			LeaseUntil: instant(c.now + r.leaseOf().Microseconds()),
		}
		if len(claim.Covers) == 0 {
			claim.Covers = []string{r.Period}
		}
		c.queueOf(&claim, r.queue, r.Serial)
		c.res.Claims = append(c.res.Claims, claim)
		c.started(r.queue)
	}
	return c.saveStarts()
}
