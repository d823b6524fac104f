package server

import (
	"testing"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/api"
)

func TestAPersonSaysWhatBecameOfAnUncertainOccurrence(t *testing.T) {
	for _, to := range []duly.State{duly.Succeeded, duly.Pending} {
		t.Run(string(to), func(t *testing.T) {
			b := setup(t)
			s := daily("a")
			b.put(t, s)
			id := b.trigger(t, "a").ID
			_, err := b.Resolve(b.ctx, id, api.ResolveRequest{To: to})
			wantCode(t, err, duly.CodeConflict)

			node := b.join(t)
			res, err := b.Claim(b.ctx, api.ClaimRequest{Node: node, Max: 1, Capabilities: []string{s.Target.Capability()}})
			if err != nil || len(res.Claims) != 1 {
				t.Fatalf("claimed %+v, %v", res, err)
			}
			b.finishOne(t, node, res.Claims[0], duly.AttemptUncertain, api.Details{})
			for _, wrong := range []duly.State{"", duly.Cancelled, duly.Running} {
				_, err = b.Resolve(b.ctx, id, api.ResolveRequest{To: wrong})
				wantCode(t, err, duly.CodeInvalid)
			}
			o, err := b.As("ann").Resolve(b.ctx, id, api.ResolveRequest{To: to, Why: "the bank\x00 says so"})
			if err != nil || o.State != to {
				t.Fatalf("resolved as %+v, %v", o, err)
			}
			audit, err := b.Audit(b.ctx, api.AuditQuery{Object: "occurrence/" + id})
			if err != nil || len(audit.Items) == 0 || audit.Items[0].Action != "resolve" || audit.Items[0].By != "ann" || audit.Items[0].Why != "the bank says so" {
				t.Errorf("audit %+v, %v", audit.Items, err)
			}
		})
	}
	b := setup(t)
	_, err := b.Resolve(b.ctx, "a@2026-11-28", api.ResolveRequest{To: duly.Pending})
	wantCode(t, err, duly.CodeNotFound)
}
