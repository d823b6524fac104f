package http

import (
	"errors"
	"fmt"
	"net/netip"
	"syscall"

	"code.dny.dev/ssrf"
)

// errRefused is an address that must not be dialled.
var errRefused = errors.New("address refused")

// metadata are addresses at which clouds answer anybody on a machine, with the
// machine's credentials among other things.
var metadata = []netip.Prefix{
	netip.MustParsePrefix("169.254.0.0/16"),
	netip.MustParsePrefix("fe80::/10"),
	netip.MustParsePrefix("fd00:ec2::254/128"),  // Amazon
	netip.MustParsePrefix("fd20:ce::254/128"),   // Google
	netip.MustParsePrefix("100.100.100.200/32"), // Alibaba
}

// guard checks each address right before it is dialled, so that no name
// server's answer can get past it.
func guard(opt Options) func(network, address string, _ syscall.RawConn) error {
	var public *ssrf.Guardian
	if opt.PublicOnly {
		var v4, v6 []netip.Prefix
		for _, p := range opt.Allowed {
			if p.Addr().Is4() {
				v4 = append(v4, p)
			} else {
				v6 = append(v6, p)
			}
		}
		public = ssrf.New(ssrf.WithAnyPort(), ssrf.WithAllowedV4Prefixes(v4...), ssrf.WithAllowedV6Prefixes(v6...))
	}
	return func(network, address string, c syscall.RawConn) error {
		addr, err := netip.ParseAddrPort(address)
		if err != nil {
			return fmt.Errorf("%w: %q is no address", errRefused, address)
		}
		ip := addr.Addr().Unmap().WithZone("")
		for _, p := range metadata {
			if p.Contains(ip) {
				return fmt.Errorf("%w: %v is link-local or a cloud's metadata service", errRefused, ip)
			}
		}
		if public == nil {
			return nil
		}
		if err := public.Safe(network, address, c); err != nil {
			return fmt.Errorf("%w: %v is not on the public internet, and this node calls nothing else: allow its network in the node's configuration", errRefused, ip)
		}
		return nil
	}
}
