package drill

import (
	"os"
	"syscall"

	"github.com/duly-dev/duly"
)

func canSignal() error {
	return duly.Errorf(duly.CodeInvalid, "drills need signals, which Windows does not have: play them on Linux or macOS")
}

const (
	sigStop     = syscall.SIGKILL
	sigContinue = syscall.SIGKILL
)

func groupLeader() *syscall.SysProcAttr { return nil }

func signalGroup(int, os.Signal) {}

func groupAlive(int) bool { return false }
