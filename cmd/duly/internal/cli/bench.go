package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/duly-dev/duly/bench"
)

const benchLong = `Measures the whole engine on this machine, with the durability that production
has, and prints the figures. It judges nothing.

--store says what to measure and where. What it names is left alone: fresh files
in its folder (SQLite), or fresh schemas in its database (PostgreSQL), are made
and removed afterwards.`

func (inv *invocation) benchCommand() *cobra.Command {
	var only []string
	var lifecycles, schedules int
	var bursts []int
	c := &cobra.Command{
		Use:     "bench",
		Short:   "Measure this machine: lifecycles a second, latency, memory",
		Long:    benchLong,
		Example: "  duly bench --store sqlite:/var/lib/duly/bench.db\n  duly bench --only lifecycles,latency -o json",
		Args:    args(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			return inv.bench(c.Context(), bench.Options{Only: only, Lifecycles: lifecycles, Schedules: schedules, Bursts: bursts})
		},
	}
	flags := c.Flags()
	flags.StringSliceVar(&only, "only", nil, "measure only `these`: "+strings.Join(bench.Names(), ", "))
	flags.IntVar(&lifecycles, "lifecycles", 100_000, "how many occurrences the throughput figures take")
	flags.IntVar(&schedules, "schedules", 100_000, "how many idle schedules scale is measured with")
	flags.IntSliceVar(&bursts, "bursts", nil, "how `many` schedules are due in the same second (default 1000,10000)")
	complete(c, "only", bench.Names()...)
	return c
}

func (inv *invocation) bench(ctx context.Context, opt bench.Options) error {
	if inv.flags.server != "" {
		return usagef("bench measures a store; --server names a server")
	}
	opt.Report = func(f bench.Figure) {
		// One object a line, each as it is there: measuring takes minutes.
		if inv.flags.output != formatTable {
			_ = json.NewEncoder(inv.out).Encode(f)
			return
		}
		fmt.Fprintf(inv.out, "%-26s %12.2f %-10s %s\n", f.Figure, f.Value, f.Unit, f.Note)
	}
	cleanUp, err := benchStores(ctx, inv.storeURL(), &opt)
	if err != nil {
		return err
	}
	defer cleanUp()
	if self, err := os.Executable(); err == nil {
		opt.Serve = []string{self, "serve", "--listen", "127.0.0.1:0", "--store"}
	}
	return bench.Run(ctx, opt)
}
