package wrap

import (
	"io"
	"os"
	"os/exec"
	"syscall"
)

// Windows has neither process groups of this kind nor signals.
func ownGroup(*exec.Cmd, io.Reader) bool { return false }

func kill(p *os.Process, _ bool, sig syscall.Signal) {
	if sig == syscall.SIGTERM || sig == syscall.SIGKILL || sig == syscall.SIGINT {
		_ = p.Kill()
	}
}
