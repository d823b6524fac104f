package server

import (
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/duly-dev/duly/control"
)

func TestAPageThatLedItsNameHereCanChangeNothing(t *testing.T) {
	st := openStore(t)
	srv := New(st, control.New(st), Options{Logger: slog.New(slog.DiscardHandler), URL: "https://duly.internal/ops"})
	defer srv.Close()
	for _, c := range []struct {
		method, host, origin string
		status               int
	}{
		{"POST", "evil.example:4747", "http://evil.example:4747", 403},
		{"POST", "localhost.evil.example", "http://localhost.evil.example", 403},
		{"POST", "127.0.0.1:4747", "http://evil.example", 403},
		{"POST", "127.0.0.1:4747", "http://127.0.0.1:4747", 200},
		{"POST", "[::1]:4747", "http://[::1]:4747", 200},
		{"POST", "localhost:4747", "http://localhost:4747", 200},
		{"POST", "duly.internal", "https://duly.internal", 200},
		{"POST", "evil.example:4747", "", 200}, // no browser, which goes by what names it likes
		{"GET", "evil.example:4747", "http://evil.example:4747", 405},
	} {
		req := httptest.NewRequest(c.method, "/api/v1/apply", strings.NewReader(`{"owner":"x"}`))
		req.Host = c.host
		req.Header.Set("Content-Type", "application/json")
		if c.origin != "" {
			req.Header.Set("Origin", c.origin)
		}
		rec := httptest.NewRecorder()
		srv.Handler().ServeHTTP(rec, req)
		if rec.Code != c.status {
			t.Errorf("%s to %s from %q: %d, want %d: %s", c.method, c.host, c.origin, rec.Code, c.status, rec.Body)
		}
	}
}
