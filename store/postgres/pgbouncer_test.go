//go:build unix

package postgres

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// pgbouncer starts a pooler in transaction mode before the server of a DSN, on
// few server connections, and answers what makes DSNs go through it.
func pgbouncer(t *testing.T, dsn string) func(dsn string) string {
	t.Helper()
	bin, err := exec.LookPath("pgbouncer")
	if err != nil {
		bin = "/usr/sbin/pgbouncer"
	}
	if _, err := os.Stat(bin); err != nil {
		t.Fatal("no pgbouncer found: install it with `apt-get install pgbouncer` (Debian, Ubuntu) or `brew install pgbouncer` (macOS)")
	}
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("/tmp", "duly-pgb-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	port := freePort(t)
	config := filepath.Join(dir, "pgbouncer.ini")
	text := fmt.Sprintf(`[databases]
* = host=%s user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 6
max_client_conn = 500
server_idle_timeout = 1
logfile = %s
ignore_startup_parameters = extra_float_digits
`, u.Query().Get("host"), port, filepath.Join(dir, "log"))
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bin, config)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: notRoot(t, dir)}
	var out strings.Builder
	cmd.Stderr = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		if t.Failed() {
			log, _ := os.ReadFile(filepath.Join(dir, "log"))
			t.Logf("pgbouncer ended with %v; the end of its log:\n%s", cmd.ProcessState, log[max(0, len(log)-4000):])
		}
	})
	for deadline := time.Now().Add(10 * time.Second); ; {
		c, err := net.Dial("tcp", "127.0.0.1:"+strconv.Itoa(port))
		if err == nil {
			_ = c.Close()
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("pgbouncer does not answer: %v\n%s", err, out.String())
		}
		time.Sleep(5 * time.Millisecond)
	}
	return func(dsn string) string {
		u, err := url.Parse(dsn)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("postgres://postgres@127.0.0.1:%d%s?sslmode=disable&pgbouncer=true", port, u.Path)
	}
}

// What a call that is given up would send to the pooler must not reach it.
func TestAPoolerIsNotAskedToCancel(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	cfg, err := parse("postgres://someone@" + l.Addr().String() + "/db?sslmode=disable&pgbouncer=true")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		message string
		passes  bool
	}{
		{"\x00\x00\x00\x10\x04\xd2\x16\x2e12345678", false},
		{"\x00\x00\x00\x08\x04\xd2\x16\x2f", true}, // may we encrypt?
		{"\x00\x00\x00\x09\x00\x03\x00\x00\x00", true},
	} {
		c, err := cfg.pool.ConnConfig.DialFunc(t.Context(), "tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		n, err := c.Write([]byte(test.message))
		if passed := err == nil && n == len(test.message); passed != test.passes {
			t.Errorf("%x: %d bytes were sent, error %v", test.message, n, err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// notRoot is whom a server runs as that refuses to be root.
func notRoot(t *testing.T, dir string) *syscall.Credential {
	t.Helper()
	if os.Geteuid() != 0 {
		return nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		t.Fatal(err)
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	if err := os.Chown(dir, uid, gid); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}
