//go:build unix

package sqltest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// startLimit is how long a server may take to answer for the first time, on a
// machine that is busy with other tests.
const startLimit = 2 * time.Minute

// server is a running database server.
type server struct {
	dir   string // everything of it, the socket too
	dsn   func(database string) string
	cmd   *exec.Cmd
	ended chan struct{} // closed when cmd has ended
	guard *exec.Cmd     // ends the server where this process cannot
	hold  io.Closer     // what guard waits for
}

func startPostgres(durable bool) (*server, error) {
	bin, err := findPostgres()
	if err != nil {
		return nil, err
	}
	s, as, err := prepare("postgres")
	if err != nil {
		return nil, err
	}
	data := filepath.Join(s.dir, "data")
	if err := finish(as.command(bin, "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")); err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.dir))
	}
	args := []string{
		"-D", data, "-c", "listen_addresses=", "-c", "unix_socket_directories=" + s.dir,
		"-c", "max_connections=300", "-c", "shared_buffers=64MB", "-c", "max_prepared_transactions=0",
	}
	if !durable {
		args = append(args, "-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off")
	}
	s.dsn = func(database string) string {
		return "postgres://postgres@/" + database + "?host=" + s.dir
	}
	return s, s.run(as.command(filepath.Join(filepath.Dir(bin), "postgres"), args...), "pgx", "postgres")
}

func startMariaDB(durable bool) (*server, error) {
	const missing = "no MariaDB server found: install it with `apt-get install mariadb-server` (Debian, Ubuntu) or `brew install mariadb` (macOS): %w"
	places := []string{"/usr/sbin", "/usr/libexec", "/opt/homebrew/opt/mariadb*/bin", "/usr/local/opt/mariadb*/bin"}
	bin, err := find("mariadbd", places...)
	if err != nil {
		return nil, fmt.Errorf(missing, err)
	}
	install, err := find("mariadb-install-db", append(places, "/usr/bin")...)
	if err != nil {
		return nil, fmt.Errorf(missing, err)
	}
	s, as, err := prepare("mysql")
	if err != nil {
		return nil, err
	}
	data := filepath.Join(s.dir, "data")
	if err := finish(as.command(install, "--no-defaults", "--datadir="+data, "--auth-root-authentication-method=normal", "--skip-test-db")); err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.dir))
	}
	socket := filepath.Join(s.dir, "s")
	args := []string{
		"--no-defaults", "--datadir=" + data, "--socket=" + socket, "--pid-file=" + filepath.Join(s.dir, "pid"),
		"--skip-networking", "--skip-log-bin", "--max-connections=300",
	}
	if durable { // and what it works on fits into memory
		args = append(args, "--innodb-buffer-pool-size=1G")
	} else {
		args = append(args, "--innodb-buffer-pool-size=64M", "--innodb-flush-log-at-trx-commit=0", "--innodb-doublewrite=0")
	}
	s.dsn = func(database string) string { return "root@unix(" + socket + ")/" + database }
	return s, s.run(as.command(bin, args...), "mysql", "")
}

// PostgresBin is the variable that names the folder of PostgreSQL's programs
// where tests are to use another version than the newest that is installed.
const PostgresBin = "DULY_TEST_POSTGRES_BIN"

func findPostgres() (initdb string, err error) {
	if dir := os.Getenv(PostgresBin); dir != "" {
		initdb = filepath.Join(dir, "initdb")
		_, err = os.Stat(initdb)
		return initdb, err
	}
	initdb, err = find("initdb", "/usr/lib/postgresql/*/bin", "/opt/homebrew/opt/postgresql*/bin", "/usr/local/opt/postgresql*/bin", "/usr/pgsql-*/bin")
	if err != nil {
		return "", fmt.Errorf("no PostgreSQL server found: install it with `apt-get install postgresql` (Debian, Ubuntu) or `brew install postgresql@17` (macOS): %w", err)
	}
	return initdb, nil
}

// find answers the path of a program, the newest where there are several.
func find(program string, places ...string) (string, error) {
	path, lookErr := exec.LookPath(program)
	if lookErr == nil {
		return filepath.EvalSymlinks(path)
	}
	for _, place := range places {
		found, err := filepath.Glob(filepath.Join(place, program))
		if err != nil {
			return "", err
		}
		if len(found) > 0 {
			slices.Sort(found)
			return found[len(found)-1], nil
		}
	}
	return "", lookErr
}

// identity is whom servers run as: both refuse to be root.
type identity struct{ credential *syscall.Credential }

func (id identity) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = "/"
	// A Ctrl-C is for the tests, which then stop their servers.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: id.credential}
	return cmd
}

// prepare makes a directory for a server. Its path is short, since that of a
// socket may have no more than some hundred bytes.
func prepare(username string) (*server, identity, error) {
	dir, err := os.MkdirTemp("/tmp", "duly-")
	if err != nil {
		return nil, identity{}, err
	}
	s := &server{dir: dir, ended: make(chan struct{})}
	if os.Geteuid() != 0 {
		return s, identity{}, nil
	}
	u, err := user.Lookup(username)
	if err != nil {
		u, err = user.Lookup("nobody")
	}
	if err != nil {
		return nil, identity{}, errors.Join(err, os.RemoveAll(dir))
	}
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return nil, identity{}, err
	}
	gid, err := strconv.Atoi(u.Gid)
	if err != nil {
		return nil, identity{}, err
	}
	if err := os.Chown(dir, uid, gid); err != nil {
		return nil, identity{}, errors.Join(err, os.RemoveAll(dir))
	}
	// #nosec: the databases hold test data, and clients of any user connect.
	if err := os.Chmod(dir, 0o755); err != nil {
		return nil, identity{}, errors.Join(err, os.RemoveAll(dir))
	}
	return s, identity{&syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil
}

func finish(cmd *exec.Cmd) error {
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", cmd.Path, err, out)
	}
	return nil
}

// run starts the server and waits until it answers. Where it does not, nothing
// of it is left.
func (s *server) run(cmd *exec.Cmd, driver, database string) error {
	err := s.launch(cmd, driver, database)
	if err != nil {
		err = errors.Join(err, os.RemoveAll(s.dir))
	}
	return err
}

func (s *server) launch(cmd *exec.Cmd, driver, database string) error {
	logFile, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer logFile.Close()
	cmd.Stdout, cmd.Stderr = logFile, logFile
	if err := cmd.Start(); err != nil {
		return err
	}
	s.cmd = cmd
	go func(ended chan struct{}) {
		defer close(ended)
		_ = cmd.Wait() // how it ended is in its log
	}(s.ended)
	if err := s.watch(); err != nil {
		s.end(syscall.SIGKILL)
		return err
	}
	if err := s.await(driver, database); err != nil {
		text, _ := os.ReadFile(logFile.Name())
		s.end(syscall.SIGKILL)
		return fmt.Errorf("%w\n%s", err, text)
	}
	return nil
}

// watch starts a process that ends the server when this one is gone, whatever
// the way.
func (s *server) watch() error {
	script := fmt.Sprintf("read x; kill -9 %d; rm -rf %s", s.cmd.Process.Pid, s.dir)
	s.guard = exec.Command("/bin/sh", "-c", script)
	s.guard.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	hold, err := s.guard.StdinPipe()
	if err != nil {
		return err
	}
	s.hold = hold
	return s.guard.Start()
}

func (s *server) await(driver, database string) error {
	db, err := sql.Open(driver, s.dsn(database))
	if err != nil {
		return err
	}
	defer db.Close()
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	for {
		err := db.PingContext(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-s.ended:
			return fmt.Errorf("%s ended at once: %w", s.cmd.Path, err)
		case <-ctx.Done():
			return fmt.Errorf("%s does not answer: %w", s.cmd.Path, err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// stop stops the server and removes its files.
func (s *server) stop() {
	s.end(syscall.SIGQUIT) // PostgreSQL: at once; MariaDB: orderly
	_ = os.RemoveAll(s.dir)
}

// end stops the server.
func (s *server) end(how syscall.Signal) {
	if s.guard != nil && s.guard.Process != nil { // first, while the process ID is surely the server's
		_ = s.guard.Process.Kill()
		_ = s.guard.Wait()
		_ = s.hold.Close()
	}
	_ = s.cmd.Process.Signal(how)
	select {
	case <-s.ended:
	case <-time.After(10 * time.Second):
		_ = s.cmd.Process.Kill()
		<-s.ended
	}
}
