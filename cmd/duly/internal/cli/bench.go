package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/bench"
	"github.com/duly-dev/duly/store"
)

const benchLong = `Measures the whole engine on this machine, with the durability that production
has, and prints the figures. It judges nothing.

--store says what to measure and where: for SQLite, fresh files are made in the
folder of the one named, which itself is left alone, and removed afterwards.`

func (inv *invocation) benchCommand() *cobra.Command {
	var only []string
	var lifecycles, schedules int
	c := &cobra.Command{
		Use:     "bench",
		Short:   "Measure this machine: lifecycles a second, latency, memory",
		Long:    benchLong,
		Example: "  duly bench --store sqlite:/var/lib/duly/bench.db\n  duly bench --only lifecycles,latency -o json",
		Args:    args(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			return inv.bench(c.Context(), bench.Options{Only: only, Lifecycles: lifecycles, Schedules: schedules})
		},
	}
	flags := c.Flags()
	flags.StringSliceVar(&only, "only", nil, "measure only `these`: "+strings.Join(bench.Names(), ", "))
	flags.IntVar(&lifecycles, "lifecycles", 100_000, "how many occurrences the throughput figures take")
	flags.IntVar(&schedules, "schedules", 100_000, "how many idle schedules memory is measured with")
	complete(c, "only", bench.Names()...)
	return c
}

func (inv *invocation) bench(ctx context.Context, opt bench.Options) error {
	if inv.flags.server != "" {
		return usagef("bench measures a store; --server names a server")
	}
	path, isSQLite := strings.CutPrefix(inv.storeURL(), "sqlite:")
	if !isSQLite {
		return duly.Invalid("store", "%q cannot be measured; write sqlite:FILE", visibleURL(inv.storeURL()))
	}
	path, query, _ := strings.Cut(path, "?")
	if query != "" {
		query = "?" + query
	}
	dir, err := os.MkdirTemp(filepath.Dir(strings.TrimPrefix(path, "//")), ".duly-bench-")
	if err != nil {
		return fmt.Errorf("a folder for the files to measure: %w", err)
	}
	defer os.RemoveAll(dir)
	made := 0
	opt.StoreName = "sqlite"
	opt.Fresh = func(ctx context.Context) (store.Store, string, error) {
		made++
		url := fmt.Sprintf("sqlite:%s%s", filepath.Join(dir, fmt.Sprintf("%d.db", made)), query)
		st, err := store.Open(ctx, url, store.Options{})
		return st, url, err
	}
	if self, err := os.Executable(); err == nil {
		opt.Serve = []string{self, "serve", "--listen", "127.0.0.1:0", "--store"}
	}
	opt.Report = func(f bench.Figure) {
		// One object a line, each as it is there: measuring takes minutes.
		if inv.flags.output != formatTable {
			_ = json.NewEncoder(inv.out).Encode(f)
			return
		}
		fmt.Fprintf(inv.out, "%-26s %12.2f %-10s %s\n", f.Figure, f.Value, f.Unit, f.Note)
	}
	return bench.Run(ctx, opt)
}
