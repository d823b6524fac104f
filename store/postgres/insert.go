package postgres

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// Insert implements store.Operator.
func (s *Store) Insert(ctx context.Context, req store.InsertRequest) ([]store.Inserted, error) {
	for i := range req.Occurrences {
		if o := &req.Occurrences[i]; !duly.CanMove("", duly.StepInsert, o.State) {
			return nil, duly.Invalid("state", "a person asks for occurrences that are pending, not %q", o.State)
		}
	}
	// Lanes are learned before the schedule is held; see Fire.
	for i := range req.Occurrences {
		name := laneName{req.Occurrences[i].Capability, req.Occurrences[i].Queue}
		if _, known := s.names.lane(name); known {
			continue
		}
		if err := s.names.learn(ctx, s, []laneName{name}); err != nil {
			return nil, s.classify(err)
		}
	}
	return asked(ctx, s, func(t *tx) ([]store.Inserted, error) {
		in := &inserting{endings: newEndings(t, 0), req: &req, sent: map[int64]duly.State{}}
		return in.run()
	})
}

type inserting struct {
	*endings
	req           *store.InsertRequest
	sched         *sched
	there         map[string]*occ // those that exist, by period
	covering      map[string]*occ // and others that cover one
	once          string          // what a request of the same key made
	seqs          []int64         // for new ones
	claims        *claiming
	rows          []*newRow
	made, retried []string
	sent          map[int64]duly.State // by seq, what is retried and its state before
}

func (in *inserting) run() (res []store.Inserted, err error) {
	if err := in.look(); err != nil {
		return nil, err
	}
	if in.once != "" {
		return in.before()
	}
	res = make([]store.Inserted, len(in.req.Occurrences))
	new := map[string]int{} // a period asked for twice is made once
	for i := range in.req.Occurrences {
		occ := in.req.Occurrences[i] // a copy: the request is the caller's
		if first, twice := new[occ.Period]; twice {
			res[i] = res[first]
			res[i].Existing = true
			continue
		}
		if res[i] = in.meet(&occ, cmp.Or(in.there[occ.Period], in.covering[occ.Period])); !res[i].Existing {
			new[occ.Period] = i
		}
	}
	if in.req.DryRun {
		return res, nil
	}
	claimed, err := in.insertRows()
	if err != nil {
		return nil, err
	}
	seqs := map[string]int64{}
	for _, r := range in.rows {
		seqs[r.Period] = r.seq
	}
	for i, o := range in.req.Occurrences {
		if _, ok := new[o.Period]; ok {
			res[i].Seq = seqs[o.Period]
		}
	}
	if err := in.remember(res); err != nil {
		return nil, err
	}
	in.close()
	if claimed { // its token comes with the commit
		res[0].State, res[0].Claim = duly.Running, &in.claims.res.Claims[0]
		in.urgent = false // nobody else has anything to do
	}
	return res, nil
}

// look locks the schedule, and reads what the rest depends on, in one round
// trip.
func (in *inserting) look() error {
	given := micros(in.req.Now)
	id := in.req.Schedule
	in.ask(selectSched+"WHERE s.id = ANY(?) ORDER BY t.sid"+lockSched, []any{[]string{id}}, func(r row) error {
		in.sched = readSched(r)
		return nil
	})
	in.ask("SELECT coalesce(nullif(?::bigint, 0), duly.clock())", []any{given}, func(r row) error {
		in.now = r.int(0)
		return nil
	})
	if in.req.Once != "" {
		in.ask("SELECT made FROM duly.once WHERE sid = (SELECT sid FROM duly.schedules WHERE id = ?) AND key = ?", []any{id, plain(in.req.Once)}, func(r row) error {
			in.once = r.str(0)
			return nil
		})
	}
	in.find()
	in.findCovering()
	if !in.req.DryRun {
		in.ask("SELECT nextval('duly.seqs') FROM generate_series(1, ?)", []any{len(in.req.Occurrences)}, func(r row) error {
			in.seqs = append(in.seqs, r.int(0))
			return nil
		})
	}
	if in.req.Claim != nil && in.req.Claim.Max > 0 {
		in.claims = newClaiming(in.tx, in.req.Claim)
		in.claims.look(given)
		holder, err := in.maker(in.req.Claim.Node)
		if err != nil {
			return err
		}
		in.claims.holder = holder
	}
	if err := in.send(); err != nil {
		return err
	}
	if in.sched == nil || in.sched.removed {
		return notFound("schedule", id)
	}
	slices.Sort(in.seqs)
	if in.claims != nil {
		in.claims.now = in.now
	}
	return nil
}

// before answers with what a request of the same key made.
func (in *inserting) before() (res []store.Inserted, err error) {
	var seqs []int64
	if err := json.Unmarshal([]byte(in.once), &seqs); err != nil {
		return nil, err
	}
	all := map[int64]*occ{}
	in.askOccs(seqs, all)
	if err := in.send(); err != nil {
		return nil, err
	}
	res = []store.Inserted{}
	for _, seq := range seqs {
		if o := all[seq]; o != nil {
			res = append(res, store.Inserted{ID: o.id(), Seq: o.seq, State: stateCodes[o.state], Existing: true})
		}
	}
	return res, nil
}

// find puts in line to find and lock those that exist.
func (in *inserting) find() {
	periods := make([]string, len(in.req.Occurrences))
	for i, o := range in.req.Occurrences {
		periods[i] = plain(o.Period)
	}
	slices.Sort(periods)
	in.there = map[string]*occ{}
	in.ask(selectOcc+`FROM unnest(?::text[]) u (period) JOIN duly.occurrences o ON o.period = u.period AND o.sid = (SELECT sid FROM duly.schedules WHERE id = ?)
		JOIN duly.tracks t ON t.sid = o.sid`+lockOcc, []any{slices.Compact(periods), in.req.Schedule}, func(r row) error {
		in.there[r.str(3)] = readOcc(r)
		return nil
	})
}

// findCovering puts in line to find and lock those that cover periods that are
// asked for under another one's name. What came after what it covers is due no
// earlier.
func (in *inserting) findCovering() {
	periods, since := make([]string, len(in.req.Occurrences)), int64(math.MaxInt64)
	for i, o := range in.req.Occurrences {
		periods[i], since = plain(o.Period), min(since, micros(o.Due))
	}
	in.covering = map[string]*occ{}
	in.ask(strings.TrimSuffix(selectOcc, " ")+`, o.covers FROM duly.occurrences o JOIN duly.tracks t ON t.sid = o.sid
		WHERE o.sid = (SELECT sid FROM duly.schedules WHERE id = ?) AND o.due >= ? AND o.covers IS NOT NULL AND o.state <> ?
			AND EXISTS (SELECT FROM json_array_elements_text(o.covers::json) c (period) WHERE c.period = ANY(?))`+lockOcc,
		[]any{in.req.Schedule, since, int16(merged), periods}, func(r row) error {
			o := readOcc(r)
			for _, p := range unlist(r.str(17)) {
				in.covering[p] = o
			}
			return nil
		})
}

// meet makes a row for an occurrence, or answers with the one that there is.
func (in *inserting) meet(occ *store.NewOccurrence, there *occ) store.Inserted {
	res := store.Inserted{ID: duly.OccurrenceID(in.req.Schedule, occ.Period), State: duly.Pending}
	if there == nil {
		in.made = append(in.made, res.ID)
		in.rows = append(in.rows, &newRow{NewOccurrence: occ, schedule: in.req.Schedule, sid: in.sched.sid, state: pending, payload: string(in.req.Payload)})
		return res
	}
	res.ID, res.Seq, res.State, res.Existing = there.id(), there.seq, stateCodes[there.state], true
	if was, sent := in.sent[there.seq]; sent { // for another period
		res.State, res.Retried = was, true
		return res
	}
	if slices.Contains(in.req.Retry, res.State) && duly.CanMove(res.State, duly.StepRetry, duly.Pending) {
		res.Retried = true
		in.sent[there.seq] = res.State
		if !in.req.DryRun {
			in.retried = append(in.retried, res.ID)
			in.later(sendBack, waitingAgain(there), plain(because("retried by", in.req.By, in.req.Why)), there.seq)
			in.put(there, pending)
		}
	}
	return res
}

// insertRows puts the new ones in line, and reports whether one is handed out
// at once.
func (in *inserting) insertRows() (claimed bool, err error) {
	if len(in.rows) == 0 {
		return false, nil
	}
	if err := in.complete(); err != nil {
		return false, err
	}
	for i, r := range in.rows {
		r.seq, r.prev = in.seqs[i], in.sched.newest
		in.sched.newest = r.seq
		r.wait(in.now, true) // until it is settled, where it is serial
	}
	c := in.track(&occ{sid: in.sched.sid, open: in.sched.open})
	c.opened += int64(len(in.rows))
	if claimed, err = in.claimLone(); err != nil {
		return false, err
	}
	if claimed {
		c.alone = true
		in.insert(in.rows, 0, in.claims.holder, in.now, in.claims.granted)
		in.claims.addNew()
	} else {
		in.insert(in.rows, 0, 0, in.now, nil)
		in.displace = true
	}
	in.moved(-1, in.rows[0].state, int64(len(in.rows)))
	in.later("UPDATE duly.tracks SET newest = ? WHERE sid = ?", in.sched.newest, in.sched.sid)
	in.told(in.req.Schedule)
	return claimed, nil
}

// claimLone decides whether a lone new occurrence is handed out: nothing of its
// schedule stands before it, and nothing is ready that the claim would have to
// weigh it against.
func (in *inserting) claimLone() (bool, error) {
	c, r := in.claims, in.rows[0]
	if c == nil || len(in.req.Occurrences) > 1 || c.someReady() || c.timePassed || r.Serial && (in.sched.open > 0 || in.sched.held != 0) {
		return false, nil
	}
	r.wait(in.now, false)
	if err := c.takeNew(in.rows); err != nil || len(c.taken) > 0 {
		return err == nil, err
	}
	r.wait(in.now, true)
	return false, nil
}

// complete fills in what the request leaves open: the newest revision, the
// definition of a revision, and the lane.
func (in *inserting) complete() error {
	definitions := map[int64]int64{}
	for _, r := range in.rows {
		if r.Revision == 0 {
			r.Revision = in.sched.revision
		}
		if r.Definition == 0 && r.Revision == in.sched.revision {
			r.Definition = in.sched.definition
		}
		if r.Definition == 0 {
			if definitions[r.Revision] == 0 {
				number, err := in.number("SELECT definition FROM duly.revisions WHERE sid = ? AND number = ?", in.sched.sid, r.Revision)
				if err != nil {
					return err
				}
				if number == 0 {
					return duly.Errorf(duly.CodeInvalid, "schedule %s has no revision %d", in.req.Schedule, r.Revision)
				}
				definitions[r.Revision] = number
			}
			r.Definition = definitions[r.Revision]
		}
		name := laneName{r.Capability, r.Queue}
		var known bool
		if r.laneNumber, known = in.s.names.lane(name); !known {
			if err := in.s.names.learn(in.ctx, in.s, []laneName{name}); err != nil {
				return err
			}
			r.laneNumber, _ = in.s.names.lane(name)
		}
	}
	return nil
}

// remember leaves the audit row and the request's key.
func (in *inserting) remember(res []store.Inserted) error {
	if len(in.made)+len(in.retried) > 0 {
		object, action := "schedule/"+in.req.Schedule, "insert"
		if len(res) > 0 {
			action = string(in.req.Occurrences[0].Origin)
		}
		if len(res) == 1 {
			object = "occurrence/" + res[0].ID
		}
		after, err := json.Marshal(struct {
			Made    []string `json:"made,omitempty"`
			Retried []string `json:"retried,omitempty"`
		}{in.made, in.retried})
		if err != nil {
			return err
		}
		in.audit(in.now, in.req.By, action, object, in.req.Why, nil, after)
	}
	if in.req.Once == "" {
		return nil
	}
	seqs := make([]int64, len(res))
	for i, r := range res {
		seqs[i] = r.Seq
	}
	made, err := json.Marshal(seqs)
	in.later("INSERT INTO duly.once (sid, key, made, created_at) VALUES (?, ?, ?, ?)", in.sched.sid, plain(in.req.Once), string(made), in.now)
	return err
}
