// Command duly makes scheduled work happen when it is due, on one node, with
// one effect. See `duly help`.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/duly-dev/duly/cmd/duly/internal/cli"
)

func main() { os.Exit(run()) }

// run ends with the first SIGINT or SIGTERM in an orderly way, and lets a
// second one have its ordinary effect, which is to end the process at once.
func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	return cli.Program{}.Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ())
}
