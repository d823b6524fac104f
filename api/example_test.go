package api_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/api"
	"github.com/duly-dev/duly/control"
	"github.com/duly-dev/duly/server"
	"github.com/duly-dev/duly/store"
	_ "github.com/duly-dev/duly/store/sqlite"
)

func Example() {
	dir, err := os.MkdirTemp("", "duly-example-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	st, err := store.Open(ctx, "sqlite:"+filepath.Join(dir, "duly.db"), store.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer st.Close()
	srv := server.New(st, control.New(st), server.Options{})
	defer srv.Close()
	web := httptest.NewServer(srv.Handler())
	defer web.Close()

	client := api.New(web.URL, "").As("ann") // who asks, for the audit
	if _, err := client.PutSchedule(ctx, duly.Schedule{
		ID: "invoices", Timing: duly.Timing{Cron: "0 0 * * *"}, Target: duly.Target{Handler: "send-invoices"},
	}, false); err != nil {
		fmt.Println(err)
		return
	}
	res, err := client.Trigger(ctx, "invoices", api.TriggerRequest{Period: "2026-11-28", Why: "a customer asked"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(res.Status, res.Occurrence.ID, res.Occurrence.State)

	_, err = client.Schedule(ctx, "reports")
	fmt.Println(duly.CodeOf(err))
	// Output:
	// created invoices@2026-11-28 pending
	// not_found
}
