package server

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/api"
)

// wrap is what every request passes, outermost first.
func (s *Server) wrap(mux *http.ServeMux) http.Handler {
	var h http.Handler = s.route(mux)
	h = s.identify(h)
	h = s.authorize(h)
	h = s.guardOrigin(h)
	h = s.observe(h)
	return h
}

// authorize is where access control belongs: it sees every request before
// anything is done with it, and after cross-origin requests were refused.
// Whoever can reach the server may do everything until then.
func (s *Server) authorize(next http.Handler) http.Handler { return next }

type contextKey int

const (
	requestIDKey contextKey = iota
	actorKey
)

func requestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey).(string)
	return id
}

// actor is who asks, as the audit names them.
func actor(ctx context.Context) string {
	if by, _ := ctx.Value(actorKey).(string); by != "" {
		return by
	}
	return "api"
}

const maxActor = 200

// identify reads for whom the request is made.
func (s *Server) identify(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		by := r.Header.Get("Duly-Actor")
		if utf8.RuneCountInString(by) > maxActor {
			s.writeProblem(w, r, api.Problem{
				Status: http.StatusUnprocessableEntity, Code: duly.CodeInvalid, Detail: "the header Duly-Actor is too long",
				Errors: []api.ProblemError{{Location: "header.Duly-Actor", Message: "is longer than 200 characters"}},
			})
			return
		}
		by = strings.TrimSpace(strings.ToValidUTF8(by, "\uFFFD"))
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), actorKey, by)))
	})
}

// observe gives each request an ID, logs it, and turns a panic into an answer.
func (s *Server) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		id := r.Header.Get("X-Request-Id")
		if !sane(id) {
			id = strings.ToLower(rand.Text()[:16])
		}
		w.Header().Set("X-Request-Id", id)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		r = r.WithContext(context.WithValue(r.Context(), requestIDKey, id))
		rec := &recorder{ResponseWriter: w}
		defer func() {
			if cause := recover(); cause != nil {
				s.survive(rec, r, cause)
			}
			s.log.LogAttrs(r.Context(), slog.LevelDebug, "request", slog.String("id", id), slog.String("method", r.Method),
				slog.String("path", r.URL.Path), slog.Int("status", rec.status), slog.Int64("bytes", rec.bytes),
				slog.Duration("took", time.Since(began)))
		}()
		next.ServeHTTP(rec, r)
	})
}

// survive answers a request whose handler panicked. One that had begun its
// answer can only break the connection, so that the client sees it is cut. The
// API's framework panics too where an answer cannot be written, which only
// means that the client has given up on it.
func (s *Server) survive(w *recorder, r *http.Request, cause any) {
	if cause == http.ErrAbortHandler {
		panic(cause)
	}
	if w.failed != nil {
		s.log.Debug("the client went away before its answer", "request", requestID(r.Context()), "error", w.failed)
		panic(http.ErrAbortHandler)
	}
	s.log.Error("a request failed: panic", "request", requestID(r.Context()), "method", r.Method, "path", r.URL.Path,
		"panic", cause, "stack", string(debug.Stack()))
	if w.status != 0 {
		panic(http.ErrAbortHandler)
	}
	s.writeProblem(w, r, internalProblem(r.Context()))
}

// sane reports whether a request ID from outside may be used as it is.
func sane(id string) bool {
	if id == "" || len(id) > 64 {
		return false
	}
	for _, c := range id {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("._-", c)) {
			return false
		}
	}
	return true
}

// route serves a request by the mux, whose own answers (no such page, no such
// method) become problems.
func (s *Server) route(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h, pattern := mux.Handler(r)
		if pattern != "" {
			mux.ServeHTTP(w, r)
			return
		}
		verdict := &discarder{header: http.Header{}}
		h.ServeHTTP(verdict, r)
		p := api.Problem{Status: verdict.status}
		switch verdict.status {
		case http.StatusMethodNotAllowed:
			allow := verdict.header.Get("Allow")
			w.Header().Set("Allow", allow)
			p.Code, p.Detail = duly.CodeInvalid, r.Method+" is not possible here; these are: "+allow
		default:
			p.Status, p.Code, p.Detail = http.StatusNotFound, duly.CodeNotFound, "there is nothing at "+r.URL.Path
		}
		s.writeProblem(w, r, p)
	})
}

// recorder notes what was answered.
type recorder struct {
	http.ResponseWriter
	status int
	bytes  int64
	failed error // of the last write
}

func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *recorder) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *recorder) Write(data []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(data)
	w.bytes += int64(n)
	w.failed = err
	return n, err
}

// discarder keeps the status and header of an answer and drops its body.
type discarder struct {
	header http.Header
	status int
}

func (w *discarder) Header() http.Header            { return w.header }
func (w *discarder) WriteHeader(status int)         { w.status = status }
func (w *discarder) Write(data []byte) (int, error) { return len(data), nil }
