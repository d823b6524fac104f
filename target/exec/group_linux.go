package exec

import (
	"errors"
	osexec "os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// groupLeader has the command killed, too, when the thread that started it is
// gone: see start.
func groupLeader() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// awaitExit returns when the command has ended, and does not reap it: until
// then its number, which is its group's too, goes to nobody else.
func awaitExit(cmd *osexec.Cmd) {
	for {
		err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}
