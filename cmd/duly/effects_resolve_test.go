package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/api"
	"github.com/duly-dev/duly/effect"
	"github.com/duly-dev/duly/internal/sqltest"
	"github.com/duly-dev/duly/store"
)

// uncertain makes an occurrence that waits for the outcome of a charge, and
// answers the charge's key.
func (s *site) uncertain(period string) string {
	s.t.Helper()
	cmd := exec.Command(os.Args[0], period, "lost")
	cmd.Args[0] = "charging" // which is what this test's binary then is
	cmd.Dir, cmd.Env = s.dir, append(os.Environ(), "DULY_STORE=")
	out, err := cmd.CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != string(duly.Uncertain) {
		s.t.Fatalf("the application ended with %v: %s", err, out)
	}
	return "charge/7/" + period
}

// decisions reads what the audit has of them.
func (s *site) decisions(object string) []store.AuditRow {
	s.t.Helper()
	var rows api.List[store.AuditRow]
	if err := json.Unmarshal([]byte(s.duly("audit", "ls", "--object", object, "-o", "json")), &rows); err != nil {
		s.t.Fatal(err)
	}
	return slices.DeleteFunc(rows.Items, func(r store.AuditRow) bool { return r.Action != "resolve" })
}

func TestPeopleWhoDecideTheSameAtTheSameMomentAgree(t *testing.T) {
	s := newSite(t)
	key := s.uncertain("2026-11-01")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			cmd := exec.Command(binary(), "effects", "resolve", key, "--db", "sqlite:app.db", "--done", "1", "--by", "ann")
			cmd.Dir = s.dir
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	wg.Wait()
	if o := s.occurrences("charges"); len(o) != 1 || o[0].State != duly.Pending {
		t.Errorf("the occurrence stands as %+v", o)
	}
	for _, object := range []string{"effect/" + key, "occurrence/charges@2026-11-01"} {
		if rows := s.decisions(object); len(rows) != 1 || rows[0].By != "ann" {
			t.Errorf("the audit of %s has %+v", object, rows)
		}
	}
}

// Whoever was killed between the ledger and history gives the command again.
func TestADecisionThatHistoryHasNotHeardOfIsFinishedByTheSameCommand(t *testing.T) {
	for _, verdict := range []struct {
		flags []string
		effect.Resolution
	}{
		{[]string{"--redo"}, effect.Resolution{Redo: true, By: "ann"}},
		{[]string{"--done", `{"id": 7}`}, effect.Resolution{Result: []byte(`{"id":7}`), By: "ann"}},
	} {
		t.Run(verdict.flags[0], func(t *testing.T) {
			s := newSite(t)
			key := s.uncertain("2026-11-01")
			db := sqltest.Database{Driver: "sqlite", DSN: "file:" + s.dir + "/app.db?_txlock=immediate"}.Open(t)
			if err := effect.Resolve(t.Context(), effect.SQLite.DB(db), key, verdict.Resolution); err != nil {
				t.Fatal(err)
			}
			command := append([]string{"effects", "resolve", key, "--db", "sqlite:app.db", "--why", "the bank says so"}, verdict.flags...)
			for range 2 {
				s.duly(command...)
				if o := s.occurrences("charges"); o[0].State != duly.Pending {
					t.Errorf("the occurrence stands as %+v", o)
				}
				if rows := s.decisions("effect/" + key); len(rows) != 1 || rows[0].Why != "the bank says so" {
					t.Errorf("the audit has %+v", rows)
				}
			}
		})
	}
}
