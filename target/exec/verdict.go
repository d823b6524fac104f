package exec

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/target"
)

// The exit codes that are answers.
const (
	exitPermanent = 65 // EX_DATAERR
	exitRetry     = 75 // EX_TEMPFAIL
	exitUncertain = 79
)

// verdict says what an ending means.
func verdict(ctx context.Context, end ending, killAfter time.Duration) target.Result {
	if end.state == nil {
		return target.Failed("how the command ended is unknown: the system kept no exit status")
	}
	code := end.state.ExitCode()
	signal, number := signalOf(end.state.Sys())
	if signal != "" {
		code = 128 + number
	}

	var res target.Result
	switch {
	case code == exitUncertain:
		res = target.Result{Outcome: duly.AttemptUncertain, Error: "exit status 79: the command does not know whether its work took effect"}
	case code == exitPermanent:
		res = target.FailedForGood("exit status 65: the command says that trying again cannot help")
	case end.stopped:
		res = target.Stopped(ctx)
		res.Error += "; " + howItStopped(end, code, signal, killAfter)
	case signal != "":
		res = target.Failed("killed by " + signal)
		if number == int(syscall.SIGKILL) {
			res.Error += ", by a person or for lack of memory"
		}
	case code == exitRetry:
		res = target.Failed("exit status 75: the command asks to be tried again")
	case code != 0:
		res = target.Failed(fmt.Sprintf("exit status %d", code))
	default:
		res = target.Result{Outcome: duly.AttemptSucceeded}
	}
	res.ExitCode = &code
	return res
}

func howItStopped(end ending, code int, signal string, killAfter time.Duration) string {
	switch {
	case end.killed:
		return fmt.Sprintf("the command, or what it had started, was still there %v after SIGTERM and was killed", killAfter)
	case signal != "":
		return "the command ended by " + signal
	}
	return fmt.Sprintf("the command ended with exit status %d after SIGTERM", code)
}

// startFailure says why a command could not be started. What a deployment that
// is under way, another node or a quieter minute can mend is tried again.
func startFailure(spec *duly.ExecTarget, err error) target.Result {
	name := spec.Command[0]
	switch {
	case errors.Is(err, osexec.ErrDot):
		return target.FailedForGood(fmt.Sprintf("command %q was found in the current directory only: write it with its path, as in ./%s", name, name))
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, osexec.ErrNotFound):
		return target.Failed(whatIsMissing(spec))
	case errors.Is(err, fs.ErrPermission):
		return target.FailedForGood(fmt.Sprintf("command %q may not be executed by this node's user: make it executable (chmod +x) or correct target.exec.command", name))
	case errors.Is(err, syscall.ENOEXEC):
		return target.FailedForGood(fmt.Sprintf("command %q is no program for this machine: a script needs a first line such as #!/bin/sh, a binary the right architecture", name))
	case errors.Is(err, syscall.E2BIG):
		return target.FailedForGood("arguments and environment are together larger than the system allows: pass less in target.exec.command and target.exec.env")
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.ELOOP), errors.Is(err, syscall.ENAMETOOLONG):
		return target.FailedForGood(fmt.Sprintf("command %q cannot be started in directory %q: %v", name, spec.Dir, err))
	}
	return target.Failed(fmt.Sprintf("command %q could not be started: %v", name, err))
}

func whatIsMissing(spec *duly.ExecTarget) string {
	name := spec.Command[0]
	if spec.Dir != "" {
		if _, err := os.Stat(spec.Dir); errors.Is(err, fs.ErrNotExist) {
			return fmt.Sprintf("directory %q is not on this node: create it or correct target.exec.dir", spec.Dir)
		}
	}
	path := whereItIs(spec)
	if _, err := osexec.LookPath(path); err == nil {
		return fmt.Sprintf("command %q is there, but not what runs it: see the interpreter in its first line, or its dynamic loader", path)
	}
	sought := path
	if !strings.ContainsRune(name, filepath.Separator) {
		sought = "PATH=" + os.Getenv("PATH")
	}
	return fmt.Sprintf("command %q is not on this node (%s): install it on every node that runs exec targets, or correct target.exec.command", name, sought)
}

// whereItIs is the absolute path of a command that is named by a relative one,
// which counts from target.exec.dir or else from where the node was started.
func whereItIs(spec *duly.ExecTarget) string {
	name := spec.Command[0]
	if !strings.ContainsRune(name, filepath.Separator) || filepath.IsAbs(name) {
		return name
	}
	path, err := filepath.Abs(filepath.Join(spec.Dir, name))
	if err != nil {
		return name
	}
	return path
}
