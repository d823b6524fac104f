package http

import (
	"context"
	"io"
	nethttp "net/http"
	"net/url"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/target"
)

func TestAStatusCountsThoughTheRestOfTheAnswerNeverCame(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(target.ErrTimeout)
	tests := []struct {
		status  string
		code    int
		outcome duly.Outcome
		text    string
	}{
		{"404 Not Found", 404, duly.AttemptFailed, "answered 404 Not Found"},
		{"200 OK", 200, duly.AttemptTimedOut, "not known"},
	}
	for _, tt := range tests {
		t.Run(tt.status, func(t *testing.T) {
			r := New(Options{})
			defer r.Close()
			half := io.MultiReader(strings.NewReader("half"), iotest.ErrReader(context.Canceled))
			answer := &nethttp.Response{Status: tt.status, StatusCode: tt.code, Body: io.NopCloser(half)}
			a := target.Assignment{Target: duly.Target{HTTP: &duly.HTTPTarget{}}}
			res := r.read(ctx, a, &message{url: &url.URL{Host: "example.com"}}, answer)
			if res.Outcome != tt.outcome || !strings.Contains(res.Error, tt.text) {
				t.Errorf("got %+v", res)
			}
		})
	}
}
