//go:build unix

package wrap

import (
	"io"
	"os"
	"os/exec"
	"syscall"

	"github.com/mattn/go-isatty"
)

// ownGroup gives the command a process group of its own, so that all it starts
// can be reached. Not where its input is a terminal: a group in the background
// may not read from it, and the terminal sends its signals to everyone anyway.
func ownGroup(cmd *exec.Cmd, stdin io.Reader) bool {
	cmd.SysProcAttr = attributes()
	if f, ok := stdin.(*os.File); ok && isatty.IsTerminal(f.Fd()) {
		return false
	}
	cmd.SysProcAttr.Setpgid = true
	return true
}

func kill(p *os.Process, group bool, sig syscall.Signal) {
	if !group {
		_ = p.Signal(sig)
		return
	}
	_ = syscall.Kill(-p.Pid, sig)
}
