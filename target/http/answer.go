package http

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	nethttp "net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/target"
)

// read turns an answer into a result.
func (r *Runner) read(ctx context.Context, a target.Assignment, m *message, res *nethttp.Response) target.Result {
	data, whole, err := readBounded(res.Body, cmp.Or(a.Target.HTTP.ResponseLimit, defaultResponseLimit))
	done := res.StatusCode < 300
	if done && err != nil && ctx.Err() != nil {
		return failure(ctx, m, err)
	}

	var result target.Result
	switch {
	case done && err != nil:
		result = target.Failed(fmt.Sprintf("%s answered %s, but its answer broke off: %v", m.url.Host, res.Status, err))
	case res.StatusCode == nethttp.StatusAccepted:
		result = accepted(a.CallbackURL)
	case done:
		result = succeeded(data, whole)
	default:
		result = r.refused(m, res, data)
	}
	status := res.StatusCode
	result.ExitCode = &status
	if result.Result == nil {
		text := target.Text(data)
		if !whole {
			text += "\n[… the rest of the answer was not read …]"
		}
		result.Output = text + result.Output
	}
	return result
}

// readBounded reads at most limit bytes and says whether that was all.
func readBounded(body io.Reader, limit int) (data []byte, whole bool, err error) {
	data, err = io.ReadAll(io.LimitReader(body, int64(limit)+1))
	if len(data) > limit {
		return data[:limit], false, nil
	}
	return data, true, err
}

func accepted(callback string) target.Result {
	if callback == "" {
		// Sending it again would start the work again, calling it done would
		// be a guess.
		return target.Result{
			Outcome: duly.AttemptUncertain,
			Error:   "the receiver accepted the work (202) and goes on with it, but this node has no address at which it could report the end: answer when the work is done, or run a server",
		}
	}
	return target.Result{Outcome: duly.AttemptRunning, Detached: true}
}

// succeeded keeps an answer in JSON as the result, with the effects it names.
func succeeded(data []byte, whole bool) target.Result {
	result := target.Result{Outcome: duly.AttemptSucceeded}
	data = bytes.TrimSpace(data)
	if !whole || !utf8.Valid(data) || !json.Valid(data) {
		return result
	}
	result.Result = data
	effects, err := effectsIn(data)
	if err != nil {
		result.Output = "effects ignored: " + err.Error()
	}
	result.Effects = effects
	return result
}

func effectsIn(data []byte) ([]target.Effect, error) {
	if data[0] != '{' {
		return nil, nil
	}
	var answer struct {
		Effects []target.Effect `json:"effects"`
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		return nil, errors.New(`"effects" in the answer is not a list of {"key", "reused"}`)
	}
	for i, e := range answer.Effects {
		if e.Key == "" || target.Text([]byte(e.Key)) != e.Key {
			return nil, fmt.Errorf("number %d in the answer has no key, or one with a NUL", i+1)
		}
	}
	return answer.Effects, nil
}

// refused is the result of an answer that is no success.
//
// Of the effects that the answer names it keeps those that may have happened all
// the same.
func (r *Runner) refused(m *message, res *nethttp.Response, data []byte) target.Result {
	result := r.refusal(m, res, data)
	if data = bytes.TrimSpace(data); len(data) > 0 && utf8.Valid(data) && json.Valid(data) {
		told, _ := effectsIn(data)
		for _, e := range told {
			if e.Open {
				result.Effects = append(result.Effects, e)
			}
		}
	}
	return result
}

func (r *Runner) refusal(m *message, res *nethttp.Response, data []byte) target.Result {
	isProblem, detail := problem(res.Header, data)
	text := fmt.Sprintf("%s answered %s", m.url.Host, target.Text([]byte(res.Status)))
	if detail != "" {
		text += ": " + detail
	}
	switch {
	case res.StatusCode == nethttp.StatusPreconditionFailed && isProblem:
		return target.Failed("stale token: " + text)
	case retryable(res.StatusCode):
		result := target.Failed(text)
		result.RetryAfter = retryAfter(res.Header, time.Now(), r.maxRetryAfter)
		return result
	}
	return target.FailedForGood(text)
}

func retryable(status int) bool {
	switch status {
	case nethttp.StatusRequestTimeout, nethttp.StatusTooEarly, nethttp.StatusTooManyRequests:
		return true
	}
	return status >= 500
}

// problem reads an answer of RFC 9457.
func problem(h nethttp.Header, data []byte) (is bool, detail string) {
	media, _, _ := mime.ParseMediaType(h.Get("Content-Type"))
	if media != "application/problem+json" {
		return false, ""
	}
	var p struct {
		Title  string `json:"title"`
		Detail string `json:"detail"`
	}
	_ = json.Unmarshal(data, &p) // a broken one has no detail
	detail = target.Text([]byte(cmp.Or(p.Detail, p.Title)))
	if len(detail) > maxDetail {
		detail = strings.ToValidUTF8(detail[:maxDetail], "") + " …"
	}
	return true, detail
}

// maxDetail bounds what of a problem is part of the error; all of it is in the
// output.
const maxDetail = 500

// retryAfter reads Retry-After: seconds, or a date, which is measured from the
// answer's own Date since the clocks may differ. 0 for none; at most limit.
func retryAfter(h nethttp.Header, now time.Time, limit time.Duration) time.Duration {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if value == "" {
		return 0
	}
	if strings.Trim(value, "0123456789") == "" {
		seconds, err := strconv.ParseInt(value, 10, 64)
		if err != nil || seconds > int64(limit/time.Second) {
			return limit
		}
		return time.Duration(seconds) * time.Second
	}
	at, err := nethttp.ParseTime(value)
	if err != nil {
		return 0
	}
	if sent, err := nethttp.ParseTime(h.Get("Date")); err == nil {
		now = sent
	}
	return min(max(0, at.Sub(now)), limit)
}
