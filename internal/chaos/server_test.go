//go:build unix

package chaos

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/control"
	"github.com/duly-dev/duly/internal/sqltest"
	"github.com/duly-dev/duly/store"
)

// TestServerTroubles lets a server that can be reached be of no use.
func TestServerTroubles(t *testing.T) {
	server := sqltest.NewOwn(t, "max_connections=40")

	t.Run("ServersThatEndTransactionsAndSessionsDoNotLoseOrRepeatAnything", func(t *testing.T) {
		s := newScene(t, server, "ended", lease)
		s.worker("a")
		s.worker("b")
		p := s.owe(8 * time.Second)
		for time.Now().Before(p.end) {
			// Half of them are in the middle of a transaction.
			server.Exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'ended' AND pid <> pg_backend_pid() AND (state LIKE 'idle in%' OR random() < 0.2)")
			time.Sleep(50 * time.Millisecond)
		}
		s.awaitOwed(p)
	})

	t.Run("AStatementThatTheServerGivesUpOnIsTriedAgain", func(t *testing.T) {
		s := newScene(t, server, "timeouts", lease)
		w := s.worker("w")
		p := s.owe(6 * time.Second)
		time.Sleep(time.Until(p.start.Add(1500 * time.Millisecond)))
		c := s.connect(s.direct())
		s.must(c, "BEGIN; LOCK TABLE duly.tracks")
		s.logged(w, "gave up on a statement")
		s.must(c, "ROLLBACK")
		s.logged(w, "the store answers again")
		s.awaitOwed(p)
	})

	t.Run("NoRoomForConnectionsIsSaidAndWaitedFor", func(t *testing.T) {
		s := newScene(t, server, "crowded", lease)
		server.Exec("CREATE ROLE guest LOGIN")
		server.Exec("ALTER DATABASE crowded OWNER TO guest")
		c := s.connect(s.direct())
		s.must(c, "GRANT ALL ON SCHEMA duly TO guest; GRANT ALL ON ALL TABLES IN SCHEMA duly TO guest; GRANT ALL ON ALL SEQUENCES IN SCHEMA duly TO guest")
		asGuest := strings.Replace(s.direct(), "postgres@", "guest@", 1)
		var taken []*pgx.Conn
		for { // what is left is for superusers
			c, err := pgx.Connect(context.Background(), asGuest)
			if err != nil {
				break
			}
			taken = append(taken, c)
		}
		w := newProcess(t, order{Name: "w", Slots: 10, Store: asGuest})
		w.start()
		m := &member{process: w}
		s.logged(m, "has no connection left: raise max_connections")
		for _, c := range taken {
			_ = c.Close(context.Background())
		}
		if o := s.ended(s.trigger("nap", 0)); o.State != duly.Succeeded {
			t.Errorf("%s is %s: %s", o.ID, o.State, o.Reason)
		}
	})

	t.Run("AServerThatOnlyReadsIsSaidAndWaitedFor", func(t *testing.T) {
		s := newScene(t, server, "reading", lease)
		w := newProcess(t, order{Name: "w", Slots: 10, Store: s.direct()})
		w.start()
		m := &member{process: w}
		if o := s.ended(s.trigger("nap", 0)); o.State != duly.Succeeded {
			t.Fatalf("%s is %s", o.ID, o.State)
		}
		id := s.trigger("nap", 500)
		s.saw(m, "began", id)
		server.Exec("ALTER DATABASE reading SET default_transaction_read_only = on")
		server.Exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'reading' AND pid <> pg_backend_pid()")
		s.logged(m, "only reads: it is a standby, or set read-only")
		server.Exec("ALTER DATABASE reading RESET default_transaction_read_only")
		server.Exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'reading' AND pid <> pg_backend_pid()")
		if o := s.ended(id); o.State != duly.Succeeded {
			t.Errorf("%s is %s: %s", o.ID, o.State, o.Reason)
		}
	})
}

// TestAStandbyByMistakeIsSaid gives a worker the standby alone.
func TestAStandbyByMistakeIsSaid(t *testing.T) {
	a := sqltest.NewOwn(t)
	s := newScene(t, a, "mistaken", lease)
	b := a.Standby()
	w := &member{process: newProcess(t, order{Name: "w", Slots: 10, Store: "postgres://postgres@" + b.Addr() + "/mistaken"})}
	w.start()
	s.logged(w, "only reads: it is a standby")
	a.Stop(syscall.SIGKILL)
	b.Promote()
	s.server = b
	s.reopen()
	if o := s.ended(s.trigger("nap", 0)); o.State != duly.Succeeded {
		t.Errorf("%s is %s after the promotion", o.ID, o.State)
	}
}

// TestAFullDiskLosesNothing fills the disk of a real server under workers, and
// makes room again. Where no small disk can be mounted, a trigger has the server
// say that it is full.
func TestAFullDiskLosesNothing(t *testing.T) {
	disk, small := smallDisk(t, 96)
	server := sqltest.PrepareOwn(t, disk, "max_wal_size=32MB", "checkpoint_timeout=30s")
	server.Start()
	s := newScene(t, server, "small", lease)
	a, b := s.worker("a"), s.worker("b")
	t.Cleanup(func() {
		if !t.Failed() {
			return
		}
		for _, w := range []*member{a, b} {
			lines := w.log.lines("")
			t.Logf("%s said at last:\n%s", w.order.Name, bytes.Join(lines[max(0, len(lines)-20):], []byte("\n")))
		}
		text := server.Log()
		t.Logf("the server said at last:\n%s", text[max(0, len(text)-4000):])
	})
	p := s.owe(10 * time.Second)
	time.Sleep(time.Until(p.start.Add(2 * time.Second)))
	id := s.trigger("nap", 700)
	s.until("the nap to begin", func() bool { return s.occurrence(id).State == duly.Running })
	var free func()
	if small {
		free = fill(t, filepath.Join(disk, "ballast"))
	} else {
		t.Log("only root on Linux can mount a small disk: a trigger stands in for it")
		free = s.feignFull()
	}
	s.until("the full disk in a log", func() bool {
		return len(a.log.lines("no space left")) > 0 || len(b.log.lines("no space left")) > 0 || server.Ended()
	})
	time.Sleep(2 * time.Second)
	free()
	s.awaitOwed(p)
	if o := s.ended(id); o.State != duly.Succeeded {
		t.Errorf("%s is %s: %s", o.ID, o.State, o.Reason)
	}
}

// feignFull lets the server refuse changes of schedules as a full disk does.
func (s *scene) feignFull() (free func()) {
	c := s.connect(s.direct())
	s.must(c, `CREATE FUNCTION feign_full() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION USING ERRCODE = 'disk_full'; END $$;
		CREATE TRIGGER feign_full BEFORE INSERT OR UPDATE ON duly.tracks FOR EACH ROW EXECUTE FUNCTION feign_full()`)
	return func() { s.must(c, "DROP TRIGGER feign_full ON duly.tracks") }
}

// smallDisk mounts a file system of some megabytes in memory, where that can be.
func smallDisk(t *testing.T, megabytes int) (dir string, mounted bool) {
	t.Helper()
	if runtime.GOOS != "linux" || os.Geteuid() != 0 {
		return t.TempDir(), false
	}
	dir, err := os.MkdirTemp("/tmp", "duly-disk-") // where the server's user may go
	if err != nil {
		t.Fatal(err)
	}
	mount := exec.Command("mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=%dm,mode=0777", megabytes), "tmpfs", dir)
	if out, err := mount.CombinedOutput(); err != nil { // a container without the right to
		t.Logf("mount: %v %s", err, out)
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		return dir, false
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", "-l", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %v %s", err, out)
		}
		_ = os.Remove(dir)
	})
	return dir, true
}

// fill writes a file until nothing fits any more, and goes on for as long as it
// is not stopped: the server frees some now and then.
func fill(t *testing.T, file string) (stop func()) {
	t.Helper()
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	over, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		defer f.Close()
		for block := make([]byte, 64<<10); ; {
			if _, err := f.Write(block); err == nil {
				continue
			}
			if _, err := f.Write(block[:512]); err == nil {
				continue
			}
			select {
			case <-over:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	return func() {
		close(over)
		<-done
		if err := os.Remove(file); err != nil {
			t.Error(err)
		}
	}
}

// owed is a schedule that is due each second for a while.
type owed struct {
	start, end time.Time
	periods    int
}

func (s *scene) owe(d time.Duration) owed {
	s.t.Helper()
	start := time.Now().Add(time.Second).Truncate(time.Second).UTC()
	o := owed{start: start, end: start.Add(d), periods: int(d / time.Second)}
	def := duly.Schedule{
		ID: "owed", Timing: duly.Timing{Every: duly.Duration(time.Second), Anchor: &o.start}, Start: &o.start, End: &o.end, Period: duly.PeriodInstant,
		CatchUp: duly.CatchUp{Policy: duly.CatchUpAll}, Lease: duly.Duration(lease), Payload: []byte("100"), Target: duly.Target{Handler: "nap"},
		Retry: duly.Retry{MaxAttempts: 100, Backoff: duly.Duration(time.Millisecond), MaxBackoff: duly.Duration(100 * time.Millisecond)},
	}
	if _, err := s.ctl.Apply(context.Background(), control.ApplyRequest{Owner: "owed", By: "chaos", Schedules: []duly.Schedule{def}}); err != nil {
		s.t.Fatal(err)
	}
	return o
}

// awaitOwed waits until all that was owed is done, once. A server that ends
// itself, as one does that cannot write its log ahead, is started again, as a
// service manager would.
func (s *scene) awaitOwed(p owed) {
	s.t.Helper()
	s.until("all that is owed", func() bool {
		if s.server.Ended() {
			s.t.Log("the server ended itself, and is started again")
			s.server.Stop(syscall.SIGQUIT)
			s.server.Start()
		}
		done := 0
		all, _, err := s.st.Occurrences(context.Background(), store.OccurrenceFilter{Schedule: "owed"}, store.Page{Limit: 1000})
		if err != nil {
			return false // not back yet
		}
		for _, o := range all {
			if o.State == duly.Succeeded {
				done++
			}
		}
		if done > p.periods {
			s.t.Fatalf("%d occurrences succeeded, %d were owed", done, p.periods)
		}
		return done == p.periods
	})
}

func (s *scene) connect(url string) *pgx.Conn {
	s.t.Helper()
	c, err := pgx.Connect(context.Background(), url)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

func (s *scene) must(c *pgx.Conn, query string) {
	s.t.Helper()
	if _, err := c.Exec(context.Background(), query); err != nil {
		s.t.Fatal(err)
	}
}
