package server

import (
	"strings"
	"testing"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/api"
)

func TestANamedLeaseIsHeldRenewedAndGivenUp(t *testing.T) {
	b := setup(t)
	anna, bert := strings.Repeat("a", 16), strings.Repeat("b", 16)
	l1, err := b.AcquireLease(b.ctx, "nightly/report", api.AcquireRequest{Owner: anna, Holder: "host-1", TTL: duly.Duration(time.Minute)})
	if err != nil {
		t.Fatal(err)
	}
	if l1.Name != "nightly/report" || l1.Token == 0 || l1.Holder != "host-1" || l1.Until.IsZero() {
		t.Errorf("acquired %+v", l1)
	}
	held, err := b.AcquireLease(b.ctx, "nightly/report", api.AcquireRequest{Owner: bert})
	wantCode(t, err, duly.CodeConflict)
	if held.Holder != "host-1" || held.Token != l1.Token || held.Owner != "" {
		t.Errorf("the lease in the way is %+v", held)
	}
	renewed, err := b.RenewLease(b.ctx, "nightly/report", api.RenewLeaseRequest{Owner: anna, TTL: duly.Duration(time.Hour)})
	if err != nil || renewed.Token != l1.Token || !renewed.Until.After(l1.Until) {
		t.Errorf("renewed %+v, %v", renewed, err)
	}
	_, err = b.RenewLease(b.ctx, "nightly/report", api.RenewLeaseRequest{Owner: bert})
	wantCode(t, err, duly.CodeNotHolder)
	wantCode(t, b.ReleaseLease(b.ctx, "nightly/report", bert), duly.CodeNotHolder)
	list, err := b.Leases(b.ctx)
	if err != nil || len(list.Items) != 1 || list.Items[0].Owner != "" || list.Items[0].Holder != "host-1" {
		t.Errorf("the list is %+v, %v", list, err)
	}
	if err := b.ReleaseLease(b.ctx, "nightly/report", anna); err != nil {
		t.Fatal(err)
	}
	l2, err := b.AcquireLease(b.ctx, "nightly/report", api.AcquireRequest{Owner: bert})
	if err != nil || l2.Token <= l1.Token {
		t.Errorf("the next holder has %+v, %v", l2, err)
	}
}

func TestWaitingForALeaseEndsWhenItIsReleased(t *testing.T) {
	b := setup(t)
	anna, bert := strings.Repeat("a", 16), strings.Repeat("b", 16)
	if _, err := b.AcquireLease(b.ctx, "x", api.AcquireRequest{Owner: anna}); err != nil {
		t.Fatal(err)
	}
	type answer struct {
		lease duly.Lease
		err   error
	}
	got := make(chan answer)
	go func() {
		l, err := b.AcquireLease(b.ctx, "x", api.AcquireRequest{Owner: bert, Wait: duly.Duration(30 * time.Second)})
		got <- answer{l, err}
	}()
	for { // until the other is in the queue
		list, err := b.Leases(b.ctx)
		if err != nil {
			t.Fatal(err)
		}
		if list.Items[0].Waiters == 1 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if err := b.ReleaseLease(b.ctx, "x", anna); err != nil {
		t.Fatal(err)
	}
	released := time.Now()
	if a := <-got; a.err != nil || a.lease.Token == 0 {
		t.Errorf("got %+v", a)
	}
	t.Logf("had it %v after the release", time.Since(released))
	if _, err := b.AcquireLease(b.ctx, "x", api.AcquireRequest{Owner: anna, Wait: duly.Duration(20 * time.Millisecond)}); duly.CodeOf(err) != duly.CodeConflict {
		t.Errorf("a wait that is over: %v", err)
	}
}

func TestLeasesThatCannotBeMeantAreRefused(t *testing.T) {
	b := setup(t)
	for claim, tt := range map[string]struct{ path, body, location string }{
		"a secret that is guessed": {"/x/acquire", `{"owner":"me"}`, "body.owner"},
		"too long a lease":         {"/x/acquire", `{"owner":"aaaaaaaaaaaaaaaa","ttl":"2d"}`, "body.ttl"},
		"too long a wait":          {"/x/acquire", `{"owner":"aaaaaaaaaaaaaaaa","wait":"5m"}`, "body.wait"},
		"a name that cannot be":    {"/x%20y/acquire", `{"owner":"aaaaaaaaaaaaaaaa"}`, "body.name"},
		"no owner":                 {"/x/release", `{}`, "body.owner"},
		"renewing for no time":     {"/x/renew", `{"owner":"aaaaaaaaaaaaaaaa","ttl":"1ms"}`, "body.ttl"},
	} {
		p := b.problem(t, 422, "POST", "/api/v1/leases"+tt.path, tt.body)
		if len(p.Errors) != 1 || p.Errors[0].Location != tt.location {
			t.Errorf("%s: %+v", claim, p.Errors)
		}
	}
}
