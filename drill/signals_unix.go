//go:build unix

package drill

import (
	"os"
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

func groupAlive(pid int) bool { return syscall.Kill(-pid, 0) == nil }
