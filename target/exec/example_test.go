//go:build linux || darwin

package exec_test

import (
	"context"
	"fmt"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/target"
	"github.com/duly-dev/duly/target/exec"
)

func ExampleRunner() {
	res := exec.New(exec.Options{}).Run(context.Background(), target.Assignment{
		Schedule: "invoices", Occurrence: "invoices@2026-11-28", Period: "2026-11-28", Attempt: 1, Token: 42,
		Target: duly.Target{Exec: &duly.ExecTarget{Command: []string{"sh", "-c", "echo sending for $DULY_PERIOD; exit 75"}}},
	})
	fmt.Print(res.Output)
	fmt.Println(res.Outcome, "for good:", res.Permanent)
	fmt.Println(res.Error)
	// Output:
	// sending for 2026-11-28
	// failed for good: false
	// exit status 75: the command asks to be tried again
}
