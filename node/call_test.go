package node_test

import (
	"context"
	"strings"
	"testing"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/node"
	"github.com/duly-dev/duly/target"
)

func TestACallInLineTellsWhatItsHandlerDid(t *testing.T) {
	var told []string
	fn := node.Handler(func(ctx context.Context, occ *node.Occurrence) error {
		grant, ok := duly.GrantFrom(ctx)
		if !ok || grant.Token != 7 || grant.Occurrence != "a@2026-11-28" {
			t.Errorf("granted %+v", grant)
		}
		grant.Record(duly.EffectReport{Key: "first"})
		occ.RecordEffect("second", true, nil)
		return occ.SetResult(3)
	})
	res := fn.Call(t.Context(), target.Assignment{Occurrence: "a@2026-11-28", Token: 7}, func(e duly.EffectReport) { told = append(told, e.Key) })
	if res.Outcome != duly.AttemptSucceeded || len(res.Effects) != 2 || string(res.Result) != "3" || len(told) != 1 {
		t.Errorf("%+v, told of %v", res, told)
	}
}

func TestWhatWasRecordedBeforeAPanicIsReported(t *testing.T) {
	fn := node.Handler(func(_ context.Context, occ *node.Occurrence) error {
		occ.RecordEffect("k", false, nil)
		panic("boom")
	})
	res := fn.Call(t.Context(), target.Assignment{}, nil)
	if res.Outcome != duly.AttemptFailed || !strings.Contains(res.Error, "boom") || res.Output == "" || len(res.Effects) != 1 {
		t.Errorf("%+v", res)
	}
}
