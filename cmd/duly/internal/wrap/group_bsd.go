//go:build unix && !linux

package wrap

import "syscall"

func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }
