package server

import (
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/api"
)

// guardOrigin keeps pages of other origins in a browser from changing anything.
// A browser goes by names, and whoever owns a name can have it lead to
// 127.0.0.1 once his page is loaded. So beside pages of other origins, those
// are refused that came to this server under a name it does not have.
func (s *Server) guardOrigin(next http.Handler) http.Handler {
	csrf := http.NewCrossOriginProtection()
	deny := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.writeProblem(w, r, api.Problem{
			Status: http.StatusForbidden, Code: duly.CodeInvalid,
			Detail: "a page of another origin may not change anything here",
		})
	})
	csrf.SetDenyHandler(deny)
	return csrf.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if mayChange(r.Method) && fromBrowser(r) && !s.named(r.Host) {
			deny(w, r)
			return
		}
		next.ServeHTTP(w, r)
	}))
}

func mayChange(method string) bool {
	return method != http.MethodGet && method != http.MethodHead && method != http.MethodOptions
}

func fromBrowser(r *http.Request) bool {
	return r.Header.Get("Origin") != "" || r.Header.Get("Sec-Fetch-Site") != ""
}

// named reports whether a Host is this server's: an address, which nobody can
// lead elsewhere, localhost, or the host of Options.URL.
func (s *Server) named(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.Trim(host, "[]"))
	if net.ParseIP(host) != nil || host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	own, err := url.Parse(s.url)
	return err == nil && own.Hostname() != "" && strings.EqualFold(own.Hostname(), host)
}
