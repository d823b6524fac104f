package server

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/api"
	"github.com/duly-dev/duly/control"
	"github.com/duly-dev/duly/store"
	_ "github.com/duly-dev/duly/store/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bundle is a server on a network, over a real SQLite file.
type bundle struct {
	*api.Client
	store  store.Store
	server *Server
	url    string
	log    *logs
	ctx    context.Context
}

func setup(t *testing.T) *bundle {
	t.Helper()
	return serve(t, openStore(t))
}

func openStore(t *testing.T) store.Store {
	t.Helper()
	st, err := store.Open(context.Background(), "sqlite:"+filepath.Join(t.TempDir(), "duly.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return st
}

// serve starts a server of a store; several may share one.
func serve(t *testing.T, st store.Store) *bundle {
	t.Helper()
	b := &bundle{store: st, log: &logs{}}
	logger := slog.New(slog.NewJSONHandler(b.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	b.server = New(st, control.New(st), Options{Logger: logger, Version: "test"})
	web := httptest.NewServer(b.server.Handler())
	b.url = web.URL
	b.Client = api.New(web.URL, "").As("anna")
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	b.ctx = ctx
	t.Cleanup(func() {
		cancel()
		b.server.Close()
		web.Close()
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	})
	return b
}

// logs keeps what was logged.
type logs struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// daily is a schedule whose work is done by a handler elsewhere.
func daily(id string) duly.Schedule {
	return duly.Schedule{ID: id, Timing: duly.Timing{Cron: "0 9 * * *"}, Timezone: "Europe/Berlin", Target: duly.Target{Handler: "work"}}
}

func (b *bundle) put(t *testing.T, s duly.Schedule) store.ScheduleStatus {
	t.Helper()
	status, err := b.PutSchedule(b.ctx, s, false)
	if err != nil {
		t.Fatal(err)
	}
	return status
}

func (b *bundle) trigger(t *testing.T, schedule string) duly.Occurrence {
	t.Helper()
	res, err := b.Trigger(b.ctx, schedule, api.TriggerRequest{})
	if err != nil {
		t.Fatal(err)
	}
	return res.Occurrence
}

// raw sends a request as it stands and returns the answer and its body.
func (b *bundle) raw(t *testing.T, method, path, body string, header ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(b.ctx, method, b.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(data)
}

// problem sends a request that must be answered by a problem.
func (b *bundle) problem(t *testing.T, status int, method, path, body string, header ...string) api.Problem {
	t.Helper()
	resp, text := b.raw(t, method, path, body, header...)
	if resp.StatusCode != status {
		t.Errorf("%s %s was answered %d, want %d: %s", method, path, resp.StatusCode, status, text)
	}
	if kind := resp.Header.Get("Content-Type"); kind != "application/problem+json" {
		t.Errorf("%s %s: the answer is of type %q", method, path, kind)
	}
	var p api.Problem
	dec := json.NewDecoder(strings.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&p); err != nil {
		t.Fatalf("%s %s: %v in %s", method, path, err, text)
	}
	if p.Type != "about:blank" || p.Title == "" || p.Status != status || p.Detail == "" || p.Code == "" || p.RequestID != resp.Header.Get("X-Request-Id") {
		t.Errorf("%s %s: the problem is incomplete: %s", method, path, text)
	}
	return p
}

func wantCode(t *testing.T, err error, code duly.Code, words ...string) {
	t.Helper()
	if duly.CodeOf(err) != code {
		t.Errorf("the error is of code %q, want %q: %v", duly.CodeOf(err), code, err)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("the error does not say %q: %v", w, err)
		}
	}
}
