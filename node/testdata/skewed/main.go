// Skewed is a node whose clock may be wrong: the test builds it with a standard
// library whose time.Now adds SKEW to what the system says.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/node"
	_ "github.com/duly-dev/duly/store/postgres"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	url, name := os.Args[1], os.Args[2]
	db, err := pgxpool.New(ctx, url)
	if err != nil {
		return err
	}
	defer db.Close()
	n, err := node.Open(ctx, url, node.Options{Name: name, App: "skewed", SessionTTL: 3 * time.Second})
	if err != nil {
		return err
	}
	defer n.Close()
	n.Handle("short", func(ctx context.Context, occ *node.Occurrence) error {
		time.Sleep(10 * time.Millisecond)
		_, err := db.Exec(ctx, "INSERT INTO runs (node, period, due, node_clock) VALUES ($1, $2, $3, $4)", name, occ.Period, occ.Due, time.Now())
		return err
	})
	err = n.Declare(duly.Schedule{
		ID: "short", Timing: duly.Timing{Cron: "*/2 * * * * *"}, Lease: duly.Duration(2 * time.Second), Target: duly.Target{Handler: "short"},
	})
	if err != nil {
		return err
	}
	return n.Run(ctx)
}
