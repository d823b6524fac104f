//go:build unix

package sqltest

import (
	"context"
	"syscall"
	"testing"
)

func TestWhatAPrimaryAcknowledgedItsPromotedStandbyHas(t *testing.T) {
	a := NewOwn(t)
	b := a.Standby()
	a.Exec("CREATE TABLE kept (n integer)")
	for range 3 {
		a.Exec("INSERT INTO kept VALUES (1)")
		a.Stop(syscall.SIGKILL)
		b.Promote()
		b.Exec("INSERT INTO kept VALUES (1)")
		a.Follow(b)
		a, b = b, a
	}
	db := a.open()
	defer db.Close()
	var n int
	if err := db.QueryRowContext(context.Background(), "SELECT count(*) FROM kept").Scan(&n); err != nil || n != 6 {
		t.Fatalf("%d rows of 6 (%v)", n, err)
	}
}
