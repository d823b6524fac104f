//go:build linux

package postgres

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// cpu is what this process and the server have used, which other work on the
// machine disturbs less than time on the wall.
type cpu struct{ client, server time.Duration }

func cpuTime(tb testing.TB, s *Store) cpu {
	tb.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	var pid int
	if err := s.pool.QueryRow(context.Background(), "SELECT pg_backend_pid()").Scan(&pid); err != nil {
		tb.Fatal(err)
	}
	parent, _ := stat(fmt.Sprint(pid))
	c := cpu{client: time.Duration(u.Utime.Nano() + u.Stime.Nano())}
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range all {
		if p, used := stat(filepath.Base(dir)); p == parent && p != 0 {
			c.server += used
		}
	}
	return c
}

// stat reads a process's parent and the processor time that it has used.
func stat(pid string) (parent int, used time.Duration) {
	text, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return 0, 0
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	f := strings.Fields(rest)
	parent, _ = strconv.Atoi(f[1])
	user, _ := strconv.Atoi(f[11])
	system, _ := strconv.Atoi(f[12])
	return parent, time.Duration(user+system) * 10 * time.Millisecond
}
