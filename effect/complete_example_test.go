//go:build unix

package effect_test

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/control"
	"github.com/duly-dev/duly/effect"
	"github.com/duly-dev/duly/node"
)

// Duly's store and the application's tables are one database: the invoice, its
// key and the end of the attempt are one commit.
func ExampleComplete() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()

	// The store comes first: it refuses a file that is somebody else's.
	file := filepath.Join(dir, "app.db")
	n, err := node.Open(ctx, "sqlite:"+file, node.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		panic(err)
	}
	defer n.Close()
	db, err := sql.Open("sqlite", "file:"+file+"?_txlock=immediate&_pragma=busy_timeout(5000)&_pragma=synchronous(FULL)")
	if err != nil {
		panic(err)
	}
	defer db.Close()
	if err := effect.Migrate(ctx, effect.SQLite.DB(db)); err != nil {
		panic(err)
	}
	if _, err := db.ExecContext(ctx, "CREATE TABLE invoices (id INTEGER PRIMARY KEY, customer INTEGER)"); err != nil {
		panic(err)
	}

	n.Handle("bill", func(ctx context.Context, occ *node.Occurrence) error {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }()
		_, _, err = effect.Once(ctx, effect.SQLite.Tx(tx), "invoice/"+occ.Period+"/42", func(ctx context.Context) (int64, error) {
			res, err := tx.ExecContext(ctx, "INSERT INTO invoices (customer) VALUES (42)")
			if err != nil {
				return 0, err
			}
			return res.LastInsertId()
		})
		if err != nil {
			return err
		}
		if err := effect.Complete(ctx, effect.SQLite.Tx(tx)); err != nil {
			return err
		}
		if err := tx.Commit(); err != nil {
			return err
		}
		o, err := n.Store().Occurrence(ctx, occ.Assignment.Occurrence) // what a crash right now would leave
		if err == nil {
			fmt.Printf("%s after %d attempt and %d effect\n", o.State, len(o.Attempts), len(o.Effects))
		}
		stop()
		return nil
	})
	ctl := control.New(n.Store())
	bills := duly.Schedule{ID: "bills", Timing: duly.Timing{Cron: "0 0 1 * *"}, Target: duly.Target{Handler: "bill"}}
	if _, err := ctl.Apply(ctx, control.ApplyRequest{Owner: "api", By: "example", Schedules: []duly.Schedule{bills}}); err != nil {
		panic(err)
	}
	if _, err := ctl.Trigger(ctx, control.TriggerRequest{Schedule: "bills", By: "example"}); err != nil {
		panic(err)
	}
	if err := n.Run(ctx); err != nil {
		panic(err)
	}
	// Output: succeeded after 1 attempt and 1 effect
}
