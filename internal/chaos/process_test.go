//go:build unix

package chaos

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"
)

// process is a worker process. It may be started again and again.
type process struct {
	t     testing.TB
	order order
	log   logbook
	said  logbook // its standard output

	mu    sync.Mutex
	cmd   *exec.Cmd
	ended chan struct{}
	guard *exec.Cmd
	hold  io.Closer
}

// newProcess makes a worker that is killed when the test ends.
func newProcess(t testing.TB, o order) *process {
	p := &process{t: t, order: o}
	t.Cleanup(func() { p.end(syscall.SIGKILL) })
	return p
}

// start starts the worker, if it does not run.
func (p *process) start() {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd != nil {
		return
	}
	text, err := json.Marshal(p.order)
	if err != nil {
		p.t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		p.t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), orderVariable+"="+string(text))
	cmd.Stdout, cmd.Stderr = &p.said, &p.log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		p.t.Error(err)
		return
	}
	p.cmd, p.ended = cmd, make(chan struct{})
	go func(ended chan struct{}) {
		defer close(ended)
		_ = cmd.Wait() // killed, mostly
	}(p.ended)
	p.watch()
}

// watch has a process kill the worker when this one is gone, whatever the way.
func (p *process) watch() {
	p.guard = exec.Command("/bin/sh", "-c", fmt.Sprintf("read x; kill -9 %d", p.cmd.Process.Pid))
	p.guard.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	hold, err := p.guard.StdinPipe()
	if err == nil {
		p.hold, err = hold, p.guard.Start()
	}
	if err != nil {
		p.t.Error(err)
	}
}

// end ends the worker with a signal and waits for it. One that does not end by
// SIGTERM within 20 seconds has failed the test.
func (p *process) end(how syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return
	}
	_ = p.guard.Process.Kill()
	_ = p.guard.Wait()
	_ = p.hold.Close()
	_ = p.cmd.Process.Signal(how)
	select {
	case <-p.ended:
	case <-time.After(20 * time.Second):
		_ = p.cmd.Process.Signal(syscall.SIGQUIT) // which tells what it is at
		<-p.ended
		p.t.Errorf("%s does not end by %v:\n%s", p.order.Name, how, bytes.Join(p.log.lines(""), []byte("\n")))
	}
	p.cmd = nil
}

// signal sends a signal, if the worker runs.
func (p *process) signal(s syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd != nil {
		_ = p.cmd.Process.Signal(s)
	}
}

// logbook keeps what processes said.
type logbook struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logbook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// lines are those that contain a word.
func (l *logbook) lines(word string) (found [][]byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range bytes.Lines(l.text.Bytes()) {
		if bytes.Contains(line, []byte(word)) {
			found = append(found, bytes.Clone(bytes.TrimSpace(line)))
		}
	}
	return found
}
