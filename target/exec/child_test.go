//go:build linux || darwin

package exec_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	osexec "os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/target"
	"github.com/duly-dev/duly/target/exec"
	"go.uber.org/goleak"
)

// patience bounds the wait for an event that must come.
const patience = 30 * time.Second

const (
	childMode = "EXEC_TEST_CHILD"
	childAddr = "EXEC_TEST_ADDR"
)

// TestMain is also the program of the commands under test.
func TestMain(m *testing.M) {
	mode := os.Getenv(childMode)
	if mode == "" {
		goleak.VerifyTestMain(m)
		return
	}
	child, ok := children[mode]
	if !ok {
		panic("no such child: " + mode)
	}
	child()
}

var children = map[string]func(){
	// hold lives until it is killed or the test is over.
	"hold": func() { await(meet()) },
	"ignore": func() {
		signal.Ignore(syscall.SIGTERM)
		await(meet())
	},
	// tidy needs until the test's word to come to an end.
	"tidy": func() {
		told := make(chan os.Signal, 1)
		signal.Notify(told, syscall.SIGTERM)
		conn := meet()
		<-told
		fmt.Fprintln(conn, "told")
		await(conn)
		fmt.Println("tidied up")
	},
	"exit0": func() { // on SIGTERM, as many servers do
		told := make(chan os.Signal, 1)
		signal.Notify(told, syscall.SIGTERM)
		meet()
		<-told
	},
	"flood": func() {
		fmt.Println("the first line")
		chunk := bytes.Repeat([]byte("all work and no play\n"), 50_000)
		for left := 1 << 30; left > 0; left -= len(chunk) {
			if _, err := os.Stdout.Write(chunk); err != nil {
				os.Exit(1)
			}
		}
		fmt.Println("the last line")
	},
	"fork":   func() { fork(&syscall.SysProcAttr{}) },
	"daemon": func() { fork(&syscall.SysProcAttr{Setsid: true}) },
	// server is a node that runs a command and is killed meanwhile.
	"server": func() {
		run(context.Background(), testBinary("hold", os.Getenv(childAddr)))
	},
}

// fork leaves a child behind when the test says so.
func fork(attr *syscall.SysProcAttr) {
	cmd := osexec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childMode+"=hold")
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = os.Stdout, os.Stderr, attr
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	fmt.Println("forked")
	await(meet())
}

// meet tells the test that the child is there.
func meet() net.Conn {
	conn, err := net.Dial("tcp", os.Getenv(childAddr))
	if err != nil {
		panic(err)
	}
	fmt.Fprintln(conn, os.Getenv(childMode))
	return conn
}

// await waits for the test to speak or to be over.
func await(conn net.Conn) { _, _ = conn.Read(make([]byte, 1)) }

func testBinary(mode, addr string) target.Assignment {
	return target.Assignment{
		Schedule: "invoices", Occurrence: "invoices@2026-11-28", Period: "2026-11-28",
		Attempt: 1, Token: 7,
		Target: duly.Target{Exec: &duly.ExecTarget{
			Command: []string{os.Args[0]},
			Env:     map[string]string{childMode: mode, childAddr: addr},
		}},
	}
}

func shell(script string) target.Assignment {
	return target.Assignment{Target: duly.Target{Exec: &duly.ExecTarget{Command: []string{"sh", "-c", script}}}}
}

func run(ctx context.Context, a target.Assignment) target.Result {
	return exec.New(exec.Options{}).Run(ctx, a)
}

// witness meets the children of a test and sees them die.
type witness struct {
	t        *testing.T
	listener net.Listener
}

func newWitness(t *testing.T) *witness {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return &witness{t, l}
}

func (w *witness) addr() string { return w.listener.Addr().String() }

// meet waits for one child of each mode.
func (w *witness) meet(modes ...string) map[string]*met {
	w.t.Helper()
	children := map[string]*met{}
	_ = w.listener.(*net.TCPListener).SetDeadline(time.Now().Add(patience))
	for range modes {
		conn, err := w.listener.Accept()
		if err != nil {
			w.t.Fatalf("waiting for %v, met %v: %v", modes, children, err)
		}
		w.t.Cleanup(func() { _ = conn.Close() })
		_ = conn.SetDeadline(time.Now().Add(patience))
		child := &met{w.t, conn, bufio.NewReader(conn)}
		children[child.line()] = child
	}
	for _, mode := range modes {
		if children[mode] == nil {
			w.t.Fatalf("met %v, not %q", children, mode)
		}
	}
	return children
}

// met is a child that is alive as long as its connection is.
type met struct {
	t    *testing.T
	conn net.Conn
	in   *bufio.Reader
}

func (m *met) line() string {
	m.t.Helper()
	line, err := m.in.ReadString('\n')
	if err != nil {
		m.t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

func (m *met) speak() { _, _ = m.conn.Write([]byte{'.'}) }

func (m *met) mustDie() {
	m.t.Helper()
	if _, err := m.in.ReadByte(); err == nil || isTimeout(err) {
		m.t.Fatalf("the process is still alive (%v)", err)
	}
}

func (m *met) mustLive() {
	m.t.Helper()
	_ = m.conn.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
	if _, err := m.in.ReadByte(); !isTimeout(err) {
		m.t.Fatalf("the process is gone (%v)", err)
	}
}

func isTimeout(err error) bool {
	timeout, ok := err.(net.Error)
	return ok && timeout.Timeout()
}

// running is an attempt under way.
type running struct {
	t      *testing.T
	cancel context.CancelCauseFunc
	result chan target.Result
}

func begin(t *testing.T, a target.Assignment) *running {
	ctx, cancel := context.WithCancelCause(context.Background())
	r := &running{t, cancel, make(chan target.Result, 1)}
	go func() { r.result <- run(ctx, a) }()
	t.Cleanup(func() { cancel(nil) })
	return r
}

func (r *running) end() target.Result {
	r.t.Helper()
	select {
	case res := <-r.result:
		return res
	case <-time.After(patience):
		r.t.Fatal("the attempt does not end")
		return target.Result{}
	}
}
