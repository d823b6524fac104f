package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// insertTest makes an occurrence with a payload of some size.
func insertTest(s *Store, period string, size int) error {
	_, err := s.Insert(context.Background(), store.InsertRequest{
		Schedule: "a", By: "test", Payload: []byte(`"` + strings.Repeat("x", size) + `"`),
		Occurrences: []store.NewOccurrence{{Period: period, Due: time.Now(), State: duly.Pending, Origin: duly.OriginTrigger, Placement: place}},
	})
	return err
}

// fillUp inserts until the store refuses, and answers how many it took.
func fillUp(t *testing.T, s *Store) (n int) {
	t.Helper()
	for ; n < 10_000; n++ {
		err := insertTest(s, fmt.Sprint("p", n), 50_000)
		if err == nil {
			continue
		}
		if duly.CodeOf(err) != duly.CodeUnavailable || !strings.Contains(err.Error(), "full") {
			t.Fatalf("a full disk is answered %s: %v", duly.CodeOf(err), err)
		}
		return n
	}
	t.Fatal("it never got full")
	return 0
}

// usable checks that all that was taken is there and that reading goes on.
func usable(t *testing.T, s *Store, n int) {
	t.Helper()
	for i := range n {
		if _, err := s.Occurrence(context.Background(), duly.OccurrenceID("a", fmt.Sprint("p", i))); err != nil {
			t.Fatalf("taken and gone: %v", err)
		}
	}
}

func TestAFullFileIsUnavailableAndRecovers(t *testing.T) {
	s := openTest(t, fresh(t)+"?max_page_count=800")
	applyTest(t, s, "a")
	n := fillUp(t, s)
	if n == 0 {
		t.Fatal("nothing fitted")
	}
	usable(t, s, n)
	for range 3 { // it stays so, and does no harm
		if err := insertTest(s, "again", 50_000); duly.CodeOf(err) != duly.CodeUnavailable {
			t.Fatal(err)
		}
	}
	if _, err := write(context.Background(), s, func(t *tx) (int64, error) { return t.number(bg, "PRAGMA max_page_count = 100000") }); err != nil {
		t.Fatal(err)
	}
	if err := insertTest(s, "again", 50_000); err != nil {
		t.Fatalf("there is room again: %v", err)
	}
	checkIntegrity(t, s)
}

func TestAFullDiskIsUnavailableAndRecovers(t *testing.T) {
	dir, ok := smallDisk(t, 4<<20)
	if !ok {
		t.Log("this user may not mount a small disk; the test with max_page_count stands for it")
		return
	}
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	s := openTest(t, "sqlite:"+filepath.Join(dir, "duly.db"))
	applyTest(t, s, "a")
	n := fillUp(t, s)
	usable(t, s, n)
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if err := insertTest(s, "again", 50_000); err != nil {
		t.Fatalf("there is room again: %v", err)
	}
	usable(t, s, n)
	checkIntegrity(t, s)
}

func TestAnotherProcessThatHoldsTheFileIsWaitedForAndThenSaid(t *testing.T) {
	url := fresh(t)
	s := openTest(t, url+"?busy_timeout=300ms")
	db := rawDB(t, s.cfg.path)
	c, err := db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	held := func(query string) {
		t.Helper()
		if _, err := c.ExecContext(context.Background(), query); err != nil {
			t.Fatal(err)
		}
	}
	held("BEGIN IMMEDIATE")
	start := time.Now()
	_, err = s.Join(context.Background(), store.NodeInfo{Name: "n"})
	if duly.CodeOf(err) != duly.CodeUnavailable || !strings.Contains(err.Error(), "another process") || time.Since(start) < 250*time.Millisecond {
		t.Fatalf("answered %v after %v", err, time.Since(start))
	}
	if _, err := s.NodeList(context.Background()); err != nil {
		t.Fatalf("readers must not wait: %v", err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := s.Join(context.Background(), store.NodeInfo{Name: "n"})
		done <- err
	}()
	held("ROLLBACK")
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func TestACallerMayLeaveWhileItWaits(t *testing.T) {
	s := openTest(t, fresh(t))
	applyTest(t, s, "a")
	begun, release := block(s)
	<-begun
	ctx, cancel := context.WithCancel(context.Background())
	gone := make(chan error, 1)
	go func() {
		_, err := write(ctx, s, func(*tx) (int, error) { panic("must not run: its caller has left") })
		gone <- err
	}()
	waiting(t, s, 1)
	cancel()
	if err := <-gone; duly.CodeOf(err) != duly.CodeUnavailable || !errors.Is(err, context.Canceled) {
		t.Fatalf("answered %v", err)
	}
	close(release)
	if err := insertTest(s, "p", 1); err != nil {
		t.Fatal(err)
	}
}

// block occupies the writer until release is closed.
func block(s *Store) (begun, release chan struct{}) {
	begun, release = make(chan struct{}), make(chan struct{})
	once := sync.OnceFunc(func() { close(begun) })
	go func() {
		_, _ = write(context.Background(), s, func(*tx) (int, error) {
			once()
			<-release
			return 0, nil
		})
	}()
	return begun, release
}

// waiting waits until n calls wait for the writer.
func waiting(t *testing.T, s *Store, n int) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		s.writer.mu.Lock()
		have := len(s.writer.calls)
		s.writer.mu.Unlock()
		if have >= n {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d calls wait, want %d", have, n)
		}
	}
}

func TestOneCallsFailureDoesNotFailThoseItSharesATransactionWith(t *testing.T) {
	s := openTest(t, fresh(t))
	boom := errors.New("boom")
	set := func(name string, value int64, then error) func(*tx) (int, error) {
		return func(t *tx) (int, error) {
			if _, err := t.exec("INSERT INTO counters VALUES (?, ?)", name, value); err != nil {
				return 0, err
			}
			return 0, then
		}
	}
	begun, release := block(s)
	<-begun
	calls := []func(*tx) (int, error){
		set("test.1", 1, nil),
		set("test.2", 2, boom),
		func(*tx) (int, error) {
			return 0, duly.Errorf(duly.CodeConflict, "refused before anything was written")
		},
		func(*tx) (int, error) { panic("a bug") },
		func(t *tx) (int, error) {
			_, _ = t.exec("INSERT INTO counters VALUES ('test.3', 1)")
			panic("a bug after a write")
		},
		set("test.4", 4, nil),
	}
	errs := make([]error, len(calls))
	var wg sync.WaitGroup
	for i, call := range calls {
		wg.Go(func() { _, errs[i] = write(context.Background(), s, call) })
		waiting(t, s, i+1)
	}
	close(release)
	wg.Wait()
	for i, want := range []duly.Code{"", duly.CodeInternal, duly.CodeConflict, duly.CodeInternal, duly.CodeInternal, ""} {
		if got := duly.CodeOf(errs[i]); got != want {
			t.Errorf("call %d: %s (%v), want %s", i, got, errs[i], want)
		}
	}
	sum, err := read(context.Background(), s, func(c *conn) (int64, error) {
		return c.number(context.Background(), "SELECT sum(value) FROM counters WHERE name LIKE 'test.%'")
	})
	if err != nil || sum != 5 {
		t.Errorf("kept %d, want what calls 0 and 5 wrote (%v)", sum, err)
	}
}

func TestCallsThatWaitShareACommit(t *testing.T) {
	s := openTest(t, fresh(t))
	applyTest(t, s, "a")
	begun, release := block(s)
	<-begun
	const calls = 50
	var wg sync.WaitGroup
	for i := range calls {
		wg.Go(func() {
			if err := insertTest(s, fmt.Sprint("p", i), 1); err != nil {
				t.Error(err)
			}
		})
	}
	waiting(t, s, calls)
	db := rawDB(t, s.cfg.path)
	version := func() (v int64) {
		if err := db.QueryRow("PRAGMA data_version").Scan(&v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	db.SetMaxOpenConns(1)
	before := version()
	close(release)
	wg.Wait()
	if commits := version() - before; commits < 1 || commits > 2 {
		t.Errorf("%d calls made %d commits", calls, commits)
	}
}

// A planner reads definitions through the store. One that was applied in the
// very same batch must be there for it.
func TestAPlannerFindsWhatWasAppliedJustBefore(t *testing.T) {
	s := openTest(t, fresh(t))
	begun, release := block(s)
	<-begun
	var wg sync.WaitGroup
	wg.Go(func() { applyTest(t, s, "a") })
	waiting(t, s, 1)
	planned := 0
	wg.Go(func() {
		_, err := s.Fire(context.Background(), store.FireRequest{Plan: func(now time.Time, due []store.DueSchedule) []store.Firing {
			planned = len(due)
			if _, err := s.Definition(context.Background(), due[0].Revisions[0].Definition); err != nil {
				t.Error(err)
			}
			return backlog(now, due)
		}})
		if err != nil {
			t.Error(err)
		}
	})
	waiting(t, s, 2)
	close(release)
	wg.Wait()
	if planned != 1 {
		t.Errorf("%d schedules were due", planned)
	}
}

func TestAClosedStoreIsUnavailable(t *testing.T) {
	s := openTest(t, fresh(t))
	watched := make(chan error, 1)
	ready := make(chan struct{})
	go func() {
		close(ready)
		watched <- s.Watch(context.Background(), func(store.Event) {})
	}()
	<-ready
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-watched; duly.CodeOf(err) != duly.CodeUnavailable {
		t.Errorf("a watcher was answered %v", err)
	}
	if _, err := s.Horizon(context.Background()); duly.CodeOf(err) != duly.CodeUnavailable {
		t.Errorf("a reader was answered %v", err)
	}
	if _, err := s.Join(context.Background(), store.NodeInfo{}); duly.CodeOf(err) != duly.CodeUnavailable {
		t.Errorf("a writer was answered %v", err)
	}
}

// A file that is taken away must not come back as an empty one, which would
// look like a store without schedules.
func TestAFileThatIsTakenAwayIsNotReplacedByAnEmptyOne(t *testing.T) {
	s := openTest(t, fresh(t))
	applyTest(t, s, "a")
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(s.cfg.path + suffix); err != nil {
			t.Fatal(err)
		}
	}
	// The writer finds its connection in doubt and opens the file anew.
	_, err := write(context.Background(), s, func(t *tx) (int, error) {
		_, err := t.exec("INSERT INTO counters VALUES ('test', 1)")
		return 0, errors.Join(err, unsoundError(t))
	})
	if err == nil {
		t.Fatal("not refused")
	}
	if err := insertTest(s, "p", 1); duly.CodeOf(err) != duly.CodeUnavailable {
		t.Errorf("answered %v", err)
	}
	if _, err := os.Stat(s.cfg.path); err == nil {
		t.Error("an empty file was made in its place")
	}
}

// unsoundError is an error after which a connection is not trusted.
func unsoundError(t *tx) error {
	_, err := t.exec("PRAGMA query_only = 1; INSERT INTO counters VALUES ('test', 1)")
	return err
}

// A process that has a removed or replaced file open would go on as if nothing
// had happened, beside another that does the same work from the file that is
// there now.
func TestAFileThatIsNoLongerTheOneThatWasOpenedIsWrittenNoMore(t *testing.T) {
	for name, happens := range map[string]func(path string) error{
		"removed": os.Remove,
		"replaced": func(path string) error {
			other := path + ".other"
			if err := os.WriteFile(other, nil, 0o600); err != nil {
				return err
			}
			return os.Rename(other, path)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := openTest(t, fresh(t))
			applyTest(t, s, "a")
			if err := happens(s.cfg.path); err != nil {
				t.Fatal(err)
			}
			if err := insertTest(s, "p", 1); duly.CodeOf(err) != duly.CodeUnavailable || !strings.Contains(err.Error(), name) {
				t.Errorf("writing is answered %v", err)
			}
			if _, err := s.Horizon(context.Background()); duly.CodeOf(err) != duly.CodeUnavailable {
				t.Errorf("reading is answered %v", err)
			}
		})
	}
}
