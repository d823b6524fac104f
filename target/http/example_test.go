package http_test

import (
	"context"
	"fmt"
	nethttp "net/http"
	"net/http/httptest"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/target"
	"github.com/duly-dev/duly/target/http"
)

func ExampleRunner() {
	receiver := httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		fmt.Println("received", r.Header.Get("Duly-Period"), "token", r.Header.Get("Duly-Fencing-Token"))
		w.Header().Set("Retry-After", "30")
		w.WriteHeader(nethttp.StatusServiceUnavailable)
	}))
	defer receiver.Close()
	runner := http.New(http.Options{})
	defer runner.Close()

	res := runner.Run(context.Background(), target.Assignment{
		Schedule: "invoices", Occurrence: "invoices@2026-11-28", Period: "2026-11-28", Attempt: 1, Token: 42,
		Target: duly.Target{HTTP: &duly.HTTPTarget{URL: receiver.URL}},
	})
	fmt.Println(res.Outcome, "try again in", res.RetryAfter)
	// Output:
	// received 2026-11-28 token 42
	// failed try again in 30s
}
