// Command invoices is a small real application that bills its customers: it
// has a database of its own, and a handler that Duly calls for each business
// date. Start several of it, kill them as you like: for each customer and
// period there is one invoice. See README.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/lmittmann/tint"
	"github.com/mattn/go-isatty"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/control"
	"github.com/duly-dev/duly/node"
	"github.com/duly-dev/duly/server"
	_ "github.com/duly-dev/duly/store/sqlite"
)

func main() {
	var s settings
	flag.StringVar(&s.data, "data", filepath.Join(os.TempDir(), "duly-invoices"), "folder of the two databases")
	flag.StringVar(&s.listen, "listen", "127.0.0.1:4747", "address of the status page and the API; port 0 picks a free one")
	flag.DurationVar(&s.every, "every", 5*time.Second, "how often the schedule to watch is due")
	flag.DurationVar(&s.lease, "lease", 5*time.Second, "how long its occurrences stay a dead worker's")
	flag.DurationVar(&s.slow, "slow", 0, "pause this long before each commit and before each report, so that you can kill it there")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, s); err != nil {
		fmt.Fprintln(os.Stderr, "invoices:", err)
		os.Exit(1)
	}
}

type settings struct {
	data, listen       string
	every, lease, slow time.Duration
}

func run(ctx context.Context, s settings) error {
	if err := os.MkdirAll(s.data, 0o755); err != nil {
		return err
	}
	log := slog.New(tint.NewTextHandler(os.Stderr, &tint.Options{TimeFormat: time.TimeOnly, NoColor: !isatty.IsTerminal(os.Stderr.Fd())}))

	// The application's own database.
	app, err := OpenBilling(ctx, filepath.Join(s.data, "app.db"), s.slow)
	if err != nil {
		return err
	}
	defer app.Close()

	// Duly: which work exists, and who may do it.
	n, err := node.Open(ctx, "sqlite:"+filepath.Join(s.data, "duly.db"), node.Options{App: "invoices", Logger: log})
	if err != nil {
		return err
	}
	defer n.Close()
	n.Handle("send-invoices", func(ctx context.Context, occ *node.Occurrence) error {
		made, found, err := app.Invoice(ctx, occ.Covers) // its own period, and those it makes up for
		if err != nil {
			return err
		}
		log.Info("invoiced", "period", occ.Period, "covers", len(occ.Covers), "attempt", occ.Attempt, "token", occ.Token, "created", made, "already there", found)
		return occ.SetResult(map[string]int{"created": made, "already_there": found})
	})
	for _, schedule := range schedules(s) {
		if err := n.Declare(schedule); err != nil {
			return err
		}
	}

	address, stopServing, err := serve(n, s.listen, log)
	if err != nil {
		return err
	}
	defer stopServing()
	fmt.Printf(welcome, address, s.every, s.data, s.data)

	if err := n.Run(ctx); err != nil {
		return err
	}
	return app.Summary(context.Background(), os.Stdout)
}

// schedules are what this program's code carries: billing as it would be in
// production, and one that is due every few seconds, to watch.
func schedules(s settings) []duly.Schedule {
	send := duly.Target{Handler: "send-invoices"}
	return []duly.Schedule{
		{
			ID:          "invoices",
			Description: "last day's invoices, every night at midnight in Berlin",
			Timing:      duly.Timing{Cron: "0 0 * * *"},
			Timezone:    "Europe/Berlin",
			Period:      duly.PeriodDay, PeriodOffset: -1,
			CatchUp: duly.CatchUp{Policy: duly.CatchUpAll, Window: duly.Duration(7 * 24 * time.Hour)},
			Timeout: duly.Duration(10 * time.Minute),
			Target:  send,
		},
		{
			ID:          "invoices-demo",
			Description: "the same every few seconds, to watch",
			Timing:      duly.Timing{Every: duly.Duration(s.every)},
			// After a stop, one occurrence makes up for all that came due.
			CatchUp: duly.CatchUp{Policy: duly.CatchUpCombine},
			Lease:   duly.Duration(s.lease),
			// Its workers are there to be killed: that is tried again soon, and often.
			Retry:  duly.Retry{MaxAttempts: 1000, Backoff: duly.Duration(100 * time.Millisecond), MaxBackoff: duly.Duration(200 * time.Millisecond)},
			Target: send,
		},
	}
}

// serve answers the status page and the API until stop is called.
func serve(n *node.Node, listen string, log *slog.Logger) (address string, stop func(), err error) {
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return "", nil, fmt.Errorf("%w (choose another address with -listen)", err)
	}
	api := server.New(n.Store(), control.NewBeside(n, n.Store()), server.Options{Node: n, Logger: log})
	srv := &http.Server{Handler: api.Handler(), ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			log.Error("the API stopped", "error", err)
		}
	}()
	return "http://" + l.Addr().String(), func() { _ = srv.Close(); <-ended }, nil
}

const welcome = `
  Duly is running, with an application that bills its customers.

  Look here       %s/
  Every %-10vthe schedule invoices-demo is due: one occurrence, one attempt,
                  one invoice for each customer
  Data            %s

  Try it          start a second one in another terminal: the work is not doubled
                      go run ./examples/invoices -listen 127.0.0.1:0
                  kill either with kill -9: the other one goes on, and nothing is
                  billed twice (-slow 1s gives you time to hit it in the middle)
  Who made it     go run ./cmd/duly --store sqlite:%s/duly.db effects ls
  Ctrl-C          stops it and counts the invoices

`
