package server

import (
	"strings"
	"testing"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/api"
	"github.com/duly-dev/duly/store"
)

func TestAPausedQueueSaysWhoAndWhyAndHandsOutNothing(t *testing.T) {
	b := setup(t)
	s := daily("a")
	s.Queue = "billing"
	b.put(t, s)
	session := b.join(t)
	b.trigger(t, "a")
	until := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	q, err := b.PauseQueue(b.ctx, "billing", api.PauseQueueRequest{Why: "the bank is down", Until: until})
	if err != nil {
		t.Fatal(err)
	}
	if q.Name != "billing" || q.Pending != 1 || q.Paused == nil || q.Paused.By != "anna" || q.Paused.Why != "the bank is down" || !q.Paused.Until.Equal(until) {
		t.Errorf("the queue is %+v, paused %+v", q, q.Paused)
	}
	if _, text := b.raw(t, "GET", "/", ""); !strings.Contains(text, "Paused queues") || !strings.Contains(text, "the bank is down") {
		t.Error("the page does not show the pause")
	}
	res, err := b.store.Claim(b.ctx, store.ClaimRequest{Node: session, Max: 1, Capabilities: []string{"handler:work"}})
	if err != nil || len(res.Claims) != 0 {
		t.Errorf("claimed %+v, %v", res.Claims, err)
	}
	if q, err = b.ResumeQueue(b.ctx, "billing"); err != nil || q.Paused != nil {
		t.Errorf("after a resume: %+v, %v", q.Paused, err)
	}
	b.claimOne(t, session)
	if _, text := b.raw(t, "GET", "/", ""); strings.Contains(text, "Paused queues") {
		t.Error("the page still shows a pause")
	}

	_, err = b.ResumeQueue(b.ctx, "billing")
	wantCode(t, err, duly.CodeConflict)
	_, err = b.PauseQueue(b.ctx, "nobody", api.PauseQueueRequest{})
	wantCode(t, err, duly.CodeNotFound)
	_, err = b.PauseQueue(b.ctx, "billing", api.PauseQueueRequest{Until: time.Now().Add(-time.Hour)})
	wantCode(t, err, duly.CodeInvalid)
}
