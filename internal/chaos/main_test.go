//go:build unix

package chaos

import (
	"flag"
	"os"
	"testing"
	"time"

	"github.com/duly-dev/duly/internal/sqltest"
)

var (
	seedFlag = flag.Uint64("chaos.seed", 0, "the faults of TestChaos; 0: new ones each time")
	forFlag  = flag.Duration("chaos.for", time.Minute, "how long TestChaos goes on")
)

var servers sqltest.Servers

// TestMain plays the workers, too: they are processes of this very binary.
func TestMain(m *testing.M) {
	if order := os.Getenv(orderVariable); order != "" {
		os.Exit(workerMain(order))
	}
	os.Exit(servers.Run(m))
}
