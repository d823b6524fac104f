package sqlite

import (
	"context"
	"encoding/json"
	"math"
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
	return write(ctx, s, func(t *tx) ([]store.Inserted, error) {
		in := &inserting{endings: newEndings(t, at(req.Now)), req: &req, sent: map[int64]duly.State{}}
		return in.run()
	})
}

type inserting struct {
	*endings
	req           *store.InsertRequest
	sched         *sched
	covering      map[string]int64 // by period, who covers it under another name
	made, retried []string
	sent          map[int64]duly.State // by seq, what is retried and its state before
}

func (in *inserting) run() (res []store.Inserted, err error) {
	if in.sched, err = in.existing(bg, in.req.Schedule); err != nil {
		return nil, err
	}
	if in.req.Once != "" {
		if res, err = in.before(); err != nil || res != nil {
			return res, err
		}
	}
	if err := in.findCovering(); err != nil {
		return nil, err
	}
	newest := in.sched.newest
	for i := range in.req.Occurrences {
		occ := in.req.Occurrences[i] // a copy: the request is the caller's
		one, err := in.occurrence(&occ)
		if err != nil {
			return nil, err
		}
		res = append(res, one)
	}
	if in.req.DryRun {
		return res, nil
	}
	if newest != in.sched.newest {
		if _, err := in.exec("UPDATE schedules SET newest = ? WHERE sid = ?", in.sched.newest, in.sched.sid); err != nil {
			return nil, err
		}
	}
	if err := in.remember(res); err != nil {
		return nil, err
	}
	if err := in.close(); err != nil {
		return nil, err
	}
	return res, in.claim(res)
}

// claim hands out a lone new occurrence, if that is what a claim would take now.
func (in *inserting) claim(res []store.Inserted) error {
	if in.req.Claim == nil || in.req.Claim.Max <= 0 || len(res) != 1 || len(in.made) != 1 {
		return nil
	}
	one := *in.req.Claim
	one.Max = 1
	c, err := newClaiming(in.tx, in.now, &one)
	if err != nil {
		return err
	}
	if err := c.choose(nil); err != nil || len(c.picked) != 1 || c.picked[0].seq != res[0].Seq {
		return err
	}
	if err := c.hand(); err != nil {
		return err
	}
	res[0].State, res[0].Claim = duly.Running, &c.res.Claims[0]
	return nil
}

// before answers with what a request of the same key made.
func (in *inserting) before() (res []store.Inserted, err error) {
	var made string
	found, err := in.tx.one(bg, "SELECT made FROM once WHERE sid = ? AND key = ?", []any{in.sched.sid, in.req.Once}, func(r row) { made = r.str(0) })
	if err != nil || !found {
		return nil, err
	}
	var seqs []int64
	if err := json.Unmarshal([]byte(made), &seqs); err != nil {
		return nil, err
	}
	all, err := in.occs(seqs)
	if err != nil {
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

// occurrence makes an occurrence, or answers with the one that there is.
func (in *inserting) occurrence(occ *store.NewOccurrence) (res store.Inserted, err error) {
	res.ID = duly.OccurrenceID(in.req.Schedule, occ.Period)
	there, err := in.find(occ.Period)
	if err != nil {
		return res, err
	}
	if there != nil {
		res.ID, res.Seq, res.State, res.Existing = there.id(), there.seq, stateCodes[there.state], true
		if was, sent := in.sent[there.seq]; sent { // for another period
			res.State, res.Retried = was, true
			return res, nil
		}
		if !slices.Contains(in.req.Retry, res.State) || !duly.CanMove(res.State, duly.StepRetry, duly.Pending) {
			return res, nil
		}
		res.Retried = true
		in.sent[there.seq] = res.State
		if in.req.DryRun {
			return res, nil
		}
		in.retried = append(in.retried, res.ID)
		return res, in.sendBack(there)
	}
	res.State = duly.Pending
	if in.req.DryRun {
		return res, nil
	}
	if err := in.revision(occ); err != nil {
		return res, err
	}
	r := &newRow{NewOccurrence: occ, sid: in.sched.sid, state: pending, payload: string(in.req.Payload)}
	if r.lane, r.queue, err = in.lane(occ.Capability, occ.Queue); err != nil {
		return res, err
	}
	if r.seq, err = in.reserve(counterSeq, 1); err != nil {
		return res, err
	}
	r.wait(in.now, true) // until it is settled, where it is serial
	inserted, err := in.insert(r, in.sched.newest, in.now)
	if err != nil {
		return res, err
	}
	if !inserted {
		return res, duly.Errorf(duly.CodeInternal, "%s was not there and cannot be made", res.ID)
	}
	in.sched.newest, res.Seq = r.seq, r.seq
	in.made = append(in.made, res.ID)
	in.settle[in.sched.sid] = true
	in.told(in.req.Schedule)
	return res, in.moved(-1, pending, 1)
}

// revision fills in what the request leaves open: the newest revision, and the
// definition of a revision.
func (in *inserting) revision(occ *store.NewOccurrence) error {
	if occ.Revision == 0 {
		occ.Revision = in.sched.revision
	}
	if occ.Definition != 0 {
		return nil
	}
	found, err := in.tx.one(bg, "SELECT definition FROM revisions WHERE sid = ? AND number = ?", []any{in.sched.sid, occ.Revision}, func(r row) { occ.Definition = r.int(0) })
	if err == nil && !found {
		err = duly.Errorf(duly.CodeInvalid, "schedule %s has no revision %d", in.req.Schedule, occ.Revision)
	}
	return err
}

func (in *inserting) find(period string) (o *occ, err error) {
	_, err = in.tx.one(bg, selectOcc+"WHERE o.period = ? AND o.sid = ?", []any{period, in.sched.sid}, func(r row) { o = readOcc(r) })
	if seq := in.covering[period]; o == nil && err == nil && seq != 0 {
		_, err = in.tx.one(bg, selectOcc+"WHERE o.seq = ?", []any{seq}, func(r row) { o = readOcc(r) })
	}
	return o, err
}

// findCovering finds those that cover periods under another one's name. What
// came after what it covers is due no earlier.
func (in *inserting) findCovering() error {
	since := int64(math.MaxInt64)
	for _, o := range in.req.Occurrences {
		since = min(since, micros(o.Due))
	}
	in.covering = map[string]int64{}
	return in.query(bg, "SELECT seq, covers FROM occurrences INDEXED BY occurrences_covering WHERE sid = ? AND due >= ? AND covers IS NOT NULL AND state <> ?",
		[]any{in.sched.sid, since, merged}, func(r row) error {
			for _, p := range unlist(r.str(1)) {
				in.covering[p] = max(in.covering[p], r.int(0))
			}
			return nil
		})
}

// sendBack is a retry that a backfill asks for.
func (in *inserting) sendBack(o *occ) error {
	if _, err := in.exec(sendBack, waitingAgain(o), because("retried by", in.req.By, in.req.Why), o.seq); err != nil {
		return err
	}
	in.moves[[2]int64{o.state, pending}]++
	in.settle[o.sid] = true
	in.told(o.schedule)
	return in.hold(o, false)
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
		if err := in.audit(in.now, in.req.By, action, object, in.req.Why, nil, after); err != nil {
			return err
		}
	}
	if in.req.Once == "" {
		return nil
	}
	seqs := make([]int64, len(res))
	for i, r := range res {
		seqs[i] = r.Seq
	}
	made, err := json.Marshal(seqs)
	if err != nil {
		return err
	}
	_, err = in.exec("INSERT INTO once (sid, key, made, created_at) VALUES (?, ?, ?, ?)", in.sched.sid, in.req.Once, string(made), in.now)
	return err
}
