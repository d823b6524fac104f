package server

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/api"
	"github.com/duly-dev/duly/control"
	"github.com/duly-dev/duly/node"
	"github.com/duly-dev/duly/store"
)

// faulty is a real store of which one answer is an error.
type faulty struct {
	store.Store
	err error
}

func (f *faulty) Stats(ctx context.Context) (store.Stats, error) {
	if f.err != nil {
		return store.Stats{}, f.err
	}
	return f.Store.Stats(ctx)
}

func (f *faulty) Horizon(ctx context.Context) (store.Horizon, error) {
	if f.err != nil {
		return store.Horizon{}, f.err
	}
	return f.Store.Horizon(ctx)
}

func TestWhatAnUnknownErrorSaysGoesToTheLogAndNowhereElse(t *testing.T) {
	st := &faulty{Store: openStore(t), err: errors.New("disk image of /srv/secret.db malformed")}
	b := serve(t, st)
	p := b.problem(t, 500, "GET", "/api/v1/stats", "", "X-Request-Id", "req-1")
	if p.Code != duly.CodeInternal || p.RequestID != "req-1" || strings.Contains(p.Detail, "secret") || !strings.Contains(p.Detail, "req-1") {
		t.Errorf("the problem is %+v", p)
	}
	if log := b.log.String(); !strings.Contains(log, "secret.db") || !strings.Contains(log, "req-1") {
		t.Errorf("the log is %s", log)
	}
	for _, path := range []string{"/readyz", "/", "/metrics"} {
		if _, text := b.raw(t, "GET", path, ""); strings.Contains(text, "secret") {
			t.Errorf("%s says %s", path, text)
		}
	}
}

func TestAnOutageSaysThatTryingAgainIsRight(t *testing.T) {
	st := &faulty{Store: openStore(t), err: duly.Errorf(duly.CodeUnavailable, "the database is not reachable")}
	b := serve(t, st)
	for _, path := range []string{"/api/v1/stats", "/readyz"} {
		p := b.problem(t, 503, "GET", path, "")
		if p.Code != duly.CodeUnavailable || !strings.Contains(p.Detail, "not reachable") {
			t.Errorf("%s: %+v", path, p)
		}
		resp, _ := b.raw(t, "GET", path, "")
		if resp.Header.Get("Retry-After") != "1" {
			t.Errorf("%s: Retry-After is %q", path, resp.Header.Get("Retry-After"))
		}
	}
	wantCode(t, b.Ready(b.ctx), duly.CodeUnavailable)
	if resp, _ := b.raw(t, "GET", "/healthz", ""); resp.StatusCode != http.StatusOK {
		t.Errorf("the process is alive, but /healthz says %d", resp.StatusCode)
	}
	if _, text := b.raw(t, "GET", "/metrics", ""); !strings.Contains(text, "duly_store_up 0\n") || strings.Contains(text, "duly_pending") {
		t.Error("metrics do not say that the store is down, or invent figures")
	}
	if resp, text := b.raw(t, "GET", "/", ""); resp.StatusCode != 503 || !strings.Contains(text, "not reachable") {
		t.Errorf("the page says %d %s", resp.StatusCode, text)
	}
	st.err = nil
	if err := b.Ready(b.ctx); err != nil {
		t.Errorf("after the outage: %v", err)
	}
}

func TestValuesAreNeverEchoed(t *testing.T) {
	b := setup(t)
	_, text := b.raw(t, "PUT", "/api/v1/schedules/x", `{"cron":"@daily","target":{"http":{"url":"https://example.org","secret":["whsec_hunter2"]}}}`)
	if strings.Contains(text, "hunter2") || !strings.Contains(text, "body.target.http.secret") {
		t.Errorf("the answer is %s", text)
	}
}

func TestAPanicIsAnsweredAndLogged(t *testing.T) {
	b := setup(t)
	b.server.mux.HandleFunc("GET /panic", func(http.ResponseWriter, *http.Request) { panic("the sky fell") })
	p := b.problem(t, 500, "GET", "/panic", "")
	if strings.Contains(p.Detail, "sky") {
		t.Errorf("the problem is %+v", p)
	}
	if log := b.log.String(); !strings.Contains(log, "the sky fell") || !strings.Contains(log, "problem_test.go") {
		t.Errorf("the log is %s", log)
	}
	b.server.mux.HandleFunc("GET /half", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = w.Write([]byte("half an answer"))
		panic("again")
	})
	resp, err := http.Get(b.url + "/half")
	if err == nil {
		_, err = resp.Body.Read(make([]byte, 1000))
		for err == nil {
			_, err = resp.Body.Read(make([]byte, 1000))
		}
		resp.Body.Close()
	}
	if err == nil || err.Error() == "EOF" {
		t.Errorf("an answer that broke off looks whole: %v", err)
	}
}

func TestPagesOfOtherOriginsMayChangeNothing(t *testing.T) {
	b := setup(t)
	b.put(t, daily("a"))
	p := b.problem(t, 403, "POST", "/api/v1/schedules/a/trigger", "", "Origin", "https://evil.example")
	if p.Code != duly.CodeInvalid {
		t.Errorf("the problem is %+v", p)
	}
	b.problem(t, 403, "DELETE", "/api/v1/schedules/a", "", "Sec-Fetch-Site", "cross-site")
	resp, _ := b.raw(t, "GET", "/api/v1/schedules/a", "", "Origin", "https://evil.example")
	if resp.StatusCode != 200 || resp.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("reading: %d, allowed to %q", resp.StatusCode, resp.Header.Get("Access-Control-Allow-Origin"))
	}
	resp, text := b.raw(t, "POST", "/api/v1/schedules/a/trigger", "", "Sec-Fetch-Site", "same-origin")
	if resp.StatusCode != 201 {
		t.Errorf("our own page: %d %s", resp.StatusCode, text)
	}
}

func TestTheActorIsBoundedAndDefaultsToTheAPI(t *testing.T) {
	b := setup(t)
	b.put(t, daily("a"))
	p := b.problem(t, 422, "POST", "/api/v1/schedules/a/pause", "", "Duly-Actor", strings.Repeat("ä", 201))
	if p.Errors[0].Location != "header.Duly-Actor" {
		t.Errorf("the problem is %+v", p)
	}
	if resp, text := b.raw(t, "POST", "/api/v1/schedules/a/pause", ""); resp.StatusCode != 200 || !strings.Contains(text, `"by":"api"`) {
		t.Errorf("without one: %d %s", resp.StatusCode, text)
	}
	if _, text := b.raw(t, "POST", "/api/v1/schedules/a/pause", "", "Duly-Actor", "Jürgen"); !strings.Contains(text, `"by":"Jürgen"`) {
		t.Errorf("with one: %s", text)
	}
}

func TestAWrongMethodSaysWhichOnesArePossible(t *testing.T) {
	b := setup(t)
	resp, _ := b.raw(t, "POST", "/api/v1/schedules/a", "{}")
	if allow := resp.Header.Get("Allow"); resp.StatusCode != 405 || !strings.Contains(allow, "PUT") || !strings.Contains(allow, "DELETE") {
		t.Errorf("answered %d, Allow %q", resp.StatusCode, allow)
	}
}

func TestRequestIDsFromOutsideAreKeptOnlyIfTheyAreSane(t *testing.T) {
	b := setup(t)
	for given, kept := range map[string]bool{"abc-1": true, "": false, "a b": false, strings.Repeat("x", 65): false, `"><script>`: false} {
		resp, _ := b.raw(t, "GET", "/healthz", "", "X-Request-Id", given)
		if got := resp.Header.Get("X-Request-Id"); (got == given) != kept || got == "" {
			t.Errorf("%q became %q", given, got)
		}
	}
}

func TestTheInProcessClientMeansTheSameAsTheNetwork(t *testing.T) {
	b := setup(t)
	inside := api.InProcess(b.server.Handler()).As("bert")
	if _, err := inside.PutSchedule(b.ctx, daily("a/b"), false); err != nil {
		t.Fatal(err)
	}
	if _, err := inside.Pause(b.ctx, "a/b", api.PauseRequest{}); err != nil {
		t.Fatal(err)
	}
	s, err := b.Schedule(b.ctx, "a/b")
	if err != nil || s.Paused == nil || s.Paused.By != "bert" {
		t.Errorf("over the network it is %+v, %v", s.Paused, err)
	}
	_, err = inside.Schedule(b.ctx, "nobody")
	wantCode(t, err, duly.CodeNotFound)
}

func TestEveryAnswerHasARequestIDAndIsNotSniffed(t *testing.T) {
	b := setup(t)
	rec := httptest.NewRecorder()
	b.server.Handler().ServeHTTP(rec, httptest.NewRequest("GET", "/nowhere", nil))
	if rec.Header().Get("X-Request-Id") == "" || rec.Header().Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("the header is %v", rec.Header())
	}
}

// full is a store that answers and takes nothing more, as on a full disk.
type full struct {
	store.Store
	room atomic.Bool
}

func (f *full) Fire(ctx context.Context, req store.FireRequest) (store.FireResult, error) {
	if !f.room.Load() {
		return store.FireResult{}, duly.Errorf(duly.CodeUnavailable, "the disk is full")
	}
	return f.Store.Fire(ctx, req)
}

func TestAServerWhoseNodeCannotWriteIsNotReady(t *testing.T) {
	st := &full{Store: openStore(t)}
	if _, err := control.New(st).Apply(t.Context(), control.ApplyRequest{Owner: "test", By: "test", Schedules: []duly.Schedule{
		{ID: "a", Timing: duly.Timing{Every: duly.Duration(time.Second)}, Target: duly.Target{Handler: "h"}},
	}}); err != nil {
		t.Fatal(err)
	}
	n := node.New(st, node.Options{Logger: slog.New(slog.DiscardHandler)})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := n.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	srv := New(st, control.New(st), Options{Node: n, Logger: slog.New(slog.DiscardHandler)})
	defer srv.Close()
	defer running.Wait()
	defer cancel()
	until := func(status int) (body string) {
		t.Helper()
		for deadline := time.Now().Add(15 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
			rec := httptest.NewRecorder()
			srv.Handler().ServeHTTP(rec, httptest.NewRequest("GET", "/readyz", nil))
			if body = rec.Body.String(); rec.Code == status {
				return body
			}
		}
		t.Fatalf("/readyz never answers %d, but %s", status, body)
		return ""
	}
	if body := until(http.StatusServiceUnavailable); !strings.Contains(body, "the disk is full") {
		t.Errorf("/readyz says %s", body)
	}
	st.room.Store(true)
	until(http.StatusOK)
}

// hung is a store that answers when the caller has given up.
type hung struct{ store.Store }

func (hung) Stats(ctx context.Context) (store.Stats, error) {
	<-ctx.Done()
	return store.Stats{}, duly.Errorf(duly.CodeUnavailable, "the call ended before the database answered")
}

func TestACallerWhoGivesUpIsNoFaultOfTheServer(t *testing.T) {
	st := openStore(t)
	var out logs
	srv := New(hung{st}, control.New(st), Options{Logger: slog.New(slog.NewTextHandler(&out, nil))})
	defer srv.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := api.InProcess(srv.Handler()).Stats(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	if text := out.String(); text != "" {
		t.Errorf("logged: %s", text)
	}
}
