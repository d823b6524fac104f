//go:build unix

package postgres

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"
)

// ownServer is a server that a test may break.
type ownServer struct {
	t   *testing.T
	dir string
	bin string
	as  *syscall.Credential
}

// findServer finds the programs and a place for a server.
func findServer(t *testing.T) *ownServer {
	t.Helper()
	path, err := exec.LookPath("pg_ctl")
	if err != nil {
		found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/pg_ctl")
		if len(found) == 0 {
			t.Fatal("no PostgreSQL server found: install it with `apt-get install postgresql` (Debian, Ubuntu) or `brew install postgresql@17` (macOS)")
		}
		slices.Sort(found)
		path = found[len(found)-1]
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("/tmp", "duly-own-")
	if err != nil {
		t.Fatal(err)
	}
	s := &ownServer{t: t, dir: dir, bin: filepath.Dir(path), as: notRoot(t, dir)}
	t.Cleanup(func() {
		_ = s.command("pg_ctl", "-D", dir+"/data", "-m", "immediate", "-w", "stop").Run() // it may be down
		_ = os.RemoveAll(dir)
	})
	return s
}

// primary makes and starts a server.
func primary(t *testing.T) *ownServer {
	t.Helper()
	s := findServer(t)
	s.run("initdb", "-D", s.dir+"/data", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
	s.start()
	return s
}

// standby makes a server that follows another one, which waits for it with each
// commit.
func (s *ownServer) standby() *ownServer {
	s.t.Helper()
	b := findServer(s.t)
	b.run("pg_basebackup", "-h", s.dir, "-U", "postgres", "-D", b.dir+"/data", "-R", "-X", "stream", "--no-sync")
	b.start()
	c := admin(s.t, s.dsn())
	mustExec(s.t, c, "ALTER SYSTEM SET synchronous_standby_names = '*'")
	mustExec(s.t, c, "SELECT pg_reload_conf()")
	return b
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
	cmd := s.command(program, args...)
	said, err := os.Create(filepath.Join(s.dir, "said"))
	if err != nil {
		s.t.Fatal(err)
	}
	defer said.Close()
	cmd.Stderr = said
	if err := cmd.Run(); err != nil {
		text, _ := os.ReadFile(said.Name())
		err = fmt.Errorf("%w\n%s", err, text)
		s.t.Fatalf("%s %v: %v", program, args, err)
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
	server := primary(t)
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
	r.check(s, ids)
}

// TestPromotionOfAStandbyLosesAndRepeatsNothing kills the primary under nodes at
// work. They name both servers, and find the one that writes.
func TestPromotionOfAStandbyLosesAndRepeatsNothing(t *testing.T) {
	a := primary(t)
	b := a.standby()
	both := "postgres://postgres@/postgres?host=" + a.dir + "," + b.dir
	s := mustOpen(t, both)
	start := time.Now().Truncate(time.Minute)
	ids := crowdSchedules(t, s, start, 3)
	r := &rounds{t: t, start: start, seen: map[string]int{}, moved: make(chan struct{}, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for range 3 {
		node := mustOpen(t, both)
		wg.Go(func() { r.work(ctx, node) })
	}
	r.await(20)
	a.stop("immediate")
	b.run("pg_ctl", "-D", b.dir+"/data", "-w", "promote")
	r.await(20)
	cancel()
	wg.Wait()
	r.check(s, ids)
}
