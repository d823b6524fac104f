// Command naive bills customers the way most jobs do at first, so that `duly
// drill` has something to find: it inserts invoices without a business key,
// behind a lock that has no fence. With -guarded it does the same work with
// package effect, and the same drills pass. See README.md.
package main

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	_ "modernc.org/sqlite"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/fence"
)

func main() {
	var b billing
	var file, listen string
	flag.StringVar(&file, "db", "naive.db", "the application's database")
	flag.BoolVar(&b.guarded, "guarded", false, "bill with business keys and the fence")
	flag.DurationVar(&b.work, "work", 200*time.Millisecond, "how long billing takes, before it writes")
	flag.DurationVar(&b.lock, "lock", 500*time.Millisecond, "how long the naive lock holds")
	flag.StringVar(&listen, "listen", "127.0.0.1:3000", "where serve listens")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: naive [-db FILE] [-guarded] [-work D] [-lock D] [-listen ADDRESS] bill | count | serve")
		flag.PrintDefaults()
	}
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := b.do(ctx, flag.Arg(0), file, listen); err != nil {
		fmt.Fprintln(os.Stderr, "naive:", err)
		os.Exit(1)
	}
}

// billing is the application.
type billing struct {
	db         *sql.DB
	guarded    bool
	work, lock time.Duration
}

// There is no unique constraint on invoices: that is the mistake.
const schema = `
CREATE TABLE IF NOT EXISTS invoices (customer TEXT NOT NULL, period TEXT NOT NULL, made_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP);
CREATE TABLE IF NOT EXISTS locks (name TEXT PRIMARY KEY, until INTEGER NOT NULL);
`

var customers = []string{"ada", "brouwer", "curie"}

func (b *billing) do(ctx context.Context, what, file, listen string) error {
	db, err := sql.Open("sqlite", "file:"+file+"?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_txlock=immediate")
	if err != nil {
		return err
	}
	defer db.Close()
	b.db = db
	if _, err := db.ExecContext(ctx, schema); err != nil {
		return err
	}
	switch what {
	case "bill":
		// What Duly says of the attempt is in the environment.
		grant, _, err := fence.FromEnv(os.Getenv)
		if err != nil {
			return err
		}
		return b.bill(ctx, grant, os.Getenv("DULY_PERIOD"), os.Getenv("DULY_COVERS"))
	case "count":
		return b.count(ctx)
	case "serve":
		return b.serve(ctx, listen)
	}
	flag.Usage()
	return fmt.Errorf("%q is nothing that it can do", what)
}

// bill bills every customer for a period. covers lists all periods that the work
// is for, as JSON: more than one after an outage, where catch-up is combine.
func (b *billing) bill(ctx context.Context, grant duly.Grant, period, covers string) error {
	if b.guarded {
		return b.billGuarded(ctx, grant, covers)
	}
	return b.billNaively(ctx, period)
}

// count prints how many invoices there are, by customer and period.
func (b *billing) count(ctx context.Context) error {
	rows, err := b.db.QueryContext(ctx, `SELECT customer, period, count(*) FROM invoices GROUP BY customer, period`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var customer, period string
		var n int
		if err := rows.Scan(&customer, &period, &n); err != nil {
			return err
		}
		fmt.Printf("%s|%s|%d\n", customer, period, n)
	}
	return rows.Err()
}

// serve bills when a request asks for it.
func (b *billing) serve(ctx context.Context, listen string) error {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /jobs/invoices", func(w http.ResponseWriter, r *http.Request) {
		grant, _, err := fence.FromHeader(r.Header)
		if err == nil {
			// The work goes on when its caller has gone, as it does in most
			// services.
			err = b.bill(context.WithoutCancel(r.Context()), grant, r.Header.Get("Duly-Period"), r.Header.Get("Duly-Covers"))
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		}
	})
	server := &http.Server{Addr: listen, Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.ListenAndServe(); err != http.ErrServerClosed {
		return err
	}
	return nil
}
