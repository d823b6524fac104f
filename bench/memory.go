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
)

// memory: what a server takes with many schedules that are not due, and what
// it does meanwhile. It looks at a process of its own, since the one that made
// the schedules has seen them all.
func memory(ctx context.Context, o *Options) error {
	if len(o.Serve) == 0 {
		return nil
	}
	empty, _, err := idleServer(ctx, o, 0)
	if err != nil {
		return err
	}
	full, cpu, err := idleServer(ctx, o, o.Schedules)
	if err != nil {
		return err
	}
	o.report("resident_mb", float64(full)/(1<<20), "MB", "server with %d schedules that are not due", o.Schedules)
	o.report("bytes_per_schedule", float64(full-empty)/float64(o.Schedules), "B", "resident memory beyond that of a server with none (%d MB)", empty>>20)
	o.report("idle_cpu", 100*cpu, "% of a core", "server with %d schedules that are not due, over 20 s", o.Schedules)
	return nil
}

// idleServer starts a server on a store with schedules and answers its
// resident bytes and the share of a core it takes.
func idleServer(ctx context.Context, o *Options, schedules int) (rss int64, cpu float64, err error) {
	st, url, err := o.Fresh(ctx)
	if err != nil {
		return 0, 0, err
	}
	yearly := duly.Schedule{Timing: duly.Timing{Cron: "0 0 1 1 *"}, Target: duly.Target{Handler: "noop"}}
	if err := create(ctx, st, time.Time{}, schedules, yearly); err != nil {
		st.Close()
		return 0, 0, err
	}
	if err := st.Close(); err != nil {
		return 0, 0, err
	}
	cmd := exec.CommandContext(ctx, o.Serve[0], append(o.Serve[1:], url)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Start(); err != nil {
		return 0, 0, err
	}
	defer func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	}()
	const settle, watch = 5 * time.Second, 20 * time.Second
	if err := wait(ctx, settle); err != nil {
		return 0, 0, err
	}
	before, err := cpuTime(cmd.Process.Pid)
	if err != nil {
		return 0, 0, err
	}
	if err := wait(ctx, watch); err != nil {
		return 0, 0, err
	}
	after, err := cpuTime(cmd.Process.Pid)
	if err != nil {
		return 0, 0, err
	}
	rss, err = residentBytes(cmd.Process.Pid)
	return rss, (after - before).Seconds() / watch.Seconds(), err
}

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
