package postgres

import (
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// unacknowledged bounds how long the kernel sends again what nobody
// acknowledges, which by itself it does for a quarter of an hour.
func unacknowledged(network, _ string, c syscall.RawConn) (err error) {
	if !strings.HasPrefix(network, "tcp") {
		return nil
	}
	failed := c.Control(func(fd uintptr) {
		err = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(silence.Milliseconds()))
	})
	if failed != nil {
		return failed
	}
	return err
}
