package sqlite

import (
	"context"
	"database/sql"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// raw opens a file past the store.
func rawDB(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func execRaw(t *testing.T, db *sql.DB, query string) {
	t.Helper()
	if _, err := db.Exec(query); err != nil {
		t.Fatal(err)
	}
}

func TestOpeningWhatIsNoStoreSaysWhatAndWhatToDo(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(t *testing.T, dir string) (url string)
		opt     store.Options
		code    duly.Code
		says    string
	}{
		"NotADatabase": {prepare: func(t *testing.T, dir string) string {
			path := filepath.Join(dir, "notes.txt")
			if err := os.WriteFile(path, []byte(strings.Repeat("not a database at all\n", 100)), 0o600); err != nil {
				t.Fatal(err)
			}
			return "sqlite:" + path
		}, code: duly.CodeInvalid, says: "choose another file"},
		"AnotherProgramsDatabase": {prepare: func(t *testing.T, dir string) string {
			execRaw(t, rawDB(t, filepath.Join(dir, "x.db")), "CREATE TABLE customers (id INTEGER)")
			return "sqlite:" + filepath.Join(dir, "x.db")
		}, code: duly.CodeInvalid, says: "another program"},
		"AnotherProgramsMark": {prepare: func(t *testing.T, dir string) string {
			execRaw(t, rawDB(t, filepath.Join(dir, "x.db")), "PRAGMA application_id = 7; CREATE TABLE t (x)")
			return "sqlite:" + filepath.Join(dir, "x.db")
		}, code: duly.CodeInvalid, says: "another program"},
		"ANewerVersion": {prepare: func(t *testing.T, dir string) string {
			url := "sqlite:" + filepath.Join(dir, "x.db")
			if err := openTest(t, url).Close(); err != nil {
				t.Fatal(err)
			}
			execRaw(t, rawDB(t, filepath.Join(dir, "x.db")), "PRAGMA user_version = 99")
			return url
		}, code: duly.CodeInvalid, says: "newer Duly"},
		"NoDirectory":      {prepare: func(_ *testing.T, dir string) string { return "sqlite:" + filepath.Join(dir, "a", "b.db") }, code: duly.CodeInvalid, says: "create it"},
		"ADirectory":       {prepare: func(_ *testing.T, dir string) string { return "sqlite:" + dir }, code: duly.CodeInvalid, says: "directory"},
		"NoName":           {prepare: func(*testing.T, string) string { return "sqlite:" }, code: duly.CodeInvalid, says: "sqlite:duly.db"},
		"Memory":           {prepare: func(*testing.T, string) string { return "sqlite::memory:" }, code: duly.CodeInvalid, says: "no file"},
		"UnknownParameter": {prepare: func(_ *testing.T, dir string) string { return "sqlite:" + dir + "/x.db?cache=shared" }, code: duly.CodeInvalid, says: "cache"},
		"WrongParameter":   {prepare: func(_ *testing.T, dir string) string { return "sqlite:" + dir + "/x.db?synchronous=maybe" }, code: duly.CodeInvalid, says: "synchronous"},
		"NothingToLookAt": {
			prepare: func(_ *testing.T, dir string) string { return "sqlite:" + dir + "/x.db" },
			opt:     store.Options{ReadOnly: true}, code: duly.CodeNotFound, says: "does not exist",
		},
		"NothingToMigrate": {
			prepare: func(_ *testing.T, dir string) string { return "sqlite:" + dir + "/x.db" },
			opt:     store.Options{NoMigrate: true}, code: duly.CodeNotFound, says: "does not exist",
		},
		"AnEmptyFileWithoutMigration": {prepare: func(t *testing.T, dir string) string {
			if err := os.WriteFile(filepath.Join(dir, "x.db"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			return "sqlite:" + dir + "/x.db"
		}, opt: store.Options{NoMigrate: true}, code: duly.CodeInvalid, says: "duly migrate"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Open(context.Background(), c.prepare(t, t.TempDir()), c.opt)
			if err == nil {
				_ = s.Close()
				t.Fatal("it opened")
			}
			if duly.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.says) {
				t.Fatalf("%s: %v; want code %s and a word of %q", duly.CodeOf(err), err, c.code, c.says)
			}
		})
	}
}

// Root may write everything, so the test has another user try where it runs as
// root.
func TestAFileThatMayNotBeWrittenSaysSo(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "duly.db")
	if err := openTest(t, "sqlite:"+path).Close(); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{path, dir} {
		if err := os.Chmod(p, 0o555); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o755) })
	for name, want := range map[string]string{path: "cannot be written", filepath.Join(dir, "new.db"): "cannot be made"} {
		said := openAsNobody(t, "sqlite:"+name)
		if !strings.Contains(said, want) || !strings.Contains(said, name) {
			t.Errorf("it said %q", said)
		}
	}
}

// Definitions hold secrets.
func TestTheFileIsItsOwnersAlone(t *testing.T) {
	s := openTest(t, fresh(t))
	applyTest(t, s, "a")
	for _, suffix := range []string{"", "-wal", "-shm"} {
		info, err := os.Stat(s.cfg.path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s is %v", info.Name(), info.Mode())
		}
	}
}

// openAsNobody has a child that is not root open a store, and answers how it
// failed.
func openAsNobody(t *testing.T, url string) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// The binary and the file lie in directories of this user's; both are made
	// reachable.
	if os.Getuid() == 0 {
		exe = copyForAll(t, exe)
		for dir := filepath.Dir(strings.TrimPrefix(url, "sqlite:")); dir != "/" && dir != "/tmp"; dir = filepath.Dir(dir) {
			info, err := os.Stat(dir)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(dir, info.Mode().Perm()|0o055); err != nil {
				t.Fatal(err)
			}
		}
	}
	c := exec.Command(exe)
	c.Env = append(os.Environ(), envPart+"=open", envURL+"="+url)
	asNobody(c)
	out, err := c.CombinedOutput()
	if err == nil {
		t.Fatal("it opened")
	}
	return string(out)
}

func copyForAll(t *testing.T, exe string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "duly-test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	data, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(dir, "child")
	if err := os.WriteFile(to, data, 0o755); err != nil {
		t.Fatal(err)
	}
	return to
}

func TestOpenedForReadingOnlyNothingIsWritten(t *testing.T) {
	url := fresh(t)
	applyTest(t, openTest(t, url), "a")
	s, err := Open(context.Background(), url, store.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Schedule(context.Background(), "a"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Join(context.Background(), store.NodeInfo{}); duly.CodeOf(err) != duly.CodeInvalid {
		t.Fatalf("a write was answered %v", err)
	}
	woken := make(chan store.Event, 100)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = s.Watch(ctx, func(e store.Event) { woken <- e }) }()
	writing := openTest(t, url)
	for deadline := time.Now().Add(10 * time.Second); len(woken) == 0; time.Sleep(10 * time.Millisecond) {
		if _, err := writing.Join(ctx, store.NodeInfo{}); err != nil || time.Now().After(deadline) {
			t.Fatalf("a reader is not told what others write (%v)", err)
		}
	}
	cancel()
	<-ended
}

func TestPathsMayHoldAnything(t *testing.T) {
	for _, name := range []string{"duly.db", "with space.db", "100%.db", "a#b.db", "ünï.db", "x?y.db"} {
		dir := t.TempDir()
		url := "sqlite:" + filepath.Join(dir, name)
		if strings.Contains(name, "?") {
			url = "sqlite:" + filepath.Join(dir, "x") // '?' begins the parameters
			name = "x"
		}
		applyTest(t, openTest(t, url), "a")
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestURLsNameFiles(t *testing.T) {
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for url, want := range map[string]string{
		"sqlite:duly.db":                            filepath.Join(wd, "duly.db"),
		"sqlite:dir/duly.db?synchronous=normal":     filepath.Join(wd, "dir/duly.db"),
		"sqlite:/var/lib/duly.db":                   "/var/lib/duly.db",
		"sqlite:///var/lib/duly.db":                 "/var/lib/duly.db",
		"sqlite://duly.db":                          filepath.Join(wd, "duly.db"),
		"sqlite:/a.db?busy_timeout=100ms&poll=0":    "/a.db",
		"sqlite:/a.db?max_page_count=100&poll=50ms": "/a.db",
	} {
		cfg, err := parse(url)
		if err != nil || cfg.path != want {
			t.Errorf("%s: %q, %v; want %q", url, cfg.path, err, want)
		}
	}
	cfg, _ := parse("sqlite:/a.db")
	if cfg.synchronous != "full" || cfg.busy != 5*time.Second || cfg.poll != 25*time.Millisecond {
		t.Errorf("defaults %+v", cfg)
	}
}

// An acknowledged write survives power loss only if the file says so.
func TestWritesAreSynchronous(t *testing.T) {
	for url, want := range map[string]int64{fresh(t): 2, fresh(t) + "?synchronous=normal": 1} {
		s := openTest(t, url)
		got, err := write(context.Background(), s, func(t *tx) (int64, error) { return t.number(bg, "PRAGMA synchronous") })
		if err != nil || got != want {
			t.Errorf("synchronous is %d, want %d (%v)", got, want, err)
		}
	}
}

func TestTheLibcIsTheOneThatTheDriverWasMadeFor(t *testing.T) {
	version := func(args ...string) string {
		out, err := exec.Command("go", append([]string{"list", "-m", "-f", "{{.Version}} {{.GoMod}}"}, args...)...).Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	_, mod, _ := strings.Cut(version("modernc.org/sqlite"), " ")
	text, err := os.ReadFile(mod)
	if err != nil {
		t.Fatal(err)
	}
	ours, _, _ := strings.Cut(version("modernc.org/libc"), " ")
	if !strings.Contains(string(text), "modernc.org/libc "+ours+"\n") {
		t.Fatalf("go.mod has libc %s, and the driver asks for exactly:\n%s", ours, text)
	}
}
