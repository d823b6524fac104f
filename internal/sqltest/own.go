//go:build unix

package sqltest

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// Own is a PostgreSQL server that one test has to itself, to stop, crash,
// starve and promote it. It syncs its commits, and listens on a socket and on a
// port of the loopback interface, so that a proxy can be put in front of it.
type Own struct {
	t    testing.TB
	srv  *server
	as   identity
	bin  string
	data string
	port int
	set  []string
	up   bool
}

// NewOwn makes and starts a server until the test ends, with settings as
// "name=value".
func NewOwn(t testing.TB, settings ...string) *Own {
	t.Helper()
	o := PrepareOwn(t, "", settings...)
	o.Start()
	return o
}

// PrepareOwn makes a server and does not start it. Its data is in a folder that
// its user may write to, a small file system say; in one of its own where that
// is empty.
func PrepareOwn(t testing.TB, folder string, settings ...string) *Own {
	t.Helper()
	o := prepareOwn(t, settings)
	if folder != "" {
		o.data = filepath.Join(folder, "data")
	}
	// Segments of its log are small, to leave room on small file systems.
	o.run("initdb", "-D", o.data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync", "--wal-segsize=1")
	return o
}

// prepareOwn finds a place for a server, and no more.
func prepareOwn(t testing.TB, settings []string) *Own {
	t.Helper()
	initdb, err := findPostgres()
	if err != nil {
		t.Fatal(err)
	}
	srv, as, err := prepare("postgres")
	if err != nil {
		t.Fatal(err)
	}
	o := &Own{t: t, srv: srv, as: as, bin: filepath.Dir(initdb), data: filepath.Join(srv.dir, "data"), port: FreePort(t), set: settings}
	srv.dsn = o.dsn
	t.Cleanup(func() {
		if o.up {
			o.Stop(syscall.SIGQUIT)
		}
		_ = os.RemoveAll(srv.dir)
	})
	return o
}

// Start starts the server and waits until it answers.
func (o *Own) Start() {
	o.t.Helper()
	args := []string{
		"-D", o.data, "-c", "listen_addresses=127.0.0.1", "-c", "port=" + strconv.Itoa(o.port), "-c", "unix_socket_directories=" + o.srv.dir,
		"-c", "max_connections=300", "-c", "shared_buffers=64MB", "-c", "min_wal_size=8MB", "-c", "wal_keep_size=64MB", "-c", "wal_retrieve_retry_interval=100ms",
	}
	for _, s := range o.set {
		args = append(args, "-c", s)
	}
	// A server that crashed leaves processes that end in a moment, and nobody
	// may start before they have.
	for late := time.Now().Add(startLimit); ; time.Sleep(50 * time.Millisecond) {
		o.srv.ended = make(chan struct{})
		err := o.srv.launch(o.as.command(filepath.Join(o.bin, "postgres"), args...), "pgx", "postgres")
		if err == nil {
			break
		}
		if time.Now().After(late) {
			o.t.Fatal(err)
		}
	}
	o.up = true
}

// Stop ends the server: SIGINT stops it in order, SIGQUIT crashes it, and
// SIGKILL does so without a word to its clients.
func (o *Own) Stop(how syscall.Signal) {
	o.up = false
	o.srv.end(how)
}

// Ended reports whether the server has ended by itself.
func (o *Own) Ended() bool {
	select {
	case <-o.srv.ended:
		return true
	default:
		return false
	}
}

// Pause keeps the server's processes from running, as a host that hangs does,
// until resume is called.
func (o *Own) Pause() (resume func()) {
	o.t.Helper()
	pids := append(o.children(), o.srv.cmd.Process.Pid)
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGSTOP)
	}
	return func() {
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGCONT)
		}
	}
}

func (o *Own) children() (pids []int) {
	o.t.Helper()
	text, err := o.as.command("ps", "-o", "pid=", "--ppid", strconv.Itoa(o.srv.cmd.Process.Pid)).Output()
	if err != nil {
		o.t.Fatal(err)
	}
	for _, field := range bytes.Fields(text) {
		if pid, err := strconv.Atoi(string(field)); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// Standby makes a server that follows this one, which from then on waits for it
// with each commit.
func (o *Own) Standby(settings ...string) *Own {
	o.t.Helper()
	b := prepareOwn(o.t, settings)
	b.Follow(o)
	return b
}

// Follow throws this server's data away and makes it the synchronous standby of
// another one. It must not be up.
func (o *Own) Follow(primary *Own) {
	o.t.Helper()
	if err := os.RemoveAll(o.data); err != nil {
		o.t.Fatal(err)
	}
	primary.Exec("ALTER SYSTEM RESET synchronous_standby_names") // which is copied, and not for a standby
	o.run("pg_basebackup", "-h", primary.srv.dir, "-p", strconv.Itoa(primary.port), "-U", "postgres", "-D", o.data, "-R", "-X", "stream", "-c", "fast", "--no-sync")
	o.Start()
	primary.Exec("ALTER SYSTEM SET synchronous_standby_names = '*'")
	primary.Exec("SELECT pg_reload_conf()")
	primary.await("SELECT count(*) > 0 FROM pg_stat_replication WHERE sync_state = 'sync'", "the standby to be waited for")
}

// Promote makes a standby the primary.
func (o *Own) Promote() {
	o.t.Helper()
	o.Exec("SELECT pg_promote()")
	o.await("SELECT NOT pg_is_in_recovery()", "the promotion")
}

// Exec runs a statement as the superuser.
func (o *Own) Exec(query string) {
	o.t.Helper()
	db := o.open()
	defer db.Close()
	if _, err := db.ExecContext(context.Background(), query); err != nil {
		o.t.Fatalf("%s: %v", query, err)
	}
}

func (o *Own) await(question, what string) {
	o.t.Helper()
	db := o.open()
	defer db.Close()
	var err error
	for late := time.Now().Add(startLimit); time.Now().Before(late); time.Sleep(10 * time.Millisecond) {
		var yes bool
		if err = db.QueryRowContext(context.Background(), question).Scan(&yes); err == nil && yes {
			return
		}
	}
	o.t.Fatalf("waited in vain for %s (%v)", what, err)
}

func (o *Own) open() *sql.DB {
	o.t.Helper()
	db, err := sql.Open("pgx", o.DSN())
	if err != nil {
		o.t.Fatal(err)
	}
	return db
}

// DSN leads to the server's socket.
func (o *Own) DSN() string { return o.dsn("postgres") }

func (o *Own) dsn(database string) string {
	return fmt.Sprintf("postgres://postgres@/%s?host=%s&port=%d", database, o.srv.dir, o.port)
}

// Addr is the server's host:port.
func (o *Own) Addr() string { return "127.0.0.1:" + strconv.Itoa(o.port) }

// Socket is the folder of the server's socket, and Port its port.
func (o *Own) Socket() (folder string, port int) { return o.srv.dir, o.port }

// Log is what the server said so far.
func (o *Own) Log() string {
	text, _ := os.ReadFile(filepath.Join(o.srv.dir, "log"))
	return string(text)
}

func (o *Own) run(program string, args ...string) {
	o.t.Helper()
	if err := finish(o.as.command(filepath.Join(o.bin, program), args...)); err != nil {
		o.t.Fatal(err)
	}
}

// FreePort is a port of the loopback interface that nobody uses, and that no
// outgoing connection is given while its server is down: those begin at 32768.
func FreePort(t testing.TB) int {
	t.Helper()
	for range 1000 {
		port := 12_000 + rand.IntN(20_000)
		l, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port))
		if err == nil {
			_ = l.Close()
			return port
		}
	}
	t.Fatal("no port is free")
	return 0
}
