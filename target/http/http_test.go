package http_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	nethttp "net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/target"
	"github.com/duly-dev/duly/target/http"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"go.uber.org/goleak"
)

var _ target.Runner = (*http.Runner)(nil)

func TestMain(m *testing.M) {
	// net/http reads it once a process; see TestProxiesOfTheEnvironmentAreIgnored.
	_ = os.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	goleak.VerifyTestMain(m)
}

// received is a request as the receiver saw it.
type received struct {
	*nethttp.Request
	body []byte
}

// receiver records requests and answers with handle (nil: 200, nothing).
type receiver struct {
	*httptest.Server
	mu   sync.Mutex
	seen []received
}

func newReceiver(t *testing.T, handle nethttp.HandlerFunc) *receiver {
	r := &receiver{}
	r.Server = httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, req *nethttp.Request) {
		body, _ := io.ReadAll(req.Body)
		r.mu.Lock()
		r.seen = append(r.seen, received{req, body})
		r.mu.Unlock()
		if handle != nil {
			handle(w, req)
		}
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) requests() []received {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.seen)
}

func (r *receiver) only(t *testing.T) received {
	t.Helper()
	seen := r.requests()
	if len(seen) != 1 {
		t.Fatalf("%d requests, want 1", len(seen))
	}
	return seen[0]
}

func newRunner(t *testing.T, opt http.Options) *http.Runner {
	r := http.New(opt)
	t.Cleanup(r.Close)
	return r
}

func assignment(url string) target.Assignment {
	return target.Assignment{
		Schedule: "invoices", Occurrence: "invoices@2026-11-28", Period: "2026-11-28",
		Covers: []string{"2026-11-27", "2026-11-28"},
		Due:    time.Date(2026, 11, 28, 23, 0, 0, 0, time.UTC), IntervalStart: time.Date(2026, 11, 27, 23, 0, 0, 0, time.UTC),
		Attempt: 2, Token: 41, Resource: "schedule/invoices", IdempotencyKey: "invoices@2026-11-28",
		LeaseUntil:  func() time.Time { return time.Date(2026, 11, 28, 23, 0, 30, 0, time.UTC) },
		Payload:     []byte(`{"region": "eu", "note": "<é𝄞>"}`),
		Target:      duly.Target{HTTP: &duly.HTTPTarget{URL: url}},
		CallbackURL: "https://duly.example/api/v1/callbacks/7/41",
	}
}

func TestARequestSaysEverythingAboutItsAttempt(t *testing.T) {
	rec := newReceiver(t, nil)
	a := assignment(rec.URL + "/hook?x=1")
	a.Target.HTTP.Headers = map[string]string{"Authorization": "Bearer abc", "duly-attempt": "99", "Idempotency-Key": "mine"}
	if res := newRunner(t, http.Options{}).Run(t.Context(), a); res.Outcome != duly.AttemptSucceeded {
		t.Fatalf("got %+v", res)
	}
	got := rec.only(t)
	if got.Method != "POST" || got.RequestURI != "/hook?x=1" {
		t.Errorf("got %s %s", got.Method, got.RequestURI)
	}
	want := `{"schedule":"invoices","occurrence":"invoices@2026-11-28","period":"2026-11-28","covers":["2026-11-27","2026-11-28"],` +
		`"due":"2026-11-28T23:00:00Z","interval_start":"2026-11-27T23:00:00Z","attempt":2,"fencing_token":41,` +
		`"fencing_resource":"schedule/invoices","idempotency_key":"invoices@2026-11-28","lease_until":"2026-11-28T23:00:30Z",` +
		`"payload":{"region":"eu","note":"<é𝄞>"},"callback_url":"https://duly.example/api/v1/callbacks/7/41"}`
	if string(got.body) != want {
		t.Errorf("body %s\nwant %s", got.body, want)
	}
	for name, want := range map[string]string{
		"Content-Type": "application/json", "Authorization": "Bearer abc", "Idempotency-Key": "invoices@2026-11-28",
		"Duly-Schedule": "invoices", "Duly-Occurrence": "invoices@2026-11-28", "Duly-Period": "2026-11-28",
		"Duly-Covers": `["2026-11-27","2026-11-28"]`, "Duly-Due": "2026-11-28T23:00:00Z", "Duly-Interval-Start": "2026-11-27T23:00:00Z",
		"Duly-Attempt": "2", "Duly-Fencing-Token": "41", "Duly-Fencing-Resource": "schedule/invoices",
		"Duly-Idempotency-Key": "invoices@2026-11-28", "Duly-Lease-Until": "2026-11-28T23:00:30Z",
		"Duly-Payload": `{"region":"eu","note":"<\u00e9\ud834\udd1e>"}`,
	} {
		if values := got.Header.Values(name); len(values) != 1 || values[0] != want {
			t.Errorf("%s: %q, want %q", name, values, want)
		}
	}
	if trace := got.Header.Get("Traceparent"); !regexp.MustCompile(`^00-[0-9a-f]{32}-[0-9a-f]{16}-01$`).MatchString(trace) {
		t.Errorf("traceparent %q", trace)
	}
	if got.Header.Get("Webhook-Signature") != "" {
		t.Error("signed without a secret")
	}
}

func TestWithoutPayloadAndLeaseTheDocumentIsStillWhole(t *testing.T) {
	rec := newReceiver(t, nil)
	a := target.Assignment{Period: "2026-11-28", Target: duly.Target{HTTP: &duly.HTTPTarget{URL: rec.URL}}}
	newRunner(t, http.Options{}).Run(t.Context(), a)
	var doc map[string]any
	if err := json.Unmarshal(rec.only(t).body, &doc); err != nil {
		t.Fatal(err)
	}
	if payload, ok := doc["payload"]; !ok || payload != nil {
		t.Errorf("payload %v", payload)
	}
	if !reflect.DeepEqual(doc["covers"], []any{"2026-11-28"}) {
		t.Errorf("covers %v", doc["covers"])
	}
	if keys := slices.Sorted(maps.Keys(doc)); len(keys) != 10 {
		t.Errorf("keys %v", keys)
	}
}

func TestWhatIsTooLongForAHeaderIsInTheBodyAlone(t *testing.T) {
	rec := newReceiver(t, nil)
	a := assignment(rec.URL)
	a.Covers = nil
	for minute := range 10_000 {
		a.Covers = append(a.Covers, fmt.Sprintf("2026-11-28T%08d", minute))
	}
	if res := newRunner(t, http.Options{}).Run(t.Context(), a); res.Outcome != duly.AttemptSucceeded {
		t.Fatalf("got %+v", res)
	}
	got := rec.only(t)
	if _, is := got.Header["Duly-Covers"]; is || got.Header.Get("Duly-Payload") == "" {
		t.Errorf("headers %v", got.Header)
	}
	var doc struct{ Covers []string }
	if err := json.Unmarshal(got.body, &doc); err != nil || len(doc.Covers) != 10_000 {
		t.Errorf("%d covers, %v", len(doc.Covers), err)
	}
}

func TestGETHasNoBody(t *testing.T) {
	rec := newReceiver(t, nil)
	a := assignment(rec.URL)
	a.Target.HTTP.Method = "get"
	newRunner(t, http.Options{}).Run(t.Context(), a)
	if got := rec.only(t); got.Method != "GET" || len(got.body) != 0 || got.Header.Get("Content-Type") != "" || got.Header.Get("Duly-Period") == "" {
		t.Errorf("got %s %q %v", got.Method, got.body, got.Header)
	}
}

func TestASignatureVerifiesAndNamesTheOccurrence(t *testing.T) {
	const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	rec := newReceiver(t, nil)
	runner := newRunner(t, http.Options{})
	a := assignment(rec.URL)
	a.Target.HTTP.Secret = secret
	for a.Attempt = 1; a.Attempt <= 2; a.Attempt++ {
		runner.Run(t.Context(), a)
	}
	a.IdempotencyKey = "invoices@2026-11-29"
	runner.Run(t.Context(), a)

	wh, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, got := range rec.requests() {
		if err := wh.Verify(got.body, got.Header); err != nil {
			t.Error(err)
		}
		if err := wh.Verify(append(got.body, ' '), got.Header); err == nil {
			t.Error("a changed body verifies")
		}
		ids = append(ids, got.Header.Get("Webhook-Id"))
	}
	if len(ids) != 3 || ids[0] != ids[1] || ids[1] == ids[2] || !regexp.MustCompile(`^msg_[0-9a-f]{32}$`).MatchString(ids[0]) {
		t.Errorf("ids %q", ids)
	}
}

func TestADefinitionThatCannotBeSentFailsForGood(t *testing.T) {
	rec := newReceiver(t, nil)
	tests := []struct {
		name string
		spec duly.HTTPTarget
		text string
	}{
		{"Address", duly.HTTPTarget{URL: "example"}, "target.http.url"},
		{"Method", duly.HTTPTarget{Method: "BAD METHOD"}, "target.http.method"},
		{"HeaderName", duly.HTTPTarget{Headers: map[string]string{"a b": "x"}}, "target.http.headers"},
		{"HeaderValue", duly.HTTPTarget{Headers: map[string]string{"X-Key": "secret\r\nX-Other: 1"}}, `"X-Key"`},
		{"Secret", duly.HTTPTarget{Secret: "whsec_secret!"}, "target.http.secret"},
		{"EmptySecret", duly.HTTPTarget{Secret: "whsec_"}, "target.http.secret"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.spec.URL == "" {
				tt.spec.URL = rec.URL
			}
			res := newRunner(t, http.Options{}).Run(t.Context(), target.Assignment{Target: duly.Target{HTTP: &tt.spec}})
			if res.Outcome != duly.AttemptFailed || !res.Permanent || !strings.Contains(res.Error, tt.text) {
				t.Errorf("got %+v", res)
			}
			if strings.Contains(res.Error, "secret!") || strings.Contains(res.Error, "secret\r") {
				t.Errorf("the error tells a secret: %s", res.Error)
			}
		})
	}
	if seen := rec.requests(); len(seen) != 0 {
		t.Errorf("%d requests were sent", len(seen))
	}
}

func TestNothingIsSentOnceTheAttemptIsOver(t *testing.T) {
	rec := newReceiver(t, nil)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(target.ErrLeaseLost)
	if res := newRunner(t, http.Options{}).Run(ctx, assignment(rec.URL)); res.Outcome != duly.AttemptLost || len(rec.requests()) != 0 {
		t.Errorf("got %+v", res)
	}
}

func TestThousandsOfCallsShareAFewConnections(t *testing.T) {
	const calls, atOnce = 4000, 40
	var connections atomic.Int64
	rec := httptest.NewUnstartedServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		_, _ = io.WriteString(w, `{"ok":true}`)
	}))
	rec.Config.ConnState = func(_ net.Conn, state nethttp.ConnState) {
		if state == nethttp.StateNew {
			connections.Add(1)
		}
	}
	rec.Start()
	t.Cleanup(rec.Close)

	runner := newRunner(t, http.Options{})
	var callers sync.WaitGroup
	var failed atomic.Int64
	for range atOnce {
		callers.Go(func() {
			for range calls / atOnce {
				if res := runner.Run(t.Context(), assignment(rec.URL)); res.Outcome != duly.AttemptSucceeded {
					failed.Add(1)
				}
			}
		})
	}
	callers.Wait()
	if failed.Load() != 0 {
		t.Errorf("%d of %d calls failed", failed.Load(), calls)
	}
	if n := connections.Load(); n > 2*atOnce {
		t.Errorf("%d connections for %d callers", n, atOnce)
	}
}

func TestHTTP2OverTLSIsUsedWhereItIsSpoken(t *testing.T) {
	protocols := make(chan string, 1)
	srv := httptest.NewUnstartedServer(nethttp.HandlerFunc(func(_ nethttp.ResponseWriter, r *nethttp.Request) {
		protocols <- r.Proto + " " + r.Header.Get("Idempotency-Key")
	}))
	srv.EnableHTTP2 = true
	srv.StartTLS()
	t.Cleanup(srv.Close)
	roots := x509.NewCertPool()
	roots.AddCert(srv.Certificate())

	if res := newRunner(t, http.Options{}).Run(t.Context(), assignment(srv.URL)); res.Outcome != duly.AttemptFailed || res.Permanent || !strings.Contains(res.Error, "certificate") {
		t.Errorf("an unknown authority: %+v", res)
	}
	res := newRunner(t, http.Options{TLS: &tls.Config{RootCAs: roots}}).Run(t.Context(), assignment(srv.URL))
	if res.Outcome != duly.AttemptSucceeded {
		t.Fatalf("got %+v", res)
	}
	if got := <-protocols; got != "HTTP/2.0 invoices@2026-11-28" {
		t.Errorf("got %q", got)
	}
}
