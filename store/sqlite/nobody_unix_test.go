//go:build unix

package sqlite

import (
	"os"
	"os/exec"
	"syscall"
)

// asNobody has a command run as another user, where this one is root.
func asNobody(c *exec.Cmd) {
	if os.Getuid() == 0 {
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
}
