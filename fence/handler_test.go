//go:build unix

package fence_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/fence"
	"github.com/duly-dev/duly/target"
)

// send sends a request and answers its status and the code of its problem, if it
// is one.
func send(t testing.TB, h http.Handler, headers ...string) (status int, code string) {
	t.Helper()
	req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/invoices", nil)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, req)
	if rec.Header().Get("Content-Type") != "application/problem+json" {
		return rec.Code, ""
	}
	var p struct {
		Title, Detail, Code string
		Status              int
	}
	if err := json.Unmarshal(rec.Body.Bytes(), &p); err != nil {
		t.Fatalf("%s: %v", rec.Body, err)
	}
	if p.Status != rec.Code || p.Title == "" || p.Detail == "" {
		t.Errorf("the problem says too little: %s", rec.Body)
	}
	return rec.Code, p.Code
}

func TestTheHandlerRefusesAnOlderToken(t *testing.T) {
	each(t, func(t *testing.T, g guarded) {
		var got []duly.Grant
		h := fence.Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			grant, _ := duly.GrantFrom(r.Context())
			got = append(got, grant)
		}), g.store)
		for _, step := range []struct {
			token  string
			status int
			code   string
		}{{"4", 200, ""}, {"4", 200, ""}, {"5", 200, ""}, {"4", 412, "stale_token"}, {"5", 200, ""}} {
			status, code := send(t, h, "Duly-Fencing-Token", step.token, "Duly-Fencing-Resource", "schedule/invoices", "Duly-Occurrence", "invoices@1", "Duly-Attempt", "2")
			if status != step.status || code != step.code {
				t.Errorf("token %s: %d %s, want %d %s", step.token, status, code, step.status, step.code)
			}
		}
		if len(got) != 4 || got[0].Token != 4 || got[0].Resource != "schedule/invoices" || got[0].Occurrence != "invoices@1" || got[0].Attempt != 2 {
			t.Errorf("the handler was given %+v", got)
		}
	})
}

func TestTheHandlerRefusesWhatItCannotJudge(t *testing.T) {
	called := 0
	next := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { called++ })
	failing := fence.StoreFunc(func(context.Context, string, int64) error { return errors.New("password of the database: hunter2") })
	for _, test := range []struct {
		name    string
		h       http.Handler
		headers []string
		status  int
		code    string
	}{
		{"without a grant", fence.Handler(next, &fence.Memory{}), nil, 428, "invalid"},
		{"without a token", fence.Handler(next, &fence.Memory{}), []string{"Duly-Fencing-Resource", "r"}, 400, "invalid"},
		{"without a resource", fence.Handler(next, &fence.Memory{}), []string{"Duly-Fencing-Token", "1"}, 400, "invalid"},
		{"with a broken token", fence.Handler(next, &fence.Memory{}), []string{"Duly-Fencing-Token", "1e3", "Duly-Fencing-Resource", "r"}, 400, "invalid"},
		{"with token 0", fence.Handler(next, &fence.Memory{}), []string{"Duly-Fencing-Token", "0", "Duly-Fencing-Resource", "r"}, 400, "invalid"},
		{"with a broken attempt", fence.Handler(next, &fence.Memory{}), []string{"Duly-Fencing-Token", "1", "Duly-Fencing-Resource", "r", "Duly-Attempt", "x"}, 400, "invalid"},
		{"while the store does not answer", fence.Handler(next, failing), []string{"Duly-Fencing-Token", "1", "Duly-Fencing-Resource", "r"}, 503, "unavailable"},
		{"optional, with a broken token", fence.Optional(next, &fence.Memory{}), []string{"Duly-Fencing-Token", "x", "Duly-Fencing-Resource", "r"}, 400, "invalid"},
	} {
		status, code := send(t, test.h, test.headers...)
		if status != test.status || code != test.code {
			t.Errorf("%s: %d %s, want %d %s", test.name, status, code, test.status, test.code)
		}
	}
	if called != 0 {
		t.Errorf("the handler was called %d times", called)
	}
	rec := httptest.NewRecorder()
	req := httptest.NewRequest(http.MethodPost, "/", nil)
	req.Header.Set("Duly-Fencing-Token", "1")
	req.Header.Set("Duly-Fencing-Resource", "r")
	fence.Handler(next, failing).ServeHTTP(rec, req)
	if strings.Contains(rec.Body.String(), "hunter2") {
		t.Error("the store's error reaches the caller")
	}
}

func TestOptionalLetsUnfencedRequestsPassWithoutAGrant(t *testing.T) {
	called := 0
	h := fence.Optional(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		called++
		if _, ok := duly.GrantFrom(r.Context()); ok {
			t.Error("a request without a grant has one")
		}
	}), &fence.Memory{})
	if status, _ := send(t, h); status != 200 || called != 1 {
		t.Errorf("status %d, called %d times", status, called)
	}
}

// What a target is given and what a destination reads are the same words.
func TestAGrantIsReadFromWhatATargetIsGiven(t *testing.T) {
	given := target.Assignment{Schedule: "invoices", Occurrence: "invoices@2027-01", Period: "2027-01", Attempt: 3, Token: 17, Resource: "schedule/invoices"}
	want := duly.Grant{Occurrence: "invoices@2027-01", Attempt: 3, Token: 17, Resource: "schedule/invoices"}

	env := map[string]string{}
	header := http.Header{}
	for _, v := range target.Variables(given) {
		env[v.Name] = v.Value
		header.Set(strings.ReplaceAll(v.Name, "_", "-"), v.Value)
	}
	fromEnv, ok, err := fence.FromEnv(func(name string) string { return env[name] })
	if err != nil || !ok || !same(fromEnv, want) {
		t.Errorf("from the environment: %+v, %v, error %v", fromEnv, ok, err)
	}
	fromHeader, ok, err := fence.FromHeader(header)
	if err != nil || !ok || !same(fromHeader, want) {
		t.Errorf("from the headers: %+v, %v, error %v", fromHeader, ok, err)
	}
	if _, ok, err := fence.FromEnv(func(string) string { return "" }); ok || err != nil {
		t.Errorf("from nothing: %v, error %v", ok, err)
	}
}

func same(a, b duly.Grant) bool {
	return a.Occurrence == b.Occurrence && a.Attempt == b.Attempt && a.Token == b.Token && a.Resource == b.Resource
}
