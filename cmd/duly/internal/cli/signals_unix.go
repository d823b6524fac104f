//go:build unix

package cli

import (
	"os"
	"os/signal"
	"syscall"
)

func notifyMore(c chan<- os.Signal) {
	signal.Notify(c, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGWINCH, syscall.SIGCONT)
}
