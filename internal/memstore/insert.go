package memstore

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// Insert implements store.Operator.
func (s *Store) Insert(ctx context.Context, req store.InsertRequest) ([]store.Inserted, error) {
	for _, o := range req.Occurrences {
		if !duly.CanMove("", duly.StepInsert, o.State) {
			return nil, duly.Invalid("state", "a person asks for occurrences that are pending, not %q", o.State)
		}
	}
	return step(ctx, s, func() ([]store.Inserted, error) {
		sc, err := s.existing(req.Schedule)
		if err != nil {
			return nil, err
		}
		if before, seen := sc.once[req.Once]; seen && req.Once != "" {
			return s.madeThen(before), nil
		}
		now := s.now(req.Now)
		occs := slices.Clone(req.Occurrences) // the request is the caller's
		for i := range occs {
			if err := sc.complete(&occs[i]); err != nil {
				return nil, err
			}
		}
		res := make([]store.Inserted, len(occs))
		covering, sent := sc.covering(), map[*occurrence]duly.State{}
		for i := range occs {
			there := cmp.Or(sc.occurrences[occs[i].Period], covering[occs[i].Period])
			res[i] = s.insertOne(sc, &occs[i], there, sent, &req, now)
		}
		if !req.DryRun {
			s.remember(sc, &req, res, now)
			s.handOut(&req, res, now)
		}
		return res, nil
	})
}

// madeThen answers with what a request of the same key made.
func (s *Store) madeThen(before once) []store.Inserted {
	res := []store.Inserted{}
	for _, seq := range before.seqs {
		if o := s.bySeq[seq]; o != nil {
			res = append(res, store.Inserted{ID: o.ID, Seq: seq, State: o.State, Existing: true})
		}
	}
	return res
}

// complete fills in what a request leaves open: the newest revision, and the
// definition of a revision.
func (sc *schedule) complete(n *store.NewOccurrence) error {
	if n.Revision == 0 {
		n.Revision = sc.revision().Number
	}
	if n.Definition != 0 {
		return nil
	}
	i := slices.IndexFunc(sc.revisions, func(r store.Revision) bool { return r.Number == n.Revision })
	if i < 0 {
		return duly.Errorf(duly.CodeInvalid, "schedule %s has no revision %d", sc.id, n.Revision)
	}
	n.Definition = sc.revisions[i].Definition
	return nil
}

// covering lists by period who covers it under another one's name.
func (sc *schedule) covering() map[string]*occurrence {
	all := map[string]*occurrence{}
	for _, o := range sc.chain {
		if len(o.Covers) > 1 && o.State != duly.Merged {
			for _, p := range o.Covers {
				all[p] = o
			}
		}
	}
	return all
}

// insertOne makes an occurrence, or answers with the one that there is. sent
// has what was retried so far, with its state before.
func (s *Store) insertOne(sc *schedule, n *store.NewOccurrence, o *occurrence, sent map[*occurrence]duly.State, req *store.InsertRequest, now time.Time) store.Inserted {
	res := store.Inserted{ID: duly.OccurrenceID(sc.id, n.Period), State: duly.Pending}
	if o != nil {
		res.ID, res.Seq, res.State, res.Existing = o.ID, o.Seq, o.State, true
		if was, again := sent[o]; again { // for another period
			res.State, res.Retried = was, true
			return res
		}
		res.Retried = slices.Contains(req.Retry, o.State) && duly.CanMove(o.State, duly.StepRetry, duly.Pending)
		if res.Retried {
			sent[o] = o.State
		}
		if res.Retried && !req.DryRun {
			s.sendBack(o, because("retried by", req.By, req.Why))
		}
		return res
	}
	if req.DryRun {
		return res
	}
	o = s.insert(sc, n, now)
	o.payload = req.Payload
	res.Seq = o.Seq
	return res
}

// handOut hands out a lone new occurrence, if that is what a claim would take.
func (s *Store) handOut(req *store.InsertRequest, res []store.Inserted, now time.Time) {
	if req.Claim == nil || req.Claim.Max <= 0 || len(res) != 1 || res[0].Existing {
		return
	}
	one := *req.Claim
	one.Max = 1
	s.expire(now)
	if picked := s.pick(&one, now); len(picked) == 1 && picked[0].Seq == res[0].Seq {
		c := s.start(picked[0], one.Node, now)
		res[0].State, res[0].Claim = duly.Running, &c
	}
}

// remember leaves the audit row and the request's key.
func (s *Store) remember(sc *schedule, req *store.InsertRequest, res []store.Inserted, now time.Time) {
	var done struct {
		Made    []string `json:"made,omitempty"`
		Retried []string `json:"retried,omitempty"`
	}
	var seqs []int64
	for _, r := range res {
		seqs = append(seqs, r.Seq)
		switch {
		case r.Retried && slices.Contains(done.Retried, r.ID): // for another period
		case r.Retried:
			done.Retried = append(done.Retried, r.ID)
		case !r.Existing:
			done.Made = append(done.Made, r.ID)
		}
	}
	if len(done.Made)+len(done.Retried) > 0 {
		object := "schedule/" + sc.id
		if len(res) == 1 {
			object = "occurrence/" + res[0].ID
		}
		s.note(now, req.By, string(req.Occurrences[0].Origin), object, req.Why, nil, mustJSON(done))
	}
	if req.Once != "" {
		sc.once[req.Once] = once{seqs, now}
	}
}
