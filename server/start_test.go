package server

import (
	"testing"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/api"
)

func TestAPlatformsCronMeetsTheSameOccurrenceHoweverOftenItStartsIt(t *testing.T) {
	b := setup(t)
	due := time.Date(2026, 11, 28, 3, 0, 12, 0, time.UTC)
	req := api.StartRequest{Due: due, Define: &duly.Schedule{External: true, Period: duly.PeriodDay, Timezone: "Europe/Berlin"}}
	first, err := b.Start(b.ctx, "backup", req)
	if err != nil {
		t.Fatal(err)
	}
	if first.Occurrence.ID != "backup@2026-11-28" || first.Occurrence.State != duly.Pending || first.Occurrence.Origin != duly.OriginExternal {
		t.Errorf("started %+v", first)
	}
	again, err := b.Start(b.ctx, "backup", api.StartRequest{Period: "2026-11-28"})
	if err != nil || again.Occurrence.Seq != first.Occurrence.Seq || again.Capability != first.Capability {
		t.Errorf("again: %+v, %v", again, err)
	}
	node := b.join(t)
	res, err := b.Claim(b.ctx, api.ClaimRequest{Node: node, Max: 5, Capabilities: []string{first.Capability}})
	if err != nil || len(res.Claims) != 1 || res.Claims[0].Occurrence != first.Occurrence.ID {
		t.Fatalf("claimed %+v, %v", res, err)
	}
	b.finishOne(t, node, res.Claims[0], duly.AttemptSucceeded, api.Details{})
	if done, err := b.Start(b.ctx, "backup", req); err != nil || done.Occurrence.State != duly.Succeeded {
		t.Errorf("a period that is done: %+v, %v", done, err)
	}
	_, err = b.Start(b.ctx, "nobody", api.StartRequest{})
	wantCode(t, err, duly.CodeNotFound)
	b.put(t, daily("a"))
	_, err = b.Start(b.ctx, "a", api.StartRequest{})
	wantCode(t, err, duly.CodeConflict)
}
