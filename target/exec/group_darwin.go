package exec

import (
	osexec "os/exec"
	"syscall"
)

func groupLeader() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// awaitExit reaps the command, since waiting without reaping is unreliable on
// macOS (it answers for stopped processes too). In the moment between this and
// the signal to the group, the system would have to give the group's number
// away for the signal to reach a stranger.
func awaitExit(cmd *osexec.Cmd) { _ = cmd.Wait() }
