package cli

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"

	"github.com/duly-dev/duly"
)

func listen(address string) (net.Listener, error) {
	listener, err := net.Listen("tcp", address)
	if err == nil {
		return listener, nil
	}
	if errors.As(err, new(*net.AddrError)) || errors.As(err, new(*net.DNSError)) {
		return nil, withHint(usagef("--listen %s: %w", address, err), "write HOST:PORT, such as 127.0.0.1:4747")
	}
	return nil, withHint(duly.Errorf(duly.CodeUnavailable, "cannot listen: %w", err), "choose another address with --listen; port 0 picks a free one")
}

// reachable is the URL of a listener. One that listens on every interface is
// named by its host.
func reachable(addr net.Addr) string {
	tcp, ok := addr.(*net.TCPAddr)
	if !ok {
		return "http://" + addr.String()
	}
	host := tcp.IP.String()
	if tcp.IP.IsUnspecified() {
		host = "localhost"
		if name, err := os.Hostname(); err == nil {
			host = name
		}
	}
	return "http://" + net.JoinHostPort(host, fmt.Sprint(tcp.Port))
}

// announce says where to look, and warns where others could look too.
func (inv *invocation) announce(addr net.Addr, url string, log *slog.Logger) {
	fmt.Fprintf(inv.out, "Duly %s serves %s; status page: %s/\n", duly.Version, visibleURL(inv.storeURL()), url)
	log.Info("serving", "url", url, "store", visibleURL(inv.storeURL()), "version", duly.Version)
	if tcp, ok := addr.(*net.TCPAddr); ok && !tcp.IP.IsLoopback() {
		log.Warn("there is no access control yet: whoever can reach this address can change schedules and run commands", "address", tcp.String())
	}
}
