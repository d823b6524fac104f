//go:build unix

package postgres

import (
	"os"
	"testing"

	"github.com/duly-dev/duly/internal/sqltest"
	"github.com/duly-dev/duly/store/storetest"
)

var servers sqltest.Servers

func TestMain(m *testing.M) { os.Exit(servers.Run(m)) }

func TestConformanceThroughPgbouncer(t *testing.T) {
	through := pgbouncer(t, servers.Postgres(t).DSN)
	storetest.Run(t, func(t *testing.T) string { return through(servers.Postgres(t).DSN) })
}

func TestConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) string { return servers.Postgres(t).DSN })
}
