package postgres

import (
	"context"
	"encoding/json"
	"slices"

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
	return write(ctx, s, func(t *tx) ([]store.Inserted, error) {
		in := &inserting{endings: newEndings(t, 0), req: &req}
		return in.run()
	})
}

type inserting struct {
	*endings
	req           *store.InsertRequest
	sched         *sched
	rows          []*newRow
	made, retried []string
}

func (in *inserting) run() (res []store.Inserted, err error) {
	if in.sched, err = in.existing(in.req.Schedule); err != nil {
		return nil, err
	}
	if in.now, err = in.clock(in.req.Now); err != nil {
		return nil, err
	}
	if in.req.Once != "" {
		if res, err = in.before(); err != nil || res != nil {
			return res, err
		}
	}
	there, err := in.find()
	if err != nil {
		return nil, err
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
		if res[i] = in.meet(&occ, there[occ.Period]); !res[i].Existing {
			new[occ.Period] = i
		}
	}
	if in.req.DryRun {
		return res, nil
	}
	seqs, err := in.insertRows()
	if err != nil {
		return nil, err
	}
	for i, o := range in.req.Occurrences {
		if first, ok := new[o.Period]; ok {
			res[i].Seq = seqs[res[first].ID]
		}
	}
	if err := in.remember(res); err != nil {
		return nil, err
	}
	in.close()
	return res, nil
}

// before answers with what a request of the same key made.
func (in *inserting) before() (res []store.Inserted, err error) {
	var made string
	found, err := in.one("SELECT made FROM duly.once WHERE sid = ? AND key = ?", []any{in.sched.sid, plain(in.req.Once)}, func(r row) { made = r.str(0) })
	if err != nil || !found {
		return nil, err
	}
	var seqs []int64
	if err := json.Unmarshal([]byte(made), &seqs); err != nil {
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

// find finds and locks those that exist.
func (in *inserting) find() (map[string]*occ, error) {
	periods := make([]string, len(in.req.Occurrences))
	for i, o := range in.req.Occurrences {
		periods[i] = plain(o.Period)
	}
	slices.Sort(periods)
	there := map[string]*occ{}
	err := in.query(selectOcc+"FROM unnest(?::text[]) u (period) JOIN duly.occurrences o ON o.period = u.period AND o.sid = ? JOIN duly.tracks t ON t.sid = o.sid"+lockOcc,
		[]any{slices.Compact(periods), in.sched.sid}, func(r row) error {
			there[r.str(3)] = readOcc(r)
			return nil
		})
	return there, err
}

// meet makes a row for an occurrence, or answers with the one that there is.
func (in *inserting) meet(occ *store.NewOccurrence, there *occ) store.Inserted {
	res := store.Inserted{ID: duly.OccurrenceID(in.req.Schedule, occ.Period), State: duly.Pending}
	if there == nil {
		in.made = append(in.made, res.ID)
		in.rows = append(in.rows, &newRow{NewOccurrence: occ, sid: in.sched.sid, state: pending, payload: string(in.req.Payload)})
		return res
	}
	res.Seq, res.State, res.Existing = there.seq, stateCodes[there.state], true
	if slices.Contains(in.req.Retry, res.State) && duly.CanMove(res.State, duly.StepRetry, duly.Pending) {
		res.Retried = true
		if !in.req.DryRun {
			in.retried = append(in.retried, res.ID)
			in.later(sendBack, waitingAgain(there), plain(because("retried by", in.req.By, in.req.Why)), there.seq)
			in.put(there, pending)
		}
	}
	return res
}

// insertRows inserts the new ones and answers their seqs by ID.
func (in *inserting) insertRows() (map[string]int64, error) {
	if len(in.rows) == 0 {
		return nil, nil
	}
	if err := in.complete(); err != nil {
		return nil, err
	}
	var seqs []int64
	if err := in.query("SELECT nextval('duly.seqs') FROM generate_series(1, ?)", []any{len(in.rows)}, func(r row) error {
		seqs = append(seqs, r.int(0))
		return nil
	}); err != nil {
		return nil, err
	}
	slices.Sort(seqs)
	byID := map[string]int64{}
	for i, r := range in.rows {
		r.seq, r.prev = seqs[i], in.sched.newest
		in.sched.newest = r.seq
		byID[duly.OccurrenceID(in.req.Schedule, r.Period)] = r.seq
		r.wait(in.now, true) // until it is settled, where it is serial
	}
	n := int64(len(in.rows))
	in.insert(in.rows, 0, 0, in.now, nil)
	in.later("UPDATE duly.tracks SET newest = ? WHERE sid = ?", in.sched.newest, in.sched.sid)
	in.moved(-1, pending, n)
	c := in.track(&occ{sid: in.sched.sid, open: in.sched.open})
	c.opened += n
	in.displace = true
	in.told(in.req.Schedule)
	return byID, nil
}

// complete fills in what the request leaves open: the newest revision, the
// definition of a revision, and the lane.
func (in *inserting) complete() error {
	definitions := map[int64]int64{}
	for _, r := range in.rows {
		if r.Revision == 0 {
			r.Revision = in.sched.revision
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
