package exec

import (
	"context"
	"os"
	osexec "os/exec"
	"runtime"
	"time"
)

// process is a command that was started, with the group that it leads.
type process struct {
	cmd    *osexec.Cmd
	exited chan struct{} // closed when the command has ended
}

// ending is how a command came to its end.
type ending struct {
	state   *os.ProcessState // nil: the system lost track of it
	stopped bool             // it was told to stop
	killed  bool             // it, or what it had started, did not
}

// start starts the command as the leader of a group of its own. wait must
// follow.
func start(cmd *osexec.Cmd) (*process, error) {
	cmd.SysProcAttr = groupLeader()
	p := &process{cmd: cmd, exited: make(chan struct{})}
	started := make(chan error)
	go func() {
		// Linux sends the parent-death signal when the thread that started the
		// command ends, not the process. So the thread stays this goroutine's
		// until the command has ended. It costs nothing: the thread would wait
		// in the kernel in any case.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(p.exited)
		err := cmd.Start()
		started <- err
		if err == nil {
			awaitExit(cmd)
		}
	}()
	return p, <-started
}

// wait returns when the command and its group are gone. The end of ctx asks
// them to stop; what is left killAfter later is killed. outputClosed tells that
// nobody holds the command's output any more.
func (p *process) wait(ctx context.Context, killAfter time.Duration, outputClosed <-chan struct{}) ending {
	var end ending
	select {
	case <-p.exited:
	case <-ctx.Done():
		select {
		case <-p.exited: // by itself, just before
		default:
			end.stopped = true
			end.killed = !p.stop(killAfter, outputClosed)
		}
	}

	// Not before now is the command reaped, so its number is still its own and
	// the signal can reach no stranger.
	killGroup(p.cmd)
	<-p.exited
	_ = p.cmd.Wait() // the state says all that the error does
	end.state = p.cmd.ProcessState
	return end
}

// stop asks the group to end and reports whether it did in time. The command
// itself is watched. A shell ends at once, though, while the program in it
// still tidies up: that one is known by the output it holds open.
func (p *process) stop(killAfter time.Duration, outputClosed <-chan struct{}) bool {
	timer := time.NewTimer(killAfter)
	defer timer.Stop()
	terminateGroup(p.cmd)
	for _, gone := range []<-chan struct{}{p.exited, outputClosed} {
		select {
		case <-gone:
		case <-timer.C:
			return false
		}
	}
	return true
}
