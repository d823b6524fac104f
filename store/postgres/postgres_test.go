//go:build unix

package postgres

import (
	"os"
	"testing"

	"github.com/duly-dev/duly/internal/sqltest"
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

func TestConformanceThroughPgbouncer(t *testing.T) {
	through := pgbouncer(t, servers.Postgres(t).DSN)
	storetest.Run(t, func(t *testing.T) string { return through(servers.Postgres(t).DSN) })
}

func TestConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) string { return servers.Postgres(t).DSN })
}
