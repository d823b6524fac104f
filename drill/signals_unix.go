//go:build unix

package drill

import (
	"bytes"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

func canSignal() error { return nil }

const (
	sigStop     = syscall.SIGSTOP
	sigContinue = syscall.SIGCONT
)

// groupLeader starts a process in a group of its own: a Ctrl-C is for the
// director, which then ends its nodes.
func groupLeader() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// signalGroup reaches a command and what it has started.
func signalGroup(pid int, sig os.Signal) { _ = syscall.Kill(-pid, sig.(syscall.Signal)) }

// groupAlive reports whether something of a command's group still runs. What
// has ended and not been waited for, as its parent is paused, does not.
func groupAlive(pid int) bool {
	if syscall.Kill(-pid, 0) != nil {
		return false
	}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(stats) == 0 {
		return groupAliveByPS(pid)
	}
	for _, file := range stats {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it ended meanwhile
		}
		// PID (NAME) STATE PPID PGRP …, where the name may hold anything.
		_, rest, _ := strings.Cut(string(text[bytes.LastIndexByte(text, ')')+1:]), " ")
		if f := strings.Fields(rest); len(f) > 2 && f[2] == strconv.Itoa(pid) && f[0] != "Z" && f[0] != "X" {
			return true
		}
	}
	return false
}

// groupAliveByPS is for systems without /proc.
func groupAliveByPS(pid int) bool {
	out, err := osexec.Command("ps", "-axo", "pgid=,stat=").Output()
	if err != nil {
		return true // better to wait too long
	}
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == strconv.Itoa(pid) && !strings.HasPrefix(f[1], "Z") {
			return true
		}
	}
	return false
}
