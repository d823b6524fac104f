//go:build unix

package chaos

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"

	"github.com/duly-dev/duly/internal/sqltest"
)

// wire is the way from one node to its servers: a proxy for each of them.
type wire struct {
	t       testing.TB
	hosts   []string
	proxies []*toxiproxy.Proxy
}

func newWire(t testing.TB, name string, servers ...string) *wire {
	t.Helper()
	w := &wire{t: t}
	control := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	for i, addr := range servers {
		p := toxiproxy.NewProxy(control, fmt.Sprint(name, i), fmt.Sprintf("127.0.0.1:%d", sqltest.FreePort(t)), addr)
		if err := p.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Stop)
		w.hosts, w.proxies = append(w.hosts, p.Listen), append(w.proxies, p)
	}
	return w
}

// url leads through the wire.
func (w *wire) url(database, parameters string) string {
	return "postgres://postgres@" + strings.Join(w.hosts, ",") + "/" + database + "?connect_timeout=2&target_session_attrs=read-write" + parameters
}

// cut ends all connections and refuses new ones until mend.
func (w *wire) cut() {
	for _, p := range w.proxies {
		p.Stop()
	}
}

func (w *wire) mend() {
	for _, p := range w.proxies {
		if err := p.Start(); err != nil {
			w.t.Errorf("mend %s: %v", p.Listen, err)
		}
	}
}

// swallow lets nothing through in the given directions ("upstream", from the
// node; "downstream", from the server) and ends no connection, as a firewall
// does that has forgotten about them, until the function it answers is called.
func (w *wire) swallow(directions ...string) (end func()) {
	return w.poison(`{"name":"swallow-%s","type":"timeout","stream":"%s","attributes":{"timeout":0}}`, "swallow-", directions)
}

// delay holds up what goes through by d, give or take half of it.
func (w *wire) delay(d time.Duration) (end func()) {
	ms := d.Milliseconds()
	return w.poison(`{"name":"delay-%s","type":"latency","stream":"%s","attributes":`+fmt.Sprintf(`{"latency":%d,"jitter":%d}}`, ms, ms/2), "delay-", []string{"upstream", "downstream"})
}

func (w *wire) poison(toxic, prefix string, directions []string) (end func()) {
	for _, p := range w.proxies {
		for _, d := range directions {
			if _, err := p.Toxics.AddToxicJson(strings.NewReader(fmt.Sprintf(toxic, d, d))); err != nil {
				w.t.Errorf("poison %s: %v", p.Listen, err)
			}
		}
	}
	return func() {
		for _, p := range w.proxies {
			for _, d := range directions {
				if err := p.Toxics.RemoveToxic(context.Background(), prefix+d); err != nil {
					w.t.Errorf("heal %s: %v", p.Listen, err)
				}
			}
		}
	}
}
