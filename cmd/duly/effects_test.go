package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/effect"
	"github.com/duly-dev/duly/internal/sqltest"
)

// dbURL names a test's database as --db wants it.
func dbURL(d sqltest.Database) string {
	switch d.Dialect {
	case "sqlite":
		path, _, _ := strings.Cut(strings.TrimPrefix(d.DSN, "file:"), "?")
		return "sqlite:" + path
	case "mysql": // root@unix(SOCKET)/NAME
		socket, name, _ := strings.Cut(strings.TrimPrefix(d.DSN, "root@unix("), ")/")
		return "mysql://root@/" + name + "?socket=" + socket
	}
	return d.DSN
}

// refused runs a command that must end with an exit code, and answers what it
// printed on both streams.
func (s *site) refused(code int, args ...string) string {
	s.t.Helper()
	cmd := exec.Command(binary(), args...)
	cmd.Dir, cmd.Env = s.dir, append(os.Environ(), "DULY_STORE=", "DULY_SERVER=")
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != code {
		s.t.Fatalf("duly %s: %v, want exit code %d\n%s", strings.Join(args, " "), err, code, out)
	}
	return string(out)
}

func TestEffectsCommandsWorkOnEveryKindOfDatabase(t *testing.T) {
	servers.Each(t, func(t *testing.T, d sqltest.Database) {
		s := newSite(t)
		url := dbURL(d)
		s.duly("migrate")
		s.duly("effects", "migrate", "--db", url)
		ledger := effect.Dialect(d.Dialect).DB(d.Open(t))

		// One by nobody, one by an attempt that history does not have, one
		// whose outcome is open.
		const odd = "bill/7 🙂\n/2026-11"
		bill := func(ctx context.Context, key string) {
			t.Helper()
			_, _, err := effect.Do(ctx, ledger, key, func(context.Context, *sql.Tx) (int, error) { return 42, nil })
			if err != nil {
				t.Fatal(err)
			}
		}
		bill(effect.Unowned(t.Context()), "bill/by-hand")
		owned := duly.WithGrant(t.Context(), duly.Grant{Occurrence: "bills@2026-11-28", Attempt: 2, Token: 9, Resource: "schedule/bills"})
		bill(owned, odd)
		_, _, err := effect.External(owned, ledger, "charge/7", effect.Call[string]{
			Call: func(context.Context, string) (string, error) { return "", errors.New("no answer") },
		})
		if !errors.Is(err, duly.ErrUncertain) {
			t.Fatal(err)
		}

		inOrder(t, s.duly("effects", "ls", "--db", url, "--occurrence", "bills@2026-11-28"), `"bill/7 🙂\n/2026-11"`, "done", "bills@2026-11-28", "2", "9", "42", "charge/7", "uncertain")
		inOrder(t, s.duly("effects", "show", odd, "--db", url), "No attempt has told of it", "In the ledger", "attempt 2 of bills@2026-11-28 with token 9, of which history has nothing", "schedule/bills", "42")
		inOrder(t, s.duly("effects", "show", "bill/by-hand", "--db", url), "code that no lease owned")

		found := s.refused(1, "audit", "effects", "--db", url)
		inOrder(t, found, `"bill/7 🙂\n/2026-11"`, "no_attempt", "bills@2026-11-28", "charge/7", "left_open", "3 effects of the ledger", "differences: 2", "no attempt answers for it: 1", "without a result yet: 1")

		inOrder(t, s.duly("effects", "resolve", "charge/7", "--db", url, "--done", `"ch_1"`), "charge/7 has happened", "history has no bills@2026-11-28")
		var entry struct{ Ledger effect.Entry }
		if err := json.Unmarshal([]byte(s.duly("effects", "show", "charge/7", "--db", url, "-o", "json")), &entry); err != nil {
			t.Fatal(err)
		}
		if e := entry.Ledger; e.State != effect.Done || string(e.Result) != `"ch_1"` || e.ResolvedBy == "" {
			t.Errorf("resolved as %+v", e)
		}
	})
}

func TestReadingTheLedgerNeedsNoRightToWrite(t *testing.T) {
	s := newSite(t)
	s.duly("migrate")
	s.duly("effects", "migrate", "--db", "sqlite:app.db")
	before, err := os.ReadFile(s.dir + "/app.db")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(s.dir+"/app.db", 0o444); err != nil {
		t.Fatal(err)
	}
	s.duly("effects", "ls", "--db", "sqlite:app.db")
	s.duly("audit", "effects", "--db", "sqlite:app.db")
	after, err := os.ReadFile(s.dir + "/app.db")
	if err != nil {
		t.Fatal(err)
	}
	if string(before) != string(after) {
		t.Error("reading changed the file")
	}
}
