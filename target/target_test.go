package target_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
	"github.com/duly-dev/duly/target"
)

func TestACauseIsAnOutcome(t *testing.T) {
	tests := []struct {
		name    string
		end     func(context.Context) context.Context
		outcome duly.Outcome
		text    string
	}{
		{"TimeoutIsTimedOut", causing(target.ErrTimeout), duly.AttemptTimedOut, target.ErrTimeout.Error()},
		{"CancelledIsCancelled", causing(target.ErrCancelled), duly.AttemptCancelled, target.ErrCancelled.Error()},
		{"LeaseLostIsLost", causing(target.ErrLeaseLost), duly.AttemptLost, target.ErrLeaseLost.Error()},
		{"DrainingIsReleased", causing(target.ErrDraining), duly.AttemptReleased, target.ErrDraining.Error()},
		{"WrappedCauseKeepsItsText", causing(fmt.Errorf("%w: wrong month", target.ErrCancelled)), duly.AttemptCancelled, "the attempt was cancelled: wrong month"},
		{"UnknownCauseIsCancelled", causing(errors.New("tired")), duly.AttemptCancelled, "tired"},
		{"NoCauseIsCancelled", causing(nil), duly.AttemptCancelled, target.ErrCancelled.Error()},
		{"BareDeadlineIsTimedOut", func(ctx context.Context) context.Context {
			ctx, cancel := context.WithDeadline(ctx, time.Unix(0, 0))
			cancel()
			return ctx
		}, duly.AttemptTimedOut, target.ErrTimeout.Error()},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res := target.Stopped(tt.end(t.Context()))
			if res.Outcome != tt.outcome || res.Error != tt.text {
				t.Errorf("got %+v", res)
			}
		})
	}
}

func causing(cause error) func(context.Context) context.Context {
	return func(ctx context.Context) context.Context {
		ctx, cancel := context.WithCancelCause(ctx)
		cancel(cause)
		return ctx
	}
}

func TestEnvHasWhatTheDesignPromises(t *testing.T) {
	berlin := time.FixedZone("", 3600)
	a := target.Assignment{
		Schedule: "invoices", Occurrence: "invoices@2026-11-28", Period: "2026-11-28",
		Covers: []string{"2026-11-27", "2026-11-28"},
		Due:    time.Date(2026, 11, 29, 0, 0, 0, 0, berlin), IntervalStart: time.Date(2026, 11, 28, 0, 0, 0, 0, berlin),
		Attempt: 3, Token: 1 << 40, Resource: "queue/billing", IdempotencyKey: "invoices@2026-11-28",
		LeaseUntil: func() time.Time { return time.Date(2026, 11, 29, 0, 0, 30, 5e8, berlin) },
		Payload:    []byte(`{"region": "eu"}`),
	}
	want := []string{
		"DULY_SCHEDULE=invoices",
		"DULY_OCCURRENCE=invoices@2026-11-28",
		"DULY_PERIOD=2026-11-28",
		`DULY_COVERS=["2026-11-27","2026-11-28"]`,
		"DULY_DUE=2026-11-28T23:00:00Z",
		"DULY_ATTEMPT=3",
		"DULY_FENCING_TOKEN=1099511627776",
		"DULY_FENCING_RESOURCE=queue/billing",
		"DULY_IDEMPOTENCY_KEY=invoices@2026-11-28",
		`DULY_PAYLOAD={"region": "eu"}`,
		"DULY_INTERVAL_START=2026-11-27T23:00:00Z",
		"DULY_LEASE_UNTIL=2026-11-28T23:00:30.5Z",
	}
	if got := target.Env(a); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	bare := target.Env(target.Assignment{Period: "2026-11-28"})
	if len(bare) != 10 || bare[3] != `DULY_COVERS=["2026-11-28"]` {
		t.Errorf("without covers, interval and lease: %q", bare)
	}
}

func TestTextIsFitForEveryStore(t *testing.T) {
	tests := map[string]string{
		"plain €\n":         "plain €\n",
		"caf\xe9":           "caf\uFFFD",
		"a\xff\xfe\xfdb":    "a\uFFFDb",
		"nul\x00and\x00nul": "nul\uFFFDand\uFFFDnul",
	}
	for in, want := range tests {
		if got := target.Text([]byte(in)); got != want {
			t.Errorf("Text(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestAnEffectConvertsToTheStoresReport(t *testing.T) {
	got := store.EffectReport(target.Effect{Key: "invoice/42", Reused: true, Result: []byte("1")})
	if !reflect.DeepEqual(got, store.EffectReport{Key: "invoice/42", Reused: true, Result: []byte("1")}) {
		t.Errorf("got %+v", got)
	}
}
