package sqlite

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

func TestSmoke(t *testing.T) {
	ctx := context.Background()
	s, err := Open(ctx, "sqlite:"+filepath.Join(t.TempDir(), "duly.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	node, err := s.Join(ctx, store.NodeInfo{Name: "n1", TTL: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now().Add(-time.Minute).Truncate(time.Second)
	next := func(anchor, after time.Time) time.Time { return after.Add(10 * time.Second).Truncate(10 * time.Second) }
	res, err := s.Apply(ctx, store.ApplyRequest{Now: start, Owner: "test", By: "me", Schedules: []store.Definition{{
		Schedule: duly.Schedule{ID: "a", Timing: duly.Timing{Every: duly.Duration(10 * time.Second)}, Target: duly.Target{Handler: "h"}}, Next: next,
	}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", res)
	plan := func(now time.Time, due []store.DueSchedule) (all []store.Firing) {
		for _, d := range due {
			f := store.Firing{Schedule: d.Schedule, Cursor: now, NextDue: next(d.Anchor, now)}
			for at := next(d.Anchor, d.Cursor); !at.After(now); at = next(d.Anchor, at) {
				f.Occurrences = append(f.Occurrences, store.NewOccurrence{
					Period: at.UTC().Format(time.RFC3339), Due: at, State: duly.Pending, Origin: duly.OriginSchedule, Revision: d.Revisions[0].Number,
					Definition: d.Revisions[0].Definition, Placement: store.Placement{Capability: "handler:h", Serial: true, Lease: time.Minute},
				})
			}
			all = append(all, f)
		}
		return all
	}
	claim := store.ClaimRequest{Node: node, Max: 10, Capabilities: []string{"handler:h"}}
	fired, err := s.Fire(ctx, store.FireRequest{Node: node, Plan: plan, Claim: &claim})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", fired)
	claims := fired.Claims
	for len(claims) > 0 {
		c := claims[0]
		fin, err := s.Finish(ctx, node, []store.Report{{Seq: c.Seq, Token: c.Token, Outcome: duly.AttemptSucceeded, Output: "hello", Next: store.Next{State: duly.Succeeded}}})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%+v", fin)
		r, err := s.Claim(ctx, claim)
		if err != nil {
			t.Fatal(err)
		}
		claims = r.Claims
	}
	for _, f := range fired.Fired {
		o, err := s.Occurrence(ctx, duly.OccurrenceID(f.Schedule, f.Period))
		if err != nil || o.State != duly.Succeeded {
			t.Fatalf("%+v %v", o, err)
		}
	}
	h, err := s.Horizon(ctx)
	t.Logf("%+v %v", h, err)
	list, next2, err := s.Occurrences(ctx, store.OccurrenceFilter{Schedule: "a"}, store.Page{Limit: 3})
	t.Logf("%+v %v %v", len(list), next2, err)
	st, err := s.Stats(ctx)
	t.Logf("%+v %v", st, err)
	sc, err := s.Schedule(ctx, "a")
	t.Logf("%+v %v", sc, err)
}
