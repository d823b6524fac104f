package postgres

import (
	"context"
	"encoding/json"
	"math"
	"slices"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// errTimePassed is how a claim says that what waits for its time, or was to
// start by a time, has to be looked after first; see advance.
var errTimePassed error = &duly.Error{Code: duly.CodeInternal, Message: "time has passed"}

// Claim implements store.Worker.
func (s *Store) Claim(ctx context.Context, req store.ClaimRequest) (store.ClaimResult, error) {
	var late []store.Fired
	passed := false
	for {
		res, err := write(ctx, s, func(t *tx) (store.ClaimResult, error) { return t.claim(&req, passed) })
		if err == errTimePassed {
			some, err := s.advance(ctx, req.Now, defaultLimit)
			if err != nil {
				return res, err
			}
			late = append(late, some.missed...)
			passed = !some.more
			continue
		}
		res.Missed = late
		return res, err
	}
}

func (t *tx) claim(req *store.ClaimRequest, passed bool) (res store.ClaimResult, err error) {
	c := newClaiming(t, req)
	given := micros(req.Now)
	t.ask("SELECT coalesce(nullif(?::bigint, 0), duly.clock())", []any{given}, func(r row) error {
		c.now = r.int(0)
		return nil
	})
	c.look(given)
	if c.holder, err = t.maker(req.Node); err != nil {
		return res, err
	}
	if err := t.send(); err != nil {
		return res, err
	}
	c.res.Now = instant(c.now)
	if c.timePassed && !passed {
		return res, errTimePassed
	}
	if err := c.take(); err != nil {
		return res, err
	}
	return c.res, nil
}

// claiming is one claim under way. Its locks are those of queues first, then
// those of occurrences, which it takes without waiting.
type claiming struct {
	*tx
	req        *store.ClaimRequest
	now        int64
	holder     int64
	timePassed bool
	lanes      []laneNumber // in which something is ready
	queues     map[int64]*queueState
	taken      []*newRow // by takeNew, in order
	res        store.ClaimResult
	bySeq      map[int64]int // index in res.Claims
}

func newClaiming(t *tx, req *store.ClaimRequest) *claiming {
	return &claiming{tx: t, req: req, queues: map[int64]*queueState{0: {room: math.MaxInt}}, bySeq: map[int64]int{}}
}

// look puts in line what a claim asks first: whether time has to be let pass,
// and where something is ready.
func (c *claiming) look(given int64) {
	c.ask(`SELECT EXISTS (SELECT 1 FROM duly.occurrences WHERE waiting = 2 AND not_before <= coalesce(nullif(?1::bigint, 0), duly.clock()))
		OR EXISTS (SELECT 1 FROM duly.occurrences WHERE waiting > 0 AND attempt = 0 AND start_by IS NOT NULL AND start_by < coalesce(nullif(?1::bigint, 0), duly.clock()))`,
		[]any{given}, func(r row) error {
			c.timePassed = r.bool(0)
			return nil
		})
	c.ask(`SELECT l.lane, l.queue FROM duly.lanes l WHERE l.capability = ANY(?)
		AND (SELECT o.seq FROM duly.occurrences o WHERE o.waiting = 1 AND o.lane = l.lane LIMIT 1) IS NOT NULL ORDER BY l.queue, l.lane`,
		[]any{c.req.Capabilities}, func(r row) error {
			c.lanes = append(c.lanes, laneNumber{r.int(0), r.int(1)})
			return nil
		})
}

func (c *claiming) someReady() bool { return len(c.lanes) > 0 }

// take claims what is ready.
func (c *claiming) take() error {
	most := c.req.Max - len(c.res.Claims)
	if most <= 0 || len(c.lanes) == 0 {
		return nil
	}
	var all []candidate
	c.lockQueues(c.lanes)
	c.askCandidates(most, &all)
	if err := c.send(); err != nil {
		return err
	}
	c.start(pick(c.groups(all), most))
	return nil
}

// askCandidates puts in line to lock what may be taken, and to read what a
// worker is told of it. What others are taking at this moment is passed over.
func (c *claiming) askCandidates(most int, all *[]candidate) {
	lanes := make([]int64, len(c.lanes))
	for i, l := range c.lanes {
		lanes[i] = l.lane
	}
	c.ask(`SELECT o.seq, t.id, o.period, o.covers, o.due, o.interval_start, o.origin, o.queue, o.revision, o.definition, o.payload, o.attempt, o.tries, o.lease, o.serial, o.priority
		FROM unnest(?::bigint[]) l (lane) CROSS JOIN LATERAL (SELECT * FROM duly.occurrences o WHERE o.waiting = 1 AND o.lane = l.lane
			AND (o.attempt > 0 OR o.start_by IS NULL OR o.start_by >= ?) ORDER BY o.priority DESC, o.due, o.seq LIMIT ? FOR NO KEY UPDATE SKIP LOCKED) o
		JOIN duly.tracks t ON t.sid = o.sid`, []any{lanes, c.now, most}, func(r row) error {
		claim := &store.Claim{
			Seq: r.int(0), Schedule: r.str(1), Period: r.str(2), Covers: covers(r.str(3), r.str(2)), Due: instant(r.int(4)),
			IntervalStart: instant(r.int(5)), Origin: originCodes[r.int(6)], Revision: r.int(8), Definition: r.int(9),
			Payload: r.json(10), Attempt: int(r.int(11)) + 1, Tries: int(r.int(12)) + 1, Lease: span(r.int(13)),
			LeaseUntil: instant(c.now + r.int(13)),
		}
		claim.Exclusive = r.bool(14)
		*all = append(*all, candidate{seq: r.int(0), priority: r.int(15), due: r.int(4), queue: r.int(7), claim: claim})
		return nil
	})
}

// start puts in line to open an attempt for each. The attempt before it, if
// there was one, moves out of the occurrence's row.
func (c *claiming) start(picked []candidate) {
	if len(picked) == 0 {
		return
	}
	seqs := make([]int64, len(picked))
	var again []int64
	for i, p := range picked {
		seqs[i] = p.seq
		if p.claim.Attempt > 1 {
			again = append(again, p.seq)
		}
		c.handOut(p.queue, p.claim)
	}
	if len(again) > 0 {
		c.later(`INSERT INTO duly.attempts (seq, number, tries, token, holder, started_at, ended_at, outcome, late, created, reused)
			SELECT seq, attempt, tries, token, holder, started_at, ended_at, outcome, late, created, reused FROM duly.occurrences WHERE seq = ANY(?)`, again)
	}
	// Tokens are drawn here, with everything locked that they guard.
	c.ask(`UPDATE duly.occurrences o SET state = 1, waiting = 0, attempt = o.attempt + 1, tries = o.tries + 1, token = u.token, holder = ?, started_at = ?2,
			lease_until = ?2 + o.lease, granted = NULL, ended_at = NULL, outcome = NULL, late = NULL, created = NULL, reused = NULL, cancelled = NULL
		FROM (SELECT seq, nextval('duly.tokens') AS token FROM unnest(?3::bigint[]) v (seq)) u WHERE o.seq = u.seq RETURNING o.seq, o.token`,
		[]any{opt(c.holder), c.now, seqs}, func(r row) error {
			c.granted(r.int(0), r.int(1))
			return nil
		})
	c.moved(pending, running, int64(len(picked)))
	topic := ""
	if len(c.res.Claims) == 1 {
		topic = c.res.Claims[0].Schedule
	}
	c.event(store.TopicOccurrences, topic)
	c.saveStarts()
}

// handOut answers a claim, whose token is yet to come.
func (c *claiming) handOut(queue int64, claim *store.Claim) {
	if q := c.queues[queue]; queue != 0 && q != nil {
		claim.Queue, claim.Exclusive = q.name, q.concurrency == 1
		q.unsaved++
	}
	c.bySeq[claim.Seq] = len(c.res.Claims)
	c.res.Claims = append(c.res.Claims, *claim)
}

func (c *claiming) granted(seq, token int64) { c.res.Claims[c.bySeq[seq]].Token = token }

// mayTake reports whether the claim can run a new occurrence now.
func (c *claiming) mayTake(r *newRow) bool {
	return r.state == pending && r.waiting == waitSlot && slices.Contains(c.req.Capabilities, r.Capability)
}

// takeNew chooses among occurrences that are not inserted yet, by the same
// rules as take. They are to be inserted as running.
func (c *claiming) takeNew(rows []*newRow) error {
	var all []candidate
	var lanes []laneNumber
	for i, r := range rows {
		if !c.mayTake(r) || r.expired(c.now) {
			continue
		}
		all = append(all, candidate{seq: r.seq, priority: int64(r.Priority), due: micros(r.Due), queue: r.queue, index: i})
		if r.queue != 0 && !slices.Contains(lanes, r.laneNumber) {
			lanes = append(lanes, r.laneNumber)
		}
	}
	if len(lanes) > 0 {
		c.lockQueues(lanes)
		if err := c.send(); err != nil {
			return err
		}
	}
	for _, p := range pick(c.groups(all), c.req.Max) {
		r := rows[p.index]
		r.state, r.waiting = running, 0
		c.taken = append(c.taken, r)
	}
	return nil
}

// addNew answers what takeNew chose.
func (c *claiming) addNew() {
	for _, r := range c.taken {
		claim := store.Claim{
			Seq: r.seq, Schedule: r.schedule, Period: r.Period, Covers: r.Covers, Due: r.Due, IntervalStart: r.IntervalStart, Origin: r.Origin,
			Revision: r.Revision, Definition: r.Definition, Attempt: 1, Tries: 1, Lease: r.leaseOf(),
			LeaseUntil: instant(c.now + r.leaseOf().Microseconds()), Exclusive: r.Serial,
		}
		if len(claim.Covers) == 0 {
			claim.Covers = []string{r.Period}
		}
		if r.payload != "" {
			claim.Payload = json.RawMessage(r.payload)
		}
		c.handOut(r.queue, &claim)
	}
	c.saveStarts()
}
