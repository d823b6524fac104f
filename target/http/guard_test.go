package http_test

import (
	"fmt"
	nethttp "net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/target"
	"github.com/duly-dev/duly/target/http"
)

func mustFailForGood(t *testing.T, res target.Result, text string) {
	t.Helper()
	if res.Outcome != duly.AttemptFailed || !res.Permanent || !strings.Contains(res.Error, text) {
		t.Errorf("got %+v, want a permanent failure with %q", res, text)
	}
}

func TestMetadataServicesAreNeverDialled(t *testing.T) {
	everywhere := []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}
	for _, opt := range []http.Options{{}, {PublicOnly: true}, {PublicOnly: true, Allowed: everywhere}} {
		for _, host := range []string{
			"169.254.169.254", "[::ffff:169.254.169.254]", "[::ffff:a9fe:a9fe]", "169.254.170.2", "[fd00:ec2::254]",
			"[fd20:ce::254]", "100.100.100.200", "[fe80::1]", "[fe80::1%25lo]",
		} {
			t.Run(host, func(t *testing.T) {
				mustFailForGood(t, newRunner(t, opt).Run(t.Context(), assignment("http://"+host+"/latest/meta-data")), "address refused")
			})
		}
	}
}

// A proxy would be dialled instead of this address, which is refused.
func TestProxiesOfTheEnvironmentAreIgnored(t *testing.T) {
	req := httptest.NewRequest("POST", "http://169.254.169.254/", nil)
	if proxy, err := nethttp.ProxyFromEnvironment(req); err != nil || proxy == nil {
		t.Fatalf("the environment names no proxy: %v", err)
	}
	mustFailForGood(t, newRunner(t, http.Options{}).Run(t.Context(), assignment("http://169.254.169.254/")), "address refused")
}

func TestPublicOnlyJudgesTheAddressAndNotTheName(t *testing.T) {
	rec := newReceiver(t, nil)
	byName := strings.Replace(rec.URL, "127.0.0.1", "localhost", 1)
	for _, url := range []string{rec.URL, byName} {
		mustFailForGood(t, newRunner(t, http.Options{PublicOnly: true}).Run(t.Context(), assignment(url)), "not on the public internet")
	}
	if len(rec.requests()) != 0 {
		t.Error("it was called nevertheless")
	}
	loopback := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	res := newRunner(t, http.Options{PublicOnly: true, Allowed: loopback}).Run(t.Context(), assignment(rec.URL))
	if res.Outcome != duly.AttemptSucceeded {
		t.Errorf("an allowed network: %+v", res)
	}
}

// redirecting answers with status and location until the path is /there.
func redirecting(t *testing.T, status int, location string) *receiver {
	return newReceiver(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		if r.URL.Path == "/there" {
			return
		}
		if strings.HasPrefix(location, "//") {
			location = "http:" + strings.Replace(location, "//self", "//"+r.Host, 1)
		}
		if location != "" {
			w.Header().Set("Location", location)
		}
		w.WriteHeader(status)
	})
}

func TestARedirectOnTheSameHostKeepsMethodBodyAndHeaders(t *testing.T) {
	for status, location := range map[int]string{307: "/there?x=1", 308: "//self/there?x=1"} {
		rec := redirecting(t, status, location)
		a := assignment(strings.Replace(rec.URL, "http://", "http://user:password@", 1) + "/here")
		a.Target.HTTP.Method = "PUT"
		a.Target.HTTP.Secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
		if res := newRunner(t, http.Options{}).Run(t.Context(), a); res.Outcome != duly.AttemptSucceeded {
			t.Fatalf("got %+v", res)
		}
		seen := rec.requests()
		if len(seen) != 2 || seen[1].Method != "PUT" || seen[1].RequestURI != "/there?x=1" || string(seen[0].body) != string(seen[1].body) {
			t.Fatalf("got %+v", seen)
		}
		for _, name := range []string{"Authorization", "Webhook-Signature", "Idempotency-Key", "Duly-Fencing-Token"} {
			if got, want := seen[1].Header.Get(name), seen[0].Header.Get(name); got != want || got == "" {
				t.Errorf("%s: %q, first %q", name, got, want)
			}
		}
	}
}

func TestARedirectElsewhereIsRefusedAndNothingIsSentThere(t *testing.T) {
	elsewhere := newReceiver(t, nil)
	for _, status := range []int{307, 308} {
		rec := redirecting(t, status, elsewhere.URL+"/there")
		mustFailForGood(t, newRunner(t, http.Options{}).Run(t.Context(), assignment(rec.URL)), elsewhere.URL+"/there")
	}
	if len(elsewhere.requests()) != 0 {
		t.Error("the other host was called")
	}
	rec := redirecting(t, 308, "")
	secure := strings.Replace(rec.URL, "http:", "https:", 1) + "/there"
	rec = redirecting(t, 308, secure)
	mustFailForGood(t, newRunner(t, http.Options{}).Run(t.Context(), assignment(rec.URL)), "another scheme, host or port")
}

func TestARedirectThatChangesTheRequestIsRefused(t *testing.T) {
	for _, status := range []int{300, 301, 302, 303, 305} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			rec := redirecting(t, status, "/there")
			mustFailForGood(t, newRunner(t, http.Options{}).Run(t.Context(), assignment(rec.URL)), rec.URL+"/there")
			rec.only(t)
		})
	}
}

func TestARedirectToNowhereIsRefused(t *testing.T) {
	for _, status := range []int{302, 304, 307} {
		rec := redirecting(t, status, "")
		mustFailForGood(t, newRunner(t, http.Options{}).Run(t.Context(), assignment(rec.URL)), "without saying where to")
	}
}

func TestRedirectsInACircleEnd(t *testing.T) {
	rec := redirecting(t, 307, "/again")
	mustFailForGood(t, newRunner(t, http.Options{}).Run(t.Context(), assignment(rec.URL)), "3 led to one more")
	if n := len(rec.requests()); n != 4 {
		t.Errorf("%d requests, want the first and 3 redirects", n)
	}
}
