// Command duly makes scheduled work happen when it is due, on one node, with
// one effect. See `duly help`.
package main

import (
	"context"
	"os"
	"sync/atomic"

	"github.com/duly-dev/duly/cmd/duly/internal/cli"
)

func main() { os.Exit(run()) }

// run ends with the first SIGINT or SIGTERM in an orderly way.
func run() int {
	var wrapping atomic.Bool
	ctx, stop := untilSignal(context.Background(), &wrapping)
	defer stop()
	return cli.Program{Wrapping: &wrapping}.Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ())
}
