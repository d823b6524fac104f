package drill

import (
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// proxy is a line to a server that can be cut: connections break in the middle
// of whatever they carry, and new ones are refused until it is mended.
type proxy struct {
	listener      net.Listener
	network, to   string
	serving       sync.WaitGroup
	mu            sync.Mutex
	isCut, closed bool
	open          map[net.Conn]bool
}

// pgNetwork is where PostgreSQL listens: a host, or the folder of its socket.
func pgNetwork(host string, port uint16) (network, address string) {
	if strings.HasPrefix(host, "/") {
		return "unix", filepath.Join(host, fmt.Sprintf(".s.PGSQL.%d", port))
	}
	return "tcp", net.JoinHostPort(host, strconv.Itoa(int(port)))
}

func newProxy(network, to string) (*proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{listener: l, network: network, to: to, open: map[net.Conn]bool{}}
	p.serving.Go(p.serve)
	return p, nil
}

func (p *proxy) address() string { return p.listener.Addr().String() }

func (p *proxy) serve() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.serving.Go(func() { p.carry(client) })
	}
}

func (p *proxy) carry(client net.Conn) {
	defer client.Close()
	if !p.enter(client) {
		return
	}
	defer p.leave(client)
	server, err := net.Dial(p.network, p.to)
	if err != nil {
		return
	}
	defer server.Close()
	if !p.enter(server) {
		return
	}
	defer p.leave(server)
	var back sync.WaitGroup
	back.Go(func() { _, _ = io.Copy(client, server); _ = client.Close() })
	_, _ = io.Copy(server, client)
	_ = server.Close()
	back.Wait()
}

func (p *proxy) enter(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isCut || p.closed {
		return false
	}
	p.open[c] = true
	return true
}

func (p *proxy) leave(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, c)
}

func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.isCut = true
	p.breakAll()
}

func (p *proxy) breakAll() {
	for c := range p.open {
		_ = c.Close()
	}
}

func (p *proxy) mend() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.isCut = false
}

func (p *proxy) close() {
	_ = p.listener.Close()
	p.mu.Lock()
	p.closed = true
	p.breakAll()
	p.mu.Unlock()
	p.serving.Wait()
}
