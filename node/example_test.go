package node_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/node"
	_ "github.com/duly-dev/duly/store/sqlite" // links the store
)

// A program that takes part: it names its code, declares when that is due, and
// runs until it is told to stop.
func Example() {
	dir, err := os.MkdirTemp("", "duly-example-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)

	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	n, err := node.Open(ctx, "sqlite:"+filepath.Join(dir, "duly.db"), node.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer n.Close()

	n.Handle("send-invoices", func(_ context.Context, occ *node.Occurrence) error {
		var region struct{ Name string }
		if err := occ.Decode(&region); err != nil {
			return duly.Permanent(err) // no further attempt can mend it
		}
		fmt.Println("invoices for", region.Name, "attempt", occ.Attempt)
		stop() // the example ends here; a program ends on SIGTERM
		return nil
	})
	err = n.Declare(duly.Schedule{
		ID:      "invoices",
		Timing:  duly.Timing{Every: duly.Duration(time.Second)},
		Payload: []byte(`{"name":"eu"}`),
		Target:  duly.Target{Handler: "send-invoices"},
	})
	if err != nil {
		fmt.Println(err) // what is wrong with the definition, all at once
		return
	}
	if err := n.Run(ctx); err != nil { // drains when ctx has ended
		fmt.Println(err)
	}
	// Output: invoices for eu attempt 1
}

func ExampleNode_Declare() {
	n := node.New(nil, node.Options{}) // a store is needed for Run only
	err := n.Declare(duly.Schedule{
		ID: "report", Timing: duly.Timing{Cron: "0 9 30 2 *"}, Timezone: "Europe/Berlin",
		Target: duly.Target{Handler: "report"},
	})
	fmt.Println(err)
	// Output: schedule report: cron: "0 9 30 2 *": day-of-month, column 5: 30 never comes in FEB; choose a day that exists there, or L for the last day of a month (impossible_date)
}
