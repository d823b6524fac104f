//go:build unix

package postgres

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// ownServer is a server that a test may break.
type ownServer struct {
	t   *testing.T
	dir string
	bin string
	as  *syscall.Credential
}

func startOwn(t *testing.T) *ownServer {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/pg_ctl")
	if path, err := exec.LookPath("pg_ctl"); err == nil {
		found = append(found, path)
	}
	if len(found) == 0 {
		t.Fatal("no PostgreSQL server found: install it with `apt-get install postgresql` (Debian, Ubuntu) or `brew install postgresql@17` (macOS)")
	}
	slices.Sort(found)
	dir, err := os.MkdirTemp("/tmp", "duly-own-")
	if err != nil {
		t.Fatal(err)
	}
	s := &ownServer{t: t, dir: dir, bin: filepath.Dir(found[len(found)-1]), as: notRoot(t, dir)}
	t.Cleanup(func() {
		_ = s.command("pg_ctl", "-D", dir+"/data", "-m", "immediate", "-w", "stop").Run() // it may be down
		_ = os.RemoveAll(dir)
	})
	s.run("initdb", "-D", dir+"/data", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
	s.start()
	return s
}

func (s *ownServer) command(program string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.bin, program), args...)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: s.as}
	return cmd
}

// run waits for a program, whose output goes to no pipe, since a server that it
// starts would keep that open.
func (s *ownServer) run(program string, args ...string) {
	s.t.Helper()
	if err := s.command(program, args...).Run(); err != nil {
		s.t.Errorf("%s %v: %v", program, args, err)
	}
}

func (s *ownServer) start() {
	s.t.Helper()
	s.run("pg_ctl", "-D", s.dir+"/data", "-l", s.dir+"/log", "-o", "-c listen_addresses= -c unix_socket_directories="+s.dir, "-w", "start")
}

func (s *ownServer) stop(mode string) {
	s.t.Helper()
	s.run("pg_ctl", "-D", s.dir+"/data", "-m", mode, "-w", "stop")
}

func (s *ownServer) dsn() string { return "postgres://postgres@/postgres?host=" + s.dir }

// TestRestartsOfTheServerLoseAndRepeatNothing restarts the server under nodes at
// work, once in order and once as a crash. Whoever is told unavailable does the
// same again.
func TestRestartsOfTheServerLoseAndRepeatNothing(t *testing.T) {
	server := startOwn(t)
	s := mustOpen(t, server.dsn())
	start := time.Now().Truncate(time.Minute)
	ids := crowdSchedules(t, s, start, 3)
	r := &rounds{t: t, start: start, seen: map[string]int{}, moved: make(chan struct{}, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for range 3 {
		node := mustOpen(t, server.dsn())
		wg.Go(func() { r.work(ctx, node) })
	}
	for _, mode := range []string{"fast", "immediate"} {
		r.await(20)
		server.stop(mode)
		server.start()
	}
	r.await(20)
	cancel()
	wg.Wait()
	r.settle(s)
	checkCounts(t, s)
	for _, id := range ids {
		all, _, err := s.Occurrences(t.Context(), store.OccurrenceFilter{Schedule: id}, store.Page{Limit: 1000})
		if err != nil {
			t.Fatal(err)
		}
		if len(all) != int(r.minute.Load()) {
			t.Errorf("%s has %d occurrences after %d minutes", id, len(all), r.minute.Load())
		}
		for _, o := range all {
			if o.State != duly.Succeeded {
				t.Errorf("%s is %s", o.ID, o.State)
			}
		}
	}
}
