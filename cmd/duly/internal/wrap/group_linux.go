package wrap

import "syscall"

// attributes let the command die with us, even of kill -9: it must not go on
// unowned.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
