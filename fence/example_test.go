//go:build unix

package fence_test

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"

	_ "modernc.org/sqlite"

	"github.com/duly-dev/duly/effect"
	"github.com/duly-dev/duly/fence"
)

// The destination checks in the transaction that writes.
func ExampleCheck() {
	ctx := context.Background()
	file, err := os.CreateTemp("", "*.db")
	if err != nil {
		panic(err)
	}
	defer os.Remove(file.Name())
	db, err := sql.Open("sqlite", "file:"+file.Name()+"?_txlock=immediate&_pragma=busy_timeout(5000)")
	if err != nil {
		panic(err)
	}
	defer db.Close()
	if err := effect.Migrate(ctx, effect.SQLite.DB(db)); err != nil {
		panic(err)
	}

	write := func(token int64) error {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }()
		if err := fence.Check(ctx, effect.SQLite.Tx(tx), "schedule/report", token); err != nil {
			return err
		}
		// … write the report …
		return tx.Commit()
	}
	fmt.Println(write(33))
	fmt.Println(write(34)) // the next owner
	fmt.Println(write(33)) // the first one wakes up
	// Output:
	// <nil>
	// <nil>
	// fencing token 33 is refused: this attempt has lost its ownership to the one with token 34: a newer fencing token was seen
}

// An HTTP service refuses what comes too late.
func ExampleHandler() {
	reports := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Println("written") // in a transaction that checks again: effect.Once, or fence.Check
	})
	service := fence.Handler(reports, &fence.Memory{}) // or fence.SQL(effect.Postgres.DB(db))

	for _, token := range []string{"33", "34", "33"} {
		r := httptest.NewRequest(http.MethodPost, "/reports", nil)
		r.Header.Set("Duly-Fencing-Resource", "schedule/report")
		r.Header.Set("Duly-Fencing-Token", token)
		w := httptest.NewRecorder()
		service.ServeHTTP(w, r)
		fmt.Println(w.Code)
	}
	// Output:
	// written
	// 200
	// written
	// 200
	// 412
}

// Where the destination keeps the token itself, the rule is all that is needed:
// here beside a file's contents.
func ExampleGuard() {
	stored := struct {
		token    int64
		contents string
	}{34, "newer"}
	fmt.Println(fence.Guard(stored.token, 33) != nil)
	fmt.Println(fence.Guard(stored.token, 34))
	// Output:
	// true
	// <nil>
}
