// Command payments charges a customer at a payment provider whose answers get
// lost. No transaction takes back what a provider did, so the shop keeps an
// effect ledger: what it was about to do, and what came of it. See README.md.
package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/lmittmann/tint"
	"github.com/mattn/go-isatty"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/node"
	_ "github.com/duly-dev/duly/store/sqlite"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	run := shop
	args := os.Args[1:]
	if len(args) > 0 && args[0] == "provider" {
		run, args = provider, args[1:]
	}
	if err := run(ctx, args); err != nil {
		fmt.Fprintln(os.Stderr, "payments:", err)
		os.Exit(1)
	}
}

func provider(ctx context.Context, args []string) error {
	p := &Provider{}
	f := flag.NewFlagSet("payments provider", flag.ExitOnError)
	listen := f.String("listen", "127.0.0.1:4848", "where it answers")
	f.DurationVar(&p.KeyLife, "key-life", 24*time.Hour, "how long it remembers idempotency keys")
	f.BoolVar(&p.Lose, "lose", false, "lose the first answer to each new charge")
	_ = f.Parse(args) // exits
	return p.Serve(ctx, *listen)
}

func shop(ctx context.Context, args []string) error {
	s := &Shop{}
	f := flag.NewFlagSet("payments", flag.ExitOnError)
	data := f.String("data", filepath.Join(os.TempDir(), "duly-payments"), "folder of the two databases")
	every := f.Duration("every", 5*time.Second, "how often the customer is charged")
	lease := f.Duration("lease", 5*time.Second, "how long an occurrence stays a dead worker's")
	f.StringVar(&s.Provider, "provider", "http://127.0.0.1:4848", "address of the payment provider")
	f.BoolVar(&s.Lookup, "lookup", false, "ask the provider what became of a call without an answer")
	f.DurationVar(&s.KeyLife, "key-life", 24*time.Hour, "how long the provider remembers idempotency keys; 0: not at all")
	f.DurationVar(&s.Timeout, "timeout", 5*time.Second, "how long a call may take")
	f.StringVar(&s.Crash, "crash", "", "die `before` or `after` the first call to the provider, without recording its answer")
	_ = f.Parse(args) // exits
	if s.Crash != "" && s.Crash != "before" && s.Crash != "after" {
		return fmt.Errorf("-crash is %q; it must be before or after", s.Crash)
	}

	if err := os.MkdirAll(*data, 0o755); err != nil {
		return err
	}
	if err := s.Open(ctx, filepath.Join(*data, "app.db")); err != nil {
		return err
	}
	defer s.Close()
	log := slog.New(tint.NewTextHandler(os.Stderr, &tint.Options{TimeFormat: time.TimeOnly, NoColor: !isatty.IsTerminal(os.Stderr.Fd())}))
	n, err := node.Open(ctx, "sqlite:"+filepath.Join(*data, "duly.db"), node.Options{App: "payments", Logger: log})
	if err != nil {
		return err
	}
	defer n.Close()
	n.Handle("charge", func(ctx context.Context, occ *node.Occurrence) error {
		for _, period := range occ.Covers {
			charge, found, err := s.ChargeOnce(ctx, period)
			if err != nil {
				return err
			}
			log.Info("charged", "period", period, "attempt", occ.Attempt, "charge", charge.ID, "already there", found)
		}
		return nil
	})
	err = n.Declare(duly.Schedule{
		ID:          "charges",
		Description: "charges the customer for each period, at a provider",
		Timing:      duly.Timing{Every: duly.Duration(*every)},
		CatchUp:     duly.CatchUp{Policy: duly.CatchUpLatest},
		Lease:       duly.Duration(*lease),
		Retry:       duly.Retry{Backoff: duly.Duration(time.Second), MaxBackoff: duly.Duration(time.Second)},
		Target:      duly.Target{Handler: "charge"},
	})
	if err != nil {
		return err
	}
	fmt.Printf(welcome, *every, s.Provider, *data, *data, *data)
	if err := n.Run(ctx); err != nil {
		return err
	}
	return s.Summary(context.Background(), os.Stdout)
}

const welcome = `
  Duly is running, with a shop that charges its customer every %v at
  %s (another terminal: go run ./examples/payments provider -lose)

  Data            %s
  What happened   go run ./cmd/duly --store sqlite:%s/duly.db effects ls --db sqlite:%s/app.db
  Ctrl-C          stops it and counts the payments

`
