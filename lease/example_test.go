package lease_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/lease"
	"github.com/duly-dev/duly/store"
	_ "github.com/duly-dev/duly/store/sqlite"
)

func ExampleDo() {
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

	err = lease.Do(ctx, st, "nightly-export", lease.Options{}, func(ctx context.Context, l *lease.Lease) error {
		// ctx ends if the lease is lost. A destination that is told l.Token()
		// can refuse whoever held the lease before.
		fmt.Println("exporting")
		second := lease.Do(ctx, st, "nightly-export", lease.Options{}, func(context.Context, *lease.Lease) error {
			fmt.Println("never at the same time")
			return nil
		})
		fmt.Println("meanwhile:", duly.CodeOf(second))
		return nil
	})
	fmt.Println("error:", err)
	// Output:
	// exporting
	// meanwhile: conflict
	// error: <nil>
}
