package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/api"
	"github.com/duly-dev/duly/control"
	"github.com/duly-dev/duly/effect"
	"github.com/duly-dev/duly/node"
	"github.com/duly-dev/duly/server"
)

// charging is an application with effects: it bills a period in its database,
// then charges a card at a provider. charging PERIOD HOW works for one
// occurrence until that has ended, prints its state, and ends.
//
// HOW is ok, lost (the provider's answer is lost), retried (it is lost each time,
// though the provider remembers keys), back (it remembers them and answers), dies (killed once the bill
// is committed) or lies (it tells history of effects that it did not make).
func charging(args []string) int {
	if err := charge(args[0], args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "charging:", err)
		return 1
	}
	return 0
}

func charge(period, how string) error {
	ctx, cancel := context.WithTimeout(context.Background(), readyWithin)
	defer cancel()
	db, err := sql.Open("sqlite", "file:app.db?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_txlock=immediate")
	if err != nil {
		return err
	}
	defer db.Close()
	ledger := effect.SQLite.DB(db)
	if err := effect.Migrate(ctx, ledger); err != nil {
		return err
	}
	storeURL := os.Getenv("DULY_STORE")
	if storeURL == "" {
		storeURL = "sqlite:duly.db"
	}
	n, err := node.Open(ctx, storeURL, node.Options{Name: "app", Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	defer n.Close()
	n.Handle("charge", func(ctx context.Context, occ *node.Occurrence) error {
		key := func(kind string) string { return kind + "/7/" + occ.Period }
		_, _, err := effect.Do(ctx, ledger, key("bill"), func(context.Context, *sql.Tx) (map[string]int, error) {
			return map[string]int{"no": 1}, nil
		})
		if err != nil {
			return err
		}
		switch how {
		case "dies":
			return die()
		case "lies":
			occ.RecordEffect(key("mail"), false, nil)
			occ.RecordEffect("bill/7/2026-11-01", false, nil) // which another has made
		}
		_, _, err = effect.External(ctx, ledger, key("charge"), effect.Call[map[string]string]{
			Timeout: time.Second,
			KeyLife: map[string]time.Duration{"retried": time.Hour, "back": time.Hour}[how],
			Call: func(context.Context, string) (map[string]string, error) {
				if how == "lost" || how == "retried" {
					return nil, errors.New("no answer")
				}
				return map[string]string{"id": "ch_1"}, nil
			},
		})
		return err
	})
	err = n.Declare(duly.Schedule{
		ID: "charges", Timing: duly.Timing{Cron: "0 0 * * *"}, Lease: duly.Duration(time.Second),
		Retry:  duly.Retry{Backoff: duly.Duration(time.Millisecond), MaxBackoff: duly.Duration(time.Millisecond)},
		Target: duly.Target{Handler: "charge"},
	})
	if err != nil {
		return err
	}
	working, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- n.Run(working) }()
	state, err := occurrenceEnds(ctx, n, period)
	stop()
	if ran := <-ended; err == nil {
		err = ran
	}
	if err == nil {
		fmt.Println(strings.TrimSpace(string(state)))
	}
	return err
}

// occurrenceEnds asks for the occurrence of a period and waits for its end.
func occurrenceEnds(ctx context.Context, n *node.Node, period string) (duly.State, error) {
	srv := server.New(n.Store(), control.New(n.Store()), server.Options{Node: n, Logger: slog.New(slog.DiscardHandler)})
	defer srv.Close()
	client := api.InProcess(srv.Handler())
	for {
		_, err := client.Trigger(ctx, "charges", api.TriggerRequest{Period: period})
		if err == nil {
			break
		}
		if duly.CodeOf(err) != duly.CodeNotFound { // not declared yet
			return "", err
		}
		if err := pause(ctx); err != nil {
			return "", err
		}
	}
	for {
		o, err := client.Occurrence(ctx, duly.OccurrenceID("charges", period))
		if err != nil || !o.State.Open() {
			return o.State, err
		}
		if err := pause(ctx); err != nil {
			return "", err
		}
	}
}

func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(20 * time.Millisecond):
		return nil
	}
}

// die is kill -9.
func die() error {
	p, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = p.Kill()
	}
	if err != nil {
		return err
	}
	select {}
}
