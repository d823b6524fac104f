package target_test

import (
	"fmt"
	"time"

	"github.com/duly-dev/duly/target"
)

func ExampleEnv() {
	for _, v := range target.Env(target.Assignment{
		Schedule: "invoices", Occurrence: "invoices@2026-11-28", Period: "2026-11-28",
		Due: time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC), Attempt: 2,
		Token: 42, Resource: "schedule/invoices", IdempotencyKey: "invoices@2026-11-28",
		Payload: []byte(`{"region":"eu"}`),
	}) {
		fmt.Println(v)
	}
	// Output:
	// DULY_SCHEDULE=invoices
	// DULY_OCCURRENCE=invoices@2026-11-28
	// DULY_PERIOD=2026-11-28
	// DULY_COVERS=["2026-11-28"]
	// DULY_DUE=2026-11-29T00:00:00Z
	// DULY_ATTEMPT=2
	// DULY_FENCING_TOKEN=42
	// DULY_FENCING_RESOURCE=schedule/invoices
	// DULY_IDEMPOTENCY_KEY=invoices@2026-11-28
	// DULY_PAYLOAD={"region":"eu"}
}
