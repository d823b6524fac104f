//go:build unix

package chaos

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/internal/sqltest"
	"github.com/duly-dev/duly/node"
	"github.com/duly-dev/duly/store"
)

// TestTwoHundredNodesDoNotComeBackAllAtOnce restarts a server under two hundred
// nodes, each with connections of its own, and counts how often they knock.
func TestTwoHundredNodesDoNotComeBackAllAtOnce(t *testing.T) {
	const nodes = 200
	server := sqltest.NewOwn(t, "max_connections=1000", "shared_buffers=32MB")
	s := newScene(t, server, "crowd", lease)
	door := newDoor(t, server.Addr())
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	for i := range nodes {
		st, err := store.Open(ctx, "postgres://postgres@"+door.addr+"/crowd?max_conns=2&sslmode=disable", store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		n := node.New(st, node.Options{Name: fmt.Sprintf("node-%d", i), Slots: 1, Logger: slog.New(slog.DiscardHandler)})
		n.Handle("nap", func(context.Context, *node.Occurrence) error { return nil })
		running.Go(func() { defer st.Close(); _ = n.Run(ctx) })
	}
	s.until("all nodes", func() bool { return s.alive() == nodes })

	door.forget()
	server.Stop(syscall.SIGINT)
	time.Sleep(8 * time.Second) // long enough for their patience to have grown
	down := len(door.forget())
	up := time.Now()
	server.Start()
	if o := s.ended(s.trigger("nap", 0)); o.State != duly.Succeeded {
		t.Errorf("%s is %s", o.ID, o.State)
	}
	time.Sleep(time.Until(up.Add(10 * time.Second)))
	knocks := door.forget()
	const span = 100 * time.Millisecond
	most, when := busiest(knocks, span)
	t.Logf("%d nodes knocked %d times in 8 s while the server was away, and %d times in the 10 s since it was started; %d times in the busiest %v, %v after that",
		nodes, down, len(knocks), most, span, when.Sub(up).Round(10*time.Millisecond))
	if down > nodes*20 {
		t.Errorf("%d knocks while the server was away: nobody backs off", down)
	}
	// All at once would be two or three connections of each node. It is some 25 on
	// a machine that is not busy with other things.
	if most > nodes {
		t.Errorf("%d knocks within %v: they come back at once", most, span)
	}
	for late := time.Now().Add(3 * patience); s.alive() != nodes; time.Sleep(time.Second) {
		if time.Now().After(late) {
			t.Fatalf("%d nodes are alive afterwards", s.alive())
		}
	}
}

func (s *scene) alive() (n int) {
	s.t.Helper()
	all, err := s.st.NodeList(context.Background())
	if err != nil {
		s.t.Fatal(err)
	}
	for _, n1 := range all {
		if n1.State == "live" && strings.HasPrefix(n1.Name, "node-") {
			n++
		}
	}
	return n
}

// busiest finds the span with the most times in it, which are in order.
func busiest(times []time.Time, span time.Duration) (most int, when time.Time) {
	for i, from := range times {
		end, _ := slices.BinarySearchFunc(times, from.Add(span), time.Time.Compare)
		if end-i > most {
			most, when = end-i, from
		}
	}
	return most, when
}

// door passes connections on to a server and remembers when somebody knocked.
type door struct {
	addr, to string
	mu       sync.Mutex
	knocks   []time.Time
}

func newDoor(t *testing.T, to string) *door {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d := &door{addr: l.Addr().String(), to: to}
	var open sync.WaitGroup
	open.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			d.mu.Lock()
			d.knocks = append(d.knocks, time.Now())
			d.mu.Unlock()
			open.Go(func() { d.pass(c) })
		}
	})
	t.Cleanup(func() { l.Close(); open.Wait() })
	return d
}

func (d *door) pass(c net.Conn) {
	defer c.Close()
	s, err := net.Dial("tcp", d.to)
	if err != nil {
		return
	}
	var back sync.WaitGroup
	back.Go(func() {
		_, _ = io.Copy(c, s)
		_ = c.Close()
	})
	_, _ = io.Copy(s, c)
	_ = s.Close()
	back.Wait()
}

// forget answers the knocks since the last time.
func (d *door) forget() []time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	knocks := d.knocks
	d.knocks = nil
	return knocks
}
