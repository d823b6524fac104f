package bench

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/control"
	"github.com/duly-dev/duly/store"
)

// server is what one took.
type server struct {
	ready time.Duration // from its start until it had done something
	rss   int64
	cpu   float64 // share of a core
}

// idleServer starts a server on the store at a URL, waits until it has done what
// is due there, and looks at it while nothing more is.
func idleServer(ctx context.Context, o *Options, url string) (s server, err error) {
	st, err := store.Open(ctx, url, store.Options{})
	if err != nil {
		return s, err
	}
	defer st.Close()
	due := time.Now().Truncate(time.Second).Add(2 * time.Second)
	once := duly.Schedule{
		ID: "ready", Timing: duly.Timing{At: due.UTC().Format(time.RFC3339)},
		Target: duly.Target{Exec: &duly.ExecTarget{Command: []string{"true"}}},
	}
	if _, err := control.New(st).Apply(ctx, control.ApplyRequest{Owner: "ready", By: "bench", Schedules: []duly.Schedule{once}}); err != nil {
		return s, err
	}
	cmd := exec.CommandContext(ctx, o.Serve[0], append(o.Serve[1:], url)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	if err := wait(ctx, time.Until(due)); err != nil {
		return s, err
	}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return s, err
	}
	defer func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	}()
	for done := false; !done; {
		if err := wait(ctx, 10*time.Millisecond); err != nil {
			return s, err
		}
		status, err := st.Schedule(ctx, once.ID)
		if err != nil {
			return s, err
		}
		if done = !status.LastSuccess.IsZero(); !done && time.Since(start) > readyLimit {
			return s, fmt.Errorf("the server had done nothing after %v", readyLimit)
		}
	}
	s.ready = time.Since(start)
	const settle, watch = 5 * time.Second, 20 * time.Second
	if err := wait(ctx, settle); err != nil {
		return s, err
	}
	before, err := cpuTime(cmd.Process.Pid)
	if err != nil {
		return s, err
	}
	if err := wait(ctx, watch); err != nil {
		return s, err
	}
	after, err := cpuTime(cmd.Process.Pid)
	if err != nil {
		return s, err
	}
	s.cpu = (after - before).Seconds() / watch.Seconds()
	s.rss, err = residentBytes(cmd.Process.Pid)
	return s, err
}

const readyLimit = 2 * time.Minute

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// residentBytes and cpuTime read Linux's /proc; elsewhere memory is not
// measured.
func residentBytes(pid int) (int64, error) {
	f, err := os.Open(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		return 0, fmt.Errorf("memory is measured on Linux only: %w", err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), "VmRSS:"); ok {
			kb, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return kb << 10, err
		}
	}
	return 0, fmt.Errorf("no VmRSS of process %d", pid)
}

func cpuTime(pid int) (time.Duration, error) {
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0, fmt.Errorf("CPU is measured on Linux only: %w", err)
	}
	// Fields after the command's name, which may hold spaces.
	fields := strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:]))
	if len(fields) < 13 {
		return 0, fmt.Errorf("cannot read the CPU time of process %d", pid)
	}
	user, err := strconv.ParseInt(fields[11], 10, 64)
	if err != nil {
		return 0, err
	}
	system, err := strconv.ParseInt(fields[12], 10, 64)
	const clockTick = 10 * time.Millisecond // USER_HZ is 100 on every Linux
	return time.Duration(user+system) * clockTick, err
}
