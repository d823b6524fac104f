package history

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

const (
	occurrences = 12
	// Concurrency is that of the queue in which the load takes place.
	Concurrency = 2

	handler   = "h"
	queueName = "history"
)

type claimIn struct {
	max     int   // a claim, if not 0
	seq     int64 // otherwise a report or a renewal
	token   int64
	outcome duly.Outcome // empty: a renewal
}

type claimOut struct {
	claims []store.Claim
	code   duly.Code
	lost   bool
	err    error
}

// Claims makes occurrences in a queue, has clients claim them, renew, report
// successes and failures, and report again what was superseded meanwhile, and
// answers what each heard.
func Claims(ctx context.Context, st store.Store, l Load) ([]porcupine.Operation, error) {
	l = l.withDefaults()
	if err := prepare(ctx, st); err != nil {
		return nil, err
	}
	return record(l, func(r *recorder, client int, rng *rand.Rand) {
		c := &claimer{ctx: ctx, st: st, r: r, client: client, rng: rng}
		for range l.Ops {
			c.step()
		}
	}), nil
}

func prepare(ctx context.Context, st store.Store) error {
	s := duly.Schedule{ID: "history", Timing: duly.Timing{Every: duly.Duration(1000 * time.Hour)}, Overlap: duly.OverlapAllow, Queue: queueName, Target: duly.Target{Handler: handler}}
	_, err := st.Apply(ctx, store.ApplyRequest{
		Owner: "history", By: "history", Queues: []duly.Queue{{Name: queueName, Concurrency: Concurrency}},
		Schedules: []store.Definition{{Schedule: s, Next: func(_, after time.Time) time.Time { return after.Add(1000 * time.Hour) }}},
	})
	if err != nil {
		return err
	}
	req := store.InsertRequest{Schedule: s.ID, By: "history"}
	for i := range occurrences {
		req.Occurrences = append(req.Occurrences, store.NewOccurrence{
			Period: fmt.Sprint("manual-", i), Due: time.Now().Add(-time.Minute), State: duly.Pending, Origin: duly.OriginTrigger,
			Placement: store.Placement{Capability: s.Target.Capability(), Queue: queueName, Lease: time.Hour},
		})
	}
	_, err = st.Insert(ctx, req)
	return err
}

// claimer is a client with what it holds and what it once held.
type claimer struct {
	ctx    context.Context
	st     store.Store
	r      *recorder
	client int
	rng    *rand.Rand
	held   []store.Claim
	old    []store.Claim
}

func (c *claimer) step() {
	dice := c.rng.IntN(10)
	switch {
	case len(c.held) == 0 && (dice < 8 || len(c.old) == 0):
		c.claim(1 + c.rng.IntN(2))
	case len(c.held) == 0 || dice == 0 && len(c.old) > 0:
		if k := c.old[c.rng.IntN(len(c.old))]; c.rng.IntN(2) == 0 {
			c.renew(k)
		} else {
			c.report(k, duly.AttemptSucceeded)
		}
	case dice < 3:
		c.renew(c.held[0])
	default:
		outcome := duly.AttemptFailed
		if dice < 5 {
			outcome = duly.AttemptSucceeded
		}
		k := c.held[0]
		c.held, c.old = c.held[1:], append(c.old, k)
		c.report(k, outcome)
	}
}

func (c *claimer) claim(max int) {
	out := c.r.do(c.client, claimIn{max: max}, func() any {
		res, err := c.st.Claim(c.ctx, store.ClaimRequest{Max: max, Capabilities: []string{"handler:" + handler}})
		return claimOut{claims: res.Claims, code: duly.CodeOf(err), err: err}
	}).(claimOut)
	c.held = append(c.held, out.claims...)
}

func (c *claimer) renew(k store.Claim) {
	c.r.do(c.client, claimIn{seq: k.Seq, token: k.Token}, func() any {
		all, err := c.st.Renew(c.ctx, 0, []store.Renewal{{Seq: k.Seq, Token: k.Token, Lease: time.Hour}})
		return claimOut{code: duly.CodeOf(err), lost: err == nil && all[0].Lost, err: err}
	})
}

// report sends an occurrence back after a failure, so that it is claimed again
// and tokens are superseded.
func (c *claimer) report(k store.Claim, outcome duly.Outcome) {
	next := store.Next{State: duly.Pending}
	if outcome == duly.AttemptSucceeded {
		next.State = duly.Succeeded
	}
	c.r.do(c.client, claimIn{seq: k.Seq, token: k.Token, outcome: outcome}, func() any {
		all, err := c.st.Finish(c.ctx, 0, []store.Report{{Seq: k.Seq, Token: k.Token, Outcome: outcome, Next: next}})
		if err == nil {
			err = all[0].Err
		}
		return claimOut{code: duly.CodeOf(err), err: err}
	})
}

// claimState is the queue in the model. It is never changed, only replaced.
type claimState map[int64]occState

type occState struct {
	running  bool
	done     bool
	token    int64
	attempt  int
	outcomes string // what was accepted, by token
}

// CheckClaims answers whether a history of claims is linearizable. exact says
// that a claim never hands out less than there is and may run; a store that
// passes over what another claim is at may.
func CheckClaims(ops []porcupine.Operation, exact bool) porcupine.CheckResult {
	return check(porcupine.Model{
		Init: func() any { return claimState{} },
		Step: func(state, input, output any) (bool, any) {
			return state.(claimState).step(input.(claimIn), output.(claimOut), exact)
		},
		Equal: func(a, b any) bool { return maps.Equal(a.(claimState), b.(claimState)) },
	}, ops)
}

func (s claimState) step(in claimIn, out claimOut, exact bool) (bool, claimState) {
	if in.max > 0 {
		return s.claim(in, out, exact)
	}
	o := s[in.seq]
	owns := o.running && o.token == in.token
	told := fmt.Sprint(" ", in.token, " ", in.outcome, ";")
	switch {
	case in.outcome == "":
		return out.code == "" && out.lost == !owns, s
	case owns:
		o.running, o.done = false, in.outcome == duly.AttemptSucceeded
		o.outcomes += told
		return out.code == "", s.with(in.seq, o)
	case o.token == in.token: // reported before: answered as it was then
		return out.code == "", s
	case in.outcome == duly.AttemptSucceeded && !strings.Contains(o.outcomes, told):
		return out.code == duly.CodeStaleToken, s
	}
	return out.code == "", s
}

func (s claimState) claim(in claimIn, out claimOut, exact bool) (bool, claimState) {
	running, pending := 0, occurrences
	for _, o := range s {
		if o.running {
			running++
		}
		if o.running || o.done {
			pending--
		}
	}
	most := min(in.max, pending, Concurrency-running)
	if out.code != "" || len(out.claims) > most || exact && len(out.claims) < most {
		return false, s
	}
	for _, k := range out.claims {
		o := s[k.Seq]
		if o.running || o.done || k.Token <= o.token || k.Attempt != o.attempt+1 {
			return false, s
		}
		o.running, o.token, o.attempt = true, k.Token, k.Attempt
		s = s.with(k.Seq, o)
	}
	return true, s
}

func (s claimState) with(seq int64, o occState) claimState {
	next := maps.Clone(s)
	next[seq] = o
	return next
}
