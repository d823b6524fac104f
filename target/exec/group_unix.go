//go:build linux || darwin

package exec

import (
	"fmt"
	osexec "os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

func terminateGroup(cmd *osexec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }

func killGroup(cmd *osexec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// signalOf names the signal that ended a command, "" where none did.
func signalOf(sys any) (name string, number int) {
	status, ok := sys.(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		return "", 0
	}
	sig := status.Signal()
	name = unix.SignalName(sig)
	if name == "" {
		name = fmt.Sprintf("signal %d", int(sig))
	}
	if status.CoreDump() {
		name += " (core dumped)"
	}
	return name, int(sig)
}
