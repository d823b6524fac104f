package http

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	nethttp "net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/target"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// maxHeaderValue is how long a header's value may be. Many servers give a
// request 8 KiB for all of them; what does not fit is in the body alone.
const maxHeaderValue = 2 << 10

// idempotencyKey is spelt in lower case on purpose: net/http takes a request
// that has an "Idempotency-Key" for one that it may send again by itself after
// a connection broke. Names of headers have no case on the wire.
const idempotencyKey = "idempotency-key"

// message is a request that can be sent, and sent again to where a redirect
// points.
type message struct {
	method string
	url    *url.URL
	header nethttp.Header
	body   []byte
}

// document is what a receiver is given as JSON.
type document struct {
	Schedule        string          `json:"schedule"`
	Occurrence      string          `json:"occurrence"`
	Period          string          `json:"period"`
	Covers          []string        `json:"covers"`
	Due             string          `json:"due"`
	IntervalStart   string          `json:"interval_start,omitempty"`
	Attempt         int             `json:"attempt"`
	Unowned         bool            `json:"unowned,omitempty"`
	FencingToken    int64           `json:"fencing_token"`
	FencingResource string          `json:"fencing_resource"`
	IdempotencyKey  string          `json:"idempotency_key"`
	LeaseUntil      string          `json:"lease_until,omitempty"`
	Payload         json.RawMessage `json:"payload"` // null for none
	// CallbackURL is where work that goes on after a 202 reports its end.
	CallbackURL string `json:"callback_url,omitempty"`
}

// newMessage makes the request of an attempt. Its errors last: the definition
// has to be corrected.
func newMessage(a target.Assignment, now time.Time) (*message, error) {
	spec := a.Target.HTTP
	to, err := url.Parse(spec.URL)
	if err != nil || to.Host == "" {
		return nil, errors.New("target.http.url is not a full http or https address")
	}
	m := &message{method: strings.ToUpper(cmp.Or(spec.Method, nethttp.MethodPost)), url: to}
	if !isToken(m.method) {
		return nil, fmt.Errorf("target.http.method: %q is not a method", spec.Method)
	}
	if m.method != nethttp.MethodGet && m.method != nethttp.MethodHead {
		if m.body, err = body(a); err != nil {
			return nil, fmt.Errorf("the payload is not valid JSON: %w", err)
		}
	}
	if m.header, err = headers(a, m.body != nil); err != nil {
		return nil, err
	}
	if spec.Secret != "" {
		err = m.sign(spec.Secret, a.IdempotencyKey, now)
	}
	return m, err
}

func body(a target.Assignment) ([]byte, error) {
	b := document{
		Schedule: a.Schedule, Occurrence: a.Occurrence, Period: a.Period, Covers: a.Periods(),
		Due: target.Instant(a.Due), Attempt: a.Attempt, Unowned: a.Unowned,
		FencingToken: a.Token, FencingResource: a.Resource, IdempotencyKey: a.IdempotencyKey,
		CallbackURL: a.CallbackURL,
	}
	if len(a.Payload) > 0 {
		b.Payload = a.Payload
	}
	if !a.IntervalStart.IsZero() {
		b.IntervalStart = target.Instant(a.IntervalStart)
	}
	if until := a.OwnedUntil(); !until.IsZero() {
		b.LeaseUntil = target.Instant(until)
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	err := enc.Encode(b)
	return bytes.TrimSpace(out.Bytes()), err
}

// headers are the target's own, which cannot replace what Duly says.
func headers(a target.Assignment, hasBody bool) (nethttp.Header, error) {
	h := nethttp.Header{}
	h.Set("User-Agent", "duly/"+duly.Version)
	if hasBody {
		h.Set("Content-Type", "application/json")
	}
	for name, value := range a.Target.HTTP.Headers {
		if !validHeader(name, value) {
			return nil, fmt.Errorf("target.http.headers: %q is not a header, or its value has line breaks or other control characters", name)
		}
		h.Set(name, value)
	}
	for _, v := range target.Variables(a) {
		value := v.Value
		if v.Name == target.PayloadVariable {
			value = headerJSON(a.Payload)
		}
		if value != "" && len(value) <= maxHeaderValue {
			h.Set(strings.ReplaceAll(v.Name, "_", "-"), value)
		}
	}
	h.Del(idempotencyKey)
	h[idempotencyKey] = []string{a.IdempotencyKey}
	h.Set("Traceparent", traceparent())
	return h, nil
}

// traceparent begins a trace, by W3C Trace Context. It is marked as sampled: a
// receiver that records only what its caller does would otherwise show nothing
// of scheduled work.
func traceparent() string {
	var id [24]byte
	_, _ = rand.Read(id[:]) // never fails
	return fmt.Sprintf("00-%x-%x-01", id[:16], id[16:])
}

// sign adds the headers of Standard Webhooks. The id is the same for every
// attempt, so that a receiver that knows it needs no more; it is a digest since
// the scheme separates what it signs by dots, and a schedule's ID may have some.
func (m *message) sign(secret, key string, now time.Time) error {
	wh, err := standardwebhooks.NewWebhook(secret)
	if err != nil || len(strings.TrimPrefix(secret, "whsec_")) == 0 {
		return errors.New("target.http.secret is not one of Standard Webhooks: write whsec_ and the base64 form of 24 to 64 random bytes")
	}
	id := fmt.Sprintf("msg_%x", sha256.Sum256([]byte(key)))[:4+32]
	signature, err := wh.Sign(id, now, m.body)
	if err != nil {
		return fmt.Errorf("the request cannot be signed: %w", err)
	}
	m.header.Set(standardwebhooks.HeaderWebhookID, id)
	m.header.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(now.Unix(), 10))
	m.header.Set(standardwebhooks.HeaderWebhookSignature, signature)
	return nil
}

// headerJSON writes JSON in ASCII on one line, "" if it is none.
func headerJSON(raw []byte) string {
	var compact bytes.Buffer
	if json.Compact(&compact, raw) != nil {
		return ""
	}
	var out strings.Builder
	for _, r := range compact.String() {
		switch {
		case r < utf8.RuneSelf:
			out.WriteRune(r)
		case r > 0xFFFF:
			r1, r2 := utf16.EncodeRune(r)
			fmt.Fprintf(&out, `\u%04x\u%04x`, r1, r2)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.String()
}

// validHeader refuses what net/http would refuse, before anything is sent.
func validHeader(name, value string) bool {
	isControl := func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }
	return isToken(name) && !strings.ContainsFunc(value, isControl)
}

func isToken(s string) bool {
	isSeparator := func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`()<>@,;:\"/[]?={}`, r)
	}
	return s != "" && !strings.ContainsFunc(s, isSeparator)
}
