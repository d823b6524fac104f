//go:build !linux && !darwin

package exec

import (
	osexec "os/exec"
	"syscall"
)

// Without groups and signals, stopping a command means ending it, and it alone.

func groupLeader() *syscall.SysProcAttr { return nil }

func terminateGroup(cmd *osexec.Cmd) { _ = cmd.Process.Kill() }

func killGroup(cmd *osexec.Cmd) { _ = cmd.Process.Kill() }

func awaitExit(cmd *osexec.Cmd) { _ = cmd.Wait() }

func signalOf(any) (name string, number int) { return "", 0 }
