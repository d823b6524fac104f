package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/api"
)

// process is a real `duly serve`.
type process struct {
	dir   string // where it runs
	store string // empty: the default in dir
	// brokenLog gives it a log whose reader is gone.
	brokenLog bool

	cmd  *exec.Cmd
	log  lockedBuffer
	done chan struct{}
	err  error // how it ended, after done
}

// readyWithin bounds the start of a server on a busy machine.
const readyWithin = 30 * time.Second

var addressPattern = regexp.MustCompile(`status page: (http://\S+?)/?$`)

// start runs the server and answers its URL once it serves.
func (p *process) start(flags ...string) (string, error) {
	p.cmd = exec.Command(binary(), append([]string{"serve", "--listen", "127.0.0.1:0", "--log", "json"}, flags...)...)
	p.cmd.Dir = p.dir
	p.cmd.Env = append(os.Environ(), "DULY_SERVER=")
	if p.store != "" {
		p.cmd.Env = append(p.cmd.Env, "DULY_STORE="+p.store)
	}
	p.cmd.Stderr = &p.log
	if p.brokenLog {
		read, write, err := os.Pipe()
		if err != nil {
			return "", err
		}
		defer write.Close()
		if err := read.Close(); err != nil {
			return "", err
		}
		p.cmd.Stderr = write
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := p.cmd.Start(); err != nil {
		return "", err
	}
	p.done = make(chan struct{})
	address := make(chan string, 1)
	go func() {
		defer close(p.done)
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if m := addressPattern.FindStringSubmatch(lines.Text()); m != nil {
				address <- m[1]
			}
		}
		p.err = p.cmd.Wait()
	}()
	select {
	case url := <-address:
		return url, nil
	case <-p.done:
		return "", fmt.Errorf("duly serve ended: %v\n%s", p.err, p.log.String())
	case <-time.After(readyWithin):
		_ = p.kill()
		return "", fmt.Errorf("duly serve did not serve within %v\n%s", readyWithin, p.log.String())
	}
}

// terminate asks the server to end and wants exit code 0.
func (p *process) terminate() error {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(readyWithin):
		_ = p.kill()
		return fmt.Errorf("did not end within %v after SIGTERM\n%s", readyWithin, p.log.String())
	}
	if p.err != nil {
		return fmt.Errorf("ended with %v\n%s", p.err, p.log.String())
	}
	return nil
}

// kill is kill -9, and waits until the process is gone.
func (p *process) kill() error {
	err := p.cmd.Process.Kill()
	<-p.done
	return err
}

// lockedBuffer collects a process's log while it is read.
type lockedBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *lockedBuffer) Write(data []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(data)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

var _ io.Writer = (*lockedBuffer)(nil)

// site is a folder with a store, on which servers and commands work.
type site struct {
	t   *testing.T
	dir string
}

func newSite(t *testing.T) *site {
	t.Helper()
	return &site{t: t, dir: t.TempDir()}
}

// write makes a file in the folder.
func (s *site) write(name, text string, mode os.FileMode) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), mode); err != nil {
		s.t.Fatal(err)
	}
}

// serveThroughABrokenPipe is serve with a log whose reader is gone.
func (s *site) serveThroughABrokenPipe(flags ...string) (*process, *api.Client) {
	s.t.Helper()
	return s.launch(&process{dir: s.dir, brokenLog: true}, flags...)
}

// serve starts a server; it is killed when the test ends, if it has not ended.
func (s *site) serve(flags ...string) (*process, *api.Client) {
	s.t.Helper()
	return s.launch(&process{dir: s.dir}, flags...)
}

func (s *site) launch(p *process, flags ...string) (*process, *api.Client) {
	s.t.Helper()
	url, err := p.start(flags...)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		_ = p.kill()
		if s.t.Failed() {
			s.t.Logf("log of process %d:\n%s", p.cmd.Process.Pid, p.log.String())
		}
	})
	return p, api.New(url, "")
}

// duly runs a command to its end and answers what it printed.
func (s *site) duly(args ...string) string {
	s.t.Helper()
	cmd := exec.Command(binary(), args...)
	cmd.Dir = s.dir
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		s.t.Fatalf("duly %s: %v\n%s", strings.Join(args, " "), err, errs.String())
	}
	return string(out)
}

// occurrences reads all of a schedule's occurrences from the store, oldest
// first, whether or not a server lives.
func (s *site) occurrences(schedule string) []duly.Occurrence {
	s.t.Helper()
	var found api.List[duly.Occurrence]
	if err := json.Unmarshal([]byte(s.duly("occurrences", "ls", schedule, "--limit", "1000", "-o", "json")), &found); err != nil {
		s.t.Fatal(err)
	}
	if found.NextCursor != "" {
		s.t.Fatalf("more than a page of occurrences")
	}
	all := found.Items
	for i, j := 0, len(all)-1; i < j; i, j = i+1, j-1 {
		all[i], all[j] = all[j], all[i]
	}
	return all
}

// eventually looks until a condition holds. It looks, because what it waits
// for happens in other processes.
func eventually(t *testing.T, within time.Duration, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	for !holds() {
		select {
		case <-ctx.Done():
			t.Fatalf("not within %v: %s", within, what)
		case <-time.After(20 * time.Millisecond):
		}
	}
}
