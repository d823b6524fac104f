//go:build unix

package history_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/duly-dev/duly/internal/history"
	"github.com/duly-dev/duly/internal/memstore"
	"github.com/duly-dev/duly/internal/sqltest"
	"github.com/duly-dev/duly/store"
	_ "github.com/duly-dev/duly/store/postgres"
	_ "github.com/duly-dev/duly/store/sqlite"
)

var servers sqltest.Servers

func TestMain(m *testing.M) { os.Exit(servers.Run(m)) }

// kind is a store to record histories from.
type kind struct {
	name string
	// exact: a claim hands out all that there is and may run.
	exact bool
	open  func(t *testing.T) store.Store
}

func kinds() []kind {
	opened := func(url func(t *testing.T) string) func(t *testing.T) store.Store {
		return func(t *testing.T) store.Store {
			st, err := store.Open(t.Context(), url(t), store.Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = st.Close() })
			return st
		}
	}
	return []kind{
		{"memory", true, func(*testing.T) store.Store { return memstore.New(memstore.Options{}) }},
		{"sqlite", true, opened(func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "duly.db") })},
		{"postgres", false, opened(func(t *testing.T) string { return servers.Postgres(t).DSN })},
	}
}

const rounds = 4

func each(t *testing.T, test func(t *testing.T, k kind, seed uint64)) {
	for _, k := range kinds() {
		for seed := range uint64(rounds) {
			t.Run(fmt.Sprint(k.name, "/", seed), func(t *testing.T) { test(t, k, seed) })
		}
	}
}

func ok(t *testing.T, what string, ops []porcupine.Operation, res porcupine.CheckResult) {
	t.Helper()
	if res == porcupine.Ok {
		return
	}
	for _, op := range ops {
		t.Logf("client %d, %d to %d: %+v: %+v", op.ClientId, op.Call, op.Return, op.Input, op.Output)
	}
	t.Errorf("this history of %s is %s: no order of its operations explains it", what, res)
}

func TestLeasesAreLinearizable(t *testing.T) {
	each(t, func(t *testing.T, k kind, seed uint64) {
		ops := history.Leases(t.Context(), k.open(t), history.Load{Seed: seed}, time.Hour)
		ok(t, "leases", ops, history.CheckLeases(ops))
	})
}

func TestLeasesThatRunOutAreLinearizable(t *testing.T) {
	each(t, func(t *testing.T, k kind, seed uint64) {
		ops := history.Leases(t.Context(), k.open(t), history.Load{Seed: seed}, 3*time.Millisecond)
		ok(t, "leases", ops, history.CheckLeases(ops))
	})
}

func TestClaimsAreLinearizable(t *testing.T) {
	each(t, func(t *testing.T, k kind, seed uint64) {
		ops, err := history.Claims(t.Context(), k.open(t), history.Load{Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		ok(t, "claims", ops, history.CheckClaims(ops, k.exact))
	})
}

// TestBrokenStoresAreFound shows that the models say no.
func TestBrokenStoresAreFound(t *testing.T) {
	for name, bugs := range map[string]memstore.Bugs{
		"ClaimIgnoresConcurrency": {ClaimIgnoresConcurrency: true},
		"ClaimReusesTokens":       {ClaimReusesTokens: true},
		"FinishWithoutToken":      {FinishWithoutToken: true},
		"RenewWithoutToken":       {RenewWithoutToken: true},
		"AcquireWithoutLooking":   {AcquireWithoutLooking: true},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(20) {
				st := memstore.New(memstore.Options{Bugs: bugs})
				ops, err := history.Claims(t.Context(), st, history.Load{Seed: seed})
				if err != nil {
					t.Fatal(err)
				}
				res := history.CheckClaims(ops, false)
				if bugs.AcquireWithoutLooking {
					res = history.CheckLeases(history.Leases(t.Context(), st, history.Load{Seed: seed}, time.Hour))
				}
				if res == porcupine.Illegal {
					return
				}
			}
			t.Error("twenty histories of it pass")
		})
	}
}
