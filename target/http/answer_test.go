package http_test

import (
	"fmt"
	"io"
	nethttp "net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/target"
	"github.com/duly-dev/duly/target/http"
)

// answering runs an attempt against a receiver that gives one answer.
func answering(t *testing.T, status int, header map[string]string, body string, change func(*target.Assignment)) target.Result {
	t.Helper()
	rec := newReceiver(t, func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		for name, value := range header {
			w.Header().Set(name, value)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	})
	a := assignment(rec.URL)
	if change != nil {
		change(&a)
	}
	res := newRunner(t, http.Options{}).Run(t.Context(), a)
	rec.only(t)
	return res
}

func TestAStatusIsAnOutcome(t *testing.T) {
	const failed, succeeded = duly.AttemptFailed, duly.AttemptSucceeded
	tests := []struct {
		status    int
		outcome   duly.Outcome
		permanent bool
	}{
		{200, succeeded, false},
		{201, succeeded, false},
		{204, succeeded, false},
		{400, failed, true},
		{401, failed, true},
		{404, failed, true},
		{408, failed, false},
		{409, failed, true},
		{412, failed, true}, // not from a fence
		{422, failed, true},
		{425, failed, false},
		{429, failed, false},
		{500, failed, false},
		{501, failed, false},
		{502, failed, false},
		{503, failed, false},
		{599, failed, false},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.status), func(t *testing.T) {
			res := answering(t, tt.status, nil, "", nil)
			if res.Outcome != tt.outcome || res.Permanent != tt.permanent || res.RetryAfter != 0 || res.Detached {
				t.Errorf("got %+v", res)
			}
			if res.ExitCode == nil || *res.ExitCode != tt.status {
				t.Errorf("exit code %v", res.ExitCode)
			}
			if (res.Error == "") != (tt.outcome == succeeded) || tt.outcome == failed && !strings.Contains(res.Error, fmt.Sprint("answered ", tt.status)) {
				t.Errorf("error %q", res.Error)
			}
		})
	}
}

func TestAFenceThatRefusesATokenIsNoReasonToGiveUp(t *testing.T) {
	problem := map[string]string{"Content-Type": "application/problem+json; charset=utf-8"}
	res := answering(t, 412, problem, `{"title":"Stale token","detail":"invoices has seen 42"}`, nil)
	if res.Outcome != duly.AttemptFailed || res.Permanent || !strings.HasPrefix(res.Error, "stale token: ") || !strings.HasSuffix(res.Error, "412 Precondition Failed: invoices has seen 42") {
		t.Errorf("got %+v", res)
	}
}

func TestAProblemIsPartOfTheErrorAndBounded(t *testing.T) {
	problem := map[string]string{"Content-Type": "application/problem+json"}
	res := answering(t, 422, problem, `{"detail":"`+strings.Repeat("é", 1000)+`"}`, nil)
	if len(res.Error) > 600 || !strings.HasSuffix(res.Error, "éé …") || !strings.Contains(res.Output, strings.Repeat("é", 1000)) {
		t.Errorf("got %+v", res)
	}
	if res := answering(t, 422, problem, `{"detail":`, nil); !strings.HasSuffix(res.Error, "422 Unprocessable Entity") {
		t.Errorf("a broken problem: %+v", res)
	}
}

func TestRetryAfterIsHonouredAndBounded(t *testing.T) {
	const date = "Sat, 28 Nov 2026 23:00:00 GMT"
	tests := []struct {
		name, value string
		want        time.Duration
	}{
		{"Seconds", "120", 2 * time.Minute},
		{"Date", "Sat, 28 Nov 2026 23:05:00 GMT", 5 * time.Minute}, // by the receiver's clock
		{"PastDateIsAtOnce", "Sat, 28 Nov 2026 22:00:00 GMT", 0},
		{"LongSecondsAreCapped", "86400", time.Hour},
		{"LongDateIsCapped", "Sat, 28 Nov 2099 23:05:00 GMT", time.Hour},
		{"MoreThanFitsIsCapped", "99999999999999999999999", time.Hour},
		{"NegativeIsIgnored", "-5", 0},
		{"NonsenseIsIgnored", "soon", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, status := range []int{408, 425, 429, 503} {
				res := answering(t, status, map[string]string{"Retry-After": tt.value, "Date": date}, "", nil)
				if res.RetryAfter != tt.want || res.Permanent {
					t.Errorf("%d: got %+v", status, res)
				}
			}
		})
	}
	if res := answering(t, 400, map[string]string{"Retry-After": "120"}, "", nil); res.RetryAfter != 0 || !res.Permanent {
		t.Errorf("what is permanent is not tried again: %+v", res)
	}
}

func TestAnAnswerInJSONIsTheResultAndNamesEffects(t *testing.T) {
	tests := []struct {
		name, body     string
		result, output string
		effects        []target.Effect
	}{
		{"Object", ` {"sent": 3} `, `{"sent": 3}`, "", nil},
		{"List", `[1]`, `[1]`, "", nil},
		{"Text", `sent 3`, ``, "sent 3", nil},
		{"Empty", ``, ``, "", nil},
		{"NotUTF8", "\"caf\xe9\"", ``, "\"caf\uFFFD\"", nil},
		{
			"Effects", `{"effects":[{"key":"invoice/42","reused":true},{"key":"invoice/43","result":{"no":7}}]}`, "same", "",
			[]target.Effect{{Key: "invoice/42", Reused: true}, {Key: "invoice/43", Result: []byte(`{"no":7}`)}},
		},
		{"OtherEffects", `{"effects":"rain"}`, "same", `effects ignored: "effects" in the answer is not a list of {"key", "reused"}`, nil},
		{"EffectWithoutKey", `{"effects":[{"key":"a"},{"reused":true}]}`, "same", "effects ignored: number 2 in the answer has no key, or one with a NUL", nil},
		{"EffectWithNUL", `{"effects":[{"key":"a\u0000"}]}`, "same", "effects ignored: number 1 in the answer has no key, or one with a NUL", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.result == "same" {
				tt.result = tt.body
			}
			res := answering(t, 200, nil, tt.body, nil)
			if res.Outcome != duly.AttemptSucceeded || string(res.Result) != tt.result || res.Output != tt.output || !reflect.DeepEqual(res.Effects, tt.effects) {
				t.Errorf("got %+v", res)
			}
		})
	}
}

func TestOnlyASuccessHasAResult(t *testing.T) {
	const body = `{"error":"no such month","effects":[{"key":"invoice/42"}]}`
	res := answering(t, 400, nil, body, nil)
	if res.Result != nil || res.Effects != nil || res.Output != body {
		t.Errorf("got %+v", res)
	}
}

func TestARefusalCanNameWhatMayHaveHappened(t *testing.T) {
	res := answering(t, 502, nil, `{"effects":[{"key":"charge/42","open":true},{"key":"mail/42"}]}`, nil)
	if want := []target.Effect{{Key: "charge/42", Open: true}}; res.Outcome != duly.AttemptFailed || !reflect.DeepEqual(res.Effects, want) {
		t.Errorf("got %+v", res)
	}
}

func TestAnAnswerBeyondItsLimitIsCut(t *testing.T) {
	limit := func(a *target.Assignment) { a.Target.HTTP.ResponseLimit = 10 }
	if res := answering(t, 200, nil, "0123456789", limit); res.Output != "0123456789" {
		t.Errorf("at the limit: %+v", res)
	}
	res := answering(t, 200, nil, "01234567890", limit)
	if res.Output != "0123456789\n[… the rest of the answer was not read …]" || res.Outcome != duly.AttemptSucceeded {
		t.Errorf("beyond the limit: %+v", res)
	}
	if res := answering(t, 200, nil, "1234567890123", limit); res.Result != nil {
		t.Errorf("a part of a number is a result: %+v", res)
	}
}

func Test202GoesOnAndReportsLater(t *testing.T) {
	res := answering(t, 202, nil, "queued as 17", nil)
	if !res.Detached || res.Outcome != duly.AttemptRunning || res.Error != "" || res.Output != "queued as 17" {
		t.Errorf("got %+v", res)
	}
}

func Test202WithNobodyToReportToIsUncertain(t *testing.T) {
	res := answering(t, 202, nil, "", func(a *target.Assignment) { a.CallbackURL = "" })
	if res.Detached || res.Outcome != duly.AttemptUncertain || !strings.Contains(res.Error, "no address") {
		t.Errorf("got %+v", res)
	}
}
