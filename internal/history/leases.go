package history

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

type verb string

const (
	acquire verb = "acquire"
	extend  verb = "renew"
	release verb = "release"
)

type leaseIn struct {
	verb  verb
	name  string
	owner string
}

type leaseOut struct {
	code  duly.Code // empty: it was granted
	lease duly.Lease
	err   error
	heard time.Time // by this machine's clock, which the store's is too
}

// Leases has clients fight for two named leases of a length, and answers what
// each heard. A lease that is shorter than the load takes runs out on the way.
func Leases(ctx context.Context, st store.Leases, l Load, ttl time.Duration) []porcupine.Operation {
	l = l.withDefaults()
	return record(l, func(r *recorder, client int, rng *rand.Rand) {
		for range l.Ops {
			in := leaseIn{verb: []verb{acquire, acquire, extend, release}[rng.IntN(4)], name: fmt.Sprint("lease-", rng.IntN(2)), owner: fmt.Sprint("client-", client)}
			r.do(client, in, func() any {
				var out leaseOut
				switch in.verb {
				case acquire:
					out.lease, out.err = st.Acquire(ctx, store.AcquireRequest{Name: in.name, Owner: in.owner, TTL: ttl})
				case extend:
					out.lease, out.err = st.RenewLease(ctx, in.name, in.owner, ttl)
				case release:
					out.err = st.ReleaseLease(ctx, in.name, in.owner)
				}
				out.code, out.heard = duly.CodeOf(out.err), time.Now()
				return out
			})
		}
	})
}

// leaseState is one lease in the model.
type leaseState struct {
	owner string
	until time.Time // by the store's clock, as it told
	last  int64     // the newest token
}

// CheckLeases answers whether a history of leases is linearizable.
func CheckLeases(ops []porcupine.Operation) porcupine.CheckResult {
	return check(porcupine.Model{
		Partition: func(all []porcupine.Operation) [][]porcupine.Operation {
			byName := map[string][]porcupine.Operation{}
			for _, op := range all {
				byName[op.Input.(leaseIn).name] = append(byName[op.Input.(leaseIn).name], op)
			}
			var parts [][]porcupine.Operation
			for _, part := range byName {
				parts = append(parts, part)
			}
			return parts
		},
		Init: func() any { return leaseState{} },
		Step: func(state, input, output any) (bool, any) {
			return state.(leaseState).step(input.(leaseIn), output.(leaseOut))
		},
		Equal: func(a, b any) bool {
			x, y := a.(leaseState), b.(leaseState)
			return x.owner == y.owner && x.last == y.last && x.until.Equal(y.until)
		},
	}, ops)
}

// step says whether an answer can be right in a state, and what comes of it. A
// holder may have run out without anybody having said so: then the answer tells
// by its times.
func (s leaseState) step(in leaseIn, out leaseOut) (bool, leaseState) {
	mine := s.owner == in.owner
	switch {
	case out.code != "" && out.code != duly.CodeConflict && out.code != duly.CodeNotHolder:
		return false, s
	case in.verb == acquire && out.code == "":
		if mine && out.lease.Token == s.last { // renewed
			s.until = out.lease.Until
			return true, s
		}
		free := s.owner == "" || !out.lease.AcquiredAt.Before(s.until)
		return free && out.lease.Token > s.last, leaseState{owner: in.owner, until: out.lease.Until, last: out.lease.Token}
	case in.verb == acquire: // refused, and told who holds it
		return s.owner != "" && !mine && out.lease.Token == s.last && out.lease.Until.Equal(s.until), s
	case out.code == duly.CodeNotHolder: // taken over, released, or run out
		return !mine || !s.until.After(out.heard), s
	case in.verb == release:
		return mine, leaseState{last: s.last}
	}
	s.until = out.lease.Until
	return mine && out.lease.Token == s.last, s
}
