//go:build unix

package postgres

import (
	"os"
	"strings"
	"testing"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/internal/sqltest"
	"github.com/duly-dev/duly/store"
	"github.com/duly-dev/duly/store/storetest"
)

// durable syncs every commit, as in production.
var (
	servers sqltest.Servers
	durable = sqltest.Servers{Durable: true}
)

func TestMain(m *testing.M) {
	code := servers.Run(m)
	durable.Stop()
	os.Exit(code)
}

// One report that cannot be kept is no harm to those it travels with.
func TestWhatCannotBeKeptIsRefusedAlone(t *testing.T) {
	s, fire := dueOnce(t, servers.Postgres(t).DSN)
	if _, err := fire(everyDue); err != nil {
		t.Fatal(err)
	}
	res, err := s.Claim(t.Context(), store.ClaimRequest{Max: 3, Capabilities: []string{"handler:h"}})
	if err != nil || len(res.Claims) != 3 {
		t.Fatal(res, err)
	}
	var reports []store.Report
	for _, c := range res.Claims {
		reports = append(reports, store.Report{Seq: c.Seq, Token: c.Token, Outcome: duly.AttemptSucceeded, Next: store.Next{State: duly.Succeeded}})
	}
	reports[0].Effects = []store.EffectReport{{Key: strings.Repeat("k", 3000)}}
	reports[1].Output, reports[1].Error, reports[1].Result = "a\x00b\xff", "\x00", []byte(`"\u0000"`)
	done, err := s.Finish(t.Context(), 0, reports)
	if err != nil {
		t.Fatal(err)
	}
	wantCode(t, done[0].Err, duly.CodeInvalid)
	if done[1].Err != nil || done[2].Err != nil {
		t.Fatal(done)
	}
	o, err := s.Occurrence(t.Context(), duly.OccurrenceID(done[1].Schedule, done[1].Period))
	if err != nil || o.Attempts[0].Output != "a\uFFFDb\uFFFD" || string(o.Attempts[0].Result) != `"\u0000"` {
		t.Fatalf("kept %+v (%v)", o.Attempts, err)
	}
}

func TestConformanceThroughPgbouncer(t *testing.T) {
	through := pgbouncer(t, servers.Postgres(t).DSN)
	storetest.Run(t, func(t *testing.T) string { return through(servers.Postgres(t).DSN) })
}

func TestConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) string { return servers.Postgres(t).DSN })
}
